/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Put and get of kernels, global memory to global memory.
 *
 * A symmetric address (dst of a put, src of a get) is one of this PE's own heap and means the same place on pe; the other
 * address is any global memory. pe may be this PE. Lengths have 64 bits, in elements of the type, units of BITS bits, or
 * bytes (mem); 0 does nothing. Addresses of put and get may have any alignment; p and g want that of their type.
 *
 * Blocking calls return when the source may be changed and the destination is written: the PE that owns it sees it once it
 * has been told (signal, barrier, flag after quiet) and has invalidated its cache. _nbi calls start the transfer. Until
 * aclshmem_quiet the source stays as it is, and neither the destination of a get may be read nor the PE of a put told. Any
 * number of _nbi calls may follow one another; they share the scratch safely.
 *
 * Which engine carries it: SDMA where it reaches the PE (put and get alone), else MTE, else ROCE, else UDMA. All calls work
 * on all of them. Every core that calls performs the whole transfer; cores that share work split it themselves.
 *
 * A PE that does not exist, memory that is not in the heap, rows that overlap, a stride below 1, a scratch that is no part of
 * the unified buffer: the launch ends, and synchronizing its stream tells kernel, block, call, PE and value.
 */
#ifndef ACLSHMEM_DEVICE_RMA_H
#define ACLSHMEM_DEVICE_RMA_H

#include "device/shmem_def.h"

/* --- Scratch --- */

/**
 * The part of the unified buffer, in bytes, and the flag number that the calls of one engine use, for the calling core and
 * until its kernel ends; at first it is what the host set. While a call runs, and for _nbi calls until quiet, the kernel
 * leaves both alone: the bytes, and that number between MTE2 and MTE3, and MTE3 and S. offset is a multiple of 32.
 *
 *   MTE    0, 16 KiB   at least 32 bytes; larger is faster. Two halves, one filling while the other empties.
 *   SDMA   191 KiB, 64 bytes; at least 64, aligned to that
 *   UDMA   189 KiB, 128 bytes; at least that
 *
 * @return 0. What does not fit the buffer ends the launch.
 */
ACLSHMEM_DEVICE int aclshmemx_set_mte_config(uint64_t offset, uint32_t ub_size, uint32_t sync_id);
ACLSHMEM_DEVICE int aclshmemx_set_sdma_config(uint64_t offset, uint32_t ub_size, uint32_t sync_id);
ACLSHMEM_DEVICE int aclshmemx_set_udma_config(uint64_t offset, uint32_t ub_size, uint32_t sync_id);

/* --- Contiguous --- */

/*
 * p stores one element, g loads one, by the scalar unit. Values that different cores write belong into different lines of
 * 64 bytes: a card writes back whole lines.
 *
 * The _rows forms copy rows->repeat rows of rows->length elements; they start src_ld and dst_ld elements after one another,
 * at least length. Any size: long rows go in pieces.
 */
#define ACLSHMEM_DEVICE_RMA_TYPED(NAME, TYPE)                                                                \
    ACLSHMEM_DEVICE void aclshmem_##NAME##_p(__gm__ TYPE *dst, const TYPE value, int pe);                    \
    ACLSHMEM_DEVICE TYPE aclshmem_##NAME##_g(__gm__ TYPE *src, int32_t pe);                                  \
    ACLSHMEM_DEVICE void aclshmem_##NAME##_put(__gm__ TYPE *dst, __gm__ TYPE *src, size_t nelems,            \
                                               int32_t pe);                                                  \
    ACLSHMEM_DEVICE void aclshmem_##NAME##_get(__gm__ TYPE *dst, __gm__ TYPE *src, size_t nelems,            \
                                               int32_t pe);                                                  \
    ACLSHMEM_DEVICE void aclshmem_##NAME##_put_nbi(__gm__ TYPE *dst, __gm__ TYPE *src, size_t nelems,        \
                                                   int32_t pe);                                              \
    ACLSHMEM_DEVICE void aclshmem_##NAME##_get_nbi(__gm__ TYPE *dst, __gm__ TYPE *src, size_t nelems,        \
                                                   int32_t pe);                                              \
    ACLSHMEM_DEVICE void aclshmem_##NAME##_put_nbi_rows(__gm__ TYPE *dst, __gm__ TYPE *src,                  \
                                                        const non_contiguous_copy_param *rows, int32_t pe);  \
    ACLSHMEM_DEVICE void aclshmem_##NAME##_get_nbi_rows(__gm__ TYPE *dst, __gm__ TYPE *src,                  \
                                                        const non_contiguous_copy_param *rows, int32_t pe);
ACLSHMEM_TYPES_RMA(ACLSHMEM_DEVICE_RMA_TYPED)
#undef ACLSHMEM_DEVICE_RMA_TYPED

#define ACLSHMEM_DEVICE_RMA_BITS(BITS)                                                                       \
    ACLSHMEM_DEVICE void aclshmem_put##BITS(__gm__ void *dst, __gm__ void *src, size_t nelems, int32_t pe);  \
    ACLSHMEM_DEVICE void aclshmem_get##BITS(__gm__ void *dst, __gm__ void *src, size_t nelems, int32_t pe);  \
    ACLSHMEM_DEVICE void aclshmem_put##BITS##_nbi(__gm__ void *dst, __gm__ void *src, size_t nelems,         \
                                                  int32_t pe);                                               \
    ACLSHMEM_DEVICE void aclshmem_get##BITS##_nbi(__gm__ void *dst, __gm__ void *src, size_t nelems,         \
                                                  int32_t pe);
ACLSHMEM_TYPES_BITS(ACLSHMEM_DEVICE_RMA_BITS)
#undef ACLSHMEM_DEVICE_RMA_BITS

ACLSHMEM_DEVICE void aclshmem_putmem(__gm__ void *dst, __gm__ void *src, size_t bytes, int32_t pe);
ACLSHMEM_DEVICE void aclshmem_getmem(__gm__ void *dst, __gm__ void *src, size_t bytes, int32_t pe);
ACLSHMEM_DEVICE void aclshmem_putmem_nbi(__gm__ void *dst, __gm__ void *src, size_t bytes, int32_t pe);
ACLSHMEM_DEVICE void aclshmem_getmem_nbi(__gm__ void *dst, __gm__ void *src, size_t bytes, int32_t pe);

/* --- Strided --- */

/* Element i goes from source[i * sst] to dest[i * dst]; strides in elements, at least 1. Blocking. */
#define ACLSHMEM_DEVICE_STRIDED_TYPED(NAME, TYPE)                                                            \
    ACLSHMEM_DEVICE void aclshmem_##NAME##_iput(__gm__ TYPE *dest, __gm__ TYPE *source, ptrdiff_t dst,       \
                                                ptrdiff_t sst, size_t nelems, int pe);                       \
    ACLSHMEM_DEVICE void aclshmem_##NAME##_iget(__gm__ TYPE *dest, __gm__ TYPE *source, ptrdiff_t dst,       \
                                                ptrdiff_t sst, size_t nelems, int pe);
ACLSHMEM_TYPES_RMA(ACLSHMEM_DEVICE_STRIDED_TYPED)
#undef ACLSHMEM_DEVICE_STRIDED_TYPED

#define ACLSHMEM_DEVICE_STRIDED_BITS(BITS)                                                                   \
    ACLSHMEM_DEVICE void aclshmem_iput##BITS(__gm__ void *dest, __gm__ void *source, ptrdiff_t dst,          \
                                             ptrdiff_t sst, size_t nelems, int pe);                          \
    ACLSHMEM_DEVICE void aclshmem_iget##BITS(__gm__ void *dest, __gm__ void *source, ptrdiff_t dst,          \
                                             ptrdiff_t sst, size_t nelems, int pe);
ACLSHMEM_TYPES_BITS(ACLSHMEM_DEVICE_STRIDED_BITS)
#undef ACLSHMEM_DEVICE_STRIDED_BITS

#include "device/gm2gm/rma.inl"

#endif
