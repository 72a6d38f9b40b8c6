/* SPDX-License-Identifier: Apache-2.0 */
/* A copy between global memory and a unified buffer, once its arguments have been found good. */
#ifndef CPURT_COPY_UB_H
#define CPURT_COPY_UB_H

#include <stdbool.h>

#include "core_state.h"

typedef struct cpurt_copy {
    bool in; /* into the buffer, on MTE2; else out of it, on MTE3 */
    aicore_element_t element;
    unsigned char *memory; /* never written when in */
    uint64_t ub;
    uint32_t rows;
    uint32_t bytes;       /* of a row */
    uint64_t memory_step; /* from row to row */
    uint64_t ub_step;
} cpurt_copy_t;

static inline uint64_t cpurt_ub_rounded(uint64_t bytes)
{
    return (bytes + AICORE_UB_ALIGN - 1) / AICORE_UB_ALIGN * AICORE_UB_ALIGN;
}

void cpurt_copy_run(const cpurt_core_t *core, const cpurt_copy_t *copy);

#endif
