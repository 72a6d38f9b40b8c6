/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of all PEs: the barrier and the collectives. Each checks its last result, so that nothing is fast by being wrong. */
#include "ops.h"

#include <stdio.h>
#include <string.h>

static void barrier(void *argument, size_t repeats)
{
    (void)argument;
    for (size_t i = 0; i < repeats; i++)
        peer_barrier();
}

static void broadcast(void *argument, size_t repeats)
{
    ops_t *ops = argument;
    for (size_t i = 0; i < repeats; i++)
        peer_broadcast(ops->dest, ops->source, ops->size, 0);
}

static void fcollect(void *argument, size_t repeats)
{
    ops_t *ops = argument;
    for (size_t i = 0; i < repeats; i++)
        peer_fcollect(ops->dest, ops->source, ops->size);
}

static void alltoall(void *argument, size_t repeats)
{
    ops_t *ops = argument;
    for (size_t i = 0; i < repeats; i++)
        peer_alltoall(ops->dest, ops->source, ops->size);
}

static void sum_double(void *argument, size_t repeats)
{
    ops_t *ops = argument;
    for (size_t i = 0; i < repeats; i++)
        peer_sum_double((double *)(void *)ops->dest, (double *)(void *)ops->source,
                        ops->size / sizeof(double));
}

static void sum_float(void *argument, size_t repeats)
{
    ops_t *ops = argument;
    for (size_t i = 0; i < repeats; i++)
        peer_sum_float((float *)(void *)ops->dest, (float *)(void *)ops->source, ops->size / sizeof(float));
}

typedef enum shape { FROM_ROOT, GATHERED, SUM_DOUBLE, SUM_FLOAT } shape_t;

typedef struct row {
    const char *name;
    bench_body_t *body;
    shape_t shape;
} row_t;

/* Every byte a PE gives is its number plus one; of numbers, every element is. */
static void fill(const ops_t *ops, shape_t shape)
{
    memset(ops->dest, 0, (size_t)ops->count << 20);
    for (size_t k = 0; k < 1 << 20; k++)
        if (shape == SUM_DOUBLE && k % sizeof(double) == 0)
            *(double *)(void *)(ops->source + k) = ops->me + 1;
        else if (shape == SUM_FLOAT && k % sizeof(float) == 0)
            *(float *)(void *)(ops->source + k) = (float)(ops->me + 1);
    if (shape == FROM_ROOT || shape == GATHERED)
        memset(ops->source, ops->me + 1, (size_t)ops->count << 20);
    if (!PEER_ONE_SIDED && shape == FROM_ROOT && ops->me == 0)
        memset(ops->dest, 1, 1 << 20); /* MPI broadcasts from the buffer it broadcasts to */
}

static bool right(const ops_t *ops, shape_t shape, size_t size)
{
    double total = (double)ops->count * (ops->count + 1) / 2;
    if (shape == SUM_DOUBLE)
        return *(double *)(void *)ops->dest == total &&
               *(double *)(void *)(ops->dest + size - sizeof(double)) == total;
    if (shape == SUM_FLOAT)
        return *(float *)(void *)ops->dest == (float)total &&
               *(float *)(void *)(ops->dest + size - sizeof(float)) == (float)total;
    if (shape == FROM_ROOT)
        return ops->me == 0 || (ops->dest[0] == 1 && ops->dest[size - 1] == 1);
    for (int i = 0; i < ops->count; i++)
        if (ops->dest[(size_t)i * size] != i + 1 || ops->dest[(size_t)(i + 1) * size - 1] != i + 1)
            return false;
    return true;
}

int ops_coll(ops_t *ops)
{
    static const row_t rows[] = {
        {"broadcast", broadcast, FROM_ROOT}, {"fcollect", fcollect, GATHERED},
        {"alltoall", alltoall, GATHERED},    {"sum-double", sum_double, SUM_DOUBLE},
        {"sum-float", sum_float, SUM_FLOAT},
    };
    static const size_t sizes[] = {8, 4096, 65536, 1 << 20};
    int rc = 0;
    if (ops->large)
        return 0;
    ops_together(ops, "barrier", 0, barrier, 1);
    if (((size_t)ops->count << 20) > ops->bytes)
        return 0;
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++)
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            if (rows[r].body == alltoall && !PEER_ALLTOALL)
                continue;
            if (!ops_wanted(ops, rows[r].name, sizes[i]))
                continue;
            fill(ops, rows[r].shape);
            ops_together(ops, rows[r].name, sizes[i], rows[r].body, 1);
            peer_barrier();
            if (!right(ops, rows[r].shape, sizes[i])) {
                fprintf(stderr, "ops: PE %d has a wrong result of %s with %zu bytes\n", ops->me, rows[r].name,
                        sizes[i]);
                rc = 1;
            }
        }
    return rc;
}
