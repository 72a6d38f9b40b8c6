/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the first PE's main() to the last PE's return from init, and the same for finalize.
 *
 *     aclshmemrun -n 32 init_time [rounds]
 *
 * The first round includes what a process does once (opening libraries); PE 0 prints it and the median of the others.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "shmem.h"

enum { ROUNDS_MAX = 99 };

/* Latest end minus earliest start over all PEs; the clock is the same for all of one host. */
static double span_ms(double started, double ended)
{
    double *pair = aclshmem_malloc(2 * sizeof *pair), first = started, last = ended;
    if (pair == NULL)
        return -1.0;
    pair[0] = started;
    pair[1] = ended;
    aclshmem_barrier_all();
    for (int pe = 0; pe < aclshmem_n_pes(); pe++) {
        double other[2];
        aclshmem_double_get(other, pair, 2, pe);
        first = other[0] < first ? other[0] : first;
        last = other[1] > last ? other[1] : last;
    }
    aclshmem_free(pair);
    return (last - first) / 1e6;
}

int main(int argc, char **argv)
{
    double started = bench_now_ns(), values[ROUNDS_MAX], first = 0.0;
    int rounds = argc > 1 ? atoi(argv[1]) : 5;
    if (rounds < 2 || rounds > ROUNDS_MAX) {
        fprintf(stderr, "usage: init_time [rounds 2..%d]\n", ROUNDS_MAX);
        return 2;
    }
    for (int i = 0; i < rounds; i++) {
        if (aclshmemx_init() != 0)
            return 1;
        double span = span_ms(started, bench_now_ns());
        if (i == 0)
            first = span;
        else
            values[i - 1] = span;
        int me = aclshmem_my_pe(), n = aclshmem_n_pes();
        if (aclshmem_finalize() != 0)
            return 1;
        started = bench_now_ns();
        if (i == rounds - 1 && me == 0)
            printf("init of %d PEs: first %.1f ms, later rounds median %.1f ms (%d rounds)\n", n, first,
                   bench_median(values, rounds - 1), rounds - 1);
    }
    return 0;
}
