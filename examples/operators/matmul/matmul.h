/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A matrix product whose inner dimension is spread over the PEs, with the sum over PEs built in: PE p has the columns of A
 * and the rows of B that belong to its part, and C = sum over p of A_p B_p. matmul_allreduce leaves C on every PE,
 * matmul_reduce_scatter leaves every PE its rows.
 *
 * Tiles of C travel to the PE that adds them up while the cores still work on the next ones. The sum of a tile is taken in
 * the order of PEs, so the result has the same bits however the tiles arrived.
 */
#ifndef MATMUL_H
#define MATMUL_H

#include <stdint.h>

#define MATMUL_LINE 16 /* words between flags */

typedef enum matmul_mode {
    MATMUL_FUSED,      /* tiles leave as soon as they are done */
    MATMUL_COMPUTE,    /* all tiles into `partial`, nothing leaves */
    MATMUL_COMMUNICATE /* all tiles from `partial` */
} matmul_mode_t;

/* Row-major floats. Tile t covers rows (t / tiles_n) * tile_m and columns (t % tiles_n) * tile_n; the tiles of C go to the PEs
 * in equal runs. Symmetric pointers are marked. */
typedef struct matmul_params {
    float *a;         /* m x k, mine */
    float *b;         /* k x n, mine */
    float *c;         /* m x n, symmetric: all of it, or this PE's tiles of it */
    float *partial;   /* tiles of mine, one after another; two per core in MATMUL_FUSED, all of them else */
    float *inbox;     /* tile of mine i from PE p at (i * n_pes + p) tiles; symmetric */
    int32_t *arrived; /* of tile of mine i: parts that are here, counted over all rounds; symmetric */
    int32_t *done;    /* of tile t: last round whose sum is in c; symmetric */
    int32_t m, n, k;
    int32_t tile_m, tile_n; /* divide m and n; the number of tiles is a multiple of that of PEs */
    int32_t gather;         /* 1: every PE gets all tiles */
    int32_t mode;
    int32_t round; /* from 1; rounds that communicate count */
} matmul_params_t;

#endif
