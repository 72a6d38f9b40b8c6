/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that compilers turn into vector code. half and bfloat16 widen to float, compute, and round to nearest even. */
#include "host/data_plane/reduce.h"

#include <string.h>

static inline float float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t bits_of_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float widen_bfloat16(uint16_t value)
{
    return float_of_bits((uint32_t)value << 16);
}

static inline uint16_t narrow_bfloat16(float value)
{
    uint32_t bits = bits_of_float(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return (uint16_t)(bits >> 16 | 0x40u); /* stays a NaN, and quiet */
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

static inline float widen_half(uint16_t value)
{
    uint32_t sign = (uint32_t)(value & 0x8000u) << 16, exponent = value >> 10 & 0x1fu,
             fraction = value & 0x3ffu;
    if (exponent == 0x1fu)
        return float_of_bits(sign | 0x7f800000u | fraction << 13);
    if (exponent != 0)
        return float_of_bits(sign | (exponent + 112u) << 23 | fraction << 13);
    float tiny = (float)fraction * 0x1p-24f; /* subnormal or zero, exact */
    return sign != 0 ? -tiny : tiny;
}

static inline uint16_t narrow_half(float value)
{
    uint32_t bits = bits_of_float(value), sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u)
        return (uint16_t)(sign | 0x7e00u);
    if (magnitude >= 0x477ff000u) /* rounds past the largest half */
        return (uint16_t)(sign | 0x7c00u);
    if (magnitude < 0x38800000u) { /* subnormal: the addition rounds at the last bit a half has */
        float shifted = float_of_bits(magnitude) + 0.5f;
        return (uint16_t)(sign | (bits_of_float(shifted) - 0x3f000000u));
    }
    return (uint16_t)(sign | (magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u)) >> 13);
}

#define LOOP(name, type, op, expression)                                                                     \
    static void name##_##op(void *into_bytes, const void *from_bytes, size_t count)                          \
    {                                                                                                        \
        type *restrict into = into_bytes;                                                                    \
        const type *restrict from = from_bytes;                                                              \
        for (size_t k = 0; k < count; k++) {                                                                 \
            type a = into[k], b = from[k];                                                                   \
            into[k] = (type)(expression);                                                                    \
        }                                                                                                    \
    }

/* Integers are combined unsigned, so that they wrap. */
#define WHOLE_LOOPS(name, type)                                                                              \
    LOOP(name, type, sum, (uint64_t)a + (uint64_t)b)                                                         \
    LOOP(name, type, prod, (uint64_t)a *(uint64_t)b)                                                         \
    LOOP(name, type, min, a < b ? a : b)                                                                     \
    LOOP(name, type, max, a > b ? a : b)                                                                     \
    LOOP(name, type, and, a &b)                                                                              \
    LOOP(name, type, or, a | b)                                                                              \
    LOOP(name, type, xor, a ^ b)

#define NUMBER_LOOPS(name, type)                                                                             \
    LOOP(name, type, sum, a + b)                                                                             \
    LOOP(name, type, prod, a *b)                                                                             \
    LOOP(name, type, min, a < b ? a : b)                                                                     \
    LOOP(name, type, max, a > b ? a : b)

#define SMALL_LOOPS(name, type)                                                                              \
    LOOP(name, type, sum, narrow_##name(widen_##name(a) + widen_##name(b)))                                  \
    LOOP(name, type, prod, narrow_##name(widen_##name(a) * widen_##name(b)))                                 \
    LOOP(name, type, min, widen_##name(a) < widen_##name(b) ? a : b)                                         \
    LOOP(name, type, max, widen_##name(a) > widen_##name(b) ? a : b)

#define LOOPS(name, type, kind) kind##_LOOPS(name, type)
ACLSHMEMI_REDUCE_ROWS(LOOPS)

#define NUMBER_ENTRIES(name)                                                                                 \
    [ACLSHMEMI_OP_sum] = name##_sum, [ACLSHMEMI_OP_prod] = name##_prod, [ACLSHMEMI_OP_min] = name##_min,     \
    [ACLSHMEMI_OP_max] = name##_max
#define SMALL_ENTRIES(name) NUMBER_ENTRIES(name)
#define WHOLE_ENTRIES(name)                                                                                  \
    NUMBER_ENTRIES(name), [ACLSHMEMI_OP_and] = name##_and, [ACLSHMEMI_OP_or] = name##_or,                    \
                          [ACLSHMEMI_OP_xor] = name##_xor
#define ENTRIES(name, type, kind) [ACLSHMEMI_TYPE_##name] = {kind##_ENTRIES(name)},

static aclshmemi_combine_t *const table[ACLSHMEMI_TYPE_COUNT][ACLSHMEMI_OP_COUNT] = {
    ACLSHMEMI_REDUCE_ROWS(ENTRIES)};

aclshmemi_combine_t *aclshmemi_reduce_function(aclshmemi_reduction_t reduction)
{
    uint32_t type = reduction / 16, op = reduction % 16;
    return type < ACLSHMEMI_TYPE_COUNT && op < ACLSHMEMI_OP_COUNT ? table[type][op] : NULL;
}
