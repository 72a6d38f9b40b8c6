/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Put from the unified buffer and get into it. One copy by the core itself, started and not waited for: the kernel orders
 * it with its other work by flags. Before what a get brought is used: MTE2 to V, S or MTE3. Before a put of what was just
 * computed: V or S to MTE3. The bytes of the buffer belong to the copy until then, or until aclshmem_quiet.
 *
 * Buffer addresses are multiples of 32, and a get writes whole units of 32 bytes: up to 31 bytes behind the data change. In
 * the _rows forms the buffer's rows lie ld elements apart, and with several rows that distance is a multiple of 32 bytes.
 * A PE that loads and stores do not reach is served all the same, with a copy in between and complete on return.
 *
 * What does not lie in the buffer or in the heap, or is not aligned, ends the launch with the call and the value.
 */
#ifndef ACLSHMEM_DEVICE_UB_RMA_H
#define ACLSHMEM_DEVICE_UB_RMA_H

#include "device/shmem_def.h"

#define ACLSHMEM_DEVICE_UB_RMA(NAME, TYPE)                                                                   \
    ACLSHMEM_DEVICE void aclshmem_##NAME##_get_nbi_ub(ACLSHMEM_UB_POINTER(TYPE) dst, __gm__ TYPE *src,       \
                                                      size_t nelems, int pe);                                \
    ACLSHMEM_DEVICE void aclshmem_##NAME##_put_nbi_ub(__gm__ TYPE *dst, ACLSHMEM_UB_POINTER(TYPE) src,       \
                                                      size_t nelems, int32_t pe);                            \
    ACLSHMEM_DEVICE void aclshmem_##NAME##_get_nbi_ub_rows(ACLSHMEM_UB_POINTER(TYPE) dst, __gm__ TYPE *src,  \
                                                           const non_contiguous_copy_param *rows, int pe);   \
    ACLSHMEM_DEVICE void aclshmem_##NAME##_put_nbi_ub_rows(                                                  \
        __gm__ TYPE *dst, ACLSHMEM_UB_POINTER(TYPE) src, const non_contiguous_copy_param *rows, int32_t pe);
ACLSHMEM_TYPES_RMA(ACLSHMEM_DEVICE_UB_RMA)
#undef ACLSHMEM_DEVICE_UB_RMA

#include "device/ub2gm/rma.inl"

#endif
