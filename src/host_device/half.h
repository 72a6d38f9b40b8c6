/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two numbers of 16 bits as their bits: half (IEEE binary16) and bfloat16. They widen to float exactly and are
 * rounded back to nearest even, so that host, kernels and transports come to the same bits on every machine.
 */
#ifndef ACLSHMEMI_HOST_DEVICE_HALF_H
#define ACLSHMEMI_HOST_DEVICE_HALF_H

#include <stdint.h>
#include <string.h>

static inline float aclshmemi_float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t aclshmemi_bits_of_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float aclshmemi_widen_bfloat16(uint16_t value)
{
    return aclshmemi_float_of_bits((uint32_t)value << 16);
}

static inline uint16_t aclshmemi_narrow_bfloat16(float value)
{
    uint32_t bits = aclshmemi_bits_of_float(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return (uint16_t)(bits >> 16 | 0x40u); /* stays a NaN, and quiet */
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

static inline float aclshmemi_widen_half(uint16_t value)
{
    uint32_t sign = (uint32_t)(value & 0x8000u) << 16, exponent = value >> 10 & 0x1fu,
             fraction = value & 0x3ffu;
    if (exponent == 0x1fu)
        return aclshmemi_float_of_bits(sign | 0x7f800000u | fraction << 13);
    if (exponent != 0)
        return aclshmemi_float_of_bits(sign | (exponent + 112u) << 23 | fraction << 13);
    float tiny = (float)fraction * 0x1p-24f; /* subnormal or zero, exact */
    return sign != 0 ? -tiny : tiny;
}

static inline uint16_t aclshmemi_narrow_half(float value)
{
    uint32_t bits = aclshmemi_bits_of_float(value), sign = bits >> 16 & 0x8000u,
             magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u)
        return (uint16_t)(sign | 0x7e00u);
    if (magnitude >= 0x477ff000u) /* rounds past the largest half */
        return (uint16_t)(sign | 0x7c00u);
    if (magnitude < 0x38800000u) { /* subnormal: the addition rounds at the last bit a half has */
        float shifted = aclshmemi_float_of_bits(magnitude) + 0.5f;
        return (uint16_t)(sign | (aclshmemi_bits_of_float(shifted) - 0x3f000000u));
    }
    return (uint16_t)(sign | (magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u)) >> 13);
}

#endif
