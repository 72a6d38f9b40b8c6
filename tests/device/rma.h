/* SPDX-License-Identifier: Apache-2.0 */
/* One call of a kernel on behalf of the host: which, on what. Shared by the tests of put and get. */
#ifndef DEVICE_RMA_H
#define DEVICE_RMA_H

#include <stdint.h>

typedef enum operation {
    OP_PUT,
    OP_GET,
    OP_PUT_NBI,
    OP_GET_NBI,
    OP_PUT_ROWS,
    OP_GET_ROWS,
    OP_IPUT,
    OP_IGET,
    OP_P,
    OP_G,
    OPS,
    /* By way of the unified buffer, or MTE by name. */
    OP_PUT_UB = OPS,
    OP_GET_UB,
    OP_PUT_UB_ROWS,
    OP_GET_UB_ROWS,
    OP_MTE_PUT_HINT_CFG,
    OP_MTE_GET_HINT_CFG,
    OP_MTE_PUT_HINT,
    OP_MTE_GET_HINT
} operation_t;

typedef struct call {
    operation_t op;
    int pe;
    char *dst, *src;
    uint64_t count;
    int64_t dst_step, src_step;         /* elements; strides, or distances of rows */
    uint32_t repeat, length;            /* of rows */
    uint32_t scratch_at, scratch_bytes; /* of MTE; 0: as the host left it */
    uint32_t ub_at;                     /* of the data, or of the scratch that is given by name */
    uint32_t ub_bytes;
    uint32_t element; /* bytes; set by moves_check */
    uint32_t flag;
    uint32_t times; /* repeats the call, with dst and src advanced by advance bytes each time */
    uint64_t advance;
} call_t;

typedef struct call_args {
    call_t *call;
} call_args_t;

#endif
