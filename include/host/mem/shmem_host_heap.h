/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The symmetric heap. Every allocation is collective over the PEs of the current instance: all call it in the same
 * order with the same arguments, and get blocks at the same offset. Arguments are compared on every call: when PEs
 * differ, all of them log both values, give their block back and return NULL. One thread of a PE at a time.
 *
 * Sizes are bytes, rounded up to 16; addresses are multiples of 16 at least. Contents are undefined except for calloc.
 * A call that cannot be served returns NULL on all PEs and says how much was asked for, how much is free, the largest
 * free block, the peak, and the heap size that would have been enough.
 *
 * Unless a call says otherwise:
 * @who every PE of the instance, in the same order with the same arguments
 * @reuse -
 * @done on return the block exists on every PE
 * @threads one thread of a PE at a time
 */
#ifndef ACLSHMEM_HOST_HEAP_H
#define ACLSHMEM_HOST_HEAP_H

#include "host/shmem_host_def.h"

#ifdef __cplusplus
extern "C" {
#define ACLSHMEM_DEFAULT_ARG(value) = value
#else
#define ACLSHMEM_DEFAULT_ARG(value)
#endif

/** size bytes of the device heap; NULL for size 0. Collective, ends with a control barrier. */
ACLSHMEM_HOST_API void *aclshmem_malloc(size_t size);
/**
 * nmemb elements of size bytes, zero on every PE when the call returns anywhere. Collective.
 * @done on return the block exists, and is zero, on every PE
 */
ACLSHMEM_HOST_API void *aclshmem_calloc(size_t nmemb, size_t size);
/** size bytes whose address is a multiple of alignment, a power of two, on every PE. Collective. */
ACLSHMEM_HOST_API void *aclshmem_align(size_t alignment, size_t size);
/**
 * Gives a block back. Collective, begins with a control barrier; NULL has no effect and is not collective. An address
 * that is not the start of a live block is reported and harms nothing.
 * @done on return; it waits until every PE has come and work on the own stream is over
 */
ACLSHMEM_HOST_API void aclshmem_free(void *ptr);

/** The same on a chosen heap: DEVICE_SIDE memory, or HOST_SIDE memory that peers reach (made at its first use). */
ACLSHMEM_HOST_API void *aclshmemx_malloc(size_t size,
                                         aclshmem_mem_type_t mem_type ACLSHMEM_DEFAULT_ARG(DEVICE_SIDE));
ACLSHMEM_HOST_API void *aclshmemx_calloc(size_t count, size_t size,
                                         aclshmem_mem_type_t mem_type ACLSHMEM_DEFAULT_ARG(DEVICE_SIDE));
ACLSHMEM_HOST_API void *aclshmemx_align(size_t alignment, size_t size,
                                        aclshmem_mem_type_t mem_type ACLSHMEM_DEFAULT_ARG(DEVICE_SIDE));
ACLSHMEM_HOST_API void aclshmemx_free(void *ptr,
                                      aclshmem_mem_type_t mem_type ACLSHMEM_DEFAULT_ARG(DEVICE_SIDE));

/**
 * Start of the local device or host heap; NULL when not initialized or the host heap does not exist yet. Constant
 * between init and finalize. Local, any thread.
 * @who one PE, local
 * @done on return
 * @threads any thread at any time
 */
ACLSHMEM_HOST_API void *aclshmemx_get_heap_base(
    aclshmem_mem_type_t mem_type ACLSHMEM_DEFAULT_ARG(DEVICE_SIDE));

/** Extension: what a heap holds, in bytes. */
typedef struct aclshmemx_heap_info_t {
    uint64_t size;         /* managed, the library's own part included */
    uint64_t used;         /* handed out */
    uint64_t free;         /* not handed out */
    uint64_t largest_free; /* largest block one call could get */
    uint64_t peak;         /* highest used so far */
    uint64_t blocks;       /* live blocks */
} aclshmemx_heap_info_t;

/**
 * Extension. @return 0, NOT_INITED (also: no host heap yet), INVALID_PARAM. Local, any thread.
 * @who one PE, local
 * @done on return
 * @threads any thread at any time
 */
ACLSHMEM_HOST_API int aclshmemx_heap_info(aclshmem_mem_type_t mem_type, aclshmemx_heap_info_t *info);

#undef ACLSHMEM_DEFAULT_ARG
#ifdef __cplusplus
}
#endif

#endif
