/* SPDX-License-Identifier: Apache-2.0 */
/* What host and kernels of the allgather agree on. */
#ifndef ALLGATHER_H
#define ALLGATHER_H

#include <stdint.h>

#define ALLGATHER_LINE 16 /* words between flags: one cache line each */

/* Two result buffers in turn, and flags that only grow: a PE that is a round ahead writes where nobody reads. */
typedef struct allgather_args {
    void *result;   /* of this round: n blocks of `bytes`, symmetric */
    void *source;   /* of this PE */
    int32_t *flags; /* n flags of the small algorithm, then n for every slice of the large one; symmetric */
    uint64_t bytes; /* of each PE */
    int32_t round;  /* from 1 */
    int32_t slices; /* of the large algorithm, per PE; equal on all PEs */
} allgather_args_t;

#endif
