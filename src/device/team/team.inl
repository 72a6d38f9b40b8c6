/* SPDX-License-Identifier: Apache-2.0 */
/* Who am I, who are the others: read from the state block. These work on a thread that runs no kernel, too. */
#ifndef ACLSHMEMI_DEVICE_TEAM_INL
#define ACLSHMEMI_DEVICE_TEAM_INL

#include "device/core.inl"

/* The record of a team, NULL when there is none; a team may come into being while the kernel runs. */
ACLSHMEM_DEVICE const aclshmemx_team_t *aclshmemi_team_record(const aclshmemi_state_t *state,
                                                              aclshmem_team_t team)
{
    if (state == NULL || (unsigned)team >= ACLSHMEM_MAX_TEAMS)
        return NULL;
    return __atomic_load_n(&state->seen.team_pools[team], __ATOMIC_ACQUIRE);
}

ACLSHMEM_DEVICE int aclshmem_my_pe(void)
{
    const aclshmemi_state_t *state = aclshmemi_state_or_null();
    return state != NULL ? state->seen.mype : -1;
}

ACLSHMEM_DEVICE int aclshmem_n_pes(void)
{
    const aclshmemi_state_t *state = aclshmemi_state_or_null();
    return state != NULL ? state->seen.npes : -1;
}

ACLSHMEM_DEVICE int aclshmem_team_my_pe(aclshmem_team_t team)
{
    const aclshmemx_team_t *record = aclshmemi_team_record(aclshmemi_state_or_null(), team);
    return record != NULL ? record->mype : -1;
}

ACLSHMEM_DEVICE int aclshmem_team_n_pes(aclshmem_team_t team)
{
    const aclshmemx_team_t *record = aclshmemi_team_record(aclshmemi_state_or_null(), team);
    return record != NULL ? record->size : -1;
}

ACLSHMEM_DEVICE int aclshmem_team_pe_mapping(aclshmem_team_t team, int pe)
{
    const aclshmemx_team_t *record = aclshmemi_team_record(aclshmemi_state_or_null(), team);
    return record != NULL && pe >= 0 && pe < record->size ? record->pe_mapping[pe] : -1;
}

ACLSHMEM_DEVICE int aclshmem_team_translate_pe(aclshmem_team_t src_team, int src_pe,
                                               aclshmem_team_t dest_team)
{
    int pe = aclshmem_team_pe_mapping(src_team, src_pe);
    const aclshmemx_team_t *record = aclshmemi_team_record(aclshmemi_state_or_null(), dest_team);
    return record != NULL && pe >= 0 ? record->pe_mapping[ACLSHMEM_MAX_PES + pe] : -1;
}

ACLSHMEM_DEVICE __gm__ void *aclshmem_ptr(__gm__ void *ptr, int pe)
{
    const aclshmemi_state_t *state = aclshmemi_state_or_null();
    return state != NULL ? aclshmemi_mapped(state, ptr, 0, pe) : NULL;
}

ACLSHMEM_DEVICE __gm__ void *aclshmem_roce_ptr(__gm__ void *ptr, int pe)
{
    const aclshmemi_state_t *state = aclshmemi_state_or_null();
    uint64_t offset = 0;
    if (state == NULL || (unsigned)pe >= (unsigned)state->seen.npes)
        return NULL;
    int heap = aclshmemi_heap_of(state, ptr, 0, &offset);
    if (heap < 0)
        return NULL;
    void **bases = heap == 0 ? state->seen.rdma_device_heap_base : state->seen.rdma_host_heap_base;
    return bases == NULL || bases[pe] == NULL ? NULL : (__gm__ char *)bases[pe] + offset;
}

ACLSHMEM_DEVICE int aclshmemx_instance_ctx_set(uint64_t instance_id)
{
    const aclshmemi_state_t *before = aclshmemi_state_or_null();
    if (instance_id < ACLSHMEM_MAX_INSTANCES && aclshmemi_port_state_use((uint32_t)instance_id) == 0 &&
        aclshmemi_port_state() != NULL)
        return 0;
    if (aclshmemi_port_self()->ub != NULL)
        aclshmemi_port_trap("instance_ctx_set: instance %llu is not initialized",
                            (unsigned long long)instance_id);
    (void)aclshmemi_port_state_use(before != NULL ? (uint32_t)before->instance_id : 0);
    return -1;
}

ACLSHMEM_DEVICE uint64_t aclshmemx_instance_addr_get(void)
{
    return (uint64_t)(uintptr_t)aclshmemi_port_state();
}

#ifndef __cplusplus
ACLSHMEM_DEVICE uint64_t aclshmemx_instance_ctx_get(void)
{
    return aclshmemx_instance_addr_get();
}
#endif

#endif
