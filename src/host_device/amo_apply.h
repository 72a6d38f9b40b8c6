/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An atomic operation on memory this processor reaches. Host calls, kernels and the proxies of transports all come by
 * here, so that whatever road an operation took it is atomic with the others and gives the same bits. With operation and
 * type known at compile time it is one instruction, or a loop for floats.
 */
#ifndef ACLSHMEMI_HOST_DEVICE_AMO_APPLY_H
#define ACLSHMEMI_HOST_DEVICE_AMO_APPLY_H

#include <stdbool.h>

#include "host_device/amo.h"
#include "host_device/half.h"

/* The word belongs to objects of any type. */
typedef uint8_t __attribute__((may_alias)) aclshmemi_amo_word_8_t;
typedef uint16_t __attribute__((may_alias)) aclshmemi_amo_word_16_t;
typedef uint32_t __attribute__((may_alias)) aclshmemi_amo_word_32_t;
typedef uint64_t __attribute__((may_alias)) aclshmemi_amo_word_64_t;

/* Bytes of an object of the type. */
static inline uint32_t aclshmemi_amo_width(aclshmemi_amo_type_t type)
{
    switch (type) {
    case ACLSHMEMI_AMO_8:
        return 1;
    case ACLSHMEMI_AMO_16:
    case ACLSHMEMI_AMO_HALF:
    case ACLSHMEMI_AMO_BFLOAT16:
        return 2;
    case ACLSHMEMI_AMO_32:
    case ACLSHMEMI_AMO_FLOAT:
        return 4;
    default:
        return 8;
    }
}

static inline uint64_t aclshmemi_amo_double_sum(uint64_t a, uint64_t b)
{
    double x, y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    x += y;
    memcpy(&a, &x, sizeof a);
    return a;
}

/* old + value of a type that the processor cannot add to in memory. */
static inline uint64_t aclshmemi_amo_sum(aclshmemi_amo_type_t type, uint64_t old, uint64_t value)
{
    switch (type) {
    case ACLSHMEMI_AMO_HALF:
        return aclshmemi_narrow_half(aclshmemi_widen_half((uint16_t)old) +
                                     aclshmemi_widen_half((uint16_t)value));
    case ACLSHMEMI_AMO_BFLOAT16:
        return aclshmemi_narrow_bfloat16(aclshmemi_widen_bfloat16((uint16_t)old) +
                                         aclshmemi_widen_bfloat16((uint16_t)value));
    case ACLSHMEMI_AMO_FLOAT:
        return aclshmemi_bits_of_float(aclshmemi_float_of_bits((uint32_t)old) +
                                       aclshmemi_float_of_bits((uint32_t)value));
    default:
        return aclshmemi_amo_double_sum(old, value);
    }
}

/* Exchange until nobody came between; bits are compared, so a NaN ends it. */
#define ACLSHMEMI_AMO_BODY(BITS)                                                                             \
    static inline __attribute__((always_inline)) uint64_t aclshmemi_amo_apply_##BITS(                        \
        aclshmemi_amo_word_##BITS##_t *word, aclshmemi_amo_op_t op, aclshmemi_amo_type_t type,               \
        uint64_t value, uint64_t condition, bool wanted)                                                     \
    {                                                                                                        \
        uint##BITS##_t seen = (uint##BITS##_t)condition, bits = (uint##BITS##_t)value;                       \
        switch (op) {                                                                                        \
        case ACLSHMEMI_AMO_FETCH:                                                                            \
            return __atomic_load_n(word, __ATOMIC_ACQUIRE);                                                  \
        case ACLSHMEMI_AMO_STORE:                                                                            \
            if (wanted)                                                                                      \
                return __atomic_exchange_n(word, bits, __ATOMIC_ACQ_REL);                                    \
            __atomic_store_n(word, bits, __ATOMIC_RELEASE);                                                  \
            return 0;                                                                                        \
        case ACLSHMEMI_AMO_COMPARE_SWAP:                                                                     \
            __atomic_compare_exchange_n(word, &seen, bits, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);       \
            return seen;                                                                                     \
        case ACLSHMEMI_AMO_AND:                                                                              \
            return __atomic_fetch_and(word, bits, __ATOMIC_ACQ_REL);                                         \
        case ACLSHMEMI_AMO_OR:                                                                               \
            return __atomic_fetch_or(word, bits, __ATOMIC_ACQ_REL);                                          \
        case ACLSHMEMI_AMO_XOR:                                                                              \
            return __atomic_fetch_xor(word, bits, __ATOMIC_ACQ_REL);                                         \
        default:                                                                                             \
            break;                                                                                           \
        }                                                                                                    \
        if (type <= ACLSHMEMI_AMO_64)                                                                        \
            return __atomic_fetch_add(word, bits, __ATOMIC_ACQ_REL);                                         \
        seen = __atomic_load_n(word, __ATOMIC_RELAXED);                                                      \
        do                                                                                                   \
            bits = (uint##BITS##_t)aclshmemi_amo_sum(type, seen, value);                                     \
        while (!__atomic_compare_exchange_n(word, &seen, bits, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));  \
        return seen;                                                                                         \
    }
ACLSHMEMI_AMO_BODY(8)
ACLSHMEMI_AMO_BODY(16)
ACLSHMEMI_AMO_BODY(32)
ACLSHMEMI_AMO_BODY(64)
#undef ACLSHMEMI_AMO_BODY

/*
 * Applies op to the object at `where`, which is aligned to its width. Returns the old bits; STORE without `wanted` is a
 * plain store and returns 0. Writes release and results acquire.
 */
static inline __attribute__((always_inline)) uint64_t aclshmemi_amo_apply(void *where, aclshmemi_amo_op_t op,
                                                                          aclshmemi_amo_type_t type,
                                                                          uint64_t value, uint64_t condition,
                                                                          bool wanted)
{
    switch (aclshmemi_amo_width(type)) {
    case 1:
        return aclshmemi_amo_apply_8((aclshmemi_amo_word_8_t *)where, op, type, value, condition, wanted);
    case 2:
        return aclshmemi_amo_apply_16((aclshmemi_amo_word_16_t *)where, op, type, value, condition, wanted);
    case 4:
        return aclshmemi_amo_apply_32((aclshmemi_amo_word_32_t *)where, op, type, value, condition, wanted);
    default:
        return aclshmemi_amo_apply_64((aclshmemi_amo_word_64_t *)where, op, type, value, condition, wanted);
    }
}

#endif
