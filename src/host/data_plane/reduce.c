/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that compilers turn into vector code. half and bfloat16 widen to float, compute, and round to nearest even. */
#include "host/data_plane/reduce.h"

#include "host_device/half.h"

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
    LOOP(name, type, sum, aclshmemi_narrow_##name(aclshmemi_widen_##name(a) + aclshmemi_widen_##name(b)))    \
    LOOP(name, type, prod, aclshmemi_narrow_##name(aclshmemi_widen_##name(a) * aclshmemi_widen_##name(b)))   \
    LOOP(name, type, min, aclshmemi_widen_##name(a) < aclshmemi_widen_##name(b) ? a : b)                     \
    LOOP(name, type, max, aclshmemi_widen_##name(a) > aclshmemi_widen_##name(b) ? a : b)

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
