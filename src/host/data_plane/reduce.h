/* SPDX-License-Identifier: Apache-2.0 */
/* What reductions do to numbers: one function per type and operation, picked from a table. */
#ifndef ACLSHMEMI_DATA_PLANE_REDUCE_H
#define ACLSHMEMI_DATA_PLANE_REDUCE_H

#include "host_device/combine.h"

/* Type and operation as one number, the same on all PEs: it travels in the notes of collectives. 0: none. */
typedef uint32_t aclshmemi_reduction_t;

enum {
    ACLSHMEMI_OP_sum = 1,
    ACLSHMEMI_OP_prod,
    ACLSHMEMI_OP_min,
    ACLSHMEMI_OP_max,
    ACLSHMEMI_OP_and,
    ACLSHMEMI_OP_or,
    ACLSHMEMI_OP_xor,
    ACLSHMEMI_OP_COUNT
};

enum {
    ACLSHMEMI_TYPE_NONE,
#define ACLSHMEMI_TYPE_ENUM(name, type, kind) ACLSHMEMI_TYPE_##name,
    ACLSHMEMI_REDUCE_ROWS(ACLSHMEMI_TYPE_ENUM)
#undef ACLSHMEMI_TYPE_ENUM
        ACLSHMEMI_TYPE_COUNT
};

#define ACLSHMEMI_REDUCTION(name, op)                                                                        \
    ((aclshmemi_reduction_t)(ACLSHMEMI_TYPE_##name * 16 + ACLSHMEMI_OP_##op))

aclshmemi_combine_t *aclshmemi_reduce_function(aclshmemi_reduction_t reduction); /* NULL: there is none */

#endif
