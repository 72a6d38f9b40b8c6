/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host operations beside what the machine itself can do in the same run.
 *
 *     aclshmemrun -n 2 host_ops         put and get of 8 B, 4 KiB, 64 KiB, 1 MiB, 16 MiB against memcpy between the same
 *                                       mappings; signal ping-pong; barrier_all
 *     aclshmemrun -n 8 host_ops         with other counts than 2: barrier_all only
 *
 * PE 0 prints a table; the ratio column is ours divided by the plain copy. The line probe before and after tells the
 * regime of the machine: compare runs of the same regime only.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "shmem.h"

enum { LARGEST = 16 << 20, BLOCKS = 21 };

typedef struct transfer {
    char *symmetric; /* local address of the remote operand */
    char *mapped;    /* the same as this process reaches it */
    char *local;
    size_t bytes;
} transfer_t;

static void do_put(void *argument, size_t repeats)
{
    transfer_t *t = argument;
    for (size_t i = 0; i < repeats; i++) {
        aclshmem_putmem(t->symmetric, t->local, t->bytes, 1);
        aclshmem_quiet();
    }
}

static void do_get(void *argument, size_t repeats)
{
    transfer_t *t = argument;
    for (size_t i = 0; i < repeats; i++)
        aclshmem_getmem(t->local, t->symmetric, t->bytes, 1);
}

static void copy_out(void *argument, size_t repeats)
{
    transfer_t *t = argument;
    for (size_t i = 0; i < repeats; i++) {
        memcpy(t->mapped, t->local, t->bytes);
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    }
}

static void copy_in(void *argument, size_t repeats)
{
    transfer_t *t = argument;
    for (size_t i = 0; i < repeats; i++) {
        memcpy(t->local, t->mapped, t->bytes);
        __asm__ volatile("" ::: "memory");
    }
}

static void do_barrier(void *argument, size_t repeats)
{
    (void)argument;
    for (size_t i = 0; i < repeats; i++)
        aclshmem_barrier_all();
}

static void ping_pong(void *argument, size_t repeats)
{
    static int32_t round;
    int32_t *signal = argument;
    int me = aclshmem_my_pe();
    for (size_t i = 0; i < repeats; i++) {
        round++;
        if (me == 0)
            aclshmemx_signal_op(signal, round, ACLSHMEM_SIGNAL_SET, 1);
        aclshmem_signal_wait_until(signal, ACLSHMEM_CMP_EQ, round);
        if (me == 1)
            aclshmemx_signal_op(signal, round, ACLSHMEM_SIGNAL_SET, 0);
    }
}

static void row(const char *name, size_t bytes, bench_body_t *ours, bench_body_t *plain, transfer_t *t)
{
    size_t repeats = bytes >= (1 << 20) ? 20 : bytes >= 65536 ? 200 : 20000;
    t->bytes = bytes;
    double a = bench_median_ns(ours, t, repeats, BLOCKS), b = bench_median_ns(plain, t, repeats, BLOCKS);
    double a2 = bench_median_ns(ours, t, repeats, BLOCKS), b2 = bench_median_ns(plain, t, repeats, BLOCKS);
    a = (a + a2) / 2;
    b = (b + b2) / 2;
    printf("%-22s %10zu B %12.1f ns %12.1f ns %8.2f\n", name, bytes, a, b, a / b);
}

static void transfers(char *symmetric, char *local)
{
    static const size_t sizes[] = {8, 4096, 65536, 1 << 20, LARGEST};
    transfer_t t = {symmetric, aclshmem_ptr(symmetric, 1), local, 0};
    printf("%-22s %12s %15s %15s %8s\n", "operation", "size", "ours", "memcpy+fence", "ratio");
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        row("putmem + quiet", sizes[i], do_put, copy_out, &t);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        row("getmem", sizes[i], do_get, copy_in, &t);
}

static void probe(const char *when)
{
    double hop = aclshmem_my_pe() == 0 ? bench_line_hop_ns() : 0.0;
    aclshmem_barrier_all();
    if (aclshmem_my_pe() == 0)
        printf("# line hop %s: %.0f ns (%s regime)\n", when, hop, hop < 200.0 ? "near" : "far");
}

int main(void)
{
    if (aclshmemx_init() != 0)
        return 1;
    int me = aclshmem_my_pe(), n = aclshmem_n_pes();
    char *symmetric = aclshmem_align(4096, LARGEST);
    int32_t *signal = aclshmem_calloc(1, sizeof *signal);
    char *local = aligned_alloc(4096, LARGEST);
    if (symmetric == NULL || signal == NULL || local == NULL)
        return 1;
    memset(symmetric, 0, LARGEST);
    memset(local, 1, LARGEST);
    aclshmem_barrier_all();
    probe("before");
    if (n == 2) {
        if (me == 0)
            transfers(symmetric, local);
        aclshmem_barrier_all();
        double trip = bench_median_ns(ping_pong, signal, 10000, BLOCKS);
        if (me == 0)
            printf("%-22s %10zu B %12.1f ns one way\n", "signal", sizeof *signal, trip / 2);
    }
    double barrier = bench_median_ns(do_barrier, NULL, 2000, BLOCKS);
    if (me == 0)
        printf("%-22s %9d PEs %12.1f ns\n", "barrier_all", n, barrier);
    probe("after");
    free(local);
    aclshmem_free(signal);
    aclshmem_free(symmetric);
    return aclshmem_finalize() == 0 ? 0 : 1;
}
