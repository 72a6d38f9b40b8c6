/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Put with signal, from kernels: data, and behind it a signal that tells its PE so.
 *
 * A PE that sees the signal sees all the data; the two may lie anywhere in symmetric memory. Data goes by the rule of all
 * puts (SDMA where it reaches the PE, else MTE, ROCE, UDMA; rows never by SDMA), and the signal follows on the same
 * engine. sig_addr is symmetric, 32 bits, aligned to 4 bytes, best alone in 64 bytes; sig_op is ACLSHMEM_SIGNAL_SET or
 * ACLSHMEM_SIGNAL_ADD. Counts of 0 move nothing and signal all the same. Per core; any core, any PE, the own one included.
 *
 * Blocking forms: the source may be changed on return. _nbi: it stays as it is until aclshmem_quiet(). _rows: rows of a
 * matrix, in elements; the source is described by repeat, length and src_ld, the destination by dst_ld.
 */
#ifndef ACLSHMEM_DEVICE_SO_H
#define ACLSHMEM_DEVICE_SO_H

#include "device/gm2gm/shmem_device_p2p_sync.h"

#ifdef __cplusplus
extern "C" {
#endif

/* elem_size in bytes. */
ACLSHMEM_DEVICE void aclshmem_putmem_signal(__gm__ void *dst, __gm__ void *src, size_t elem_size,
                                            __gm__ int32_t *sig_addr, int32_t signal, int sig_op, int pe);
ACLSHMEM_DEVICE void aclshmem_putmem_signal_nbi(__gm__ void *dst, __gm__ void *src, size_t elem_size,
                                                __gm__ int32_t *sig_addr, int32_t signal, int sig_op, int pe);

/* Elements of 8, 16, 32, 64 and 128 bits. */
#define ACLSHMEM_DECLARE_DEVICE_PUT_SIGNAL_BITS(BITS)                                                        \
    ACLSHMEM_DEVICE void aclshmem_put##BITS##_signal(__gm__ void *dst, __gm__ void *src, size_t nelems,      \
                                                     __gm__ int32_t *sig_addr, int32_t signal, int sig_op,   \
                                                     int pe);                                                \
    ACLSHMEM_DEVICE void aclshmem_put##BITS##_signal_nbi(__gm__ void *dst, __gm__ void *src, size_t nelems,  \
                                                         __gm__ int32_t *sig_addr, int32_t signal,           \
                                                         int sig_op, int pe);
ACLSHMEM_TYPES_BITS(ACLSHMEM_DECLARE_DEVICE_PUT_SIGNAL_BITS)

/* elem_size: a count of elements. */
#define ACLSHMEM_DECLARE_DEVICE_PUT_SIGNAL(NAME, TYPE)                                                       \
    ACLSHMEM_DEVICE void aclshmem_##NAME##_put_signal(__gm__ TYPE *dst, __gm__ TYPE *src, size_t elem_size,  \
                                                      __gm__ int32_t *sig_addr, int32_t signal, int sig_op,  \
                                                      int pe);                                               \
    ACLSHMEM_DEVICE void aclshmem_##NAME##_put_signal_nbi(__gm__ TYPE *dst, __gm__ TYPE *src,                \
                                                          size_t elem_size, __gm__ int32_t *sig_addr,        \
                                                          int32_t signal, int sig_op, int pe);               \
    ACLSHMEM_DEVICE void aclshmem_##NAME##_put_signal_rows(                                                  \
        __gm__ TYPE *dst, __gm__ TYPE *src, const non_contiguous_copy_param *rows, __gm__ int32_t *sig_addr, \
        int32_t signal, int sig_op, int pe);                                                                 \
    ACLSHMEM_DEVICE void aclshmem_##NAME##_put_signal_nbi_rows(                                              \
        __gm__ TYPE *dst, __gm__ TYPE *src, const non_contiguous_copy_param *rows, __gm__ int32_t *sig_addr, \
        int32_t signal, int sig_op, int pe);
ACLSHMEM_TYPES_RMA(ACLSHMEM_DECLARE_DEVICE_PUT_SIGNAL)

#undef ACLSHMEM_DECLARE_DEVICE_PUT_SIGNAL_BITS
#undef ACLSHMEM_DECLARE_DEVICE_PUT_SIGNAL

#include "device/gm2gm/so.inl"

#ifdef __cplusplus
}
#endif

#endif
