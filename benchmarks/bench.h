/* SPDX-License-Identifier: Apache-2.0 */
/* What the benchmark programs share: a clock, medians over blocks, and the probe that tells the machine's regime. */
#ifndef BENCH_H
#define BENCH_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

static inline double bench_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

typedef void bench_body_t(void *argument, size_t repeats);

/* Median over blocks of the nanoseconds one repeat takes; a first block warms up and is not counted. */
double bench_median_ns(bench_body_t *body, void *argument, size_t repeats, int blocks);
double bench_median(double *values, int count); /* sorts */

/* Nanoseconds a cache line takes from one core to the other, between two threads; 0 on a machine with one core. */
double bench_line_hop_ns(void);

#endif
