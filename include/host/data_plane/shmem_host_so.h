/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals: put data, then tell. The signal word is a naturally aligned int32_t in the symmetric heap (some prototypes of
 * the interface say otherwise); it changes exactly once, after all data of its own call is visible to the target.
 *
 * sig_op is ACLSHMEM_SIGNAL_SET (stores) or ACLSHMEM_SIGNAL_ADD (adds atomically); anything else is an error that moves
 * nothing. Addresses, PEs, errors, threads and _nbi as in shmem_host_rma.h. Count 0 sends the signal alone.
 *
 * Unless a call says otherwise:
 * @who any PE, not collective
 * @reuse on return; of _nbi after aclshmem_quiet() or a barrier
 * @done at the target when it sees the signal there; here after aclshmem_quiet() or a barrier
 * @threads any thread at any time
 */
#ifndef ACLSHMEM_HOST_SO_H
#define ACLSHMEM_HOST_SO_H

#include "host/shmem_host_def.h"
#include "host_device/shmem_type_lists.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * elem_size ELEMENTS of TYPE, then the signal.
 */
#define ACLSHMEM_DECLARE_PUT_SIGNAL(NAME, TYPE)                                                              \
    ACLSHMEM_HOST_API void aclshmem_##NAME##_put_signal(                                                     \
        TYPE *dst, TYPE *src, size_t elem_size, uint8_t *sig_addr, int32_t signal, int sig_op, int pe);      \
    ACLSHMEM_HOST_API void aclshmem_##NAME##_put_signal_nbi(                                                 \
        TYPE *dst, TYPE *src, size_t elem_size, uint8_t *sig_addr, int32_t signal, int sig_op, int pe)
ACLSHMEM_TYPE_FUNC(ACLSHMEM_DECLARE_PUT_SIGNAL);
#undef ACLSHMEM_DECLARE_PUT_SIGNAL

/**
 * nelems ELEMENTS of BITS bits, then the signal.
 */
#define ACLSHMEM_DECLARE_PUT_SIZE_SIGNAL(BITS)                                                               \
    ACLSHMEM_HOST_API void aclshmem_put##BITS##_signal(                                                      \
        void *dst, void *src, size_t nelems, int32_t *sig_addr, int32_t signal, int sig_op, int pe);         \
    ACLSHMEM_HOST_API void aclshmem_put##BITS##_signal_nbi(                                                  \
        void *dst, void *src, size_t nelems, int32_t *sig_addr, int32_t signal, int sig_op, int pe)
ACLSHMEM_SIZE_FUNC(ACLSHMEM_DECLARE_PUT_SIZE_SIGNAL);
#undef ACLSHMEM_DECLARE_PUT_SIZE_SIGNAL

/** elem_size BYTES, then the signal. */
ACLSHMEM_HOST_API void aclshmemx_putmem_signal(void *dst, void *src, size_t elem_size, void *sig_addr,
                                               int32_t signal, int sig_op, int pe);
ACLSHMEM_HOST_API void aclshmemx_putmem_signal_nbi(void *dst, void *src, size_t elem_size, void *sig_addr,
                                                   int32_t signal, int sig_op, int pe);

/**
 * Extension: the signal alone; everything this PE put to pe before is visible there first.
 * @reuse -
 * @done the word changes after everything this PE put to pe before is visible there
 */
ACLSHMEM_HOST_API void aclshmemx_signal_op(int32_t *sig_addr, int32_t signal, int sig_op, int pe);

/**
 * The signal alone, in the order of a stream (shmem_host_rma.h): what the stream put to pe before is visible first.
 * @reuse -
 * @done the word changes when the stream has passed the call, after what the stream put to pe before
 * @threads any thread; calls for one stream are in order when the program orders them
 */
ACLSHMEM_HOST_API void aclshmemx_signal_op_on_stream(int32_t *sig_addr, int32_t signal, int sig_op, int pe,
                                                     aclrtStream stream);

/**
 * Work behind this point of the stream starts when *sig_addr cmp cmp_val holds (cmp: aclshmem_cmp_op_type_t); the word
 * is in memory of the own PE. Enqueues and returns. The wait gives up as aclshmem_signal_wait_until() does, after
 * SHMEM_WAIT_TIMEOUT seconds or when a PE has died; the stream then goes on, and aclshmemx_stream_status() tells.
 * @reuse -
 * @done what the writer of the word delivered before is visible to the work behind the call
 * @threads any thread; calls for one stream are in order when the program orders them
 */
ACLSHMEM_HOST_API void aclshmemx_signal_wait_until_on_stream(int32_t *sig_addr, int cmp, int32_t cmp_val,
                                                             aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
