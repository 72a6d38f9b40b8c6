/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Extension: atomic memory operations driven by the host, named as in OpenSHMEM 1.6.
 *
 * Each acts on exactly its own bytes of one object in the symmetric heap of pe (given by its local address, naturally
 * aligned), carries bits without conversion, and is atomic against every other way this interface offers to touch
 * the object: other PEs, kernels, signals. Integers wrap. A fetching call returns the value from before; 0 after an error.
 * Complete on return for fetching calls; others are complete after quiet, barrier, or a later signal to the same PE. The
 * _nbi forms put the fetched value to *fetch, which is valid after aclshmem_quiet(). None is collective; any thread may
 * call; errors as in shmem_host_rma.h.
 *
 * Unless a call says otherwise:
 * @who any PE, not collective
 * @reuse on return
 * @done of a fetching call on return; of others after aclshmem_quiet(), a barrier, or a later signal to the
 *     same PE; of _nbi the value is at *fetch after aclshmem_quiet()
 * @threads any thread at any time
 */
#ifndef ACLSHMEM_HOST_AMO_H
#define ACLSHMEM_HOST_AMO_H

#include "host/shmem_host_def.h"
#include "host_device/shmem_type_lists.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All types. */
#define ACLSHMEM_DECLARE_AMO(NAME, TYPE)                                                                     \
    ACLSHMEM_HOST_API TYPE aclshmem_##NAME##_atomic_fetch(const TYPE *source, int pe);                       \
    ACLSHMEM_HOST_API void aclshmem_##NAME##_atomic_set(TYPE *dest, TYPE value, int pe);                     \
    ACLSHMEM_HOST_API TYPE aclshmem_##NAME##_atomic_swap(TYPE *dest, TYPE value, int pe);                    \
    ACLSHMEM_HOST_API void aclshmem_##NAME##_atomic_add(TYPE *dest, TYPE value, int pe);                     \
    ACLSHMEM_HOST_API TYPE aclshmem_##NAME##_atomic_fetch_add(TYPE *dest, TYPE value, int pe);               \
    ACLSHMEM_HOST_API void aclshmem_##NAME##_atomic_fetch_nbi(TYPE *fetch, const TYPE *source, int pe);      \
    ACLSHMEM_HOST_API void aclshmem_##NAME##_atomic_swap_nbi(TYPE *fetch, TYPE *dest, TYPE value, int pe);   \
    ACLSHMEM_HOST_API void aclshmem_##NAME##_atomic_fetch_add_nbi(TYPE *fetch, TYPE *dest, TYPE value, int pe)

/* Integers only. */
#define ACLSHMEM_DECLARE_AMO_INTEGER(NAME, TYPE)                                                             \
    ACLSHMEM_HOST_API TYPE aclshmem_##NAME##_atomic_compare_swap(TYPE *dest, TYPE cond, TYPE value, int pe); \
    ACLSHMEM_HOST_API void aclshmem_##NAME##_atomic_inc(TYPE *dest, int pe);                                 \
    ACLSHMEM_HOST_API void aclshmem_##NAME##_atomic_and(TYPE *dest, TYPE value, int pe);                     \
    ACLSHMEM_HOST_API void aclshmem_##NAME##_atomic_or(TYPE *dest, TYPE value, int pe);                      \
    ACLSHMEM_HOST_API void aclshmem_##NAME##_atomic_xor(TYPE *dest, TYPE value, int pe);                     \
    ACLSHMEM_HOST_API TYPE aclshmem_##NAME##_atomic_fetch_inc(TYPE *dest, int pe);                           \
    ACLSHMEM_HOST_API TYPE aclshmem_##NAME##_atomic_fetch_and(TYPE *dest, TYPE value, int pe);               \
    ACLSHMEM_HOST_API TYPE aclshmem_##NAME##_atomic_fetch_or(TYPE *dest, TYPE value, int pe);                \
    ACLSHMEM_HOST_API TYPE aclshmem_##NAME##_atomic_fetch_xor(TYPE *dest, TYPE value, int pe);               \
    ACLSHMEM_HOST_API void aclshmem_##NAME##_atomic_compare_swap_nbi(TYPE *fetch, TYPE *dest, TYPE cond,     \
                                                                     TYPE value, int pe);                    \
    ACLSHMEM_HOST_API void aclshmem_##NAME##_atomic_fetch_inc_nbi(TYPE *fetch, TYPE *dest, int pe);          \
    ACLSHMEM_HOST_API void aclshmem_##NAME##_atomic_fetch_and_nbi(TYPE *fetch, TYPE *dest, TYPE value,       \
                                                                  int pe);                                   \
    ACLSHMEM_HOST_API void aclshmem_##NAME##_atomic_fetch_or_nbi(TYPE *fetch, TYPE *dest, TYPE value,        \
                                                                 int pe);                                    \
    ACLSHMEM_HOST_API void aclshmem_##NAME##_atomic_fetch_xor_nbi(TYPE *fetch, TYPE *dest, TYPE value, int pe)

ACLSHMEM_AMO_INTEGER_FUNC(ACLSHMEM_DECLARE_AMO);
ACLSHMEM_AMO_FLOAT_FUNC(ACLSHMEM_DECLARE_AMO);
ACLSHMEM_AMO_INTEGER_FUNC(ACLSHMEM_DECLARE_AMO_INTEGER);

#undef ACLSHMEM_DECLARE_AMO
#undef ACLSHMEM_DECLARE_AMO_INTEGER

#ifdef __cplusplus
}
#endif

#endif
