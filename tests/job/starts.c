/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts in any order and with any skew: when init has returned anywhere, every call works everywhere, also towards PEs that
 * are still on their way out of init; ends the same way; and all of it again at once on the same port.
 */
#include <string.h>
#include <time.h>

#include "job.h"

enum { ROUNDS = 4 };

static uint32_t seed;

static uint32_t draw(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

/* Mostly none, sometimes a good part of a second: no PE knows how late the others are. */
static void linger(void)
{
    static const long longest_us[] = {1, 1000, 30000, 300000};
    struct timespec nap = {.tv_nsec = (long)draw((uint32_t)longest_us[draw(4)]) * 1000L};
    nanosleep(&nap, NULL);
}

/* What a program may do first: everything, with everybody. */
static void use_at_once(int pe, int n)
{
    int64_t *base = aclshmemx_get_heap_base(DEVICE_SIDE), *word = (int64_t *)aclshmemx_malloc(8, HOST_SIDE);
    t_check(base != NULL && word != NULL);
    *word = -1;
    int64_t *all = aclshmem_calloc((size_t)n, sizeof *all);
    int32_t *signal = aclshmem_calloc(1, sizeof *signal);
    t_check(all != NULL && signal != NULL);
    for (int to = 0; to < n; to++) {
        aclshmem_int64_p(&all[pe], pe + 1, to);
        aclshmem_fence();
        aclshmemx_signal_op(signal, 1, ACLSHMEM_SIGNAL_ADD, to);
    }
    aclshmem_signal_wait_until(signal, ACLSHMEM_CMP_EQ, n);
    for (int from = 0; from < n; from++)
        t_check_int(all[from], from + 1);
    linger();
    aclshmem_free(all); /* the others may still be looking at theirs */
}

static void start_and_end(job_t *job, int pe)
{
    seed = *(uint32_t *)job->arg * 31 + (uint32_t)pe * 7919;
    for (int round = 0; round < ROUNDS; round++) {
        linger();
        job_enter(job, pe);
        for (int to = 0; to < job->n_pes; to++) { /* not a word with anybody before this */
            t_check(aclshmem_ptr(aclshmemx_get_heap_base(DEVICE_SIDE), to) != NULL);
            aclshmem_quiet();
        }
        use_at_once(pe, job->n_pes);
        linger();
        job_leave();
    }
}

int main(void)
{
    static const int counts[] = {1, 2, 3, 5, 8};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        job_t job;
        uint32_t start = (uint32_t)i + 1;
        job_init(&job, counts[i]);
        job.init_timeout_s = job.control_timeout_s = 100;
        job.arg = &start;
        job_run(&job, start_and_end);
    }
    return 0;
}
