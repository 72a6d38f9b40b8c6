/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of the kernels in core_kernels.c, which are built in several ways and loaded at run time. */
#ifndef CPURT_TESTS_CORE_KERNELS_H
#define CPURT_TESTS_CORE_KERNELS_H

#include "aicore/aicore.h"

/* One primitive with the arguments of the host; what a kernel gets wrong. */
typedef enum core_call {
    CALL_COPY_IN,
    CALL_COPY_OUT,
    CALL_COPY_IN_ROWS,
    CALL_COPY_OUT_ROWS,
    CALL_ATOMIC_MODE,
    CALL_FLAG_SET,
    CALL_FLAG_TWICE,
    CALL_FLAG_WAIT,
    CALL_BARRIER,
    CALL_TOUCH,
    CALL_LOAD,
    CALL_STORE,
    CALL_TRAP
} core_call_t;

typedef struct core_call_packed {
    uint32_t call; /* core_call_t */
    uint32_t element;
    uint64_t ub;
    void *memory;
    uint64_t bytes;
    aicore_rows_t rows;
    uint32_t from, to, number; /* of a flag */
} core_call_args_t;

/* In, through the buffer, out. */
typedef struct core_rows_packed {
    const void *from;
    void *to;
    uint64_t ub;
    aicore_rows_t in, out;
} core_rows_args_t;

#endif
