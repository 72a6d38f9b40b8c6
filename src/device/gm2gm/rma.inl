/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies of put and get, grown from the lists of types: the moves of dispatch.inl and rows.inl know bytes only. */
#ifndef ACLSHMEMI_DEVICE_RMA_INL
#define ACLSHMEMI_DEVICE_RMA_INL

#include "device/gm2gm/rows.inl"

/* --- Scratch --- */

ACLSHMEM_DEVICE int aclshmemi_scratch_set(const char *call, aclshmemi_engine_index_t engine, const char *name,
                                          uint32_t least, uint64_t offset, uint32_t ub_size, uint32_t sync_id)
{
    aclshmemi_core_t *core = aclshmemi_core();
    aclshmemi_scratch_check(call, name, offset, ub_size, sync_id, least);
    core->config[engine].aclshmem_ub = (int64_t)offset;
    core->config[engine].ub_size = ub_size;
    core->config[engine].sync_id = sync_id;
    core->scratch_good |= 1u << engine;
    if (engine == ACLSHMEMI_ENGINE_MTE)
        core->scratch_busy = 3; /* who knows what still leaves those bytes */
    return 0;
}

ACLSHMEM_DEVICE int aclshmemx_set_mte_config(uint64_t offset, uint32_t ub_size, uint32_t sync_id)
{
    return aclshmemi_scratch_set("set_mte_config", ACLSHMEMI_ENGINE_MTE, "MTE", UB_ALIGN_SIZE, offset,
                                 ub_size, sync_id);
}

ACLSHMEM_DEVICE int aclshmemx_set_sdma_config(uint64_t offset, uint32_t ub_size, uint32_t sync_id)
{
    if (offset % UB_ALIGN_SIZE_64 != 0)
        aclshmemi_port_trap("set_sdma_config: scratch for SDMA at %llu of the unified buffer, which is no "
                            "multiple of %d",
                            (unsigned long long)offset, UB_ALIGN_SIZE_64);
    return aclshmemi_scratch_set("set_sdma_config", ACLSHMEMI_ENGINE_SDMA, "SDMA", ACLSHMEM_SDMA_FLAG_LENGTH,
                                 offset, ub_size, sync_id);
}

ACLSHMEM_DEVICE int aclshmemx_set_udma_config(uint64_t offset, uint32_t ub_size, uint32_t sync_id)
{
    return aclshmemi_scratch_set("set_udma_config", ACLSHMEMI_ENGINE_UDMA, "UDMA",
                                 ACLSHMEM_UDMA_MTE_STAGING_UB_SIZE, offset, ub_size, sync_id);
}

/* --- Types --- */

#define ACLSHMEMI_RMA_ELEMENT(NAME, TYPE)                                                                    \
    ACLSHMEM_DEVICE void aclshmem_##NAME##_p(__gm__ TYPE *dst, const TYPE value, int pe)                     \
    {                                                                                                        \
        uint64_t bits = 0;                                                                                   \
        __builtin_memcpy(&bits, &value, sizeof value);                                                       \
        aclshmemi_p(#NAME "_p", dst, bits, sizeof value, pe);                                                \
    }                                                                                                        \
    ACLSHMEM_DEVICE TYPE aclshmem_##NAME##_g(__gm__ TYPE *src, int32_t pe)                                   \
    {                                                                                                        \
        TYPE value;                                                                                          \
        uint64_t bits = aclshmemi_g(#NAME "_g", src, sizeof value, pe);                                      \
        __builtin_memcpy(&value, &bits, sizeof value);                                                       \
        return value;                                                                                        \
    }
ACLSHMEM_TYPES_RMA(ACLSHMEMI_RMA_ELEMENT)
#undef ACLSHMEMI_RMA_ELEMENT

#define ACLSHMEMI_RMA_TYPED(NAME, TYPE)                                                                      \
    ACLSHMEM_DEVICE void aclshmem_##NAME##_put(__gm__ TYPE *dst, __gm__ TYPE *src, size_t nelems,            \
                                               int32_t pe)                                                   \
    {                                                                                                        \
        aclshmemi_put_now(#NAME "_put", dst, src, aclshmemi_bytes(nelems, sizeof(TYPE)), pe);                \
    }                                                                                                        \
    ACLSHMEM_DEVICE void aclshmem_##NAME##_get(__gm__ TYPE *dst, __gm__ TYPE *src, size_t nelems,            \
                                               int32_t pe)                                                   \
    {                                                                                                        \
        aclshmemi_get_now(#NAME "_get", dst, src, aclshmemi_bytes(nelems, sizeof(TYPE)), pe);                \
    }                                                                                                        \
    ACLSHMEM_DEVICE void aclshmem_##NAME##_put_nbi(__gm__ TYPE *dst, __gm__ TYPE *src, size_t nelems,        \
                                                   int32_t pe)                                               \
    {                                                                                                        \
        aclshmemi_put(#NAME "_put_nbi", dst, src, aclshmemi_bytes(nelems, sizeof(TYPE)), pe);                \
    }                                                                                                        \
    ACLSHMEM_DEVICE void aclshmem_##NAME##_get_nbi(__gm__ TYPE *dst, __gm__ TYPE *src, size_t nelems,        \
                                                   int32_t pe)                                               \
    {                                                                                                        \
        aclshmemi_get(#NAME "_get_nbi", dst, src, aclshmemi_bytes(nelems, sizeof(TYPE)), pe);                \
    }
ACLSHMEM_TYPES_RMA(ACLSHMEMI_RMA_TYPED)
#undef ACLSHMEMI_RMA_TYPED

#define ACLSHMEMI_RMA_BITS(BITS)                                                                             \
    ACLSHMEM_DEVICE void aclshmem_put##BITS(__gm__ void *dst, __gm__ void *src, size_t nelems, int32_t pe)   \
    {                                                                                                        \
        aclshmemi_put_now("put" #BITS, dst, src, aclshmemi_bytes(nelems, (BITS) / 8), pe);                   \
    }                                                                                                        \
    ACLSHMEM_DEVICE void aclshmem_get##BITS(__gm__ void *dst, __gm__ void *src, size_t nelems, int32_t pe)   \
    {                                                                                                        \
        aclshmemi_get_now("get" #BITS, dst, src, aclshmemi_bytes(nelems, (BITS) / 8), pe);                   \
    }                                                                                                        \
    ACLSHMEM_DEVICE void aclshmem_put##BITS##_nbi(__gm__ void *dst, __gm__ void *src, size_t nelems,         \
                                                  int32_t pe)                                                \
    {                                                                                                        \
        aclshmemi_put("put" #BITS "_nbi", dst, src, aclshmemi_bytes(nelems, (BITS) / 8), pe);                \
    }                                                                                                        \
    ACLSHMEM_DEVICE void aclshmem_get##BITS##_nbi(__gm__ void *dst, __gm__ void *src, size_t nelems,         \
                                                  int32_t pe)                                                \
    {                                                                                                        \
        aclshmemi_get("get" #BITS "_nbi", dst, src, aclshmemi_bytes(nelems, (BITS) / 8), pe);                \
    }
ACLSHMEM_TYPES_BITS(ACLSHMEMI_RMA_BITS)
#undef ACLSHMEMI_RMA_BITS

ACLSHMEM_DEVICE void aclshmem_putmem(__gm__ void *dst, __gm__ void *src, size_t bytes, int32_t pe)
{
    aclshmemi_put_now("putmem", dst, src, bytes, pe);
}

ACLSHMEM_DEVICE void aclshmem_getmem(__gm__ void *dst, __gm__ void *src, size_t bytes, int32_t pe)
{
    aclshmemi_get_now("getmem", dst, src, bytes, pe);
}

ACLSHMEM_DEVICE void aclshmem_putmem_nbi(__gm__ void *dst, __gm__ void *src, size_t bytes, int32_t pe)
{
    aclshmemi_put("putmem_nbi", dst, src, bytes, pe);
}

ACLSHMEM_DEVICE void aclshmem_getmem_nbi(__gm__ void *dst, __gm__ void *src, size_t bytes, int32_t pe)
{
    aclshmemi_get("getmem_nbi", dst, src, bytes, pe);
}

/* --- Rows and strides --- */

#define ACLSHMEMI_RMA_ROWS(NAME, TYPE)                                                                       \
    ACLSHMEM_DEVICE void aclshmem_##NAME##_put_nbi_rows(__gm__ TYPE *dst, __gm__ TYPE *src,                  \
                                                        const non_contiguous_copy_param *rows, int32_t pe)   \
    {                                                                                                        \
        aclshmemi_rows_t out = aclshmemi_rows_of(#NAME "_put_nbi_rows", rows, sizeof(TYPE), pe);             \
        (void)aclshmemi_put_rows(#NAME "_put_nbi_rows", dst, src, &out, pe);                                 \
    }                                                                                                        \
    ACLSHMEM_DEVICE void aclshmem_##NAME##_get_nbi_rows(__gm__ TYPE *dst, __gm__ TYPE *src,                  \
                                                        const non_contiguous_copy_param *rows, int32_t pe)   \
    {                                                                                                        \
        aclshmemi_rows_t out = aclshmemi_rows_of(#NAME "_get_nbi_rows", rows, sizeof(TYPE), pe);             \
        (void)aclshmemi_get_rows(#NAME "_get_nbi_rows", dst, src, &out, pe);                                 \
    }                                                                                                        \
    ACLSHMEM_DEVICE void aclshmem_##NAME##_iput(__gm__ TYPE *dest, __gm__ TYPE *source, ptrdiff_t dst,       \
                                                ptrdiff_t sst, size_t nelems, int pe)                        \
    {                                                                                                        \
        aclshmemi_iput(#NAME "_iput", dest, source, dst, sst, nelems, sizeof(TYPE), pe);                     \
    }                                                                                                        \
    ACLSHMEM_DEVICE void aclshmem_##NAME##_iget(__gm__ TYPE *dest, __gm__ TYPE *source, ptrdiff_t dst,       \
                                                ptrdiff_t sst, size_t nelems, int pe)                        \
    {                                                                                                        \
        aclshmemi_iget(#NAME "_iget", dest, source, dst, sst, nelems, sizeof(TYPE), pe);                     \
    }
ACLSHMEM_TYPES_RMA(ACLSHMEMI_RMA_ROWS)
#undef ACLSHMEMI_RMA_ROWS

#define ACLSHMEMI_STRIDED_BITS(BITS)                                                                         \
    ACLSHMEM_DEVICE void aclshmem_iput##BITS(__gm__ void *dest, __gm__ void *source, ptrdiff_t dst,          \
                                             ptrdiff_t sst, size_t nelems, int pe)                           \
    {                                                                                                        \
        aclshmemi_iput("iput" #BITS, dest, source, dst, sst, nelems, (BITS) / 8, pe);                        \
    }                                                                                                        \
    ACLSHMEM_DEVICE void aclshmem_iget##BITS(__gm__ void *dest, __gm__ void *source, ptrdiff_t dst,          \
                                             ptrdiff_t sst, size_t nelems, int pe)                           \
    {                                                                                                        \
        aclshmemi_iget("iget" #BITS, dest, source, dst, sst, nelems, (BITS) / 8, pe);                        \
    }
ACLSHMEM_TYPES_BITS(ACLSHMEMI_STRIDED_BITS)
#undef ACLSHMEMI_STRIDED_BITS

#endif
