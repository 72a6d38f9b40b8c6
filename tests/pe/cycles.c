/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rounds of init, work of every kind, and finalize in the same processes, with everything left alive at the end that a
 * program may forget; and teams made and destroyed hundreds of times. Descriptors, threads, mappings and memory stay
 * as they are after the first rounds.
 */
#include <string.h>

#include "stream.h"
#include "support/support.h"

enum { WARM_UP = 4, ROUNDS = 8, CHURN = 300, GROWTH_KIB = 1024 };

static int me, n;

/* Blocks, teams and the own stream's work are left to finalize. */
static void round_of_work(int round)
{
    aclshmem_team_t half, x, y;
    char *block = aclshmem_malloc(100000), *host = aclshmemx_malloc(5000, HOST_SIDE);
    int64_t *sum = aclshmem_calloc(2, sizeof *sum), value = round;
    CHECK(block != NULL && host != NULL && sum != NULL);
    CHECK_INT(sum[0], 0); /* nothing of the round before */
    CHECK_INT(aclshmem_team_split_strided(ACLSHMEM_TEAM_WORLD, 0, 1, (n + 1) / 2, &half), 0);
    CHECK_INT(aclshmem_team_split_2d(ACLSHMEM_TEAM_WORLD, 2, &x, &y), 0);
    sum[1] = me;
    CHECK_INT(aclshmem_int64_sum_reduce(ACLSHMEM_TEAM_WORLD, &sum[0], &sum[1], 1), 0);
    CHECK_INT(sum[0], (int64_t)n * (n - 1) / 2);
    memset(block, round, 100000);
    aclshmem_barrier_all();
    aclshmem_putmem(host, block, 5000, (me + 1) % n);
    aclshmemx_putmem_on_stream(block, host, 5000, me, NULL);
    aclshmemx_barrier_all_on_stream(NULL);
    aclshmem_int64_p(sum, value, (me + 1) % n);
    aclshmemx_set_extern_logger(pe_swallow);
    CHECK_ERROR(aclshmem_int64_p(sum, value, n), ACLSHMEM_INVALID_PARAM); /* mistakes leave nothing either */
    CHECK(aclshmem_malloc(UINT64_C(1) << 40) == NULL);
    aclshmemx_set_extern_logger(NULL);
    if (round % 2 == 0) {
        aclshmem_free(block);
        if (half != ACLSHMEM_TEAM_INVALID)
            aclshmem_team_destroy(half);
    }
}

static void init_and_finalize(void)
{
    t_resources_t before = {0};
    for (int round = 0; round < WARM_UP + ROUNDS; round++) {
        pe_init(UINT64_C(2) << 20);
        me = aclshmem_my_pe();
        n = aclshmem_n_pes();
        round_of_work(round);
        if (round == WARM_UP)
            before = t_resources_now();
        if (round > WARM_UP)
            t_resources_expect(&before, 16, GROWTH_KIB);
        pe_finalize();
    }
}

/* Handles, slots and memory of a team come back, in whatever order teams go. */
static void teams_come_and_go(void)
{
    aclshmem_team_t live[7];
    t_resources_t before = {0};
    pe_init(UINT64_C(2) << 20);
    for (int i = 0; i < 7; i++)
        live[i] = ACLSHMEM_TEAM_INVALID;
    for (int i = 0; i < CHURN; i++) {
        int k = i * 5 % 7, start = i % n, size = 1 + i / n % (n - start);
        if (live[k] != ACLSHMEM_TEAM_INVALID)
            aclshmem_team_destroy(live[k]);
        CHECK_INT(aclshmem_team_split_strided(ACLSHMEM_TEAM_WORLD, start, 1, size, &live[k]), 0);
        CHECK_INT(live[k] != ACLSHMEM_TEAM_INVALID, me >= start && me < start + size);
        CHECK(live[k] == ACLSHMEM_TEAM_INVALID || live[k] < 16);
        aclshmem_barrier(live[k]);
        if (i == CHURN / 3)
            before = t_resources_now();
    }
    t_resources_expect(&before, 8, GROWTH_KIB);
    for (int i = 0; i < 7; i++)
        if (live[i] != ACLSHMEM_TEAM_INVALID)
            aclshmem_team_destroy(live[i]);
    pe_finalize();
}

int main(void)
{
    init_and_finalize();
    teams_come_and_go();
    return 0;
}
