/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The SDMA engine by name: entries in a queue of the device's DMA engine, which copies beside the core. Vector core v uses queue
 * v modulo the number of queues; queues may be shared by cores, launches on other streams and host threads. Open it with
 * ACLSHMEM_DATA_OP_SDMA at init.
 *
 * buf is a place in the unified buffer of ub_size bytes, at least 64, and sync_id a flag number, 0 to 7: what a card needs to
 * hand entries over. They are checked here and not used. A wrong argument, a queue that stopped and a wait past the
 * limit end the launch.
 *
 * Puts and gets only start. They are complete after aclshmemx_sdma_quiet or aclshmem_quiet on the same core. Any length; 0
 * does nothing. In C the names without mem take typed pointers: aclshmemx_sdma_put_nbi(dst, src, buf, ub_size, nelems, pe,
 * sync_id), aclshmemx_sdma_get_nbi alike, aclshmemx_cmo_nbi(src, nelems, cmo_type, buf, ub_size, sync_id).
 */
#ifndef ACLSHMEM_DEVICE_SDMA_H
#define ACLSHMEM_DEVICE_SDMA_H

#include "device/shmem_def.h"

/* What a hint to the cache asks for. */
#ifndef __cplusplus
typedef uint32_t ACLSHMEMCMOTYPE;
#define ACLSHMEM_CMO_TYPE_PREFETCH  6u
#define ACLSHMEM_CMO_TYPE_WRITEBACK 7u
#define ACLSHMEM_CMO_TYPE_INVALID   8u
#define ACLSHMEM_CMO_TYPE_FLUSH     9u
#define ACLSHMEM_CMO_TYPE_MAX       10u
#else
enum class ACLSHMEMCMOTYPE : uint32_t {
    CMO_TYPE_PREFETCH = 6,
    CMO_TYPE_WRITEBACK = 7,
    CMO_TYPE_INVALID = 8,
    CMO_TYPE_FLUSH = 9,
    CMO_TYPE_MAX = 10
};
#endif

/** nelems elements of element_bytes; dst of a put and src of a get are symmetric. */
ACLSHMEM_DEVICE void aclshmemx_sdma_putmem_nbi(__gm__ void *dst, __gm__ void *src,
                                               ACLSHMEM_UB_POINTER(void) buf, uint32_t ub_size,
                                               size_t element_bytes, size_t nelems, int pe, uint32_t sync_id);
ACLSHMEM_DEVICE void aclshmemx_sdma_getmem_nbi(__gm__ void *dst, __gm__ void *src,
                                               ACLSHMEM_UB_POINTER(void) buf, uint32_t ub_size,
                                               size_t element_bytes, size_t nelems, int pe, uint32_t sync_id);

/** Everything in this core's queue is complete. */
ACLSHMEM_DEVICE void aclshmemx_sdma_quiet(ACLSHMEM_UB_POINTER(void) buf, uint32_t ub_size, uint32_t sync_id);

/** Records this core's notify behind what is in its queue: a stream waits for it with aclrtWaitAndResetNotify, and gets the
 * handle from aclshmemx_sdma_notify(). */
ACLSHMEM_DEVICE void aclshmemx_sdma_notify_record(ACLSHMEM_UB_POINTER(void) buf, uint32_t ub_size,
                                                  uint32_t sync_id);

/** A hint: these elements of local memory are used soon. Types other than PREFETCH do nothing. */
ACLSHMEM_DEVICE void aclshmemx_cmomem_nbi(__gm__ void *src, size_t element_bytes, size_t nelems,
                                          ACLSHMEMCMOTYPE cmo_type, ACLSHMEM_UB_POINTER(void) buf,
                                          uint32_t ub_size, uint32_t sync_id);

#ifndef __cplusplus
#define aclshmemx_sdma_put_nbi(dst, src, buf, ub_size, n, pe, id)                                            \
    aclshmemx_sdma_putmem_nbi(dst, src, buf, ub_size, sizeof *(dst), n, pe, id)
#define aclshmemx_sdma_get_nbi(dst, src, buf, ub_size, n, pe, id)                                            \
    aclshmemx_sdma_getmem_nbi(dst, src, buf, ub_size, sizeof *(dst), n, pe, id)
#define aclshmemx_cmo_nbi(src, n, type, buf, ub_size, id)                                                    \
    aclshmemx_cmomem_nbi(src, sizeof *(src), n, type, buf, ub_size, id)
#endif

#include "device/gm2gm/engine/sdma_api.inl"

#endif
