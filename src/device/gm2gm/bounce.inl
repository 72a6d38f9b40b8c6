/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an engine that only carries contiguous global memory cannot take as it is: single values, strided elements, the
 * unified buffer. They go through a bounce buffer, one of a few that lie in this PE's heap and are lent to a core for the
 * length of one call. Such calls complete what they start, _nbi or not, since the buffer goes back.
 */
#ifndef ACLSHMEMI_DEVICE_BOUNCE_INL
#define ACLSHMEMI_DEVICE_BOUNCE_INL

#include "device/dispatch.inl"

/* Waits until one is free; those who hold one need nobody else to go on. */
ACLSHMEM_DEVICE __gm__ aclshmemi_bounce_t *aclshmemi_bounce_take(const aclshmemi_state_t *state)
{
    __gm__ aclshmemi_bounce_t *all =
        (__gm__ aclshmemi_bounce_t *)(void *)((char *)state->seen.heap_base + state->bounce_offset);
    aicore_wait_t wait;
    aclshmemi_port_wait_begin(&wait);
    for (uint32_t i = (uint32_t)aclshmemi_port_block();; i++) {
        __gm__ aclshmemi_bounce_t *bounce = &all[i % ACLSHMEMI_BOUNCES];
        uint32_t nobody = 0;
        if (__atomic_compare_exchange_n(&bounce->taken, &nobody, 1, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED))
            return bounce;
        aclshmemi_port_wait_step(&wait, &bounce->taken, sizeof bounce->taken);
    }
}

ACLSHMEM_DEVICE void aclshmemi_bounce_give(__gm__ aclshmemi_bounce_t *bounce)
{
    __atomic_store_n(&bounce->taken, 0, __ATOMIC_RELEASE);
}

/* --- Single values --- */

ACLSHMEM_DEVICE void aclshmemi_far_p(const aclshmemi_state_t *state, const char *call, uint32_t engine,
                                     __gm__ void *there, uint64_t bits, uint32_t bytes, int pe)
{
    __gm__ aclshmemi_bounce_t *bounce = aclshmemi_bounce_take(state);
    aclshmemi_port_store(bounce->bytes, bits, 8);
    aclshmemi_port_cache_line(bounce->bytes);
    aclshmemi_engine_put(state, call, engine, there, bounce->bytes, bytes, pe);
    aclshmemi_engine_quiet(state, call, engine);
    aclshmemi_bounce_give(bounce);
}

ACLSHMEM_DEVICE uint64_t aclshmemi_far_g(const aclshmemi_state_t *state, const char *call, uint32_t engine,
                                         __gm__ const void *there, uint32_t bytes, int pe)
{
    __gm__ aclshmemi_bounce_t *bounce = aclshmemi_bounce_take(state);
    aclshmemi_engine_get(state, call, engine, bounce->bytes, there, bytes, pe);
    aclshmemi_engine_quiet(state, call, engine);
    aclshmemi_port_cache_line(bounce->bytes);
    uint64_t bits = aclshmemi_port_load(bounce->bytes, bytes);
    aclshmemi_bounce_give(bounce);
    return bits;
}

/* --- Rows --- */

/* Copies within this PE, complete on return. */
ACLSHMEM_DEVICE void aclshmemi_near_rows(const aclshmemi_state_t *state, const char *call, __gm__ char *to,
                                         __gm__ const char *from, const aclshmemi_rows_t *rows)
{
    if (aclshmemi_port_copies_directly()) {
        aclshmemi_rows_through(to, from, rows);
        return;
    }
    aclshmemi_lane_t lane = aclshmemi_lane_begin(state, call);
    aclshmemi_lane_rows(&lane, to, from, rows);
    aclshmemi_lane_end(&lane);
    aclshmemi_mte_quiet(state, call);
}

/* Small rows that are contiguous on the other side are gathered; others go one by one, straight from where they are. */
ACLSHMEM_DEVICE void aclshmemi_far_put_rows(const aclshmemi_state_t *state, const char *call, uint32_t engine,
                                            __gm__ char *there, __gm__ const char *here,
                                            const aclshmemi_rows_t *rows, int pe)
{
    uint64_t batch = ACLSHMEMI_BOUNCE_BYTES / rows->bytes;
    if (rows->count == 1 || rows->to_step != rows->bytes || batch < 2) {
        for (uint64_t row = 0; row < rows->count; row++)
            aclshmemi_engine_put(state, call, engine, there + row * rows->to_step,
                                 here + row * rows->from_step, rows->bytes, pe);
        return;
    }
    __gm__ aclshmemi_bounce_t *bounce = aclshmemi_bounce_take(state);
    for (uint64_t row = 0; row < rows->count; row += batch) {
        aclshmemi_rows_t part = {rows->count - row < batch ? rows->count - row : batch, rows->bytes,
                                 rows->from_step, rows->bytes};
        aclshmemi_near_rows(state, call, bounce->bytes, here + row * rows->from_step, &part);
        aclshmemi_engine_put(state, call, engine, there + row * rows->to_step, bounce->bytes,
                             part.count * part.bytes, pe);
        aclshmemi_engine_quiet(state, call, engine);
    }
    aclshmemi_bounce_give(bounce);
}

ACLSHMEM_DEVICE void aclshmemi_far_get_rows(const aclshmemi_state_t *state, const char *call, uint32_t engine,
                                            __gm__ char *here, __gm__ const char *there,
                                            const aclshmemi_rows_t *rows, int pe)
{
    uint64_t batch = ACLSHMEMI_BOUNCE_BYTES / rows->bytes;
    if (rows->count == 1 || rows->from_step != rows->bytes || batch < 2) {
        for (uint64_t row = 0; row < rows->count; row++)
            aclshmemi_engine_get(state, call, engine, here + row * rows->to_step,
                                 there + row * rows->from_step, rows->bytes, pe);
        return;
    }
    __gm__ aclshmemi_bounce_t *bounce = aclshmemi_bounce_take(state);
    for (uint64_t row = 0; row < rows->count; row += batch) {
        aclshmemi_rows_t part = {rows->count - row < batch ? rows->count - row : batch, rows->bytes,
                                 rows->bytes, rows->to_step};
        aclshmemi_engine_get(state, call, engine, bounce->bytes, there + row * rows->from_step,
                             part.count * part.bytes, pe);
        aclshmemi_engine_quiet(state, call, engine);
        aclshmemi_near_rows(state, call, here + row * rows->to_step, bounce->bytes, &part);
    }
    aclshmemi_bounce_give(bounce);
}

/* --- The unified buffer --- */

ACLSHMEM_DEVICE void aclshmemi_far_put_ub(const aclshmemi_state_t *state, const char *call, uint32_t engine,
                                          __gm__ char *there, uint64_t ub, uint64_t bytes, int pe)
{
    __gm__ aclshmemi_bounce_t *bounce = aclshmemi_bounce_take(state);
    for (uint64_t done = 0; done < bytes; done += ACLSHMEMI_BOUNCE_BYTES) {
        uint64_t piece = bytes - done < ACLSHMEMI_BOUNCE_BYTES ? bytes - done : ACLSHMEMI_BOUNCE_BYTES;
        aclshmemi_port_copy_out(bounce->bytes, ub + done, piece);
        aclshmemi_port_barrier(AICORE_PIPE_ALL);
        aclshmemi_engine_put(state, call, engine, there + done, bounce->bytes, piece, pe);
        aclshmemi_engine_quiet(state, call, engine);
    }
    aclshmemi_bounce_give(bounce);
}

ACLSHMEM_DEVICE void aclshmemi_far_get_ub(const aclshmemi_state_t *state, const char *call, uint32_t engine,
                                          uint64_t ub, __gm__ const char *there, uint64_t bytes, int pe)
{
    __gm__ aclshmemi_bounce_t *bounce = aclshmemi_bounce_take(state);
    for (uint64_t done = 0; done < bytes; done += ACLSHMEMI_BOUNCE_BYTES) {
        uint64_t piece = bytes - done < ACLSHMEMI_BOUNCE_BYTES ? bytes - done : ACLSHMEMI_BOUNCE_BYTES;
        aclshmemi_engine_get(state, call, engine, bounce->bytes, there + done, piece, pe);
        aclshmemi_engine_quiet(state, call, engine);
        aclshmemi_port_copy_in(ub + done, bounce->bytes, piece);
        aclshmemi_port_barrier(AICORE_PIPE_ALL);
    }
    aclshmemi_bounce_give(bounce);
}

#endif
