/* SPDX-License-Identifier: Apache-2.0 */
/* The marks of frames: the start is taken off the count, the end is added. */
#ifndef ACLSHMEMI_DEVICE_PROF_INL
#define ACLSHMEMI_DEVICE_PROF_INL

#include "device/core.inl"

/* Where this core counts the frame; NULL when it is not counted. dropped: 1 at the end of a frame that has no place. */
ACLSHMEM_DEVICE aclshmem_prof_block_t *aclshmemi_prof_block(int frame, uint32_t dropped)
{
    const aclshmemi_state_t *state = aclshmemi_state_or_null();
    if (state == NULL || state->seen.profs == NULL || state->seen.profs->pe_id != state->seen.mype)
        return NULL;
    uint32_t block = aclshmemi_port_block();
    if (block < ACLSHMEM_CYCLE_PROF_MAX_BLOCK && frame >= 0 && frame < ACLSHMEM_CYCLE_PROF_FRAME_CNT)
        return &state->seen.profs->block_prof[block];
    (void)__atomic_fetch_add(&state->seen.profs->dropped, dropped, __ATOMIC_RELAXED);
    return NULL;
}

ACLSHMEM_DEVICE void aclshmemi_prof_start(int frame)
{
    aclshmem_prof_block_t *counts = aclshmemi_prof_block(frame, 0);
    if (counts == NULL)
        return;
    aclshmemi_port_barrier(AICORE_PIPE_ALL);
    counts->cycles[frame] -= (int64_t)aclshmemi_port_cycles();
}

ACLSHMEM_DEVICE void aclshmemi_prof_end(int frame)
{
    aclshmem_prof_block_t *counts = aclshmemi_prof_block(frame, 1);
    if (counts == NULL)
        return;
    aclshmemi_port_barrier(AICORE_PIPE_ALL);
    counts->cycles[frame] += (int64_t)aclshmemi_port_cycles();
    counts->ccount[frame]++;
}

#endif
