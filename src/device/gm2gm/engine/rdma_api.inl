/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies of ROCE by name: moves, atomics, and how PEs meet over it. */
#ifndef ACLSHMEMI_DEVICE_RDMA_API_INL
#define ACLSHMEMI_DEVICE_RDMA_API_INL

#include "device/gm2gm/amo_forms.inl"
#include "device/team/team.inl"

ACLSHMEM_DEVICE void aclshmemi_roce_scratch(const char *call, uint64_t ub, uint32_t sync_id)
{
    aclshmemi_scratch_check(call, "ROCE", ub, ACLSHMEM_RDMA_MTE_STAGING_UB_SIZE, sync_id,
                            ACLSHMEM_RDMA_MTE_STAGING_UB_SIZE);
}

/* --- Moves --- */

#define ACLSHMEMI_ROCE_BODIES(verb, symmetric, local)                                                        \
    ACLSHMEM_DEVICE void aclshmemx_roce_##verb##mem_nbi_id(                                                  \
        __gm__ void *dst, __gm__ void *src, ACLSHMEM_UB_POINTER(void) buf, size_t element_bytes,             \
        size_t nelems, int pe, uint32_t sync_id)                                                             \
    {                                                                                                        \
        static const char call[] = "roce_" #verb "_nbi";                                                     \
        const aclshmemi_state_t *state = aclshmemi_state(call);                                              \
        uint64_t bytes = aclshmemi_bytes(nelems, element_bytes);                                             \
        aclshmemi_roce_scratch(call, AICORE_UB_NUMBER(buf), sync_id);                                        \
        aclshmemi_check(state, call, symmetric, bytes, pe);                                                  \
        if (bytes != 0)                                                                                      \
            aclshmemi_rdma_##verb(state, call, dst, src, bytes, pe);                                         \
    }                                                                                                        \
    ACLSHMEM_DEVICE void aclshmemx_roce_##verb##mem_nbi(__gm__ void *dst, __gm__ void *src,                  \
                                                        ACLSHMEM_UB_POINTER(void) buf, size_t element_bytes, \
                                                        size_t nelems, int pe)                               \
    {                                                                                                        \
        uint32_t sync_id =                                                                                   \
            aclshmemi_scratch(aclshmemi_state("roce_" #verb "_nbi"), ACLSHMEMI_ENGINE_ROCE).sync_id;         \
        aclshmemx_roce_##verb##mem_nbi_id(dst, src, buf, element_bytes, nelems, pe, sync_id);                \
    }
ACLSHMEMI_ROCE_BODIES(put, dst, src)
ACLSHMEMI_ROCE_BODIES(get, src, dst)
#undef ACLSHMEMI_ROCE_BODIES

ACLSHMEM_DEVICE void aclshmemx_roce_quiet(uint32_t pe, ACLSHMEM_UB_POINTER(void) buf, uint32_t sync_id)
{
    static const char call[] = "roce_quiet";
    const aclshmemi_state_t *state = aclshmemi_state(call);
    aclshmemi_roce_scratch(call, AICORE_UB_NUMBER(buf), sync_id);
    aclshmemi_check(state, call, state->seen.heap_base, 0, (int)pe);
    aclshmemi_queue_port_t port = aclshmemi_queue_port(state, call, ACLSHMEMI_ENGINE_ROCE);
    aclshmemi_queue_quiet_pe(&port, (int)pe);
    aclshmemi_port_cache_all();
}

/* --- Atomics --- */

ACLSHMEM_DEVICE uint64_t aclshmemi_rdma_amo_by_name(const char *call, aclshmemi_amo_op_t op,
                                                    aclshmemi_amo_type_t type, __gm__ void *object,
                                                    uint64_t value, uint64_t condition, int pe, bool wanted)
{
    const aclshmemi_state_t *state = aclshmemi_state(call);
    aclshmemi_check(state, call, object, aclshmemi_amo_width(type), pe);
    return aclshmemi_rdma_amo(state, call, op, type, object, value, condition, pe, wanted);
}
#define ACLSHMEMI_AMO_BY_ROCE(name, op, kind, object, value, condition, pe, wanted)                          \
    aclshmemi_rdma_amo_by_name("roce_" name, op, kind, (__gm__ void *)(uintptr_t)(object), value, condition, \
                               pe, wanted)
#define ACLSHMEMI_DEFINE_BY_ROCE(NAME, TYPE)                                                                 \
    ACLSHMEMI_DEFINE_ADD(ACLSHMEMI_AMO_BY_ROCE, aclshmemx_roce_, NAME, TYPE)                                 \
    ACLSHMEMI_DEFINE_STORE(ACLSHMEMI_AMO_BY_ROCE, aclshmemx_roce_, NAME, TYPE)                               \
    ACLSHMEMI_DEFINE_INTEGER(ACLSHMEMI_AMO_BY_ROCE, aclshmemx_roce_, NAME, TYPE)                             \
    ACLSHMEMI_DEFINE_BITS(ACLSHMEMI_AMO_BY_ROCE, aclshmemx_roce_, NAME, TYPE, and, ACLSHMEMI_AMO_AND)        \
    ACLSHMEMI_DEFINE_BITS(ACLSHMEMI_AMO_BY_ROCE, aclshmemx_roce_, NAME, TYPE, or, ACLSHMEMI_AMO_OR)          \
    ACLSHMEMI_DEFINE_BITS(ACLSHMEMI_AMO_BY_ROCE, aclshmemx_roce_, NAME, TYPE, xor, ACLSHMEMI_AMO_XOR)
ACLSHMEM_TYPES_AMO_INTEGER(ACLSHMEMI_DEFINE_BY_ROCE)
#undef ACLSHMEMI_AMO_BY_ROCE
#undef ACLSHMEMI_DEFINE_BY_ROCE

/* --- Meetings: dissemination. In round r a PE adds to a word of the PE 2^r behind it and waits for its own. --- */

typedef struct aclshmemi_roce_meeting {
    const char *call;
    int round;
    int from; /* PE */
} aclshmemi_roce_meeting_t;

ACLSHMEM_DEVICE void aclshmemi_roce_describe(const aicore_wait_t *wait, char *out, size_t size)
{
    const aclshmemi_roce_meeting_t *meeting = (const aclshmemi_roce_meeting_t *)wait->subject;
    snprintf(out, size, "%s: PE %d to come to round %d", meeting->call, meeting->from, meeting->round);
}

ACLSHMEM_DEVICE void aclshmemi_roce_step(const aclshmemi_queue_port_t *port, const aclshmemx_team_t *team,
                                         int round)
{
    int distance = 1 << round;
    int to = team->pe_mapping[(team->mype + distance) % team->size];
    char *counters = (char *)port->state->seen.heap_base + port->state->counter_offset +
                     (uint64_t)team->team_idx * SYNC_COUNTER_SIZE;
    uint32_t *word = &((aclshmemi_counters_t *)(void *)counters)->arrived[round];
    aclshmemi_roce_meeting_t meeting;
    aicore_wait_t wait;
    uint64_t ticket;
    (void)aclshmemi_queue_amo(port, ACLSHMEMI_AMO_PLUS, ACLSHMEMI_AMO_32, (__gm__ void *)word, 1, 0, to,
                              false, &ticket);
    meeting.call = port->call;
    meeting.round = round;
    meeting.from = team->pe_mapping[(team->mype + team->size - distance) % team->size];
    aclshmemi_wait_start(port->state, &wait, aclshmemi_roce_describe, &meeting);
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == 0)
        aclshmemi_port_wait_step(&wait, word, sizeof *word);
    (void)__atomic_fetch_sub(word, 1, __ATOMIC_ACQ_REL);
}

ACLSHMEM_DEVICE int aclshmemi_roce_meet(const char *call, const aclshmemx_team_t *team, bool complete)
{
    const aclshmemi_state_t *state = aclshmemi_state(call);
    if (team == NULL)
        return -1;
    if (team->mype < 0 || team->mype >= team->size)
        return 0;
    aclshmemi_queue_port_t port = aclshmemi_queue_port(state, call, ACLSHMEMI_ENGINE_ROCE);
    if (complete)
        for (int i = 0; i < team->size; i++)
            aclshmemi_queue_quiet_pe(&port, team->pe_mapping[i]);
    for (int round = 0; 1 << round < team->size; round++)
        aclshmemi_roce_step(&port, team, round);
    aclshmemi_port_cache_all();
    return 0;
}

ACLSHMEM_DEVICE const aclshmemx_team_t *aclshmemi_roce_world(const char *call)
{
    return aclshmemi_team_record(aclshmemi_state(call), ACLSHMEM_TEAM_WORLD);
}

#define ACLSHMEMI_ROCE_MEETINGS(name, by_handle, complete)                                                   \
    ACLSHMEM_DEVICE int aclshmemx_roce_##name(aclshmemx_team_t *team)                                        \
    {                                                                                                        \
        return aclshmemi_roce_meet("roce_" #name, team, complete);                                           \
    }                                                                                                        \
    ACLSHMEM_DEVICE int aclshmemx_roce_##name##_buf(aclshmemx_team_t *team, ACLSHMEM_UB_POINTER(void) buf,   \
                                                    uint32_t sync_id)                                        \
    {                                                                                                        \
        aclshmemi_roce_scratch("roce_" #name, AICORE_UB_NUMBER(buf), sync_id);                               \
        return aclshmemi_roce_meet("roce_" #name, team, complete);                                           \
    }                                                                                                        \
    ACLSHMEM_DEVICE int aclshmemx_roce_##by_handle(aclshmem_team_t team)                                     \
    {                                                                                                        \
        static const char call[] = "roce_" #by_handle;                                                       \
        return aclshmemi_roce_meet(call, aclshmemi_team_record(aclshmemi_state(call), team), complete);      \
    }
ACLSHMEMI_ROCE_MEETINGS(team_sync, sync_team, false)
ACLSHMEMI_ROCE_MEETINGS(barrier, barrier_team, true)
#undef ACLSHMEMI_ROCE_MEETINGS

#define ACLSHMEMI_ROCE_OF_ALL(name, complete)                                                                \
    ACLSHMEM_DEVICE void aclshmemx_roce_##name(void)                                                         \
    {                                                                                                        \
        (void)aclshmemi_roce_meet("roce_" #name, aclshmemi_roce_world("roce_" #name), complete);             \
    }                                                                                                        \
    ACLSHMEM_DEVICE void aclshmemx_roce_##name##_buf(ACLSHMEM_UB_POINTER(void) buf, uint32_t sync_id)        \
    {                                                                                                        \
        aclshmemi_roce_scratch("roce_" #name, AICORE_UB_NUMBER(buf), sync_id);                               \
        (void)aclshmemi_roce_meet("roce_" #name, aclshmemi_roce_world("roce_" #name), complete);             \
    }
ACLSHMEMI_ROCE_OF_ALL(sync_all, false)
ACLSHMEMI_ROCE_OF_ALL(barrier_all, true)
#undef ACLSHMEMI_ROCE_OF_ALL

#endif
