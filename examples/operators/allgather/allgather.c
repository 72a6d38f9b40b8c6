/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allgather, written with kernels: the sizes from 4 bytes to 2 MiB per PE, each with both algorithms, several rounds without
 * a barrier between them.
 *
 *     aclshmemrun -n 4 allgather
 */
#include "allgather.h"
#include "operator.h"

enum { LEAST = 4, SIZES = 16, ROUNDS = 3, SLICES = OP_BLOCKS };

static const uint64_t most_bytes = (uint64_t)2 << 20;

static uint64_t size_number(int i)
{
    uint64_t bytes = LEAST;
    for (int k = 0; k < i; k++)
        bytes = bytes * 12 / 5; /* not powers of two alone: lengths with ends of all kinds */
    return i == SIZES - 1 ? most_bytes : bytes;
}

static uint32_t word_of(int pe, int round, uint64_t index)
{
    return op_random((uint32_t)(pe * 1000 + round), (uint32_t)index);
}

static void make_block(char *block, uint64_t bytes, int pe, int round)
{
    for (uint64_t i = 0; i < bytes; i += 4) {
        const uint32_t word = word_of(pe, round, i / 4);
        memcpy(block + i, &word, bytes - i < 4 ? bytes - i : 4);
    }
}

/* One round: new data, the kernel, a look at every byte. */
static double run_round(op_t *op, allgather_args_t *a, const char *kernel, char *host, char *expected)
{
    make_block(host, a->bytes, op->me, a->round);
    op_write(op, a->source, host, a->bytes);
    const double start = op_now_us();
    op_launch(op, kernel, OP_BLOCKS, a, sizeof *a);
    op_sync(op);
    const double took = op_now_us() - start;
    op_read(op, host, a->result, a->bytes * (uint64_t)op->n);
    for (int pe = 0; pe < op->n; pe++) {
        make_block(expected, a->bytes, pe, a->round);
        op->wrong += memcmp(host + (uint64_t)pe * a->bytes, expected, a->bytes) != 0;
    }
    return took;
}

int main(void)
{
    op_t op = op_begin_job("allgather");
    const size_t flags = (size_t)op.n * (1 + SLICES) * ALLGATHER_LINE;
    char *result = op_symmetric(&op, 2 * most_bytes * (size_t)op.n), *source = op_symmetric(&op, most_bytes);
    char *host = op_host(&op, most_bytes * (size_t)op.n), *expected = op_host(&op, most_bytes);
    allgather_args_t a = {
        .source = source, .flags = op_symmetric(&op, flags * sizeof(int32_t)), .slices = SLICES};

    if (op.me == 0)
        printf("%12s %14s %14s\n", "bytes per PE", "small, us", "large, us");
    for (int size = 0; size < SIZES; size++) {
        double best[2] = {0, 0};
        a.bytes = size_number(size);
        for (int turn = 0; turn < 2 * ROUNDS; turn++) {
            a.round++;
            a.result = result + (a.round % 2 == 0 ? 0 : most_bytes * (uint64_t)op.n);
            const double took =
                run_round(&op, &a, turn % 2 == 0 ? "allgather_small" : "allgather_large", host, expected);
            if (best[turn % 2] == 0 || took < best[turn % 2])
                best[turn % 2] = took;
        }
        if (op.me == 0)
            printf("%12llu %14.1f %14.1f\n", (unsigned long long)a.bytes, best[0], best[1]);
    }
    free(host);
    free(expected);
    aclshmem_free(a.flags);
    aclshmem_free(source);
    aclshmem_free(result);
    return op_end(&op);
}
