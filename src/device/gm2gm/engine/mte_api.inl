/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies of MTE by name, global memory to global memory. Whatever the engine rule says, MTE carries it. */
#ifndef ACLSHMEMI_DEVICE_MTE_API_INL
#define ACLSHMEMI_DEVICE_MTE_API_INL

#include "device/gm2gm/rows.inl"

/* The caller's scratch. Earlier calls may still be copying out of it, or out of what overlaps it. */
ACLSHMEM_DEVICE aclshmemi_lane_t aclshmemi_mte_lane(const char *call, uint64_t ub, uint32_t ub_size,
                                                    uint64_t element_bytes, uint32_t sync_id)
{
    aclshmemi_lane_t lane;
    aclshmemi_scratch_check(call, "MTE", ub, ub_size, sync_id, UB_ALIGN_SIZE);
    if (element_bytes > ub_size)
        aclshmemi_port_trap("%s: %u bytes of scratch for elements of %llu", call, ub_size,
                            (unsigned long long)element_bytes);
    aclshmemi_lane_init(&lane, ub, ub_size, sync_id);
    return lane;
}

ACLSHMEM_DEVICE void aclshmemi_mte_move(const char *call, aclshmemi_lane_t *lane, __gm__ char *to,
                                        __gm__ const char *from, const aclshmemi_rows_t *rows)
{
    (void)call;
    aclshmemi_core()->used |= ACLSHMEM_TRANSPORT_MTE;
    if (!aclshmemi_port_copies_directly()) {
        aclshmemi_lane_rows(lane, to, from, rows);
        aclshmemi_core()->scratch_busy = 3;
    } else if (rows->count == 1) {
        aclshmemi_port_copy_through(to, from, rows->bytes);
    } else {
        aclshmemi_rows_through(to, from, rows);
    }
}

ACLSHMEM_DEVICE void aclshmemi_mte_put_by_name(const char *call, __gm__ void *dst, __gm__ const void *src,
                                               aclshmemi_lane_t lane, aclshmemi_rows_t rows, int pe)
{
    const aclshmemi_state_t *state = aclshmemi_state(call);
    uint64_t span = rows.count == 0 ? 0 : aclshmemi_span(rows.count, rows.to_step, rows.bytes);
    aclshmemi_check(state, call, dst, span, pe);
    if (rows.count == 0 || rows.bytes == 0)
        return;
    aclshmemi_rows_merge(&rows);
    aclshmemi_mte_move(call, &lane, aclshmemi_mte_place(state, call, dst, span, pe), (__gm__ const char *)src,
                       &rows);
    aclshmemi_mte_wrote(state, pe);
}

ACLSHMEM_DEVICE void aclshmemi_mte_get_by_name(const char *call, __gm__ void *dst, __gm__ const void *src,
                                               aclshmemi_lane_t lane, aclshmemi_rows_t rows, int pe)
{
    const aclshmemi_state_t *state = aclshmemi_state(call);
    uint64_t span = rows.count == 0 ? 0 : aclshmemi_span(rows.count, rows.from_step, rows.bytes);
    aclshmemi_check(state, call, src, span, pe);
    if (rows.count == 0 || rows.bytes == 0)
        return;
    aclshmemi_rows_merge(&rows);
    aclshmemi_mte_move(call, &lane, (__gm__ char *)dst, aclshmemi_mte_place(state, call, src, span, pe),
                       &rows);
}

/* One row of everything. */
ACLSHMEM_DEVICE aclshmemi_rows_t aclshmemi_one_row(uint64_t nelems, uint64_t element_bytes)
{
    aclshmemi_rows_t row;
    row.count = 1;
    row.bytes = aclshmemi_bytes(nelems, element_bytes);
    row.from_step = row.to_step = row.bytes;
    return row;
}

#define ACLSHMEMI_MTE_BY_NAME(verb)                                                                          \
    ACLSHMEM_DEVICE void aclshmemx_mte_##verb##mem_nbi(                                                      \
        __gm__ void *dst, __gm__ void *src, ACLSHMEM_UB_POINTER(void) buf, uint32_t ub_size,                 \
        size_t element_bytes, size_t nelems, int pe, uint32_t sync_id)                                       \
    {                                                                                                        \
        static const char call[] = "mte_" #verb "mem_nbi";                                                   \
        aclshmemi_mte_##verb##_by_name(                                                                      \
            call, dst, src,                                                                                  \
            aclshmemi_mte_lane(call, AICORE_UB_NUMBER(buf), ub_size, element_bytes, sync_id),                \
            aclshmemi_one_row(nelems, element_bytes), pe);                                                   \
    }                                                                                                        \
    ACLSHMEM_DEVICE void aclshmemx_mte_##verb##mem_nbi_rows(                                                 \
        __gm__ void *dst, __gm__ void *src, ACLSHMEM_UB_POINTER(void) buf, uint32_t ub_size,                 \
        size_t element_bytes, const non_contiguous_copy_param *rows, int pe, uint32_t sync_id)               \
    {                                                                                                        \
        static const char call[] = "mte_" #verb "mem_nbi_rows";                                              \
        aclshmemi_mte_##verb##_by_name(                                                                      \
            call, dst, src,                                                                                  \
            aclshmemi_mte_lane(call, AICORE_UB_NUMBER(buf), ub_size, element_bytes, sync_id),                \
            aclshmemi_rows_of(call, rows, element_bytes, pe), pe);                                           \
    }                                                                                                        \
    ACLSHMEM_DEVICE void aclshmemx_mte_##verb##mem_nbi_hint(                                                 \
        __gm__ void *dst, __gm__ void *src, ACLSHMEM_UB_POINTER(void) buf, uint32_t ub_size,                 \
        size_t element_bytes, size_t nelems, int pe, uint32_t sync_id, bool enable_l2)                       \
    {                                                                                                        \
        static const char call[] = "mte_" #verb "mem_nbi_hint";                                              \
        (void)enable_l2; /* the caches of this machine take no hints */                                      \
        aclshmemi_mte_##verb##_by_name(                                                                      \
            call, dst, src,                                                                                  \
            aclshmemi_mte_lane(call, AICORE_UB_NUMBER(buf), ub_size, element_bytes, sync_id),                \
            aclshmemi_one_row(nelems, element_bytes), pe);                                                   \
    }                                                                                                        \
    ACLSHMEM_DEVICE void aclshmemx_mte_##verb##mem_nbi_hint_cfg(                                             \
        __gm__ void *dst, __gm__ void *src, size_t element_bytes, size_t nelems, int32_t pe, bool enable_l2) \
    {                                                                                                        \
        static const char call[] = "mte_" #verb "mem_nbi_hint_cfg";                                          \
        aclshmem_ub_config_t scratch = aclshmemi_scratch(aclshmemi_state(call), ACLSHMEMI_ENGINE_MTE);       \
        (void)enable_l2;                                                                                     \
        aclshmemi_mte_##verb##_by_name(call, dst, src,                                                       \
                                       aclshmemi_mte_lane(call, (uint64_t)scratch.aclshmem_ub,               \
                                                          scratch.ub_size, element_bytes, scratch.sync_id),  \
                                       aclshmemi_one_row(nelems, element_bytes), pe);                        \
    }
ACLSHMEMI_MTE_BY_NAME(put)
ACLSHMEMI_MTE_BY_NAME(get)
#undef ACLSHMEMI_MTE_BY_NAME

ACLSHMEM_DEVICE void aclshmemx_mte_quiet(void)
{
    aclshmemi_mte_quiet(aclshmemi_state("mte_quiet"), "mte_quiet");
}

#endif
