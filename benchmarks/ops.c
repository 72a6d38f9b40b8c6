/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one operation takes, in this library or in another one (peer.h):
 *
 *     aclshmemrun -n 2 ops [quick] [large] [NAME] [BYTES]
 *     mpirun -n 2 ops_oshmem ...
 *
 * One line per row: name, bytes, nanoseconds. Rows whose name starts with NAME, and of BYTES bytes, all without; `large` adds buffers that
 * no cache holds; `quick` makes a few repeats only. Up to 1 MiB the same buffers are used again and again, so these rows
 * measure caches; "cold" rows walk through more memory than caches hold. compare.sh runs it beside others and makes a
 * table.
 */
#include "ops.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 31, LARGE_BLOCKS = 7, QUICK_BLOCKS = 2, SMALL_BYTES = 16 << 20, LARGE_BYTES = 256 << 20 };

bool ops_wanted(const ops_t *ops, const char *name, size_t size)
{
    return (ops->only == NULL || strncmp(name, ops->only, strlen(ops->only)) == 0) &&
           (ops->only_size == 0 || ops->only_size == size) && size <= ops->bytes;
}

/* About a millisecond, so that an interruption spoils few blocks. */
static size_t repeats_of(const ops_t *ops, size_t size)
{
    size_t repeats = size >= (128 << 20)  ? 1
                     : size >= (16 << 20) ? 4
                     : size >= (1 << 20)  ? 20
                     : size >= (32 << 10) ? 200
                     : size >= 2048       ? 1500
                                          : 5000;
    if (ops->quick)
        return repeats < 3 ? repeats : 3;
    /* With more PEs than cores every meeting takes microseconds. */
    return ops->count > 2 && repeats > 20 ? repeats / 10 : repeats;
}

static void measure(ops_t *ops, const char *name, size_t size, bench_body_t *body, double factor)
{
    ops->size = size;
    int blocks = ops->quick ? QUICK_BLOCKS : ops->large ? LARGE_BLOCKS : BLOCKS;
    double took = bench_median_ns(body, ops, repeats_of(ops, size), blocks);
    if (ops->me == 0)
        printf("%s\t%zu\t%.2f\n", name, size, took / factor);
}

void ops_together(ops_t *ops, const char *name, size_t size, bench_body_t *body, double factor)
{
    if (!ops_wanted(ops, name, size))
        return;
    peer_barrier();
    measure(ops, name, size, body, factor);
}

void ops_alone(ops_t *ops, const char *name, size_t size, bench_body_t *body, double factor)
{
    if (!ops_wanted(ops, name, size))
        return;
    /* Who rests does so outside of the library, as a PE that computes would. */
    int64_t *over = &ops->words[1023];
    *over = 0;
    peer_barrier();
    if (ops->me == 0) {
        measure(ops, name, size, body, factor);
#if PEER_ONE_SIDED
        for (int pe = 1; pe < ops->count; pe++)
            peer_p64(over, 1, pe);
        peer_quiet();
#endif
    } else {
        struct timespec nap = {.tv_nsec = 200 * 1000};
        while (__atomic_load_n(over, __ATOMIC_ACQUIRE) == 0)
            nanosleep(&nap, NULL);
    }
    peer_barrier();
}

/* A PE to a core where they fit, whoever started us. */
static void pin(const ops_t *ops)
{
    cpu_set_t all, one;
    memset(&all, 0xff, sizeof all);
    if (sched_setaffinity(0, sizeof all, &all) != 0 || sched_getaffinity(0, sizeof all, &all) != 0 ||
        CPU_COUNT(&all) < ops->count)
        return;
    for (int cpu = 0, left = ops->me; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &all) || left-- > 0)
            continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        (void)!sched_setaffinity(0, sizeof one, &one);
        return;
    }
}

/* The others sleep meanwhile: who waits in a library that spins would take a core from the probe. */
static void probe(const ops_t *ops, const char *when)
{
    struct timespec nap = {.tv_nsec = 150 * 1000 * 1000};
    double hop = 0.0;
    if (ops->quick)
        return;
    peer_barrier();
    if (ops->me == 0)
        hop = bench_line_hop_ns();
    else
        nanosleep(&nap, NULL);
    peer_barrier();
    if (ops->me == 0)
        printf("# %s hop %s %.0f\n", PEER_NAME, when, hop);
}

static int allocate(ops_t *ops)
{
    ops->bytes = ops->large ? LARGE_BYTES : SMALL_BYTES;
    ops->source = peer_alloc(ops->bytes);
    ops->dest = peer_alloc(ops->bytes);
    ops->words = peer_alloc(1024 * sizeof *ops->words);
    if (ops->source == NULL || ops->dest == NULL || ops->words == NULL) {
        fprintf(stderr, "ops: no room for two buffers of %zu bytes; give each PE a larger symmetric heap\n",
                ops->bytes);
        return 1;
    }
    memset(ops->source, 1, ops->bytes);
    memset(ops->dest, 2, ops->bytes);
    memset(ops->words, 0, 1024 * sizeof *ops->words);
    return 0;
}

int main(int argc, char **argv)
{
    ops_t ops = {0};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "quick") == 0)
            ops.quick = true;
        else if (strcmp(argv[i], "large") == 0)
            ops.large = true;
        else if (argv[i][0] >= '1' && argv[i][0] <= '9')
            ops.only_size = strtoull(argv[i], NULL, 10);
        else
            ops.only = argv[i];
    }
    if (peer_init() != 0)
        return 1;
    ops.me = peer_me();
    ops.count = peer_count();
    pin(&ops);
    if (allocate(&ops) != 0)
        return 1;
    peer_barrier();
    probe(&ops, "before");
#if PEER_ONE_SIDED
    if (ops.count == 2)
        ops_point(&ops);
#endif
    int rc = ops_coll(&ops);
    probe(&ops, "after");
    peer_free(ops.words);
    peer_free(ops.dest);
    peer_free(ops.source);
    peer_fini();
    return rc;
}
