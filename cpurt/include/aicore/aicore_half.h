/* SPDX-License-Identifier: Apache-2.0 */
/* The two 16-bit floats as C++ types: bits that turn into a float where they are used, and round to nearest even on the way
 * back. */
#ifndef AICORE_AICORE_HALF_H
#define AICORE_AICORE_HALF_H

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace aclcpu
{

inline uint32_t float_bits(float value)
{
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

inline float float_of_bits(uint32_t bits)
{
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

/* Drops `bits` low bits of a number, rounding to nearest even. */
inline uint32_t round_off(uint32_t number, unsigned bits)
{
    const uint32_t half = uint32_t(1) << (bits - 1);
    return (number + half - 1 + ((number >> bits) & 1)) >> bits;
}

inline uint16_t half_from_float(float value)
{
    const uint32_t bits = float_bits(value), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000)
        return static_cast<uint16_t>(sign | 0x7e00 | (magnitude >> 13 & 0x1ff));
    if (magnitude >= 0x47800000) /* 2^16 and above */
        return static_cast<uint16_t>(sign | 0x7c00);
    if (magnitude >= 0x38800000) /* normal in half; rounding may carry into infinity, which is right */
        return static_cast<uint16_t>(sign | round_off(magnitude - 0x38000000, 13));
    if (magnitude < 0x33000000) /* below half of the smallest */
        return static_cast<uint16_t>(sign);
    const unsigned shift = 126 - (magnitude >> 23);
    return static_cast<uint16_t>(sign | round_off((magnitude & 0x7fffff) | 0x800000, shift));
}

inline float float_from_half(uint16_t half)
{
    const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16, magnitude = half & 0x7fff;
    if (magnitude >= 0x7c00)
        return float_of_bits(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
    if (magnitude >= 0x0400)
        return float_of_bits(sign | ((magnitude << 13) + 0x38000000));
    const float small = static_cast<float>(magnitude) * 0x1p-24f;
    return float_of_bits(sign | float_bits(small));
}

inline uint16_t bfloat16_from_float(float value)
{
    const uint32_t bits = float_bits(value);
    if ((bits & 0x7fffffff) > 0x7f800000)
        return static_cast<uint16_t>(bits >> 16 | 0x40);
    return static_cast<uint16_t>(round_off(bits, 16));
}

inline float float_from_bfloat16(uint16_t bits)
{
    return float_of_bits(static_cast<uint32_t>(bits) << 16);
}

template <uint16_t (*From)(float), float (*To)(uint16_t)> struct float16 {
    uint16_t bits;

    float16() = default;
    template <typename N, typename = std::enable_if_t<std::is_arithmetic_v<N>>>
    float16(N value) : bits(From(static_cast<float>(value)))
    {
    }
    operator float() const { return To(bits); }
    template <typename N> float16 &operator+=(N value)
    {
        return *this = float16(static_cast<float>(*this) + static_cast<float>(value));
    }
};

using half_t = float16<half_from_float, float_from_half>;
using bfloat16_t = float16<bfloat16_from_float, float_from_bfloat16>;

} // namespace aclcpu

#endif
