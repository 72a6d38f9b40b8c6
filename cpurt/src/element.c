/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Element-wise add to memory: atomic per element, for cores, processes and the host's own atomics of the same width
 * alike. The 16-bit kinds of float are added in float and rounded once to nearest even; float has more than twice
 * their digits, so that is the exact sum rounded.
 */
#include "element.h"

#include <stdbool.h>
#include <string.h>

uint32_t cpurt_element_bytes(aicore_element_t element)
{
    switch (element) {
    case AICORE_ADD_INT16:
    case AICORE_ADD_HALF:
    case AICORE_ADD_BFLOAT16:
        return 2;
    case AICORE_ADD_INT32:
    case AICORE_ADD_FLOAT:
        return 4;
    default:
        return 1;
    }
}

static float float_of(uint32_t bits)
{
    float value = 0.0f;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bits_of(float value)
{
    uint32_t bits = 0;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint32_t float_sum(uint32_t a, uint32_t b)
{
    return bits_of(float_of(a) + float_of(b));
}

/* The upper digits of a float, rounded to nearest even by the lower 'drop' ones. */
static uint32_t round_off(uint32_t bits, uint32_t drop)
{
    const uint32_t half = UINT32_C(1) << (drop - 1);

    return (bits + half - 1 + ((bits >> drop) & 1)) >> drop;
}

static uint32_t bfloat_sum(uint32_t a, uint32_t b)
{
    const uint32_t sum = float_sum(a << 16, b << 16);

    if ((sum & 0x7fffffff) > 0x7f800000)
        return (sum >> 16) | 0x40; /* not a number stays none */
    return round_off(sum, 16);
}

static uint32_t float_bits_of_half(uint32_t half)
{
    const uint32_t sign = (half & 0x8000) << 16, exponent = half >> 10 & 0x1f, digits = half & 0x3ff;

    if (exponent == 0x1f)
        return sign | 0x7f800000 | digits << 13;
    if (exponent == 0)
        return sign | bits_of((float)digits * 0x1p-24f);
    return sign | (exponent + 112) << 23 | digits << 13;
}

static uint32_t half_of_float_bits(uint32_t bits)
{
    const uint32_t sign = bits >> 16 & 0x8000, size = bits & 0x7fffffff;

    if (size > 0x7f800000)
        return sign | 0x7e00 | (size >> 13 & 0x3ff);
    if (size >= 0x477ff000) /* rounds to 2^16 */
        return sign | 0x7c00;
    if (size >= 0x38800000)
        return sign | (round_off(size, 13) - (UINT32_C(112) << 10));
    /* Below 2^-14 halves are multiples of 2^-24; so is what float leaves when 0.5 is added, and it rounds as we want. */
    return sign | (bits_of(float_of(size) + 0.5f) - bits_of(0.5f));
}

static uint32_t half_sum(uint32_t a, uint32_t b)
{
    return half_of_float_bits(float_sum(float_bits_of_half(a), float_bits_of_half(b)));
}

static void add_16(uint16_t *word, uint16_t value, uint32_t (*sum)(uint32_t, uint32_t))
{
    uint16_t old = __atomic_load_n(word, __ATOMIC_RELAXED);

    while (!__atomic_compare_exchange_n(word, &old, (uint16_t)sum(old, value), true, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
        continue;
}

static void add_float(uint32_t *word, uint32_t value)
{
    uint32_t old = __atomic_load_n(word, __ATOMIC_RELAXED);

    while (!__atomic_compare_exchange_n(word, &old, float_sum(old, value), true, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
        continue;
}

static void add_one(aicore_element_t element, void *memory, const void *from)
{
    uint32_t word = 0;
    uint16_t half_word = 0;
    uint8_t byte = 0;

    switch (element) {
    case AICORE_ADD_INT8:
        memcpy(&byte, from, sizeof byte);
        (void)__atomic_fetch_add((uint8_t *)memory, byte, __ATOMIC_RELEASE);
        return;
    case AICORE_ADD_INT16:
        memcpy(&half_word, from, sizeof half_word);
        (void)__atomic_fetch_add((uint16_t *)memory, half_word, __ATOMIC_RELEASE);
        return;
    case AICORE_ADD_INT32:
        memcpy(&word, from, sizeof word);
        (void)__atomic_fetch_add((uint32_t *)memory, word, __ATOMIC_RELEASE);
        return;
    case AICORE_ADD_FLOAT:
        memcpy(&word, from, sizeof word);
        add_float(memory, word);
        return;
    case AICORE_ADD_HALF:
    case AICORE_ADD_BFLOAT16:
        memcpy(&half_word, from, sizeof half_word);
        add_16(memory, half_word, element == AICORE_ADD_HALF ? half_sum : bfloat_sum);
        return;
    default:
        return;
    }
}

void cpurt_element_add(aicore_element_t element, void *memory, const void *values, uint64_t bytes)
{
    const uint32_t step = cpurt_element_bytes(element);

    for (uint64_t i = 0; i < bytes; i += step)
        add_one(element, (char *)memory + i, (const char *)values + i);
}
