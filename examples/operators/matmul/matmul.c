/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matmul_allreduce and matmul_reduce_scatter: the product by tiles that travel while the next are computed, beside the same
 * work done as first all of the product, then all of the communication. Both give the same bits; the result is compared
 * with a product over the whole inner dimension.
 *
 *     aclshmemrun -n 4 matmul [m n k]
 */
#include <cblas.h>
#include <math.h>

#include "matmul_host.h"

enum { ROUNDS = 5 };

typedef struct shape {
    int m, n, k; /* k: over all PEs */
    int tile_m, tile_n;
} shape_t;

/* Small whole numbers: products and sums have few roundings. */
static float element(int which, uint64_t row, uint64_t column)
{
    return (float)((int)(op_random((uint32_t)which, (uint32_t)(row * 65537 + column)) % 17) - 8) / 8;
}

/* A's columns and B's rows from `first` on. */
static void make_part(const shape_t *s, int first, int k, float *a, float *b)
{
    for (int row = 0; row < s->m; row++)
        for (int i = 0; i < k; i++)
            a[(size_t)row * (size_t)k + (size_t)i] = element(1, (uint64_t)row, (uint64_t)(first + i));
    for (int i = 0; i < k; i++)
        for (int column = 0; column < s->n; column++)
            b[(size_t)i * (size_t)s->n + (size_t)column] =
                element(2, (uint64_t)(first + i), (uint64_t)column);
}

static float *reference(const op_t *op, const shape_t *s)
{
    float *a = op_host(op, (size_t)s->m * (size_t)s->k * sizeof *a),
          *b = op_host(op, (size_t)s->k * (size_t)s->n * sizeof *b);
    float *c = op_host(op, (size_t)s->m * (size_t)s->n * sizeof *c);
    make_part(s, 0, s->k, a, b);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, s->m, s->n, s->k, 1.0f, a, s->k, b, s->n, 0.0f, c,
                s->n);
    free(a);
    free(b);
    return c;
}

/* Elements of C that this PE must have and that differ by more than roundings. */
static long long compare(const op_t *op, const shape_t *s, int gather, const float *c, const float *right)
{
    const int across = s->n / s->tile_n, own = s->m / s->tile_m * across / op->n;
    long long wrong = 0;
    for (int row = 0; row < s->m; row++)
        for (int column = 0; column < s->n; column++) {
            const int tile = row / s->tile_m * across + column / s->tile_n;
            const size_t at = (size_t)row * (size_t)s->n + (size_t)column;
            if (gather || tile / own == op->me)
                wrong += !(fabsf(c[at] - right[at]) <= 1e-5f * (float)s->k);
        }
    return wrong;
}

static double timed(op_t *op, matmul_t *matmul, const matmul_mode_t *modes, int count)
{
    double best = 0;
    for (int round = 0; round < ROUNDS; round++) {
        aclshmem_barrier_all();
        const double start = op_now_us();
        for (int i = 0; i < count; i++)
            matmul_run(op, matmul, modes[i]);
        op_sync(op);
        const double took = op_now_us() - start;
        best = best == 0 || took < best ? took : best;
    }
    aclshmem_barrier_all();
    return best;
}

static void try_one(op_t *op, const shape_t *s, int gather, const float *right)
{
    static const matmul_mode_t fused[] = {MATMUL_FUSED}, apart[] = {MATMUL_COMPUTE, MATMUL_COMMUNICATE};
    const int first = (int)((int64_t)s->k * op->me / op->n),
              k = (int)((int64_t)s->k * (op->me + 1) / op->n) - first;
    const size_t bytes = (size_t)s->m * (size_t)s->n * sizeof(float);
    /* The parts may differ by one in size; memory is symmetric, so it is made for the largest. */
    matmul_t matmul = matmul_make(op, s->m, s->n, (s->k + op->n - 1) / op->n, s->tile_m, s->tile_n, gather);
    float *a = op_host(op, (size_t)s->m * (size_t)k * sizeof *a),
          *b = op_host(op, (size_t)k * (size_t)s->n * sizeof *b);
    float *c = op_host(op, bytes), *other = op_host(op, bytes);

    make_part(s, first, k, a, b);
    matmul.args.k = k;
    op_write(op, matmul.args.a, a, (size_t)s->m * (size_t)k * sizeof *a);
    op_write(op, matmul.args.b, b, (size_t)k * (size_t)s->n * sizeof *b);
    const double together_us = timed(op, &matmul, fused, 1);
    op_read(op, c, matmul.args.c, bytes);
    memset(other, 0, bytes);
    op_write(op, matmul.args.c, other, bytes);
    const double apart_us = timed(op, &matmul, apart, 2);
    op_read(op, other, matmul.args.c, bytes);

    op->wrong += compare(op, s, gather, c, right);
    op->wrong += compare(op, s, gather, other, right);
    if (gather)
        op->wrong += memcmp(c, other, bytes) != 0;
    if (op->me == 0)
        printf("%-22s %4d x %4d, inner %4d: tiles on their way %8.0f us, one after the other %8.0f us, ratio "
               "%.2f\n",
               gather ? "matmul_allreduce" : "matmul_reduce_scatter", s->m, s->n, s->k, together_us, apart_us,
               together_us / apart_us);
    free(a);
    free(b);
    free(c);
    free(other);
    matmul_free(&matmul);
}

static int positive(const char *text)
{
    char *end;
    const long value = strtol(text, &end, 10);
    return end == text || *end != '\0' || value < 1 || value > 1 << 20 ? 0 : (int)value;
}

int main(int argc, char **argv)
{
    openblas_set_num_threads(1); /* the cores of the kernel are the threads */
    op_t op = op_begin_job("matmul");
    shape_t s = {.m = 64 * op.n, .n = 256, .k = 512, .tile_m = 32, .tile_n = 64};
    if (argc == 4) {
        s.m = positive(argv[1]);
        s.n = positive(argv[2]);
        s.k = positive(argv[3]);
    }
    if ((argc != 1 && argc != 4) || s.m == 0 || s.n == 0 || s.k < op.n)
        op_fail(&op, "usage: matmul [m n k], numbers from 1 to 1048576, k at least the number of PEs");
    float *right = reference(&op, &s);
    try_one(&op, &s, 1, right);
    try_one(&op, &s, 0, right);
    free(right);
    return op_end(&op);
}
