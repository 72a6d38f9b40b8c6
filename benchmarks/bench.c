/* SPDX-License-Identifier: Apache-2.0 */
/* What the benchmark programs share. */
#include "bench.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS_MAX = 101, HOPS = 200000 };

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, ascending);
    return count % 2 != 0 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

double bench_median_ns(bench_body_t *body, void *argument, size_t repeats, int blocks)
{
    double values[BLOCKS_MAX];
    if (blocks > BLOCKS_MAX)
        blocks = BLOCKS_MAX;
    body(argument, repeats);
    for (int i = 0; i < blocks; i++) {
        double started = bench_now_ns();
        body(argument, repeats);
        values[i] = (bench_now_ns() - started) / (double)repeats;
    }
    return bench_median(values, blocks);
}

static _Alignas(64) atomic_int ball;

static void pin_to_nth(int wanted)
{
    cpu_set_t all, one;
    sched_getaffinity(0, sizeof all, &all);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &all) || wanted-- > 0)
            continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        pthread_setaffinity_np(pthread_self(), sizeof one, &one);
        return;
    }
}

static void *partner(void *unused)
{
    (void)unused;
    pin_to_nth(1);
    for (int i = 0; i < HOPS; i++) {
        while (atomic_load_explicit(&ball, memory_order_acquire) != 2 * i + 1)
            ;
        atomic_store_explicit(&ball, 2 * i + 2, memory_order_release);
    }
    return NULL;
}

double bench_line_hop_ns(void)
{
    cpu_set_t before, every;
    pthread_t thread;
    /* A launcher may have bound us to one core; the probe wants two. */
    sched_getaffinity(0, sizeof before, &before);
    memset(&every, 0xff, sizeof every);
    sched_setaffinity(0, sizeof every, &every);
    sched_getaffinity(0, sizeof every, &every);
    if (CPU_COUNT(&every) < 2)
        return 0.0;
    atomic_store(&ball, 0);
    if (pthread_create(&thread, NULL, partner, NULL) != 0)
        return 0.0;
    pin_to_nth(0);
    double started = bench_now_ns();
    for (int i = 0; i < HOPS; i++) {
        atomic_store_explicit(&ball, 2 * i + 1, memory_order_release);
        while (atomic_load_explicit(&ball, memory_order_acquire) != 2 * i + 2)
            ;
    }
    double took = bench_now_ns() - started;
    pthread_join(thread, NULL);
    sched_setaffinity(0, sizeof before, &before);
    return took / (2.0 * HOPS);
}
