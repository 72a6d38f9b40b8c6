/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel of both operators; matmul.h says what it does. */
#include <cblas.h>

#include "device/gm2gm/shmem_device_mo.h"
#include "device/gm2gm/shmem_device_p2p_sync.h"
#include "device/gm2gm/shmem_device_rma.h"
#include "device/gm2gm/shmem_device_so.h"
#include "device/team/shmem_device_team.h"
#include "matmul.h"

/* What a core needs to know of the whole. */
typedef struct work {
    const matmul_params_t *a;
    int me, n_pes, core, cores;
    int32_t tiles, own; /* of C; of those, each PE's */
    int64_t tile_size;  /* floats */
    int32_t reduced;    /* own tiles that this core has added up: they are core, core + cores, ... */
} work_t;

static float *tile_in_c(const work_t *w, int32_t tile)
{
    const matmul_params_t *a = w->a;
    const int32_t across = a->n / a->tile_n;
    return a->c + (int64_t)(tile / across) * a->tile_m * a->n + (int64_t)(tile % across) * a->tile_n;
}

static void compute_tile(const work_t *w, int32_t tile, float *out)
{
    const matmul_params_t *a = w->a;
    const int32_t across = a->n / a->tile_n;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, a->tile_m, a->tile_n, a->k, 1.0f,
                a->a + (int64_t)(tile / across) * a->tile_m * a->k, a->k,
                a->b + (int64_t)(tile % across) * a->tile_n, a->n, 0.0f, out, a->tile_n);
}

/* The tile goes to the PE that adds it up; complete after quiet. */
static void send_tile(const work_t *w, int32_t tile, float *from)
{
    const int32_t owner = tile / w->own, index = tile % w->own;
    float *to = w->a->inbox + ((int64_t)index * w->n_pes + w->me) * w->tile_size;
    aclshmem_float_put_signal_nbi(to, from, (size_t)w->tile_size, &w->a->arrived[index * MATMUL_LINE], 1,
                                  ACLSHMEM_SIGNAL_ADD, owner);
}

/* Adds up a tile of mine, which is complete, in the order of PEs, and hands out the result. */
static void reduce_tile(const work_t *w, int32_t index)
{
    const matmul_params_t *a = w->a;
    const int32_t tile = w->me * w->own + index;
    float *c = tile_in_c(w, tile);
    const float *parts = a->inbox + (int64_t)index * w->n_pes * w->tile_size;

    for (int32_t row = 0; row < a->tile_m; row++)
        for (int32_t column = 0; column < a->tile_n; column++) {
            float sum = 0;
            for (int pe = 0; pe < w->n_pes; pe++)
                sum += parts[pe * w->tile_size + (int64_t)row * a->tile_n + column];
            c[(int64_t)row * a->n + column] = sum;
        }
    const non_contiguous_copy_param rows = {(uint32_t)a->tile_m, (uint32_t)a->tile_n, (uint32_t)a->n,
                                            (uint32_t)a->n};
    for (int i = 1; a->gather && i < w->n_pes; i++)
        aclshmem_float_put_nbi_rows(c, c, &rows, (w->me + i) % w->n_pes);
    aclshmem_quiet();
    for (int i = 0; i < (a->gather ? w->n_pes : 1); i++)
        aclshmemx_signal_op(&a->done[tile * MATMUL_LINE], a->round, ACLSHMEM_SIGNAL_SET,
                            (w->me + i) % w->n_pes);
}

/* Goes on with the tiles this core adds up, as far as they have arrived, or until the last when told to wait. */
static void reduce_what_is_there(work_t *w, int wait)
{
    for (int32_t index = w->core + w->reduced * w->cores; index < w->own; index += w->cores) {
        int32_t *arrived = &w->a->arrived[index * MATMUL_LINE];
        const int32_t all = w->a->round * w->n_pes;
        if (wait)
            aclshmem_signal_wait_until(arrived, ACLSHMEM_CMP_GE, all);
        else if (!aclshmem_int32_test(arrived, ACLSHMEM_CMP_GE, all))
            return;
        reduce_tile(w, index);
        w->reduced++;
    }
}

/* Every PE starts with another PE's tiles, so that not all send to the same. */
static int32_t nth_tile(const work_t *w, int32_t i)
{
    return (i + (w->me + 1) % w->n_pes * w->own) % w->tiles;
}

ACLSHMEM_KERNEL(matmul, matmul_params_t, a)
{
    work_t w = {
        &a, aclshmem_my_pe(), aclshmem_n_pes(), (int)aicore_block_index(), (int)aicore_block_count(), 0, 0, 0,
        0};
    w.tiles = a.m / a.tile_m * (a.n / a.tile_n);
    w.own = w.tiles / w.n_pes;
    w.tile_size = (int64_t)a.tile_m * a.tile_n;
    float *two = a.partial + 2 * w.core * w.tile_size;

    for (int32_t i = w.core, turn = 0; i < w.tiles; i += w.cores, turn++) {
        const int32_t tile = nth_tile(&w, i);
        float *out = a.mode == MATMUL_FUSED ? two + turn % 2 * w.tile_size : a.partial + tile * w.tile_size;
        if (a.mode == MATMUL_FUSED && turn >= 2)
            aclshmem_quiet(); /* the tile before last has left its place */
        if (a.mode != MATMUL_COMMUNICATE)
            compute_tile(&w, tile, out);
        if (a.mode != MATMUL_COMPUTE) {
            send_tile(&w, tile, out);
            reduce_what_is_there(&w, 0);
        }
    }
    if (a.mode == MATMUL_COMPUTE)
        return;
    aclshmem_quiet();
    reduce_what_is_there(&w, 1);
    const int32_t first = a.gather ? 0 : w.me * w.own, count = a.gather ? w.tiles : w.own;
    for (int32_t i = w.core; i < count; i += w.cores)
        aclshmem_signal_wait_until(&a.done[(first + i) * MATMUL_LINE], ACLSHMEM_CMP_GE, a.round);
}
