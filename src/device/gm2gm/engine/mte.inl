/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The MTE engine: this core's own copies. Between two places in global memory they go through a scratch in the unified
 * buffer, where the core cannot skip it. Signals and atomics of MTE stand in mte_amo.inl.
 *
 * The scratch is used as two halves: while one is being copied out, the next piece is copied into the other. One flag
 * number is all that is needed, and every flag that is set is waited for at once, so none is left up:
 *
 *   MTE2   in 0, set | in 1, set, wait for out 0 | in 2, set, wait for out 1 | ...
 *   MTE3         wait, out 0 |             wait, out 1 |              wait, out 2 | ...
 *
 * After a call the last copy out may still run. Which half it runs from is remembered in scratch_busy, so that the next
 * call, whatever it is, waits before it writes there.
 */
#ifndef ACLSHMEMI_DEVICE_MTE_INL
#define ACLSHMEMI_DEVICE_MTE_INL

#include "device/engine.inl"

/* A scratch at work. */
typedef struct aclshmemi_lane {
    uint64_t at;         /* offset in the unified buffer */
    uint32_t half_bytes; /* of one half, a multiple of 32 */
    uint32_t flag;
    uint32_t flip; /* 1: there are two halves; 0: the scratch is too small for that */
    uint32_t busy; /* as scratch_busy */
    uint32_t next; /* the half to take */
} aclshmemi_lane_t;

ACLSHMEM_DEVICE void aclshmemi_lane_init(aclshmemi_lane_t *lane, uint64_t at, uint32_t bytes, uint32_t flag)
{
    uint32_t part = bytes / 2 / UB_ALIGN_SIZE * UB_ALIGN_SIZE;
    lane->at = at;
    lane->flip = part != 0;
    lane->half_bytes = part != 0 ? part : bytes / UB_ALIGN_SIZE * UB_ALIGN_SIZE;
    lane->flag = flag;
    lane->busy = 3;
    lane->next = 0;
}

/* The scratch that was configured, as the last call left it. */
ACLSHMEM_DEVICE aclshmemi_lane_t aclshmemi_lane_begin(const aclshmemi_state_t *state, const char *call)
{
    aclshmemi_lane_t lane;
    aclshmem_ub_config_t scratch = aclshmemi_scratch_for(state, call, ACLSHMEMI_ENGINE_MTE, UB_ALIGN_SIZE);
    aclshmemi_lane_init(&lane, (uint64_t)scratch.aclshmem_ub, scratch.ub_size, scratch.sync_id);
    lane.busy = aclshmemi_core()->scratch_busy;
    lane.next = aclshmemi_core()->scratch_next & lane.flip;
    return lane;
}

ACLSHMEM_DEVICE void aclshmemi_lane_end(const aclshmemi_lane_t *lane)
{
    aclshmemi_core()->scratch_busy = lane->busy;
    aclshmemi_core()->scratch_next = lane->next;
}

/* What was issued on MTE3 is over before MTE2 goes on. */
ACLSHMEM_DEVICE void aclshmemi_lane_drain(aclshmemi_lane_t *lane)
{
    aclshmemi_port_flag_set(AICORE_PIPE_MTE3, AICORE_PIPE_MTE2, lane->flag);
    aclshmemi_port_flag_wait(AICORE_PIPE_MTE3, AICORE_PIPE_MTE2, lane->flag);
    lane->busy = 0;
}

/* Offset of the half that MTE2 may write now. */
ACLSHMEM_DEVICE uint64_t aclshmemi_lane_take(aclshmemi_lane_t *lane)
{
    if ((lane->busy & 1u << lane->next) != 0)
        aclshmemi_lane_drain(lane);
    return lane->at + lane->next * lane->half_bytes;
}

/* Between a copy into the half and the copy out of it. */
ACLSHMEM_DEVICE void aclshmemi_lane_turn(aclshmemi_lane_t *lane)
{
    aclshmemi_port_flag_set(AICORE_PIPE_MTE2, AICORE_PIPE_MTE3, lane->flag);
    aclshmemi_port_flag_wait(AICORE_PIPE_MTE2, AICORE_PIPE_MTE3, lane->flag);
    if (lane->busy != 0)
        aclshmemi_lane_drain(lane);
    lane->busy |= 1u << lane->next;
    lane->next ^= lane->flip;
}

ACLSHMEM_DEVICE void aclshmemi_lane_copy(aclshmemi_lane_t *lane, __gm__ char *to, __gm__ const char *from,
                                         uint64_t bytes)
{
    while (bytes > 0) {
        uint64_t piece = bytes < lane->half_bytes ? bytes : lane->half_bytes;
        uint64_t ub = aclshmemi_lane_take(lane);
        aclshmemi_port_copy_in(ub, from, piece);
        aclshmemi_lane_turn(lane);
        aclshmemi_port_copy_out(to, ub, piece);
        from += piece;
        to += piece;
        bytes -= piece;
    }
}

/* --- Rows --- */

/* Pieces of the same length at the same distances, in bytes. Strided elements are rows of one element. */
typedef struct aclshmemi_rows {
    uint64_t count, bytes, from_step, to_step;
} aclshmemi_rows_t;

#define ACLSHMEMI_COPY_EACH(bytes_)                                                                          \
    for (uint64_t row = 0; row < rows->count; row++, to += rows->to_step, from += rows->from_step)           \
    __builtin_memcpy(to, from, bytes_)

/* Elements are copied by instructions of their width, which a call for each would take several times as long as. */
ACLSHMEM_DEVICE void aclshmemi_rows_through(__gm__ char *to, __gm__ const char *from,
                                            const aclshmemi_rows_t *rows)
{
    switch (rows->bytes) {
    case 1:
        ACLSHMEMI_COPY_EACH(1);
        break;
    case 2:
        ACLSHMEMI_COPY_EACH(2);
        break;
    case 4:
        ACLSHMEMI_COPY_EACH(4);
        break;
    case 8:
        ACLSHMEMI_COPY_EACH(8);
        break;
    case 16:
        ACLSHMEMI_COPY_EACH(16);
        break;
    default:
        for (uint64_t row = 0; row < rows->count; row++)
            aclshmemi_port_copy_through(to + row * rows->to_step, from + row * rows->from_step, rows->bytes);
    }
}
#undef ACLSHMEMI_COPY_EACH

/* A batch of rows that fits a half, by one instruction for each direction; gaps are 32 bits wide there. */
ACLSHMEM_DEVICE void aclshmemi_lane_batch(aclshmemi_lane_t *lane, __gm__ char *to, __gm__ const char *from,
                                          const aclshmemi_rows_t *rows, uint32_t count)
{
    aicore_rows_t in = {count, (uint32_t)rows->bytes, (uint32_t)(rows->from_step - rows->bytes), 0};
    aicore_rows_t out = {count, (uint32_t)rows->bytes, (uint32_t)(rows->to_step - rows->bytes), 0};
    uint64_t ub = aclshmemi_lane_take(lane);
    aclshmemi_port_copy_in_rows(ub, from, &in);
    aclshmemi_lane_turn(lane);
    aclshmemi_port_copy_out_rows(to, ub, &out);
}

ACLSHMEM_DEVICE void aclshmemi_lane_rows(aclshmemi_lane_t *lane, __gm__ char *to, __gm__ const char *from,
                                         const aclshmemi_rows_t *rows)
{
    uint64_t room = ALIGN_UP(rows->bytes, (uint64_t)UB_ALIGN_SIZE);
    uint64_t batch =
        lane->half_bytes / room < AICORE_COPY_ROWS_MAX ? lane->half_bytes / room : AICORE_COPY_ROWS_MAX;
    if (rows->from_step - rows->bytes > UINT32_MAX || rows->to_step - rows->bytes > UINT32_MAX)
        batch = 0;
    for (uint64_t row = 0; row < rows->count;) {
        uint64_t count = rows->count - row < batch ? rows->count - row : batch;
        __gm__ char *there = to + row * rows->to_step;
        __gm__ const char *here = from + row * rows->from_step;
        if (count > 1) {
            aclshmemi_lane_batch(lane, there, here, rows, (uint32_t)count);
            row += count;
        } else {
            aclshmemi_lane_copy(lane, there, here, rows->bytes); /* a long row goes in pieces */
            row++;
        }
    }
}

/* --- The engine --- */

/* Who sleeps on memory of pe is woken when the copies are over: now, or by quiet. */
ACLSHMEM_DEVICE void aclshmemi_mte_wake_later(int pe)
{
    aclshmemi_core_t *core = aclshmemi_core();
    if (core->bell_first == 0 || pe + 1 < core->bell_first)
        core->bell_first = pe + 1;
    if (pe + 1 > core->bell_last)
        core->bell_last = pe + 1;
}

ACLSHMEM_DEVICE void aclshmemi_mte_wrote(const aclshmemi_state_t *state, int pe)
{
    if (aclshmemi_port_copies_directly())
        aclshmemi_notify(state, pe);
    else
        aclshmemi_mte_wake_later(pe);
}

/* Where MTE reaches it. The reach byte has said so for the PE; a heap of the host may be mapped less far. */
ACLSHMEM_DEVICE __gm__ char *aclshmemi_mte_place(const aclshmemi_state_t *state, const char *call,
                                                 const volatile void *there, uint64_t bytes, int pe)
{
    __gm__ char *place = aclshmemi_mapped(state, there, bytes, pe);
    if (__builtin_expect(place == NULL, 0))
        aclshmemi_port_trap("%s: memory of PE %d at %p is not within reach of this PE's loads and stores",
                            call, pe, (const void *)(uintptr_t)there);
    return place;
}

ACLSHMEM_DEVICE void aclshmemi_mte_put(const aclshmemi_state_t *state, const char *call, __gm__ void *there,
                                       __gm__ const void *here, uint64_t bytes, int pe)
{
    __gm__ char *to = aclshmemi_mte_place(state, call, there, bytes, pe);
    if (aclshmemi_port_copies_directly()) {
        aclshmemi_port_copy_through(to, here, bytes);
        aclshmemi_notify(state, pe);
        return;
    }
    aclshmemi_lane_t lane = aclshmemi_lane_begin(state, call);
    aclshmemi_lane_copy(&lane, to, (__gm__ const char *)here, bytes);
    aclshmemi_lane_end(&lane);
    aclshmemi_mte_wake_later(pe);
}

ACLSHMEM_DEVICE void aclshmemi_mte_get(const aclshmemi_state_t *state, const char *call, __gm__ void *here,
                                       __gm__ const void *there, uint64_t bytes, int pe)
{
    __gm__ const char *from = aclshmemi_mte_place(state, call, there, bytes, pe);
    if (aclshmemi_port_copies_directly()) {
        aclshmemi_port_copy_through(here, from, bytes);
        return;
    }
    aclshmemi_lane_t lane = aclshmemi_lane_begin(state, call);
    aclshmemi_lane_copy(&lane, (__gm__ char *)here, from, bytes);
    aclshmemi_lane_end(&lane);
}

/* Copies are over, what the scalar unit stored has left its cache, and sleepers know. */
ACLSHMEM_DEVICE void aclshmemi_mte_quiet(const aclshmemi_state_t *state, const char *call)
{
    aclshmemi_core_t *core = aclshmemi_core();
    (void)call;
    aclshmemi_port_barrier(AICORE_PIPE_ALL);
    aclshmemi_port_cache_all();
    core->scratch_busy = 0;
    for (int pe = core->bell_first; pe != 0 && pe <= core->bell_last; pe++)
        aclshmemi_notify(state, pe - 1);
    core->bell_first = core->bell_last = 0;
}

ACLSHMEM_DEVICE void aclshmemi_mte_fence(const aclshmemi_state_t *state, const char *call)
{
    (void)state;
    (void)call;
    /* Not MTE3 alone: a value that the scalar unit stores later must not overtake a copy either. */
    aclshmemi_port_barrier(AICORE_PIPE_ALL);
    aclshmemi_port_fence();
}

#include "device/gm2gm/engine/mte_amo.inl"

#endif
