/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every kind of call at once from threads of each PE: data, atomics, signals, waits, streams, collectives of two teams, queries,
 * and mistakes, whose words belong to the thread that made them. A second thread in a collective of the same team is told.
 * [R-14] [R-16] [R-22] [R-26]
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "stream.h"

enum { ROUNDS = 300, WORDS = 500 };

static int me, n, next, previous;
static aclshmem_team_t twin; /* all PEs, but not the world */
static int64_t *data, *strided, *counters, *sum_world, *sum_twin, *streamed;
static int32_t *ping, *ping_stream;

static void *move_data(void *unused)
{
    int64_t here[WORDS], back[WORDS];
    for (int64_t r = 1; r <= ROUNDS; r++) {
        for (int i = 0; i < WORDS; i++)
            here[i] = r * 1000 + i;
        aclshmem_int64_put(data, here, WORDS, next);
        aclshmem_int64_iput(strided, here, 2, 1, WORDS, next);
        aclshmem_quiet();
        aclshmem_getmem_nbi(back, data, sizeof back, next);
        aclshmem_quiet();
        CHECK(memcmp(back, here, sizeof back) == 0);
        aclshmem_iget64(back, strided, 1, 2, WORDS, next);
        CHECK(memcmp(back, here, sizeof back) == 0);
    }
    return unused;
}

static void *count(void *argument)
{
    int64_t *counter = argument;
    for (int r = 0; r < ROUNDS; r++) {
        aclshmem_int64_atomic_inc(counter, 0);
        (void)aclshmem_int64_atomic_fetch_add(counter, 2, 0);
        int64_t seen = aclshmem_int64_atomic_fetch(counter, 0), before;
        while ((before = aclshmem_int64_atomic_compare_swap(counter, seen, seen + 4, 0)) != seen)
            seen = before;
    }
    return NULL;
}

/* A signal goes round with a datum in front of it; every form of wait takes a turn. */
static void *pass_signals(void *unused)
{
    for (int32_t r = 1; r <= ROUNDS; r++) {
        size_t found;
        int32_t value = r * 7 + me;
        aclshmem_int32_put_signal(&ping[1], &value, 1, (uint8_t *)ping, 1, ACLSHMEM_SIGNAL_ADD, next);
        if (r % 3 == 0)
            aclshmem_signal_wait_until(ping, ACLSHMEM_CMP_GE, r);
        else if (r % 3 == 1)
            aclshmem_int32_wait_until_any(ping, 1, NULL, ACLSHMEM_CMP_GE, r, &found);
        else
            CHECK_INT(aclshmemx_signal_wait_until_timeout(ping, ACLSHMEM_CMP_GE, r, 120000, NULL), 0);
        CHECK(ping[1] >= r * 7 + previous); /* the sender may be one round ahead */
        aclshmemx_signal_op(&ping[2], r, ACLSHMEM_SIGNAL_SET, previous);
        aclshmem_int32_wait_until(&ping[2], ACLSHMEM_CMP_GE, r);
    }
    return unused;
}

static void *meet_in_world(void *unused)
{
    for (int r = 1; r <= ROUNDS / 3; r++) {
        void *block = aclshmem_malloc(64 + (size_t)r);
        CHECK(block != NULL);
        sum_world[1] = r;
        CHECK_INT(aclshmem_int64_sum_reduce(ACLSHMEM_TEAM_WORLD, &sum_world[0], &sum_world[1], 1), 0);
        CHECK_INT(sum_world[0], (int64_t)n * r);
        aclshmem_barrier_all();
        aclshmem_free(block);
    }
    return unused;
}

static void *meet_in_twin(void *unused)
{
    for (int r = 1; r <= ROUNDS; r++) {
        sum_twin[1] = me + r;
        CHECK_INT(aclshmem_int64_max_reduce(twin, &sum_twin[0], &sum_twin[1], 1), 0);
        CHECK_INT(sum_twin[0], n - 1 + r);
        aclshmem_barrier(twin);
        aclshmem_sync(twin);
    }
    return unused;
}

static void *work_on_a_stream(void *unused)
{
    aclrtStream stream;
    int64_t here[WORDS], back[WORDS];
    ACL(aclrtSetDevice(0)); /* the device is a matter of each thread */
    ACL(aclrtCreateStream(&stream));
    for (int32_t r = 1; r <= ROUNDS / 3; r++) {
        for (int i = 0; i < WORDS; i++)
            here[i] = r + i;
        aclshmemx_putmem_on_stream(streamed, here, sizeof here, next, stream);
        aclshmemx_getmem_on_stream(back, streamed, sizeof back, next, stream);
        aclshmemx_signal_op_on_stream(ping_stream, r, ACLSHMEM_SIGNAL_SET, me, stream);
        aclshmemx_signal_wait_until_on_stream(ping_stream, ACLSHMEM_CMP_GE, r, stream);
        aclshmemx_quiet_on_stream(stream);
        ACL(aclrtSynchronizeStream(stream));
        CHECK_INT(aclshmemx_stream_status(stream), 0);
        CHECK(memcmp(here, back, sizeof here) == 0);
    }
    ACL(aclrtDestroyStream(stream));
    return unused;
}

/* What a thread is told is about its own call, however many others fail at the same time. */
static void *make_mistakes(void *argument)
{
    int stranger = -1000 - *(int *)argument;
    char number[32];
    int64_t local = 0;
    snprintf(number, sizeof number, "PE %d does", stranger);
    for (int r = 0; r < ROUNDS; r++) {
        CHECK_ERROR(aclshmem_int64_p(data, 1, stranger), ACLSHMEM_INVALID_PARAM);
        CHECK(strstr(aclshmemx_last_error(NULL), number) != NULL);
        CHECK_ERROR(aclshmem_int64_atomic_inc(&local, next), ACLSHMEM_INVALID_PARAM);
        CHECK_ERROR(aclshmem_signal_wait_until(NULL, 0, 0), ACLSHMEM_INVALID_PARAM);
        CHECK_ERROR(aclshmem_barrier(777), ACLSHMEM_INVALID_PARAM);
        CHECK_ERROR(aclshmemx_pe_quiet(stranger), ACLSHMEM_INVALID_PARAM);
        CHECK(strstr(aclshmemx_last_error(NULL), number) != NULL);
        CHECK_INT(aclshmemx_signal_wait_until_timeout(&ping[3], ACLSHMEM_CMP_EQ, 1, 1, NULL),
                  ACLSHMEM_TIMEOUT_ERROR);
        aclshmemx_clear_error();
        CHECK(aclshmemx_last_error(NULL)[0] == '\0');
    }
    return NULL;
}

static void *ask(void *unused)
{
    for (int r = 0; r < ROUNDS; r++) {
        aclshmemx_heap_info_t info;
        char text[128];
        int holds;
        CHECK_INT(aclshmemx_heap_info(DEVICE_SIDE, &info), 0);
        CHECK(info.used + info.free == info.size);
        CHECK(aclshmem_ptr(data, next) != NULL && aclshmem_ptr(&info, next) == NULL);
        CHECK(aclshmem_my_pe() == me && aclshmem_n_pes() == n && aclshmem_team_n_pes(twin) == n);
        CHECK_INT(aclshmem_team_translate_pe(twin, n - 1, ACLSHMEM_TEAM_WORLD), n - 1);
        CHECK_INT(aclshmemx_init_status(), ACLSHMEM_STATUS_IS_INITIALIZED);
        CHECK_INT(aclshmemx_failed_pe(), -1);
        CHECK_INT(aclshmemx_describe("version", text, sizeof text), 0);
        CHECK(aclshmemx_strerror(ACLSHMEM_TIMEOUT_ERROR)[0] != '\0');
        aclshmem_int32_test(&ping[3], ACLSHMEM_CMP_EQ, 0, &holds);
        CHECK_INT(holds, 1);
        aclshmem_fence();
        sched_yield();
    }
    return unused;
}

static int64_t *symmetric(size_t words)
{
    int64_t *made = aclshmem_calloc(words, sizeof *made);
    CHECK(made != NULL);
    return made;
}

static void all_at_once(void)
{
    static int numbers[3] = {1, 2, 3};
    const struct {
        void *(*body)(void *);
        void *argument;
    } parts[] = {{move_data, NULL},
                 {count, &counters[0]},
                 {count, &counters[0]},
                 {count, &counters[1]},
                 {pass_signals, NULL},
                 {meet_in_world, NULL},
                 {meet_in_twin, NULL},
                 {work_on_a_stream, NULL},
                 {make_mistakes, &numbers[0]},
                 {make_mistakes, &numbers[1]},
                 {make_mistakes, &numbers[2]},
                 {ask, NULL}};
    enum { PARTS = sizeof parts / sizeof parts[0] };
    pthread_t thread[PARTS];
    aclshmemx_set_extern_logger(pe_swallow);
    for (int i = 0; i < PARTS; i++)
        CHECK_INT(pthread_create(&thread[i], NULL, parts[i].body, parts[i].argument), 0);
    for (int i = 0; i < PARTS; i++)
        CHECK_INT(pthread_join(thread[i], NULL), 0);
    aclshmemx_set_extern_logger(NULL);
    aclshmem_barrier_all();
    if (me == 0)
        CHECK(counters[0] == 2 * 7 * ROUNDS * (int64_t)n && counters[1] == 7 * ROUNDS * (int64_t)n);
    CHECK(ping[0] == ROUNDS && ping[3] == 0);
}

/* --- Two threads in collectives of one team --- */

typedef struct rival {
    bool reduces;
    int code; /* what it was told; 0: it went through */
    atomic_bool starts;
} rival_t;

static void *try_to_meet(void *argument)
{
    rival_t *rival = argument;
    int64_t *sum = sum_twin;
    aclshmemx_clear_error();
    atomic_store(&rival->starts, true);
    if (rival->reduces)
        (void)aclshmem_int64_sum_reduce(twin, &sum[0], &sum[1], 1);
    else
        aclshmem_barrier(twin);
    aclshmemx_last_error(&rival->code);
    if (rival->code != 0) {
        CHECK(strstr(aclshmemx_last_error(NULL), "another thread of this PE") != NULL);
        aclshmemx_signal_op(&ping[0], 1, ACLSHMEM_SIGNAL_ADD, 0);
    }
    return NULL;
}

/* PE 0 comes last, so on every other PE one of the two threads is inside when the other comes, and that one is told. */
static void rivals(bool reduce)
{
    rival_t rival[2] = {{.reduces = reduce}, {.reduces = reduce}};
    pthread_t thread;
    ping[0] = 0;
    aclshmem_barrier_all();
    aclshmemx_set_extern_logger(pe_swallow);
    if (me == 0) {
        aclshmem_signal_wait_until(&ping[0], ACLSHMEM_CMP_EQ, n - 1);
        (void)try_to_meet(&rival[0]);
        CHECK_INT(rival[0].code, 0);
    } else {
        CHECK_INT(pthread_create(&thread, NULL, try_to_meet, &rival[0]), 0);
        while (!atomic_load(&rival[0].starts))
            sched_yield();
        for (int i = 0; i < 200;
             i++) /* they are not to collide within the nanoseconds in which nobody is told */
            sched_yield();
        (void)try_to_meet(&rival[1]);
        CHECK_INT(pthread_join(thread, NULL), 0);
        CHECK((rival[0].code == 0) != (rival[1].code == 0));
        CHECK_INT(rival[0].code + rival[1].code, ACLSHMEM_INVALID_PARAM);
    }
    aclshmemx_set_extern_logger(NULL);
    aclshmem_barrier(twin); /* the members are still in step */
    aclshmem_barrier_all();
}

int main(void)
{
    pe_init(UINT64_C(4) << 20);
    me = aclshmem_my_pe();
    n = aclshmem_n_pes();
    next = (me + 1) % n;
    previous = (me + n - 1) % n;
    CHECK_INT(aclshmem_team_split_strided(ACLSHMEM_TEAM_WORLD, 0, 1, n, &twin), 0);
    data = symmetric(WORDS);
    strided = symmetric(WORDS * 2);
    counters = symmetric(2);
    sum_world = symmetric(2);
    sum_twin = symmetric(2);
    streamed = symmetric(WORDS);
    ping = (int32_t *)symmetric(2);
    ping_stream = (int32_t *)symmetric(1);
    all_at_once();
    rivals(false);
    rivals(true);
    aclshmem_team_destroy(twin);
    pe_finalize();
    return 0;
}
