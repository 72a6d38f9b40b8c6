/* SPDX-License-Identifier: Apache-2.0 */
/* Copies between the unified buffer and another PE: the limits of the copy instructions, then one of them. */
#ifndef ACLSHMEMI_DEVICE_UB_COPY_INL
#define ACLSHMEMI_DEVICE_UB_COPY_INL

#include "device/gm2gm/rows.inl"

ACLSHMEM_DEVICE void aclshmemi_ub_check(const char *call, uint64_t ub, uint64_t bytes, int pe)
{
    uint32_t has = aclshmemi_port_ub_bytes();
    if (__builtin_expect(ub % UB_ALIGN_SIZE != 0, 0))
        aclshmemi_port_trap("%s to PE %d: address %llu of the unified buffer is no multiple of %d", call, pe,
                            (unsigned long long)ub, UB_ALIGN_SIZE);
    if (__builtin_expect(ub > has || bytes > has - ub, 0))
        aclshmemi_port_trap("%s to PE %d: %llu bytes at %llu of the unified buffer, which has %u", call, pe,
                            (unsigned long long)bytes, (unsigned long long)ub, has);
}

ACLSHMEM_DEVICE uint64_t aclshmemi_ub_rounded(uint64_t bytes)
{
    return bytes > UINT64_MAX - UB_ALIGN_SIZE ? bytes : ALIGN_UP(bytes, (uint64_t)UB_ALIGN_SIZE);
}

/* A copy out of the buffer may still read what a later call wants to use as its scratch. */
ACLSHMEM_DEVICE void aclshmemi_ub_leaving(const aclshmemi_state_t *state, int pe)
{
    aclshmemi_core()->scratch_busy = 3;
    aclshmemi_mte_wrote(state, pe);
}

/* by_name: on MTE or not at all. */
ACLSHMEM_DEVICE uint32_t aclshmemi_ub_engine(const aclshmemi_state_t *state, const char *call, int pe,
                                             bool by_name)
{
    uint32_t engine = by_name ? ACLSHMEM_TRANSPORT_MTE : aclshmemi_engine_for(state, call, pe, false);
    aclshmemi_core()->used |= engine;
    return engine;
}

ACLSHMEM_DEVICE void aclshmemi_ub_put(const char *call, __gm__ void *there, uint64_t ub, uint64_t bytes,
                                      int pe, bool by_name)
{
    const aclshmemi_state_t *state = aclshmemi_state(call);
    aclshmemi_check(state, call, there, bytes, pe);
    aclshmemi_ub_check(call, ub, bytes, pe);
    if (bytes == 0)
        return;
    uint32_t engine = aclshmemi_ub_engine(state, call, pe, by_name);
    if (engine != ACLSHMEM_TRANSPORT_MTE) {
        aclshmemi_far_put_ub(state, call, engine, (__gm__ char *)there, ub, bytes, pe);
        return;
    }
    aclshmemi_port_copy_out(aclshmemi_mte_place(state, call, there, bytes, pe), ub, bytes);
    aclshmemi_ub_leaving(state, pe);
}

ACLSHMEM_DEVICE void aclshmemi_ub_get(const char *call, uint64_t ub, __gm__ const void *there, uint64_t bytes,
                                      int pe, bool by_name)
{
    const aclshmemi_state_t *state = aclshmemi_state(call);
    aclshmemi_check(state, call, there, bytes, pe);
    aclshmemi_ub_check(call, ub, aclshmemi_ub_rounded(bytes), pe);
    if (bytes == 0)
        return;
    uint32_t engine = aclshmemi_ub_engine(state, call, pe, by_name);
    if (engine != ACLSHMEM_TRANSPORT_MTE)
        aclshmemi_far_get_ub(state, call, engine, ub, (__gm__ const char *)there, bytes, pe);
    else
        aclshmemi_port_copy_in(ub, aclshmemi_mte_place(state, call, there, bytes, pe), bytes);
}

/* --- Rows --- */

/* Distance of the rows in the buffer, which holds them all; ends the launch when it does not. */
ACLSHMEM_DEVICE void aclshmemi_ub_check_rows(const char *call, uint64_t ub, uint64_t step,
                                             const aclshmemi_rows_t *rows, int pe)
{
    if (rows->count > 1 && step % UB_ALIGN_SIZE != 0)
        aclshmemi_port_trap("%s to PE %d: rows start %llu bytes apart in the unified buffer, which is no "
                            "multiple of %d",
                            call, pe, (unsigned long long)step, UB_ALIGN_SIZE);
    aclshmemi_ub_check(call, ub, aclshmemi_span(rows->count, step, aclshmemi_ub_rounded(rows->bytes)), pe);
}

/* Rows from `done` on, as many as one instruction takes; one by one where the gap in memory needs more than 32 bits. */
ACLSHMEM_DEVICE aicore_rows_t aclshmemi_ub_batch(const aclshmemi_rows_t *rows, uint64_t done,
                                                 uint64_t memory_step, uint64_t ub_step)
{
    aicore_rows_t batch;
    uint64_t most = memory_step - rows->bytes > UINT32_MAX ? 1 : AICORE_COPY_ROWS_MAX;
    uint64_t left = rows->count - done;
    batch.count = (uint32_t)(left < most ? left : most);
    batch.bytes = (uint32_t)rows->bytes;
    batch.memory_gap = batch.count > 1 ? (uint32_t)(memory_step - rows->bytes) : 0;
    batch.ub_gap =
        batch.count > 1 ? (uint32_t)((ub_step - aclshmemi_ub_rounded(rows->bytes)) / UB_ALIGN_SIZE) : 0;
    return batch;
}

ACLSHMEM_DEVICE void aclshmemi_ub_put_rows(const char *call, __gm__ void *there, uint64_t ub,
                                           const aclshmemi_rows_t *rows, int pe, bool by_name)
{
    const aclshmemi_state_t *state = aclshmemi_state(call);
    uint64_t span = rows->count == 0 ? 0 : aclshmemi_span(rows->count, rows->to_step, rows->bytes);
    aclshmemi_check(state, call, there, span, pe);
    if (rows->count == 0)
        return;
    aclshmemi_ub_check_rows(call, ub, rows->from_step, rows, pe);
    uint32_t engine = aclshmemi_ub_engine(state, call, pe, by_name);
    if (engine != ACLSHMEM_TRANSPORT_MTE) {
        for (uint64_t row = 0; row < rows->count; row++)
            aclshmemi_far_put_ub(state, call, engine, (__gm__ char *)there + row * rows->to_step,
                                 ub + row * rows->from_step, rows->bytes, pe);
        return;
    }
    __gm__ char *to = aclshmemi_mte_place(state, call, there, span, pe);
    for (uint64_t row = 0; row < rows->count;) {
        aicore_rows_t batch = aclshmemi_ub_batch(rows, row, rows->to_step, rows->from_step);
        aclshmemi_port_copy_out_rows(to + row * rows->to_step, ub + row * rows->from_step, &batch);
        row += batch.count;
    }
    aclshmemi_ub_leaving(state, pe);
}

ACLSHMEM_DEVICE void aclshmemi_ub_get_rows(const char *call, uint64_t ub, __gm__ const void *there,
                                           const aclshmemi_rows_t *rows, int pe, bool by_name)
{
    const aclshmemi_state_t *state = aclshmemi_state(call);
    uint64_t span = rows->count == 0 ? 0 : aclshmemi_span(rows->count, rows->from_step, rows->bytes);
    aclshmemi_check(state, call, there, span, pe);
    if (rows->count == 0)
        return;
    aclshmemi_ub_check_rows(call, ub, rows->to_step, rows, pe);
    uint32_t engine = aclshmemi_ub_engine(state, call, pe, by_name);
    if (engine != ACLSHMEM_TRANSPORT_MTE) {
        for (uint64_t row = 0; row < rows->count; row++)
            aclshmemi_far_get_ub(state, call, engine, ub + row * rows->to_step,
                                 (__gm__ const char *)there + row * rows->from_step, rows->bytes, pe);
        return;
    }
    __gm__ const char *from = aclshmemi_mte_place(state, call, there, span, pe);
    for (uint64_t row = 0; row < rows->count;) {
        aicore_rows_t batch = aclshmemi_ub_batch(rows, row, rows->from_step, rows->to_step);
        aclshmemi_port_copy_in_rows(ub + row * rows->to_step, from + row * rows->from_step, &batch);
        row += batch.count;
    }
}

#endif
