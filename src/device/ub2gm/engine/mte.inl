/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies of MTE by name between the unified buffer and global memory. */
#ifndef ACLSHMEMI_DEVICE_UB_MTE_INL
#define ACLSHMEMI_DEVICE_UB_MTE_INL

#include "device/ub2gm/copy.inl"

ACLSHMEM_DEVICE void aclshmemx_mte_putmem_nbi_ub(__gm__ void *dst, ACLSHMEM_UB_POINTER(void) src,
                                                 size_t element_bytes, size_t nelems, int pe,
                                                 uint32_t sync_id)
{
    (void)sync_id;
    aclshmemi_ub_put("mte_putmem_nbi_ub", dst, AICORE_UB_NUMBER(src), aclshmemi_bytes(nelems, element_bytes),
                     pe, true);
}

ACLSHMEM_DEVICE void aclshmemx_mte_getmem_nbi_ub(ACLSHMEM_UB_POINTER(void) dst, __gm__ void *src,
                                                 size_t element_bytes, size_t nelems, int pe,
                                                 uint32_t sync_id)
{
    (void)sync_id;
    aclshmemi_ub_get("mte_getmem_nbi_ub", AICORE_UB_NUMBER(dst), src, aclshmemi_bytes(nelems, element_bytes),
                     pe, true);
}

ACLSHMEM_DEVICE void aclshmemx_mte_putmem_nbi_ub_rows(__gm__ void *dst, ACLSHMEM_UB_POINTER(void) src,
                                                      size_t element_bytes,
                                                      const non_contiguous_copy_param *rows, int pe,
                                                      uint32_t sync_id)
{
    aclshmemi_rows_t out = aclshmemi_rows_of("mte_putmem_nbi_ub_rows", rows, element_bytes, pe);
    (void)sync_id;
    aclshmemi_ub_put_rows("mte_putmem_nbi_ub_rows", dst, AICORE_UB_NUMBER(src), &out, pe, true);
}

ACLSHMEM_DEVICE void aclshmemx_mte_getmem_nbi_ub_rows(ACLSHMEM_UB_POINTER(void) dst, __gm__ void *src,
                                                      size_t element_bytes,
                                                      const non_contiguous_copy_param *rows, int pe,
                                                      uint32_t sync_id)
{
    aclshmemi_rows_t in = aclshmemi_rows_of("mte_getmem_nbi_ub_rows", rows, element_bytes, pe);
    (void)sync_id;
    aclshmemi_ub_get_rows("mte_getmem_nbi_ub_rows", AICORE_UB_NUMBER(dst), src, &in, pe, true);
}

#endif
