/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies of put from and get into the unified buffer, grown from the list of types. */
#ifndef ACLSHMEMI_DEVICE_UB_RMA_INL
#define ACLSHMEMI_DEVICE_UB_RMA_INL

#include "device/ub2gm/copy.inl"

#define ACLSHMEMI_UB_RMA(NAME, TYPE)                                                                         \
    ACLSHMEM_DEVICE void aclshmem_##NAME##_get_nbi_ub(ACLSHMEM_UB_POINTER(TYPE) dst, __gm__ TYPE *src,       \
                                                      size_t nelems, int pe)                                 \
    {                                                                                                        \
        aclshmemi_ub_get(#NAME "_get_nbi_ub", AICORE_UB_NUMBER(dst), src,                                    \
                         aclshmemi_bytes(nelems, sizeof(TYPE)), pe, false);                                  \
    }                                                                                                        \
    ACLSHMEM_DEVICE void aclshmem_##NAME##_put_nbi_ub(__gm__ TYPE *dst, ACLSHMEM_UB_POINTER(TYPE) src,       \
                                                      size_t nelems, int32_t pe)                             \
    {                                                                                                        \
        aclshmemi_ub_put(#NAME "_put_nbi_ub", dst, AICORE_UB_NUMBER(src),                                    \
                         aclshmemi_bytes(nelems, sizeof(TYPE)), pe, false);                                  \
    }                                                                                                        \
    ACLSHMEM_DEVICE void aclshmem_##NAME##_get_nbi_ub_rows(ACLSHMEM_UB_POINTER(TYPE) dst, __gm__ TYPE *src,  \
                                                           const non_contiguous_copy_param *rows, int pe)    \
    {                                                                                                        \
        aclshmemi_rows_t in = aclshmemi_rows_of(#NAME "_get_nbi_ub_rows", rows, sizeof(TYPE), pe);           \
        aclshmemi_ub_get_rows(#NAME "_get_nbi_ub_rows", AICORE_UB_NUMBER(dst), src, &in, pe, false);         \
    }                                                                                                        \
    ACLSHMEM_DEVICE void aclshmem_##NAME##_put_nbi_ub_rows(                                                  \
        __gm__ TYPE *dst, ACLSHMEM_UB_POINTER(TYPE) src, const non_contiguous_copy_param *rows, int32_t pe)  \
    {                                                                                                        \
        aclshmemi_rows_t out = aclshmemi_rows_of(#NAME "_put_nbi_ub_rows", rows, sizeof(TYPE), pe);          \
        aclshmemi_ub_put_rows(#NAME "_put_nbi_ub_rows", dst, AICORE_UB_NUMBER(src), &out, pe, false);        \
    }
ACLSHMEM_TYPES_RMA(ACLSHMEMI_UB_RMA)
#undef ACLSHMEMI_UB_RMA

#endif
