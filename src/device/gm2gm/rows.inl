/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single elements and pieces of equal length: what MTE does by loads, stores and one instruction for many rows, and what
 * the other engines do piece by piece, through a bounce buffer where they cannot take what there is.
 */
#ifndef ACLSHMEMI_DEVICE_ROWS_INL
#define ACLSHMEMI_DEVICE_ROWS_INL

#include "device/dispatch.inl"
#include "device/gm2gm/bounce.inl"

/* --- Single elements --- */

ACLSHMEM_DEVICE void aclshmemi_check_element(const char *call, const volatile void *address, uint32_t bytes,
                                             int pe)
{
    if (__builtin_expect((uintptr_t)address % bytes != 0, 0))
        aclshmemi_port_trap("%s to PE %d: %p is not aligned to the %u bytes of an element", call, pe,
                            (const void *)(uintptr_t)address, bytes);
}

ACLSHMEM_DEVICE void aclshmemi_p(const char *call, __gm__ void *there, uint64_t bits, uint32_t bytes, int pe)
{
    const aclshmemi_state_t *state = aclshmemi_state(call);
    aclshmemi_check(state, call, there, bytes, pe);
    aclshmemi_check_element(call, there, bytes, pe);
    uint32_t engine = aclshmemi_engine_for(state, call, pe, false);
    if (engine != ACLSHMEM_TRANSPORT_MTE) {
        aclshmemi_far_p(state, call, engine, there, bits, bytes, pe);
        return;
    }
    __gm__ char *place = aclshmemi_mte_place(state, call, there, bytes, pe);
    aclshmemi_port_store(place, bits, bytes);
    if (!aclshmemi_port_copies_directly())
        aclshmemi_port_cache_line(place);
    aclshmemi_notify(state, pe);
}

ACLSHMEM_DEVICE uint64_t aclshmemi_g(const char *call, __gm__ const void *there, uint32_t bytes, int pe)
{
    const aclshmemi_state_t *state = aclshmemi_state(call);
    aclshmemi_check(state, call, there, bytes, pe);
    aclshmemi_check_element(call, there, bytes, pe);
    uint32_t engine = aclshmemi_engine_for(state, call, pe, false);
    if (engine != ACLSHMEM_TRANSPORT_MTE)
        return aclshmemi_far_g(state, call, engine, there, bytes, pe);
    __gm__ const char *place = aclshmemi_mte_place(state, call, there, bytes, pe);
    if (!aclshmemi_port_copies_directly())
        aclshmemi_port_cache_line(place);
    return aclshmemi_port_load(place, bytes);
}

/* --- Rows --- */

/* Bytes from the start of the first row to the end of the last. */
ACLSHMEM_DEVICE uint64_t aclshmemi_span(uint64_t count, uint64_t step, uint64_t bytes)
{
    uint64_t span;
    if (__builtin_mul_overflow(count - 1, step, &span) || __builtin_add_overflow(span, bytes, &span))
        return UINT64_MAX; /* no heap is that large */
    return span;
}

/* Rows that lie one behind the other on both sides are one. */
ACLSHMEM_DEVICE void aclshmemi_rows_merge(aclshmemi_rows_t *rows)
{
    if (rows->count > 1 && rows->from_step == rows->bytes && rows->to_step == rows->bytes) {
        rows->bytes = aclshmemi_bytes(rows->count, rows->bytes);
        rows->count = 1;
    }
}

ACLSHMEM_DEVICE void aclshmemi_mte_rows(const aclshmemi_state_t *state, const char *call, __gm__ char *to,
                                        __gm__ const char *from, const aclshmemi_rows_t *rows)
{
    if (aclshmemi_port_copies_directly()) {
        aclshmemi_rows_through(to, from, rows);
        return;
    }
    aclshmemi_lane_t lane = aclshmemi_lane_begin(state, call);
    aclshmemi_lane_rows(&lane, to, from, rows);
    aclshmemi_lane_end(&lane);
}

/* Both start it; they give the engine back, 0 when there was nothing to do. */
ACLSHMEM_DEVICE uint32_t aclshmemi_put_rows(const char *call, __gm__ void *there, __gm__ const void *here,
                                            aclshmemi_rows_t *rows, int pe)
{
    const aclshmemi_state_t *state = aclshmemi_state(call);
    uint64_t span = rows->count == 0 ? 0 : aclshmemi_span(rows->count, rows->to_step, rows->bytes);
    aclshmemi_check(state, call, there, span, pe);
    if (rows->count == 0 || rows->bytes == 0)
        return 0;
    uint32_t engine = aclshmemi_engine_for(state, call, pe, false);
    aclshmemi_rows_merge(rows);
    if (engine != ACLSHMEM_TRANSPORT_MTE) {
        aclshmemi_far_put_rows(state, call, engine, (__gm__ char *)there, (__gm__ const char *)here, rows,
                               pe);
        return engine;
    }
    aclshmemi_core()->used |= engine;
    __gm__ char *to = aclshmemi_mte_place(state, call, there, span, pe);
    aclshmemi_mte_rows(state, call, to, (__gm__ const char *)here, rows);
    aclshmemi_mte_wrote(state, pe);
    return engine;
}

ACLSHMEM_DEVICE uint32_t aclshmemi_get_rows(const char *call, __gm__ void *here, __gm__ const void *there,
                                            aclshmemi_rows_t *rows, int pe)
{
    const aclshmemi_state_t *state = aclshmemi_state(call);
    uint64_t span = rows->count == 0 ? 0 : aclshmemi_span(rows->count, rows->from_step, rows->bytes);
    aclshmemi_check(state, call, there, span, pe);
    if (rows->count == 0 || rows->bytes == 0)
        return 0;
    uint32_t engine = aclshmemi_engine_for(state, call, pe, false);
    aclshmemi_rows_merge(rows);
    if (engine != ACLSHMEM_TRANSPORT_MTE) {
        aclshmemi_far_get_rows(state, call, engine, (__gm__ char *)here, (__gm__ const char *)there, rows,
                               pe);
        return engine;
    }
    aclshmemi_core()->used |= engine;
    __gm__ const char *from = aclshmemi_mte_place(state, call, there, span, pe);
    aclshmemi_mte_rows(state, call, (__gm__ char *)here, from, rows);
    return engine;
}

/* --- What users write --- */

/* Their rows in bytes. */
ACLSHMEM_DEVICE aclshmemi_rows_t aclshmemi_rows_of(const char *call, const non_contiguous_copy_param *rows,
                                                   uint64_t element_bytes, int pe)
{
    aclshmemi_rows_t out;
    if (rows == NULL)
        aclshmemi_port_trap("%s to PE %d: the description of the rows is NULL", call, pe);
    if (rows->repeat > 0 && (rows->src_ld < rows->length || rows->dst_ld < rows->length))
        aclshmemi_port_trap("%s to PE %d: rows of %u elements start %u apart in the source and %u in the "
                            "destination, so they overlap",
                            call, pe, rows->length, rows->src_ld, rows->dst_ld);
    out.count = rows->length == 0 ? 0 : rows->repeat;
    out.bytes = aclshmemi_bytes(rows->length, element_bytes);
    out.from_step = aclshmemi_bytes(rows->src_ld, element_bytes);
    out.to_step = aclshmemi_bytes(rows->dst_ld, element_bytes);
    return out;
}

ACLSHMEM_DEVICE aclshmemi_rows_t aclshmemi_strided(const char *call, ptrdiff_t dst, ptrdiff_t sst,
                                                   uint64_t nelems, uint64_t element_bytes, int pe)
{
    aclshmemi_rows_t out;
    if (dst < 1 || sst < 1)
        aclshmemi_port_trap("%s to PE %d: strides are %lld in dest and %lld in source, at least 1 is allowed",
                            call, pe, (long long)dst, (long long)sst);
    out.count = nelems;
    out.bytes = element_bytes;
    out.from_step = aclshmemi_bytes((uint64_t)sst, element_bytes);
    out.to_step = aclshmemi_bytes((uint64_t)dst, element_bytes);
    return out;
}

ACLSHMEM_DEVICE void aclshmemi_iput(const char *call, __gm__ void *dest, __gm__ const void *source,
                                    ptrdiff_t dst, ptrdiff_t sst, uint64_t nelems, uint64_t element_bytes,
                                    int pe)
{
    aclshmemi_rows_t rows = aclshmemi_strided(call, dst, sst, nelems, element_bytes, pe);
    if (dst == 1 && sst == 1) {
        aclshmemi_put_now(call, dest, source, aclshmemi_bytes(nelems, element_bytes), pe);
        return;
    }
    uint32_t engine = aclshmemi_put_rows(call, dest, source, &rows, pe);
    if (engine != 0)
        aclshmemi_engine_quiet(aclshmemi_state(call), call, engine);
}

ACLSHMEM_DEVICE void aclshmemi_iget(const char *call, __gm__ void *dest, __gm__ const void *source,
                                    ptrdiff_t dst, ptrdiff_t sst, uint64_t nelems, uint64_t element_bytes,
                                    int pe)
{
    aclshmemi_rows_t rows = aclshmemi_strided(call, dst, sst, nelems, element_bytes, pe);
    if (dst == 1 && sst == 1) {
        aclshmemi_get_now(call, dest, source, aclshmemi_bytes(nelems, element_bytes), pe);
        return;
    }
    uint32_t engine = aclshmemi_get_rows(call, dest, source, &rows, pe);
    if (engine != 0)
        aclshmemi_engine_quiet(aclshmemi_state(call), call, engine);
}

#endif
