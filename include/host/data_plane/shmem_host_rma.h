/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remote memory access driven by the host: put, get, one element, address translation.
 *
 * The remote operand (dest of a put, source of a get) lies in the symmetric heap and is given as the local address of
 * the same object; its whole range must lie inside one heap. The local operand is any memory of the caller. pe is a PE of the current
 * instance, the own one included. Any byte address and any 64-bit length is legal; length 0 does nothing and looks
 * at no pointer. Equal source and destination is fine, overlap on the own PE behaves like memmove().
 *
 * Blocking calls block: when a put returns, its source may be reused, and its data is in the target's memory or on a
 * road that quiet, barrier and the signal of a put-with-signal keep in order; when a get returns, its data is there. None
 * is collective; any thread may call. Errors (PE out of range, range outside the heap, not initialized) are logged,
 * move nothing, and can be asked for with aclshmemx_last_error().
 */
#ifndef ACLSHMEM_HOST_RMA_H
#define ACLSHMEM_HOST_RMA_H

#include "host/shmem_host_def.h"
#include "host_device/shmem_type_lists.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Address under which this process reaches the object ptr of PE pe; ptr itself for the own PE. NULL when pe is out of
 * range, ptr is in no symmetric heap, the PE's memory is not mapped here (another host), or nothing is initialized.
 */
ACLSHMEM_HOST_API void *aclshmem_ptr(void *ptr, int pe);

/** elem_size BYTES from src here to dst on pe. */
ACLSHMEM_HOST_API void aclshmem_putmem(void *dst, void *src, size_t elem_size, int32_t pe);
/** elem_size BYTES from src on pe to dst here. */
ACLSHMEM_HOST_API void aclshmem_getmem(void *dst, void *src, size_t elem_size, int32_t pe);

/* nelems ELEMENTS from source here to dest on pe (put), from source on pe to dest here (get). */
#define ACLSHMEM_DECLARE_PUT(NAME, TYPE)                                                                     \
    ACLSHMEM_HOST_API void aclshmem_##NAME##_put(TYPE *dest, TYPE *source, size_t nelems, int pe)
#define ACLSHMEM_DECLARE_GET(NAME, TYPE)                                                                     \
    ACLSHMEM_HOST_API void aclshmem_##NAME##_get(TYPE *dest, TYPE *source, size_t nelems, int pe)
/* Stores one value at dst on pe. */
#define ACLSHMEM_DECLARE_P(NAME, TYPE)                                                                       \
    ACLSHMEM_HOST_API void aclshmem_##NAME##_p(TYPE *dst, const TYPE value, int pe)
/* Value of src on pe; 0 after an error. */
#define ACLSHMEM_DECLARE_G(NAME, TYPE) ACLSHMEM_HOST_API TYPE aclshmem_##NAME##_g(TYPE *src, int32_t pe)

ACLSHMEM_TYPE_FUNC(ACLSHMEM_DECLARE_PUT);
ACLSHMEM_TYPE_FUNC(ACLSHMEM_DECLARE_GET);
ACLSHMEM_TYPE_FUNC(ACLSHMEM_DECLARE_P);
ACLSHMEM_TYPE_FUNC(ACLSHMEM_DECLARE_G);

#undef ACLSHMEM_DECLARE_PUT
#undef ACLSHMEM_DECLARE_GET
#undef ACLSHMEM_DECLARE_P
#undef ACLSHMEM_DECLARE_G

/** Extension: returns when all puts, signals and atomics this PE issued from the host are complete at their targets. */
ACLSHMEM_HOST_API void aclshmem_quiet(void);
/** Extension: what this PE issued before is delivered to each target before what it issues after. */
ACLSHMEM_HOST_API void aclshmem_fence(void);

#ifdef __cplusplus
}
#endif

#endif
