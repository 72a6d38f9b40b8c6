/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inference with the hidden layer spread over the PEs, as large models do it: each PE computes its share of the hidden units
 * of all samples, multiplies them by its rows of the output weights, and matmul_allreduce sums the products while they
 * are computed.
 */
#include "operators/matmul/matmul_host.h"

#include "digits.h"

enum { TILE_M = 16, COLUMNS = 16 }; /* samples of a tile; classes, rounded up to whole lines */

/* This PE's hidden units of all samples, and its rows of the output weights, in single precision. */
static void make_part(const network_t *net, const sample_t *samples, size_t count, int first, int k, float *a,
                      float *b)
{
    for (size_t i = 0; i < count; i++)
        for (int h = 0; h < k; h++)
            a[i * (size_t)k + (size_t)h] = (float)network_hidden(net, &samples[i], first + h);
    for (int h = 0; h < k; h++)
        for (int c = 0; c < CLASSES; c++)
            b[h * COLUMNS + c] = (float)net->out_weight[c][first + h];
}

static size_t count_right(const network_t *net, const sample_t *samples, size_t count, const float *c)
{
    size_t right = 0;
    for (size_t i = 0; i < count; i++) {
        int best = 0;
        for (int j = 1; j < CLASSES; j++)
            if (c[i * COLUMNS + (size_t)j] + (float)net->out_bias[j] >
                c[i * COLUMNS + (size_t)best] + (float)net->out_bias[best])
                best = j;
        right += best == samples[i].label;
    }
    return right;
}

double infer_accuracy(const network_t *net, const sample_t *samples, size_t count)
{
    op_t op = op_begin("digits_train");
    const size_t rows = TILE_M * (size_t)op.n, m = (count + rows - 1) / rows * rows;
    const int first = HIDDEN * op.me / op.n, k = HIDDEN * (op.me + 1) / op.n - first;
    matmul_t matmul = matmul_make(&op, (int)m, COLUMNS, (HIDDEN + op.n - 1) / op.n, TILE_M, COLUMNS, 1);
    float *a = op_host(&op, (m * (size_t)k + 1) * sizeof *a);
    float *b = op_host(&op, ((size_t)k * COLUMNS + 1) * sizeof *b),
          *c = op_host(&op, m * COLUMNS * sizeof *c);

    make_part(net, samples, count, first, k, a, b);
    matmul.args.k = k;
    if (k > 0) { /* with more PEs than hidden units some have none */
        op_write(&op, matmul.args.a, a, m * (size_t)k * sizeof *a);
        op_write(&op, matmul.args.b, b, (size_t)k * COLUMNS * sizeof *b);
    }
    matmul_run(&op, &matmul, MATMUL_FUSED);
    op_sync(&op);
    op_read(&op, c, matmul.args.c, m * COLUMNS * sizeof *c);
    const size_t right = count_right(net, samples, count, c);
    free(a);
    free(b);
    free(c);
    matmul_free(&matmul);
    OP_ACL(&op, aclrtDestroyStream(op.stream));
    return (double)right / (double)count;
}
