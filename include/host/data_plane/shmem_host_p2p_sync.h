/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting for words of local memory that peers change, and testing them.
 *
 * The condition is "*ivar cmp value" with cmp an aclshmem_cmp_op_type_t, in the declared type (floating point by IEEE
 * rules). Every look loads an element once, and the verdict is about that value; when a call returns with a true
 * condition, everything its writer delivered before is visible, for every wait and every test alike.
 *
 *   status      status[i] != 0 leaves element i out; NULL takes all in
 *   _vector     element i is compared with cmp_values[i]
 *   *_any       *res_out is the index of an element that holds, SIZE_MAX when none is taken in (wait) or none holds (test)
 *   *_some      indices gets *res_out ascending indices of elements that hold; 0 when none is taken in or none holds
 *   *_all       a wait for no element returns at once, a test of none is 1
 *
 * A wait spins briefly, gives way, then sleeps; it costs almost nothing while it lasts. It gives up after
 * SHMEM_WAIT_TIMEOUT seconds or when a PE has died, with an error that says who waits for what and the value seen. Results
 * go to res_out, which must not be NULL; after an error it is SIZE_MAX for *_any* and 0 for the others. Elements are
 * naturally aligned. None is collective; any thread may call. aclshmemx_last_error() tells what went wrong.
 *
 * Unless a call says otherwise:
 * @who any PE, not collective, about its own memory
 * @reuse on return
 * @done with a true condition on return, everything its writer delivered before is visible here
 * @threads any thread at any time
 */
#ifndef ACLSHMEM_HOST_P2P_SYNC_H
#define ACLSHMEM_HOST_P2P_SYNC_H

#include "host/shmem_host_def.h"
#include "host_device/shmem_type_lists.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Returns when *sig_addr cmp cmp_val holds. */
ACLSHMEM_HOST_API void aclshmem_signal_wait_until(int32_t *sig_addr, int cmp, int32_t cmp_val);

/**
 * Extension: the same with a limit of its own, and a verdict.
 * @return 0 when the condition holds; TIMEOUT_ERROR after timeout_ms; SMEM_ERROR when a PE died; INVALID_PARAM,
 *         NOT_INITED. *value (may be NULL) gets the value that decided.
 */
ACLSHMEM_HOST_API int aclshmemx_signal_wait_until_timeout(int32_t *sig_addr, int cmp, int32_t cmp_val,
                                                          uint64_t timeout_ms, int32_t *value);

/* One element: until cmp holds, and until it differs from cmp_value. */
#define ACLSHMEM_DECLARE_WAIT(NAME, TYPE)                                                                    \
    ACLSHMEM_HOST_API void aclshmem_##NAME##_wait_until(TYPE *ivar, int cmp, TYPE cmp_value);                \
    ACLSHMEM_HOST_API void aclshmem_##NAME##_wait(TYPE *ivar, TYPE cmp_value)

/* Several elements against one value. */
#define ACLSHMEM_DECLARE_WAIT_MANY(NAME, TYPE)                                                               \
    ACLSHMEM_HOST_API void aclshmem_##NAME##_wait_until_all(TYPE *ivars, size_t nelems, const int *status,   \
                                                            int cmp, TYPE cmp_value);                        \
    ACLSHMEM_HOST_API void aclshmem_##NAME##_wait_until_any(TYPE *ivars, size_t nelems, const int *status,   \
                                                            int cmp, TYPE cmp_value, size_t *res_out);       \
    ACLSHMEM_HOST_API void aclshmem_##NAME##_wait_until_some(TYPE *ivars, size_t nelems, size_t *indices,    \
                                                             const int *status, int cmp, TYPE cmp_value,     \
                                                             size_t *res_out)

/* Several elements, each against a value of its own. */
#define ACLSHMEM_DECLARE_WAIT_VECTOR(NAME, TYPE)                                                             \
    ACLSHMEM_HOST_API void aclshmem_##NAME##_wait_until_all_vector(                                          \
        TYPE *ivars, size_t nelems, const int *status, int cmp, TYPE *cmp_values);                           \
    ACLSHMEM_HOST_API void aclshmem_##NAME##_wait_until_any_vector(                                          \
        TYPE *ivars, size_t nelems, const int *status, int cmp, TYPE *cmp_values, size_t *res_out);          \
    ACLSHMEM_HOST_API void aclshmem_##NAME##_wait_until_some_vector(                                         \
        TYPE *ivars, size_t nelems, size_t *indices, const int *status, int cmp, TYPE *cmp_values,           \
        size_t *res_out)

/* The same without waiting. */
#define ACLSHMEM_DECLARE_TEST(NAME, TYPE)                                                                    \
    ACLSHMEM_HOST_API void aclshmem_##NAME##_test(TYPE *ivars, int cmp, TYPE cmp_value, int *res_out);       \
    ACLSHMEM_HOST_API void aclshmem_##NAME##_test_any(TYPE *ivars, size_t nelems, const int *status,         \
                                                      int cmp, TYPE cmp_value, size_t *res_out);             \
    ACLSHMEM_HOST_API void aclshmem_##NAME##_test_some(TYPE *ivars, size_t nelems, size_t *indices,          \
                                                       const int *status, int cmp, TYPE cmp_value,           \
                                                       size_t *res_out)

/* Several elements, each against a value of its own, without waiting. */
#define ACLSHMEM_DECLARE_TEST_VECTOR(NAME, TYPE)                                                             \
    ACLSHMEM_HOST_API void aclshmem_##NAME##_test_all_vector(TYPE *ivars, size_t nelems, const int *status,  \
                                                             int cmp, TYPE *cmp_values, int *res_out);       \
    ACLSHMEM_HOST_API void aclshmem_##NAME##_test_any_vector(TYPE *ivars, size_t nelems, const int *status,  \
                                                             int cmp, TYPE *cmp_values, size_t *res_out);    \
    ACLSHMEM_HOST_API void aclshmem_##NAME##_test_some_vector(TYPE *ivars, size_t nelems, size_t *indices,   \
                                                              const int *status, int cmp, TYPE *cmp_values,  \
                                                              size_t *res_out)

ACLSHMEM_P2P_SYNC_TYPE_FUNC(ACLSHMEM_DECLARE_WAIT);
ACLSHMEM_P2P_SYNC_TYPE_FUNC(ACLSHMEM_DECLARE_WAIT_MANY);
ACLSHMEM_P2P_SYNC_TYPE_FUNC(ACLSHMEM_DECLARE_WAIT_VECTOR);
ACLSHMEM_P2P_SYNC_TYPE_FUNC(ACLSHMEM_DECLARE_TEST);
ACLSHMEM_P2P_SYNC_TYPE_FUNC(ACLSHMEM_DECLARE_TEST_VECTOR);

#undef ACLSHMEM_DECLARE_WAIT
#undef ACLSHMEM_DECLARE_WAIT_MANY
#undef ACLSHMEM_DECLARE_WAIT_VECTOR
#undef ACLSHMEM_DECLARE_TEST
#undef ACLSHMEM_DECLARE_TEST_VECTOR

#ifdef __cplusplus
}
#endif

#endif
