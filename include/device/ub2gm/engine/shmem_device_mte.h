/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The MTE engine by name, unified buffer to global memory and back. As device/ub2gm/shmem_device_rma.h says, with the size
 * of an element given, and for PEs within reach of loads and stores only. sync_id is accepted and not used: these calls set
 * no flag. In C, aclshmemx_mte_put_nbi and aclshmemx_mte_get_nbi with five arguments measure the element themselves
 * (device/gm2gm/engine/shmem_device_mte.h).
 */
#ifndef ACLSHMEM_DEVICE_UB_MTE_H
#define ACLSHMEM_DEVICE_UB_MTE_H

#include "device/shmem_def.h"

ACLSHMEM_DEVICE void aclshmemx_mte_putmem_nbi_ub(__gm__ void *dst, ACLSHMEM_UB_POINTER(void) src,
                                                 size_t element_bytes, size_t nelems, int pe,
                                                 uint32_t sync_id);
ACLSHMEM_DEVICE void aclshmemx_mte_getmem_nbi_ub(ACLSHMEM_UB_POINTER(void) dst, __gm__ void *src,
                                                 size_t element_bytes, size_t nelems, int pe,
                                                 uint32_t sync_id);
ACLSHMEM_DEVICE void aclshmemx_mte_putmem_nbi_ub_rows(__gm__ void *dst, ACLSHMEM_UB_POINTER(void) src,
                                                      size_t element_bytes,
                                                      const non_contiguous_copy_param *rows, int pe,
                                                      uint32_t sync_id);
ACLSHMEM_DEVICE void aclshmemx_mte_getmem_nbi_ub_rows(ACLSHMEM_UB_POINTER(void) dst, __gm__ void *src,
                                                      size_t element_bytes,
                                                      const non_contiguous_copy_param *rows, int pe,
                                                      uint32_t sync_id);

#include "device/ub2gm/engine/mte.inl"

#endif
