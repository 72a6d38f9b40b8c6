/* SPDX-License-Identifier: Apache-2.0 */
/* The loops of reductions by number. */
#include "host/data_plane/reduce.h"

#define NUMBER_ENTRIES(name)                                                                                 \
    [ACLSHMEMI_OP_sum] = aclshmemi_combine_##name##_sum,                                                     \
    [ACLSHMEMI_OP_prod] = aclshmemi_combine_##name##_prod,                                                   \
    [ACLSHMEMI_OP_min] = aclshmemi_combine_##name##_min, [ACLSHMEMI_OP_max] = aclshmemi_combine_##name##_max
#define SMALL_ENTRIES(name) NUMBER_ENTRIES(name)
#define WHOLE_ENTRIES(name)                                                                                  \
    NUMBER_ENTRIES(name), [ACLSHMEMI_OP_and] = aclshmemi_combine_##name##_and,                               \
                          [ACLSHMEMI_OP_or] = aclshmemi_combine_##name##_or,                                 \
                          [ACLSHMEMI_OP_xor] = aclshmemi_combine_##name##_xor
#define ENTRIES(name, type, kind) [ACLSHMEMI_TYPE_##name] = {kind##_ENTRIES(name)},

static aclshmemi_combine_t *const table[ACLSHMEMI_TYPE_COUNT][ACLSHMEMI_OP_COUNT] = {
    ACLSHMEMI_REDUCE_ROWS(ENTRIES)};

aclshmemi_combine_t *aclshmemi_reduce_function(aclshmemi_reduction_t reduction)
{
    uint32_t type = reduction / 16, op = reduction % 16;
    return type < ACLSHMEMI_TYPE_COUNT && op < ACLSHMEMI_OP_COUNT ? table[type][op] : NULL;
}
