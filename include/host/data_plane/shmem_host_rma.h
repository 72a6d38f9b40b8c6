/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remote memory access driven by the host: put, get, one element, strided, on streams; completion; address translation.
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
 *
 * Calls with _nbi may return earlier: the source may not change, and the destination of a get is not there, before
 * aclshmem_quiet() or a barrier. Between PEs that share memory they too are complete when they return.
 * docs/completion.md has all calls in one table.
 *
 * Calls with _on_stream check their arguments, enqueue and return. They run in the order of the stream, which is an
 * aclrtStream of the device runtime; NULL is the library's own stream, which aclshmem_quiet(), aclshmem_fence(), every barrier,
 * aclshmem_free() and finalize wait for. Operands must stay in place until the stream has passed the call. What fails later
 * is logged when it happens and kept: aclshmemx_stream_status() tells it, and the next call of this library on the same stream puts it
 * into the last error of its thread. The work behind it on the stream still runs, as after any failure of a stream.
 *
 * Unless a call says otherwise:
 * @who any PE, not collective
 * @reuse on return
 * @done of a put as aclshmem_putmem(), of a get here on return
 * @threads any thread at any time
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
 * @done on return
 */
ACLSHMEM_HOST_API void *aclshmem_ptr(void *ptr, int pe);

/**
 * elem_size BYTES from src here to dst on pe.
 * @done at the target: on return where memory is shared, else after aclshmem_quiet() or a barrier; the target
 *     learns of it by a signal, a wait or a barrier
 */
ACLSHMEM_HOST_API void aclshmem_putmem(void *dst, void *src, size_t elem_size, int32_t pe);
/**
 * elem_size BYTES from src on pe to dst here.
 * @reuse (remote)
 * @done here on return
 */
ACLSHMEM_HOST_API void aclshmem_getmem(void *dst, void *src, size_t elem_size, int32_t pe);

/**
 * The same, complete after quiet or a barrier.
 * @reuse after aclshmem_quiet() or a barrier
 * @done after aclshmem_quiet() or a barrier, of a get here, of a put at the target
 */
ACLSHMEM_HOST_API void aclshmem_putmem_nbi(void *dst, void *src, size_t elem_size, int32_t pe);
ACLSHMEM_HOST_API void aclshmem_getmem_nbi(void *dst, void *src, size_t elem_size, int32_t pe);

/**
 * nelems ELEMENTS from source here to dest on pe (put), from source on pe to dest here (get).
 * @reuse on return; of _nbi after aclshmem_quiet() or a barrier
 * @done as aclshmem_putmem() and aclshmem_getmem(), of _nbi as aclshmem_putmem_nbi()
 */
#define ACLSHMEM_DECLARE_PUT(NAME, TYPE)                                                                     \
    ACLSHMEM_HOST_API void aclshmem_##NAME##_put(TYPE *dest, TYPE *source, size_t nelems, int pe);           \
    ACLSHMEM_HOST_API void aclshmem_##NAME##_put_nbi(TYPE *dest, TYPE *source, size_t nelems, int pe)
#define ACLSHMEM_DECLARE_GET(NAME, TYPE)                                                                     \
    ACLSHMEM_HOST_API void aclshmem_##NAME##_get(TYPE *dest, TYPE *source, size_t nelems, int pe);           \
    ACLSHMEM_HOST_API void aclshmem_##NAME##_get_nbi(TYPE *dest, TYPE *source, size_t nelems, int pe)
/**
 * Element i goes from source[i * sst] to dest[i * dst]; strides are in ELEMENTS and at least 1, a smaller one is an error
 * that moves nothing. Elements move one after the other, in ascending order: that decides what overlapping ranges on
 * the own PE give. With strides 1 and 1 it is a put or get.
 * @done of a put as aclshmem_putmem(), of a get here on return
 */
#define ACLSHMEM_DECLARE_IPUT(NAME, TYPE)                                                                    \
    ACLSHMEM_HOST_API void aclshmem_##NAME##_iput(TYPE *dest, TYPE *source, ptrdiff_t dst, ptrdiff_t sst,    \
                                                  size_t nelems, int pe)
#define ACLSHMEM_DECLARE_IGET(NAME, TYPE)                                                                    \
    ACLSHMEM_HOST_API void aclshmem_##NAME##_iget(TYPE *dest, TYPE *source, ptrdiff_t dst, ptrdiff_t sst,    \
                                                  size_t nelems, int pe)
/**
 * Stores one value at dst on pe.
 * @done at the target: on return where memory is shared, else after aclshmem_quiet() or a barrier; the target
 *     learns of it by a signal, a wait or a barrier
 */
#define ACLSHMEM_DECLARE_P(NAME, TYPE)                                                                       \
    ACLSHMEM_HOST_API void aclshmem_##NAME##_p(TYPE *dst, const TYPE value, int pe)
/**
 * Value of src on pe; 0 after an error.
 * @reuse (remote)
 * @done here on return
 */
#define ACLSHMEM_DECLARE_G(NAME, TYPE) ACLSHMEM_HOST_API TYPE aclshmem_##NAME##_g(TYPE *src, int32_t pe)

ACLSHMEM_TYPE_FUNC(ACLSHMEM_DECLARE_PUT);
ACLSHMEM_TYPE_FUNC(ACLSHMEM_DECLARE_GET);
ACLSHMEM_TYPE_FUNC(ACLSHMEM_DECLARE_IPUT);
ACLSHMEM_TYPE_FUNC(ACLSHMEM_DECLARE_IGET);
ACLSHMEM_TYPE_FUNC(ACLSHMEM_DECLARE_P);
ACLSHMEM_TYPE_FUNC(ACLSHMEM_DECLARE_G);

#undef ACLSHMEM_DECLARE_PUT
#undef ACLSHMEM_DECLARE_GET
#undef ACLSHMEM_DECLARE_IPUT
#undef ACLSHMEM_DECLARE_IGET
#undef ACLSHMEM_DECLARE_P
#undef ACLSHMEM_DECLARE_G

/**
 * elem_size, nelems: a COUNT of elements of BITS bits, not bytes; at any address. Strides as above, in elements.
 * @reuse on return; of _nbi after aclshmem_quiet() or a barrier
 * @done as aclshmem_putmem() and aclshmem_getmem(), of _nbi as aclshmem_putmem_nbi()
 */
#define ACLSHMEM_DECLARE_SIZED(BITS)                                                                         \
    ACLSHMEM_HOST_API void aclshmem_put##BITS(void *dst, void *src, uint32_t elem_size, int32_t pe);         \
    ACLSHMEM_HOST_API void aclshmem_put##BITS##_nbi(void *dst, void *src, uint32_t elem_size, int32_t pe);   \
    ACLSHMEM_HOST_API void aclshmem_get##BITS(void *dst, void *src, uint32_t elem_size, int32_t pe);         \
    ACLSHMEM_HOST_API void aclshmem_get##BITS##_nbi(void *dst, void *src, uint32_t elem_size, int32_t pe);   \
    ACLSHMEM_HOST_API void aclshmem_iput##BITS(void *dest, void *source, ptrdiff_t dst, ptrdiff_t sst,       \
                                               size_t nelems, int pe);                                       \
    ACLSHMEM_HOST_API void aclshmem_iget##BITS(void *dest, void *source, ptrdiff_t dst, ptrdiff_t sst,       \
                                               size_t nelems, int pe)
ACLSHMEM_SIZE_FUNC(ACLSHMEM_DECLARE_SIZED);
#undef ACLSHMEM_DECLARE_SIZED

/**
 * putmem and getmem in the order of a stream, BYTES.
 * @reuse when the stream has passed the call
 * @done when the stream has passed the call; on the own stream (NULL) also after aclshmem_quiet() or a barrier
 * @threads any thread; calls for one stream are in order when the program orders them
 */
ACLSHMEM_HOST_API void aclshmemx_putmem_on_stream(void *dst, void *src, size_t elem_size, int32_t pe,
                                                  aclrtStream stream);
ACLSHMEM_HOST_API void aclshmemx_getmem_on_stream(void *dst, void *src, size_t elem_size, int32_t pe,
                                                  aclrtStream stream);

/**
 * Extension: returns when all puts, signals and atomics this PE issued from the host are complete at their targets, those
 * on the library's own stream included. Other streams are synchronized by whoever made them.
 * @reuse of all earlier calls, on return
 * @done everything this PE issued before, at its targets, on return
 */
ACLSHMEM_HOST_API void aclshmem_quiet(void);
/**
 * Extension: the same for what was issued to one PE.
 * @reuse of all earlier calls to pe, on return
 * @done everything this PE issued to pe before, on return
 */
ACLSHMEM_HOST_API void aclshmemx_pe_quiet(int pe);
/**
 * Extension: what this PE issued before is delivered to each target before what it issues after.
 * @reuse -
 * @done nothing: it orders deliveries, target by target
 */
ACLSHMEM_HOST_API void aclshmem_fence(void);
/**
 * Behind this point of the stream everything is complete that the host issued before the call, directly, on the
 * stream itself, or on the library's own one.
 * @reuse of all earlier calls, when the stream has passed the call
 * @done everything this PE issued before, when the stream has passed the call
 */
ACLSHMEM_HOST_API void aclshmemx_quiet_on_stream(aclrtStream stream);
/**
 * The same, and behind it a barrier over the team: what any member issued before is complete on all of them. Collective over
 * handle.team_id, as aclshmemx_barrier_on_stream(); no effect for ACLSHMEM_TEAM_INVALID, which is what PEs outside have.
 * @who every member of the team, in the same order
 * @reuse of all earlier calls, when the stream has passed the call
 * @done everything any member issued before, on all of them, when the stream has passed the call
 * @threads one at a time per team
 */
ACLSHMEM_HOST_API void aclshmemx_handle_wait(aclshmem_handle_t handle, aclrtStream stream);

/**
 * Extension: the first failure since the last look among what the library did on the stream (NULL: its own), for example a wait that
 * was given up. Does not wait; synchronize the stream first.
 * @return 0: none. Otherwise the code; the text is then aclshmemx_last_error(). NOT_INITED without an instance.
 * @done on return
 */
ACLSHMEM_HOST_API int aclshmemx_stream_status(aclrtStream stream);

/**
 * Scratch of an engine in the unified buffer of cores: offset and ub_size in BYTES, sync_id an event id. For kernels
 * that start later; local to this PE.
 * @return 0; INVALID_VALUE, and the setting stays, when ub_size is too small: MTE 1, SDMA 64, RDMA 128, UDMA 128;
 *         NOT_INITED.
 * @done on return, for kernels that start later
 * @threads one at a time
 */
ACLSHMEM_HOST_API int aclshmemx_set_mte_config(uint64_t offset, uint32_t ub_size, uint32_t sync_id);
ACLSHMEM_HOST_API int aclshmemx_set_sdma_config(uint64_t offset, uint32_t ub_size, uint32_t sync_id);
ACLSHMEM_HOST_API int aclshmemx_set_rdma_config(uint64_t offset, uint32_t ub_size, uint32_t sync_id);
ACLSHMEM_HOST_API int aclshmemx_set_udma_config(uint64_t offset, uint32_t ub_size, uint32_t sync_id);

/**
 * Extension: the engines that operations take from now on, a set of ACLSHMEM_DATA_OP_* out of those that init opened (MTE is
 * always among them), on the host and in kernels that start later. What was issued before is completed first. Local to
 * this PE. No thread may be inside another call of the library meanwhile, and no kernel that uses it may run.
 * @return 0; INVALID_VALUE for no or an unknown engine; NOT_SUPPORTED, and nothing changes, when one is not open or
 *         the set does not reach a PE that is reached now; NOT_INITED.
 * @reuse of all earlier calls, on return
 * @done on return, for operations and kernels that start later
 * @threads one, with no other thread in a call of the library
 */
ACLSHMEM_HOST_API int aclshmemx_set_engines(uint32_t engines);
/**
 * Extension: the engines that operations take now.
 * @return a set of ACLSHMEM_DATA_OP_*; 0 without an instance.
 * @done on return
 */
ACLSHMEM_HOST_API uint32_t aclshmemx_get_engines(void);
/**
 * Extension: the aclrtNotify that aclshmemx_sdma_notify_record() records on vector core number `core` of its launch, for
 * aclrtWaitAndResetNotify; cores 48 apart share one. It belongs to the library.
 * @return NULL, with the reason in aclshmemx_last_error(), when SDMA is not open or there is no instance.
 * @done on return
 */
ACLSHMEM_HOST_API void *aclshmemx_sdma_notify(uint32_t core);

/**
 * The word that kernels for A2 and A3 hand to their setter, so that barriers between cores work; 0 where none is needed, as
 * on the CPU device runtime, and without an instance.
 * @done on return
 */
ACLSHMEM_HOST_API uint64_t util_get_ffts_config(void);

#ifdef __cplusplus
}
#endif

#endif
