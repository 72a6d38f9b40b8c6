/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectives on streams among the other collective work of a team: on several streams that come to them in different
 * orders, on a team that goes while they are queued, and when one is refused.
 */
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "stream.h"

enum { TURNS = 30, COUNT = 40 };

static int me, n;

static int64_t *symmetric(size_t words)
{
    int64_t *made = aclshmem_calloc(words, sizeof *made);
    CHECK(made != NULL);
    return made;
}

/* A sum on one stream, a barrier and a gather on the other; each PE's streams come to them in an order of its own. */
static void two_streams(void)
{
    int64_t *sum = symmetric(COUNT), *one = symmetric(COUNT), *all = symmetric((size_t)n),
            *mine = symmetric(1);
    aclrtStream a, b;
    ACL(aclrtCreateStream(&a));
    ACL(aclrtCreateStream(&b));
    for (int round = 1; round <= TURNS; round++) {
        gate_t gate;
        aclrtStream held = (me + round) % 2 == 0 ? a : b;
        for (int i = 0; i < COUNT; i++)
            one[i] = round + i;
        *mine = me * 1000 + round;
        gate_close(&gate, held);
        CHECK_INT(aclshmemx_int64_sum_reduce_on_stream(ACLSHMEM_TEAM_WORLD, sum, one, COUNT, a), 0);
        aclshmemx_barrier_all_on_stream(b);
        CHECK_INT(aclshmemx_int64_fcollect_on_stream(ACLSHMEM_TEAM_WORLD, all, mine, 1, b), 0);
        CHECK_INT(aclshmemx_int64_max_reduce_on_stream(ACLSHMEM_TEAM_WORLD, one, sum, COUNT, a), 0);
        for (int i = 0; i < 20; i++)
            sched_yield();
        gate_open(&gate);
        ACL(aclrtSynchronizeStream(a));
        ACL(aclrtSynchronizeStream(b));
        CHECK_INT(aclshmemx_stream_status(a), 0);
        CHECK_INT(aclshmemx_stream_status(b), 0);
        for (int i = 0; i < COUNT; i++)
            CHECK(sum[i] == (int64_t)n * (round + i) && one[i] == sum[i]);
        for (int pe = 0; pe < n; pe++)
            CHECK_INT(all[pe], pe * 1000 + round);
        aclshmem_barrier_all();
    }
    ACL(aclrtDestroyStream(b));
    ACL(aclrtDestroyStream(a));
    aclshmem_free(mine);
    aclshmem_free(all);
    aclshmem_free(one);
    aclshmem_free(sum);
}

static void *open_later(void *argument)
{
    for (int i = 0; i < 100; i++)
        sched_yield();
    gate_open(argument);
    return NULL;
}

/* Destroy waits for what is queued; the team that gets the slot next is another one and finds it in order. */
static void a_team_goes(void)
{
    int64_t *sum = symmetric(2), *one = symmetric(1);
    aclrtStream stream;
    ACL(aclrtCreateStream(&stream));
    for (int round = 1; round <= TURNS; round++) {
        aclshmem_team_t team, again;
        pthread_t thread;
        gate_t gate;
        *one = round;
        CHECK_INT(aclshmem_team_split_strided(ACLSHMEM_TEAM_WORLD, 0, 1, n, &team), 0);
        gate_close(&gate, stream);
        CHECK_INT(aclshmemx_int64_sum_reduce_on_stream(team, &sum[0], one, 1, stream), 0);
        CHECK_INT(aclshmemx_int64_sum_reduce_on_stream(team, &sum[1], &sum[0], 1, stream), 0);
        CHECK(pthread_create(&thread, NULL, open_later, &gate) == 0);
        aclshmem_team_destroy(team);
        CHECK_INT(sum[1], (int64_t)n * n * round); /* nothing was left to do */
        CHECK(pthread_join(thread, NULL) == 0);
        CHECK_INT(aclshmem_team_split_strided(ACLSHMEM_TEAM_WORLD, 0, 1, n, &again), 0);
        CHECK_INT(aclshmem_int64_max_reduce(again, &sum[0], one, 1), 0);
        CHECK_INT(sum[0], round);
        CHECK_INT(aclshmemx_stream_status(stream), 0);
        aclshmem_team_destroy(again);
    }
    ACL(aclrtSynchronizeStream(stream));
    ACL(aclrtDestroyStream(stream));
    aclshmem_free(one);
    aclshmem_free(sum);
}

/* PEs that disagree are told when the stream comes to it; what follows on the stream is in step again. */
static void disagreement(void)
{
    int64_t *sum = symmetric(4), *one = symmetric(4);
    *one = 1;
    aclshmem_barrier_all();
    aclshmemx_set_extern_logger(pe_swallow);
    CHECK_INT(aclshmemx_int64_sum_reduce_on_stream(ACLSHMEM_TEAM_WORLD, sum, one, me == 0 ? 1 : 2, NULL), 0);
    aclshmemx_barrier_all_on_stream(NULL);
    aclshmem_quiet();
    CHECK_INT(aclshmemx_stream_status(NULL), n > 1 ? ACLSHMEM_INVALID_PARAM : 0);
    if (n > 1)
        CHECK(strstr(aclshmemx_last_error(NULL), "differ") != NULL && *sum == 0);
    CHECK_INT(aclshmemx_int64_sum_reduce_on_stream(777, sum, one, 1, NULL), ACLSHMEM_INVALID_PARAM);
    CHECK(aclshmemx_int64_sum_reduce_on_stream(ACLSHMEM_TEAM_WORLD, sum, one, 1, (aclrtStream)&me) != 0);
    aclshmemx_set_extern_logger(NULL);
    CHECK_INT(aclshmemx_int64_sum_reduce_on_stream(ACLSHMEM_TEAM_WORLD, sum, one, 1, NULL), 0);
    aclshmem_quiet();
    CHECK_INT(*sum, n);
    aclshmem_barrier_all();
    aclshmem_free(one);
    aclshmem_free(sum);
}

int main(void)
{
    pe_init(UINT64_C(4) << 20);
    me = aclshmem_my_pe();
    n = aclshmem_n_pes();
    two_streams();
    a_team_goes();
    disagreement();
    pe_finalize();
    return 0;
}
