/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The forms of atomic calls, whatever engine carries them: ROAD(name, op, kind, object, value, condition, pe, wanted) takes
 * an operation by number on bits, PREFIX is what the public names begin with.
 */
#ifndef ACLSHMEMI_DEVICE_AMO_FORMS_INL
#define ACLSHMEMI_DEVICE_AMO_FORMS_INL

#include <string.h>

#include "device/dispatch.inl"

/* What each type is to the engines. */
#define ACLSHMEMI_AMO_KIND_int8     ACLSHMEMI_AMO_8
#define ACLSHMEMI_AMO_KIND_int16    ACLSHMEMI_AMO_16
#define ACLSHMEMI_AMO_KIND_int32    ACLSHMEMI_AMO_32
#define ACLSHMEMI_AMO_KIND_uint32   ACLSHMEMI_AMO_32
#define ACLSHMEMI_AMO_KIND_int64    ACLSHMEMI_AMO_64
#define ACLSHMEMI_AMO_KIND_uint64   ACLSHMEMI_AMO_64
#define ACLSHMEMI_AMO_KIND_float    ACLSHMEMI_AMO_FLOAT
#define ACLSHMEMI_AMO_KIND_half     ACLSHMEMI_AMO_HALF
#define ACLSHMEMI_AMO_KIND_bfloat16 ACLSHMEMI_AMO_BFLOAT16

ACLSHMEM_DEVICE void aclshmemi_amo_check(const char *call, const volatile void *object, size_t width)
{
    if (__builtin_expect((uintptr_t)object % width != 0, 0))
        aclshmemi_port_trap("%s: the object %p is not aligned to its %zu bytes", call,
                            (const void *)(uintptr_t)object, width);
}

/* The bodies of one operation: without and with a result. */
#define ACLSHMEMI_AMO_VOID(ROAD, NAME, TYPE, name, op, object, value, pe)                                    \
    uint64_t bits = 0;                                                                                       \
    TYPE operand = (value);                                                                                  \
    memcpy(&bits, &operand, sizeof operand);                                                                 \
    aclshmemi_amo_check(#NAME "_atomic_" name, object, sizeof(TYPE));                                        \
    (void)ROAD(#NAME "_atomic_" name, op, ACLSHMEMI_AMO_KIND_##NAME, object, bits, 0, pe, false)
#define ACLSHMEMI_AMO_RESULT(ROAD, NAME, TYPE, name, op, object, value, condition, pe)                       \
    uint64_t bits = 0, cond_bits = 0, old_bits;                                                              \
    TYPE operand = (value), other = (condition), old;                                                        \
    memcpy(&bits, &operand, sizeof operand);                                                                 \
    memcpy(&cond_bits, &other, sizeof other);                                                                \
    aclshmemi_amo_check(#NAME "_atomic_" name, object, sizeof(TYPE));                                        \
    old_bits =                                                                                               \
        ROAD(#NAME "_atomic_" name, op, ACLSHMEMI_AMO_KIND_##NAME, object, bits, cond_bits, pe, true);       \
    memcpy(&old, &old_bits, sizeof old);                                                                     \
    return old

/* The operations by prefix of the public name: each type list takes what it knows. */
#define ACLSHMEMI_DEFINE_ADD(ROAD, PREFIX, NAME, TYPE)                                                       \
    ACLSHMEM_DEVICE void PREFIX##NAME##_atomic_add(__gm__ TYPE *dst, TYPE value, int32_t pe)                 \
    {                                                                                                        \
        ACLSHMEMI_AMO_VOID(ROAD, NAME, TYPE, "add", ACLSHMEMI_AMO_PLUS, dst, value, pe);                     \
    }
#define ACLSHMEMI_DEFINE_STORE(ROAD, PREFIX, NAME, TYPE)                                                     \
    ACLSHMEM_DEVICE void PREFIX##NAME##_atomic_set(__gm__ TYPE *dest, TYPE value, int32_t pe)                \
    {                                                                                                        \
        ACLSHMEMI_AMO_VOID(ROAD, NAME, TYPE, "set", ACLSHMEMI_AMO_STORE, dest, value, pe);                   \
    }                                                                                                        \
    ACLSHMEM_DEVICE TYPE PREFIX##NAME##_atomic_swap(__gm__ TYPE *dest, TYPE value, int32_t pe)               \
    {                                                                                                        \
        ACLSHMEMI_AMO_RESULT(ROAD, NAME, TYPE, "swap", ACLSHMEMI_AMO_STORE, dest, value, 0, pe);             \
    }
#define ACLSHMEMI_DEFINE_INTEGER(ROAD, PREFIX, NAME, TYPE)                                                   \
    ACLSHMEM_DEVICE TYPE PREFIX##NAME##_atomic_fetch_add(__gm__ TYPE *dest, TYPE value, int32_t pe)          \
    {                                                                                                        \
        ACLSHMEMI_AMO_RESULT(ROAD, NAME, TYPE, "fetch_add", ACLSHMEMI_AMO_PLUS, dest, value, 0, pe);         \
    }                                                                                                        \
    ACLSHMEM_DEVICE void PREFIX##NAME##_atomic_inc(__gm__ TYPE *dst, int32_t pe)                             \
    {                                                                                                        \
        ACLSHMEMI_AMO_VOID(ROAD, NAME, TYPE, "inc", ACLSHMEMI_AMO_PLUS, dst, 1, pe);                         \
    }                                                                                                        \
    ACLSHMEM_DEVICE TYPE PREFIX##NAME##_atomic_fetch_inc(__gm__ TYPE *dest, int32_t pe)                      \
    {                                                                                                        \
        ACLSHMEMI_AMO_RESULT(ROAD, NAME, TYPE, "fetch_inc", ACLSHMEMI_AMO_PLUS, dest, 1, 0, pe);             \
    }                                                                                                        \
    ACLSHMEM_DEVICE TYPE PREFIX##NAME##_atomic_fetch(__gm__ const TYPE *source, int32_t pe)                  \
    {                                                                                                        \
        ACLSHMEMI_AMO_RESULT(ROAD, NAME, TYPE, "fetch", ACLSHMEMI_AMO_FETCH, source, 0, 0, pe);              \
    }                                                                                                        \
    ACLSHMEM_DEVICE TYPE PREFIX##NAME##_atomic_compare_swap(__gm__ TYPE *dest, TYPE cond, TYPE value,        \
                                                            int32_t pe)                                      \
    {                                                                                                        \
        ACLSHMEMI_AMO_RESULT(ROAD, NAME, TYPE, "compare_swap", ACLSHMEMI_AMO_COMPARE_SWAP, dest, value,      \
                             cond, pe);                                                                      \
    }
#define ACLSHMEMI_DEFINE_BITS(ROAD, PREFIX, NAME, TYPE, OP, number)                                          \
    ACLSHMEM_DEVICE void PREFIX##NAME##_atomic_##OP(__gm__ TYPE *dest, TYPE value, int32_t pe)               \
    {                                                                                                        \
        ACLSHMEMI_AMO_VOID(ROAD, NAME, TYPE, #OP, number, dest, value, pe);                                  \
    }                                                                                                        \
    ACLSHMEM_DEVICE TYPE PREFIX##NAME##_atomic_fetch_##OP(__gm__ TYPE *dest, TYPE value, int32_t pe)         \
    {                                                                                                        \
        ACLSHMEMI_AMO_RESULT(ROAD, NAME, TYPE, "fetch_" #OP, number, dest, value, 0, pe);                    \
    }

#endif
