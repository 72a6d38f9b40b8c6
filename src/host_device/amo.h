/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Atomic operations by number: what a kernel asks for, and what an entry of a work queue carries. Values and results are
 * bits, widened with zeroes to 64. Floats: their bits; half and bfloat16 are added as floats, rounded to nearest even.
 */
#ifndef ACLSHMEMI_HOST_DEVICE_AMO_H
#define ACLSHMEMI_HOST_DEVICE_AMO_H

#include <stdint.h>

typedef enum aclshmemi_amo_op {
    ACLSHMEMI_AMO_FETCH,
    ACLSHMEMI_AMO_STORE, /* set, and swap when the old value is wanted */
    ACLSHMEMI_AMO_COMPARE_SWAP,
    ACLSHMEMI_AMO_PLUS, /* add and inc, with and without fetch */
    ACLSHMEMI_AMO_AND,
    ACLSHMEMI_AMO_OR,
    ACLSHMEMI_AMO_XOR,
    ACLSHMEMI_AMO_OPS
} aclshmemi_amo_op_t;

/* What PLUS adds; the other operations look at the width alone. */
typedef enum aclshmemi_amo_type {
    ACLSHMEMI_AMO_8,
    ACLSHMEMI_AMO_16,
    ACLSHMEMI_AMO_32,
    ACLSHMEMI_AMO_64,
    ACLSHMEMI_AMO_FLOAT,
    ACLSHMEMI_AMO_DOUBLE,
    ACLSHMEMI_AMO_HALF,
    ACLSHMEMI_AMO_BFLOAT16,
    ACLSHMEMI_AMO_TYPES
} aclshmemi_amo_type_t;

#endif
