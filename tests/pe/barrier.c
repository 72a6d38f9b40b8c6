/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers: nobody passes early, everything before is visible after, many rounds, a late PE, little cost for waiters. */
/* Scenarios: [Y-01] [Y-08] [Y-09] */
#include <sys/resource.h>
#include <time.h>

#include "pe.h"

enum { ROUNDS = 2000, LATE_MS = 1000 };

static int me, n;

/* Each PE writes its round to everybody; behind the barrier all of it must be there, and nothing newer. */
static void everything_before_is_visible(void)
{
    int64_t *seen = aclshmem_calloc((size_t)n, sizeof *seen);
    CHECK(seen != NULL);
    for (int64_t round = 1; round <= ROUNDS; round++) {
        for (int pe = 0; pe < n; pe++)
            aclshmem_int64_p(&seen[me], round, pe);
        aclshmem_barrier_all();
        for (int pe = 0; pe < n; pe++)
            CHECK_INT(seen[pe], round);
        aclshmem_barrier_all(); /* nobody writes the next round while others still look */
    }
    aclshmem_free(seen);
}

static double cpu_s(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1e-6;
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The last PE comes late on purpose; the others must wait for it, and asleep. */
static void a_late_pe(void)
{
    double *arrival = aclshmem_calloc(1, sizeof *arrival);
    CHECK(arrival != NULL);
    aclshmem_barrier_all();
    double started = cpu_s();
    if (me == n - 1) {
        struct timespec nap = {.tv_sec = LATE_MS / 1000, .tv_nsec = LATE_MS % 1000 * 1000000L};
        clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
        for (int pe = 0; pe < n; pe++)
            aclshmem_double_p(arrival, now_s(), pe);
    }
    aclshmem_barrier_all();
    CHECK(*arrival != 0.0 && now_s() >= *arrival);
    CHECK(me == n - 1 || cpu_s() - started < 0.3 * LATE_MS / 1000.0);
    aclshmem_free(arrival);
}

int main(void)
{
    pe_init(UINT64_C(2) << 20);
    CHECK(aclshmemx_last_error(NULL)[0] == '\0'); /* an init that succeeds leaves no failure behind */
    me = aclshmem_my_pe();
    n = aclshmem_n_pes();
    everything_before_is_visible();
    a_late_pe();
    for (int i = 0; i < ROUNDS; i++) {
        aclshmem_barrier_all();
        aclshmem_sync_all();
    }
    pe_finalize();
    return 0;
}
