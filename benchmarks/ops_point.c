/* SPDX-License-Identifier: Apache-2.0 */
/* Rows between two PEs: put, get, one element, strided, atomics, signals. */
#include "ops.h"

enum { BATCH = 64, PIECE = 1 << 20 };

static void put_quiet(void *argument, size_t repeats)
{
    ops_t *ops = argument;
    for (size_t i = 0; i < repeats; i++) {
        peer_put(ops->dest, ops->source, ops->size, 1);
        peer_quiet();
    }
}

static void get(void *argument, size_t repeats)
{
    ops_t *ops = argument;
    for (size_t i = 0; i < repeats; i++)
        peer_get(ops->source, ops->dest, ops->size, 1);
}

/* The whole buffers once, in pieces: what was touched last time is in no cache any more. */
static void put_cold(void *argument, size_t repeats)
{
    ops_t *ops = argument;
    for (size_t i = 0; i < repeats; i++)
        for (size_t at = 0; at < ops->bytes; at += PIECE)
            peer_put(ops->dest + at, ops->source + at, PIECE, 1);
    peer_quiet();
}

static void get_cold(void *argument, size_t repeats)
{
    ops_t *ops = argument;
    for (size_t i = 0; i < repeats; i++)
        for (size_t at = 0; at < ops->bytes; at += PIECE)
            peer_get(ops->source + at, ops->dest + at, PIECE, 1);
}

static void p(void *argument, size_t repeats)
{
    ops_t *ops = argument;
    for (size_t i = 0; i < repeats; i++)
        peer_p64(ops->words, (int64_t)i, 1);
    peer_quiet();
}

static void g(void *argument, size_t repeats)
{
    ops_t *ops = argument;
    int64_t sum = 0;
    for (size_t i = 0; i < repeats; i++)
        sum += peer_g64(ops->words, 1);
    ops->words[1000] = sum;
}

static void put_nbi(void *argument, size_t repeats)
{
    ops_t *ops = argument;
    int64_t *to = (int64_t *)(void *)ops->dest, *from = (int64_t *)(void *)ops->source;
    for (size_t i = 0; i < repeats; i++) {
        for (int k = 0; k < BATCH; k++)
            peer_put64_nbi(to + k, from + k, 1);
        peer_quiet();
    }
}

static void get_nbi(void *argument, size_t repeats)
{
    ops_t *ops = argument;
    int64_t *to = (int64_t *)(void *)ops->source, *from = (int64_t *)(void *)ops->dest;
    for (size_t i = 0; i < repeats; i++) {
        for (int k = 0; k < BATCH; k++)
            peer_get64_nbi(to + k, from + k, 1);
        peer_quiet();
    }
}

static void inc_rate(void *argument, size_t repeats)
{
    ops_t *ops = argument;
    for (size_t i = 0; i < repeats; i++) {
        for (int k = 0; k < BATCH; k++)
            peer_inc64(ops->words + k, 1);
        peer_quiet();
    }
}

enum { STRIDED = 512 };

static void iput(void *argument, size_t repeats)
{
    ops_t *ops = argument;
    for (size_t i = 0; i < repeats; i++)
        peer_iput64((int64_t *)(void *)ops->dest, (int64_t *)(void *)ops->source, STRIDED, 1);
    peer_quiet();
}

static void fetch_add(void *argument, size_t repeats)
{
    ops_t *ops = argument;
    for (size_t i = 0; i < repeats; i++)
        (void)peer_fetch_add64(ops->words, 1, 1);
}

/* Both PEs at the same object. */
static void fetch_add_both(void *argument, size_t repeats)
{
    ops_t *ops = argument;
    for (size_t i = 0; i < repeats; i++)
        (void)peer_fetch_add64(ops->words, 1, 0);
}

static void swap(void *argument, size_t repeats)
{
    ops_t *ops = argument;
    for (size_t i = 0; i < repeats; i++)
        (void)peer_swap64(ops->words, (int64_t)i, 1);
}

static void compare_swap(void *argument, size_t repeats)
{
    ops_t *ops = argument;
    int64_t seen = 0;
    for (size_t i = 0; i < repeats; i++)
        seen = peer_compare_swap64(ops->words, seen, (int64_t)i, 1);
}

static void fetch(void *argument, size_t repeats)
{
    ops_t *ops = argument;
    for (size_t i = 0; i < repeats; i++)
        (void)peer_fetch64(ops->words, 1);
}

static void inc_quiet(void *argument, size_t repeats)
{
    ops_t *ops = argument;
    for (size_t i = 0; i < repeats; i++) {
        peer_inc64(ops->words, 1);
        peer_quiet();
    }
}

/* One trip of a word there and back per repeat. Round numbers go on from body to body. */
static void p_wait(void *argument, size_t repeats)
{
    ops_t *ops = argument;
    int64_t *flag = ops->words + 8;
    for (size_t i = 0; i < repeats; i++) {
        ops->round++;
        if (ops->me == 0)
            peer_p64(flag, ops->round, 1);
        peer_wait64(flag, ops->round);
        if (ops->me == 1)
            peer_p64(flag, ops->round, 0);
    }
}

static void put_fence_p(void *argument, size_t repeats)
{
    ops_t *ops = argument;
    int64_t *flag = ops->words + 16;
    int other = 1 - ops->me;
    for (size_t i = 0; i < repeats; i++) {
        ops->round++;
        if (ops->me == 1)
            peer_wait64(flag, ops->round);
        peer_put(ops->dest, ops->source, ops->size, other);
        peer_fence();
        peer_p64(flag, ops->round, other);
        if (ops->me == 0)
            peer_wait64(flag, ops->round);
    }
}

static void put_signal(void *argument, size_t repeats)
{
    ops_t *ops = argument;
    int32_t *signal = (int32_t *)(ops->words + 24);
    int other = 1 - ops->me;
    for (size_t i = 0; i < repeats; i++) {
        int32_t round = (int32_t)(++ops->round & 0x7fffffff);
        if (ops->me == 1)
            peer_wait_signal(signal, round);
        peer_put_signal(ops->dest, ops->source, ops->size, signal, round, other);
        if (ops->me == 0)
            peer_wait_signal(signal, round);
    }
}

void ops_point(ops_t *ops)
{
    static const size_t sizes[] = {8, 4096, 65536, 1 << 20, 16 << 20, 256 << 20};
    enum { SIZES = sizeof sizes / sizeof sizes[0] };
    int count = ops->large ? SIZES : SIZES - 2;
    for (int i = 0; i < count; i++)
        ops_alone(ops, "put+quiet", sizes[i], put_quiet, 1);
    for (int i = 0; i < count; i++)
        ops_alone(ops, "get", sizes[i], get, 1);
    if (ops->large) {
        ops_alone(ops, "put-cold", PIECE, put_cold, (double)(ops->bytes / PIECE));
        ops_alone(ops, "get-cold", PIECE, get_cold, (double)(ops->bytes / PIECE));
        return;
    }
    ops_alone(ops, "p", 8, p, 1);
    ops_alone(ops, "g", 8, g, 1);
    ops_alone(ops, "fetch_add", 8, fetch_add, 1);
    ops_alone(ops, "swap", 8, swap, 1);
    ops_alone(ops, "compare_swap", 8, compare_swap, 1);
    ops_alone(ops, "fetch", 8, fetch, 1);
    ops_alone(ops, "inc+quiet", 8, inc_quiet, 1);
    ops_alone(ops, "rate-put_nbi", 8, put_nbi, BATCH);
    ops_alone(ops, "rate-get_nbi", 8, get_nbi, BATCH);
    ops_alone(ops, "rate-inc", 8, inc_rate, BATCH);
    ops_alone(ops, "rate-iput", 8, iput, STRIDED);
    ops_together(ops, "contended-fetch_add", 8, fetch_add_both, 1);
    ops_together(ops, "p+wait", 8, p_wait, 2);
    ops_together(ops, "put+fence+p", 8, put_fence_p, 2);
    for (int i = 0; i < 3; i++)
        ops_together(ops, "put-signal", sizes[i], put_signal, 2);
}
