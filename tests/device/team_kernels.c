/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that ask who they are. */
#include "team.h"

#include "shmem.h"

static void ask(aclshmem_team_t team, answers_t *out)
{
    out->my_pe = aclshmem_my_pe();
    out->n_pes = aclshmem_n_pes();
    out->team_my_pe = aclshmem_team_my_pe(team);
    out->team_n_pes = aclshmem_team_n_pes(team);
    for (int i = 0; i < ASKED; i++) {
        out->mapping[i] = aclshmem_team_pe_mapping(team, i - 1);
        out->to_world[i] = aclshmem_team_translate_pe(team, i - 1, ACLSHMEM_TEAM_WORLD);
        out->to_team[i] = aclshmem_team_translate_pe(ACLSHMEM_TEAM_WORLD, i - 1, team);
    }
    out->state = aclshmemx_instance_ctx_get();
    if (aclshmemx_instance_addr_get() != out->state) /* its other name */
        out->state = 0;
}

ACLSHMEM_KERNEL(ask_team, __gm__ answers_t *, out, aclshmem_team_t, team)
{
    ask(team, &out[aicore_block_index()]);
}

ACLSHMEM_KERNEL(ask_instance, __gm__ answers_t *, out, uint64_t, id)
{
    (void)aclshmemx_instance_ctx_set(id);
    ask(ACLSHMEM_TEAM_WORLD, &out[aicore_block_index()]);
}

ACLSHMEM_KERNEL(ask_address, __gm__ void *, ptr, int, pe, __gm__ uint64_t *, out)
{
    out[0] = (uint64_t)(uintptr_t)aclshmem_ptr(ptr, pe);
    out[1] = (uint64_t)(uintptr_t)aclshmem_roce_ptr(ptr, pe);
}

/* Looks at a team until it appears, and again until it is gone. */
ACLSHMEM_KERNEL(watch_team, __gm__ int *, sizes, aclshmem_team_t, team)
{
    aicore_wait_t wait;
    aicore_wait_begin(&wait);
    int size;
    while ((size = aclshmem_team_n_pes(team)) < 0)
        aicore_wait_step(&wait, NULL, 0);
    sizes[1] = aclshmem_team_my_pe(team);
    aicore_store(&sizes[0], (uint32_t)size, sizeof size); /* the host looks at it meanwhile */
    aicore_cache_line(&sizes[0]);
    while (aclshmem_team_n_pes(team) >= 0)
        aicore_wait_step(&wait, NULL, 0);
}

void ask_on_this_thread(int team, answers_t *out)
{
    ask(team, out);
}

int use_instance_on_this_thread(uint64_t id)
{
    return aclshmemx_instance_ctx_set(id);
}

void *ptr_on_this_thread(void *ptr, int pe)
{
    return aclshmem_ptr(ptr, pe);
}
