/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What reductions do to numbers, for host and kernels: into[k] = into[k] OP from[k], a loop per type and operation that
 * compilers turn into vector code. half and bfloat16 widen to float, compute, and round to nearest even. The two do not
 * overlap.
 */
#ifndef ACLSHMEMI_HOST_DEVICE_COMBINE_H
#define ACLSHMEMI_HOST_DEVICE_COMBINE_H

#include <stddef.h>

#include "host_device/half.h"

/* Name, type, and what it can do: bits too, numbers only, or numbers that have to be widened. */
#define ACLSHMEMI_REDUCE_ROWS(ROW)                                                                           \
    ROW(float, float, NUMBER)                                                                                \
    ROW(double, double, NUMBER)                                                                              \
    ROW(int8, int8_t, WHOLE)                                                                                 \
    ROW(int16, int16_t, WHOLE)                                                                               \
    ROW(int32, int32_t, WHOLE)                                                                               \
    ROW(int64, int64_t, WHOLE)                                                                               \
    ROW(uint8, uint8_t, WHOLE)                                                                               \
    ROW(uint16, uint16_t, WHOLE)                                                                             \
    ROW(uint32, uint32_t, WHOLE)                                                                             \
    ROW(uint64, uint64_t, WHOLE)                                                                             \
    ROW(char, char, NUMBER)                                                                                  \
    ROW(half, uint16_t, SMALL)                                                                               \
    ROW(bfloat16, uint16_t, SMALL)

typedef void aclshmemi_combine_t(void *into, const void *from, size_t count);

#define ACLSHMEMI_COMBINE(name, type, op, expression)                                                        \
    static inline __attribute__((unused)) void aclshmemi_combine_##name##_##op(                              \
        void *into_bytes, const void *from_bytes, size_t count)                                              \
    {                                                                                                        \
        type *__restrict__ into = (type *)into_bytes;                                                        \
        const type *__restrict__ from = (const type *)from_bytes;                                            \
        for (size_t k = 0; k < count; k++) {                                                                 \
            type a = into[k], b = from[k];                                                                   \
            into[k] = (type)(expression);                                                                    \
        }                                                                                                    \
    }

/* Integers are combined unsigned, so that they wrap. */
#define ACLSHMEMI_COMBINE_WHOLE(name, type)                                                                  \
    ACLSHMEMI_COMBINE(name, type, sum, (uint64_t)a + (uint64_t)b)                                            \
    ACLSHMEMI_COMBINE(name, type, prod, (uint64_t)a *(uint64_t)b)                                            \
    ACLSHMEMI_COMBINE(name, type, min, a < b ? a : b)                                                        \
    ACLSHMEMI_COMBINE(name, type, max, a > b ? a : b)                                                        \
    ACLSHMEMI_COMBINE(name, type, and, a &b)                                                                 \
    ACLSHMEMI_COMBINE(name, type, or, a | b)                                                                 \
    ACLSHMEMI_COMBINE(name, type, xor, a ^ b)

#define ACLSHMEMI_COMBINE_NUMBER(name, type)                                                                 \
    ACLSHMEMI_COMBINE(name, type, sum, a + b)                                                                \
    ACLSHMEMI_COMBINE(name, type, prod, a *b)                                                                \
    ACLSHMEMI_COMBINE(name, type, min, a < b ? a : b)                                                        \
    ACLSHMEMI_COMBINE(name, type, max, a > b ? a : b)

#define ACLSHMEMI_COMBINE_SMALL(name, type)                                                                  \
    ACLSHMEMI_COMBINE(name, type, sum,                                                                       \
                      aclshmemi_narrow_##name(aclshmemi_widen_##name(a) + aclshmemi_widen_##name(b)))        \
    ACLSHMEMI_COMBINE(name, type, prod,                                                                      \
                      aclshmemi_narrow_##name(aclshmemi_widen_##name(a) * aclshmemi_widen_##name(b)))        \
    ACLSHMEMI_COMBINE(name, type, min, aclshmemi_widen_##name(a) < aclshmemi_widen_##name(b) ? a : b)        \
    ACLSHMEMI_COMBINE(name, type, max, aclshmemi_widen_##name(a) > aclshmemi_widen_##name(b) ? a : b)

#define ACLSHMEMI_COMBINE_ROW(name, type, kind) ACLSHMEMI_COMBINE_##kind(name, type)
ACLSHMEMI_REDUCE_ROWS(ACLSHMEMI_COMBINE_ROW)

#undef ACLSHMEMI_COMBINE_ROW
#undef ACLSHMEMI_COMBINE_SMALL
#undef ACLSHMEMI_COMBINE_NUMBER
#undef ACLSHMEMI_COMBINE_WHOLE
#undef ACLSHMEMI_COMBINE

#endif
