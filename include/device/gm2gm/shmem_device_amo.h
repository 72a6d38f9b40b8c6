/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Atomic operations on symmetric memory, from kernels.
 *
 * The object is symmetric and aligned to its size; a misaligned or foreign address, or a PE that does not exist, ends the
 * launch. Operations of one type on one object are atomic with each other whoever issues them: kernels, host programs,
 * any engine. Integers wrap. half and bfloat16 are added as floats and rounded to nearest even.
 *
 * Forms with a result are complete when they return, and acquire. Forms without one are complete after aclshmem_quiet(). All
 * come behind this core's earlier puts to that PE by MTE, and release. Per core; nothing is collective.
 *
 *   add                                   int8 int16 int32 int64 uint32 uint64 half bfloat16 float
 *   set, swap                             int32 int64 uint32 uint64 float
 *   fetch_add, inc, fetch_inc, fetch,
 *   compare_swap, and, or, xor,
 *   fetch_and, fetch_or, fetch_xor        int32 int64 uint32 uint64
 */
#ifndef ACLSHMEM_DEVICE_AMO_H
#define ACLSHMEM_DEVICE_AMO_H

#include "device/shmem_def.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The types, FUNC(NAME, TYPE). */
#define ACLSHMEM_TYPES_AMO_INTEGER(FUNC)                                                                     \
    FUNC(int32, int32_t)                                                                                     \
    FUNC(int64, int64_t)                                                                                     \
    FUNC(uint32, uint32_t)                                                                                   \
    FUNC(uint64, uint64_t)
#define ACLSHMEM_TYPES_AMO_STORE(FUNC) ACLSHMEM_TYPES_AMO_INTEGER(FUNC) FUNC(float, float)
#define ACLSHMEM_TYPES_AMO_ADD(FUNC)                                                                         \
    ACLSHMEM_TYPES_AMO_STORE(FUNC)                                                                           \
    FUNC(int8, int8_t)                                                                                       \
    FUNC(int16, int16_t)                                                                                     \
    FUNC(half, half)                                                                                         \
    FUNC(bfloat16, bfloat16_t)

#define ACLSHMEM_DECLARE_DEVICE_ADD(NAME, TYPE)                                                              \
    ACLSHMEM_DEVICE void aclshmem_##NAME##_atomic_add(__gm__ TYPE *dst, TYPE value, int32_t pe);
#define ACLSHMEM_DECLARE_DEVICE_STORE(NAME, TYPE)                                                            \
    ACLSHMEM_DEVICE void aclshmem_##NAME##_atomic_set(__gm__ TYPE *dest, TYPE value, int32_t pe);            \
    ACLSHMEM_DEVICE TYPE aclshmem_##NAME##_atomic_swap(__gm__ TYPE *dest, TYPE value, int32_t pe);
#define ACLSHMEM_DECLARE_DEVICE_INTEGER(NAME, TYPE)                                                          \
    ACLSHMEM_DEVICE TYPE aclshmem_##NAME##_atomic_fetch_add(__gm__ TYPE *dest, TYPE value, int32_t pe);      \
    ACLSHMEM_DEVICE void aclshmem_##NAME##_atomic_inc(__gm__ TYPE *dst, int32_t pe);                         \
    ACLSHMEM_DEVICE TYPE aclshmem_##NAME##_atomic_fetch_inc(__gm__ TYPE *dest, int32_t pe);                  \
    ACLSHMEM_DEVICE TYPE aclshmem_##NAME##_atomic_fetch(__gm__ const TYPE *source, int32_t pe);              \
    ACLSHMEM_DEVICE TYPE aclshmem_##NAME##_atomic_compare_swap(__gm__ TYPE *dest, TYPE cond, TYPE value,     \
                                                               int32_t pe);                                  \
    ACLSHMEM_DEVICE void aclshmem_##NAME##_atomic_and(__gm__ TYPE *dest, TYPE value, int32_t pe);            \
    ACLSHMEM_DEVICE void aclshmem_##NAME##_atomic_or(__gm__ TYPE *dest, TYPE value, int32_t pe);             \
    ACLSHMEM_DEVICE void aclshmem_##NAME##_atomic_xor(__gm__ TYPE *dest, TYPE value, int32_t pe);            \
    ACLSHMEM_DEVICE TYPE aclshmem_##NAME##_atomic_fetch_and(__gm__ TYPE *dest, TYPE value, int32_t pe);      \
    ACLSHMEM_DEVICE TYPE aclshmem_##NAME##_atomic_fetch_or(__gm__ TYPE *dest, TYPE value, int32_t pe);       \
    ACLSHMEM_DEVICE TYPE aclshmem_##NAME##_atomic_fetch_xor(__gm__ TYPE *dest, TYPE value, int32_t pe);

ACLSHMEM_TYPES_AMO_ADD(ACLSHMEM_DECLARE_DEVICE_ADD)
ACLSHMEM_TYPES_AMO_STORE(ACLSHMEM_DECLARE_DEVICE_STORE)
ACLSHMEM_TYPES_AMO_INTEGER(ACLSHMEM_DECLARE_DEVICE_INTEGER)

#undef ACLSHMEM_DECLARE_DEVICE_ADD
#undef ACLSHMEM_DECLARE_DEVICE_STORE
#undef ACLSHMEM_DECLARE_DEVICE_INTEGER

/*
 * On MTE by name: aclshmemx_mte_NAME_atomic_OP, OP in add (all types above), fetch, set, swap, compare_swap, inc,
 * fetch_inc, fetch_add (the four integers). These do not wait for the core's copies; put a pipe barrier, a fence or a quiet
 * where that order matters. The PE has to be within reach of loads and stores.
 */
#define ACLSHMEM_DECLARE_DEVICE_MTE_ADD(NAME, TYPE)                                                          \
    ACLSHMEM_DEVICE void aclshmemx_mte_##NAME##_atomic_add(__gm__ TYPE *dst, TYPE value, int32_t pe);
#define ACLSHMEM_DECLARE_DEVICE_MTE(NAME, TYPE)                                                              \
    ACLSHMEM_DEVICE TYPE aclshmemx_mte_##NAME##_atomic_fetch(__gm__ const TYPE *source, int32_t pe);         \
    ACLSHMEM_DEVICE void aclshmemx_mte_##NAME##_atomic_set(__gm__ TYPE *dest, TYPE value, int32_t pe);       \
    ACLSHMEM_DEVICE TYPE aclshmemx_mte_##NAME##_atomic_swap(__gm__ TYPE *dest, TYPE value, int32_t pe);      \
    ACLSHMEM_DEVICE TYPE aclshmemx_mte_##NAME##_atomic_compare_swap(__gm__ TYPE *dest, TYPE cond,            \
                                                                    TYPE value, int32_t pe);                 \
    ACLSHMEM_DEVICE void aclshmemx_mte_##NAME##_atomic_inc(__gm__ TYPE *dst, int32_t pe);                    \
    ACLSHMEM_DEVICE TYPE aclshmemx_mte_##NAME##_atomic_fetch_inc(__gm__ TYPE *dest, int32_t pe);             \
    ACLSHMEM_DEVICE TYPE aclshmemx_mte_##NAME##_atomic_fetch_add(__gm__ TYPE *dest, TYPE value, int32_t pe);

ACLSHMEM_TYPES_AMO_ADD(ACLSHMEM_DECLARE_DEVICE_MTE_ADD)
ACLSHMEM_TYPES_AMO_INTEGER(ACLSHMEM_DECLARE_DEVICE_MTE)

#undef ACLSHMEM_DECLARE_DEVICE_MTE_ADD
#undef ACLSHMEM_DECLARE_DEVICE_MTE

#include "device/gm2gm/amo.inl"

#ifdef __cplusplus
}
#else

/* In C, by the type of the object; half and bfloat16 are one type there and keep their typed calls. */
#define ACLSHMEM_MTE_AMO_PICK(object, OP)                                                                    \
    _Generic(*(object), int32_t                                                                              \
             : aclshmemx_mte_int32_atomic_##OP, int64_t                                                      \
             : aclshmemx_mte_int64_atomic_##OP, uint32_t                                                     \
             : aclshmemx_mte_uint32_atomic_##OP, uint64_t                                                    \
             : aclshmemx_mte_uint64_atomic_##OP)
#define aclshmemx_mte_atomic_fetch(source, pe)         ACLSHMEM_MTE_AMO_PICK(source, fetch)(source, pe)
#define aclshmemx_mte_atomic_set(dst, value, pe)       ACLSHMEM_MTE_AMO_PICK(dst, set)(dst, value, pe)
#define aclshmemx_mte_atomic_swap(dst, value, pe)      ACLSHMEM_MTE_AMO_PICK(dst, swap)(dst, value, pe)
#define aclshmemx_mte_atomic_inc(dst, pe)              ACLSHMEM_MTE_AMO_PICK(dst, inc)(dst, pe)
#define aclshmemx_mte_atomic_fetch_inc(dst, pe)        ACLSHMEM_MTE_AMO_PICK(dst, fetch_inc)(dst, pe)
#define aclshmemx_mte_atomic_fetch_add(dst, value, pe) ACLSHMEM_MTE_AMO_PICK(dst, fetch_add)(dst, value, pe)
#define aclshmemx_mte_atomic_compare_swap(dst, cond, value, pe)                                              \
    ACLSHMEM_MTE_AMO_PICK(dst, compare_swap)(dst, cond, value, pe)
#define aclshmemx_mte_atomic_add(dst, value, pe)                                                             \
    _Generic(*(dst), int32_t                                                                                 \
             : aclshmemx_mte_int32_atomic_add, int64_t                                                       \
             : aclshmemx_mte_int64_atomic_add, uint32_t                                                      \
             : aclshmemx_mte_uint32_atomic_add, uint64_t                                                     \
             : aclshmemx_mte_uint64_atomic_add, int8_t                                                       \
             : aclshmemx_mte_int8_atomic_add, int16_t                                                        \
             : aclshmemx_mte_int16_atomic_add, float                                                         \
             : aclshmemx_mte_float_atomic_add)(dst, value, pe)

#endif

#endif
