/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals, and waiting for words of local memory that others change, from kernels.
 *
 * The condition is "*ivar cmp value" with cmp an aclshmem_cmp_op_type_t, in the declared type (floating point by IEEE
 * rules). Each look forgets the cached line and loads the element once, whole; when a call returns with a true condition,
 * everything its writer delivered before is visible.
 *
 *   status      status[i] != 0 leaves element i out; NULL takes all in
 *   _vector     element i is compared with cmp_values[i]
 *   *_any       index of the lowest element that holds, SIZE_MAX when none is taken in (wait) or none holds (test)
 *   *_some      fills indices with ascending indices of elements that hold and returns their number; 0 when none is taken
 *               in (wait) or none holds (test)
 *   *_all       a wait for no element returns at once, a test of none is 1
 *
 * Per core; nothing is collective. A wait looks for a while, gives the processor away, then sleeps until something is
 * written to this PE by a call of this library; a plain store is seen within a millisecond. It ends the launch with a report
 * when it lasts longer than SHMEM_WAIT_TIMEOUT, or longer than the launch may wait. Elements are naturally aligned, best 64
 * bytes apart when different cores write them. An unknown cmp, a misaligned or NULL address end the launch.
 */
#ifndef ACLSHMEM_DEVICE_P2P_SYNC_H
#define ACLSHMEM_DEVICE_P2P_SYNC_H

#include "device/shmem_def.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Stores signal to the word of pe (ACLSHMEM_SIGNAL_SET) or adds it atomically (ACLSHMEM_SIGNAL_ADD), with release. It comes
 * behind this core's own stores and its earlier puts to that PE on the engine that carries it: MTE, else ROCE, else UDMA.
 * Behind SDMA call aclshmem_fence() first, or put with signal. sig_addr is symmetric and aligned to 4 bytes. Complete after
 * aclshmem_quiet().
 */
ACLSHMEM_DEVICE void aclshmemx_signal_op(__gm__ int32_t *sig_addr, int32_t signal, int sig_op, int pe);

/** Waits until the local word holds; returns it as it is afterwards, which may be newer than what ended the wait. */
ACLSHMEM_DEVICE int32_t aclshmem_signal_wait_until(__gm__ int32_t *sig_addr, int cmp, int32_t cmp_val);

/* One element: until cmp holds; until it differs from cmp_value; whether cmp holds. */
#define ACLSHMEM_DECLARE_DEVICE_WAIT(NAME, TYPE)                                                             \
    ACLSHMEM_DEVICE void aclshmem_##NAME##_wait_until(__gm__ TYPE *ivar, int cmp, TYPE cmp_value);           \
    ACLSHMEM_DEVICE void aclshmem_##NAME##_wait(__gm__ TYPE *ivar, TYPE cmp_value);                          \
    ACLSHMEM_DEVICE int aclshmem_##NAME##_test(__gm__ TYPE *ivars, int cmp, TYPE cmp_value);

/* Several elements against one value. */
#define ACLSHMEM_DECLARE_DEVICE_WAIT_MANY(NAME, TYPE)                                                        \
    ACLSHMEM_DEVICE void aclshmem_##NAME##_wait_until_all(                                                   \
        __gm__ TYPE *ivars, size_t nelems, __gm__ const int *status, int cmp, TYPE cmp_value);               \
    ACLSHMEM_DEVICE size_t aclshmem_##NAME##_wait_until_any(                                                 \
        __gm__ TYPE *ivars, size_t nelems, __gm__ const int *status, int cmp, TYPE cmp_value);               \
    ACLSHMEM_DEVICE size_t aclshmem_##NAME##_wait_until_some(                                                \
        __gm__ TYPE *ivars, size_t nelems, __gm__ size_t *indices, __gm__ const int *status, int cmp,        \
        TYPE cmp_value);                                                                                     \
    ACLSHMEM_DEVICE size_t aclshmem_##NAME##_test_any(__gm__ TYPE *ivars, size_t nelems,                     \
                                                      __gm__ const int *status, int cmp, TYPE cmp_value);    \
    ACLSHMEM_DEVICE size_t aclshmem_##NAME##_test_some(__gm__ TYPE *ivars, size_t nelems,                    \
                                                       __gm__ size_t *indices, __gm__ const int *status,     \
                                                       int cmp, TYPE cmp_value);

/* Several elements, each against a value of its own. */
#define ACLSHMEM_DECLARE_DEVICE_WAIT_VECTOR(NAME, TYPE)                                                      \
    ACLSHMEM_DEVICE void aclshmem_##NAME##_wait_until_all_vector(                                            \
        __gm__ TYPE *ivars, size_t nelems, __gm__ const int *status, int cmp, __gm__ TYPE *cmp_values);      \
    ACLSHMEM_DEVICE size_t aclshmem_##NAME##_wait_until_any_vector(                                          \
        __gm__ TYPE *ivars, size_t nelems, __gm__ const int *status, int cmp, __gm__ TYPE *cmp_values);      \
    ACLSHMEM_DEVICE size_t aclshmem_##NAME##_wait_until_some_vector(                                         \
        __gm__ TYPE *ivars, size_t nelems, __gm__ size_t *indices, __gm__ const int *status, int cmp,        \
        __gm__ TYPE *cmp_values);                                                                            \
    ACLSHMEM_DEVICE int aclshmem_##NAME##_test_all_vector(                                                   \
        __gm__ TYPE *ivars, size_t nelems, __gm__ const int *status, int cmp, __gm__ TYPE *cmp_values);      \
    ACLSHMEM_DEVICE size_t aclshmem_##NAME##_test_any_vector(                                                \
        __gm__ TYPE *ivars, size_t nelems, __gm__ const int *status, int cmp, __gm__ TYPE *cmp_values);      \
    ACLSHMEM_DEVICE size_t aclshmem_##NAME##_test_some_vector(                                               \
        __gm__ TYPE *ivars, size_t nelems, __gm__ size_t *indices, __gm__ const int *status, int cmp,        \
        __gm__ TYPE *cmp_values);

ACLSHMEM_TYPES_P2P(ACLSHMEM_DECLARE_DEVICE_WAIT)
ACLSHMEM_TYPES_P2P(ACLSHMEM_DECLARE_DEVICE_WAIT_MANY)
ACLSHMEM_TYPES_P2P(ACLSHMEM_DECLARE_DEVICE_WAIT_VECTOR)

#undef ACLSHMEM_DECLARE_DEVICE_WAIT
#undef ACLSHMEM_DECLARE_DEVICE_WAIT_MANY
#undef ACLSHMEM_DECLARE_DEVICE_WAIT_VECTOR

#include "device/gm2gm/p2p_sync.inl"

#ifdef __cplusplus
}
#endif

#endif
