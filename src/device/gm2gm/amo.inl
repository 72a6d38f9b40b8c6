/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies of the atomics: a typed call becomes an operation by number on bits, which the engines know. */
#ifndef ACLSHMEMI_DEVICE_AMO_INL
#define ACLSHMEMI_DEVICE_AMO_INL

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

/* On the engine that the rule picks, and on MTE by name. */
#define ACLSHMEMI_AMO_BY_RULE(name, op, kind, object, value, condition, pe, wanted)                          \
    aclshmemi_amo(name, op, kind, (__gm__ void *)(uintptr_t)(object), value, condition, pe, wanted)

ACLSHMEM_DEVICE uint64_t aclshmemi_mte_amo_by_name(const char *call, aclshmemi_amo_op_t op,
                                                   aclshmemi_amo_type_t type, __gm__ void *object,
                                                   uint64_t value, uint64_t condition, int pe, bool wanted)
{
    const aclshmemi_state_t *state = aclshmemi_state(call);
    aclshmemi_check(state, call, object, aclshmemi_amo_width(type), pe);
    return aclshmemi_mte_amo_now(state, call, op, type, object, value, condition, pe, wanted);
}
#define ACLSHMEMI_AMO_BY_MTE(name, op, kind, object, value, condition, pe, wanted)                           \
    aclshmemi_mte_amo_by_name("mte_" name, op, kind, (__gm__ void *)(uintptr_t)(object), value, condition,   \
                              pe, wanted)

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

#define ACLSHMEMI_DEFINE_BY_RULE_ADD(NAME, TYPE)                                                             \
    ACLSHMEMI_DEFINE_ADD(ACLSHMEMI_AMO_BY_RULE, aclshmem_, NAME, TYPE)
#define ACLSHMEMI_DEFINE_BY_RULE_STORE(NAME, TYPE)                                                           \
    ACLSHMEMI_DEFINE_STORE(ACLSHMEMI_AMO_BY_RULE, aclshmem_, NAME, TYPE)
#define ACLSHMEMI_DEFINE_BY_RULE_INTEGER(NAME, TYPE)                                                         \
    ACLSHMEMI_DEFINE_INTEGER(ACLSHMEMI_AMO_BY_RULE, aclshmem_, NAME, TYPE)                                   \
    ACLSHMEMI_DEFINE_BITS(ACLSHMEMI_AMO_BY_RULE, aclshmem_, NAME, TYPE, and, ACLSHMEMI_AMO_AND)              \
    ACLSHMEMI_DEFINE_BITS(ACLSHMEMI_AMO_BY_RULE, aclshmem_, NAME, TYPE, or, ACLSHMEMI_AMO_OR)                \
    ACLSHMEMI_DEFINE_BITS(ACLSHMEMI_AMO_BY_RULE, aclshmem_, NAME, TYPE, xor, ACLSHMEMI_AMO_XOR)

ACLSHMEM_TYPES_AMO_ADD(ACLSHMEMI_DEFINE_BY_RULE_ADD)
ACLSHMEM_TYPES_AMO_STORE(ACLSHMEMI_DEFINE_BY_RULE_STORE)
ACLSHMEM_TYPES_AMO_INTEGER(ACLSHMEMI_DEFINE_BY_RULE_INTEGER)

#define ACLSHMEMI_DEFINE_BY_MTE_ADD(NAME, TYPE)                                                              \
    ACLSHMEMI_DEFINE_ADD(ACLSHMEMI_AMO_BY_MTE, aclshmemx_mte_, NAME, TYPE)
#define ACLSHMEMI_DEFINE_BY_MTE_INTEGER(NAME, TYPE)                                                          \
    ACLSHMEMI_DEFINE_STORE(ACLSHMEMI_AMO_BY_MTE, aclshmemx_mte_, NAME, TYPE)                                 \
    ACLSHMEMI_DEFINE_INTEGER(ACLSHMEMI_AMO_BY_MTE, aclshmemx_mte_, NAME, TYPE)

ACLSHMEM_TYPES_AMO_ADD(ACLSHMEMI_DEFINE_BY_MTE_ADD)
ACLSHMEM_TYPES_AMO_INTEGER(ACLSHMEMI_DEFINE_BY_MTE_INTEGER)

#undef ACLSHMEMI_AMO_BY_RULE
#undef ACLSHMEMI_AMO_BY_MTE
#undef ACLSHMEMI_AMO_VOID
#undef ACLSHMEMI_AMO_RESULT
#undef ACLSHMEMI_DEFINE_ADD
#undef ACLSHMEMI_DEFINE_STORE
#undef ACLSHMEMI_DEFINE_INTEGER
#undef ACLSHMEMI_DEFINE_BITS
#undef ACLSHMEMI_DEFINE_BY_RULE_ADD
#undef ACLSHMEMI_DEFINE_BY_RULE_STORE
#undef ACLSHMEMI_DEFINE_BY_RULE_INTEGER
#undef ACLSHMEMI_DEFINE_BY_MTE_ADD
#undef ACLSHMEMI_DEFINE_BY_MTE_INTEGER

#endif
