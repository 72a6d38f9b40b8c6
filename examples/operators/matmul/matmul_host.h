/* SPDX-License-Identifier: Apache-2.0 */
/* The host side of the two operators: memory for a shape, and one call that enqueues. */
#ifndef MATMUL_HOST_H
#define MATMUL_HOST_H

#include "operator.h"
#include "matmul.h"

typedef struct matmul {
    matmul_params_t args;
    float *staging; /* what a fused run uses for tiles in flight */
    float *whole;   /* all tiles of the others */
} matmul_t;

#define MATMUL_BLOCKS 4 /* cores of each PE: more than a machine has only wait for each other */

/* Every PE calls. Tiles divide m and n, their number is a multiple of that of PEs; k is this PE's part. */
static inline matmul_t matmul_make(const op_t *op, int m, int n, int k, int tile_m, int tile_n, int gather)
{
    const size_t tile = (size_t)tile_m * (size_t)tile_n * sizeof(float),
                 tiles = (size_t)(m / tile_m) * (size_t)(n / tile_n);
    if (m % tile_m != 0 || n % tile_n != 0 || tiles % (size_t)op->n != 0)
        op_fail(op,
                "%d x %d in tiles of %d x %d cannot be shared by %d PEs: tiles must divide the matrix, PEs "
                "the tiles",
                m, n, tile_m, tile_n, op->n);
    matmul_t matmul = {
        .args = {.a = op_symmetric(op, (size_t)m * (size_t)k * sizeof(float)),
                 .b = op_symmetric(op, (size_t)k * (size_t)n * sizeof(float)),
                 .c = op_symmetric(op, (size_t)m * (size_t)n * sizeof(float)),
                 .inbox = op_symmetric(op, tiles * tile),
                 .arrived = op_symmetric(op, tiles / (size_t)op->n * MATMUL_LINE * sizeof(int32_t)),
                 .done = op_symmetric(op, tiles * MATMUL_LINE * sizeof(int32_t)),
                 .m = m,
                 .n = n,
                 .k = k,
                 .tile_m = tile_m,
                 .tile_n = tile_n,
                 .gather = gather}};
    matmul.staging = op_symmetric(op, 2 * MATMUL_BLOCKS * tile);
    matmul.whole = op_symmetric(op, tiles * tile);
    return matmul;
}

/* Enqueues. PEs may be a round apart at most where the next round starts: the inbox is reused, so a barrier, or anything that
 * waits for all, lies between rounds. */
static inline void matmul_run(const op_t *op, matmul_t *matmul, matmul_mode_t mode)
{
    matmul->args.mode = (int32_t)mode;
    matmul->args.partial = mode == MATMUL_FUSED ? matmul->staging : matmul->whole;
    if (mode != MATMUL_COMPUTE)
        matmul->args.round++;
    op_launch(op, "matmul", MATMUL_BLOCKS, &matmul->args, sizeof matmul->args);
}

static inline void matmul_free(matmul_t *matmul)
{
    const matmul_params_t *args = &matmul->args;
    void *const all[] = {matmul->whole, matmul->staging, args->done, args->arrived,
                         args->inbox,   args->c,         args->b,    args->a};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        aclshmem_free(all[i]);
}

#endif
