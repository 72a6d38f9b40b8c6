/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Barriers on streams: over all PEs and teams, mixed with those of the host, on several streams at once; what they cover;
 * teams that go while a barrier is still queued; every mistake.
 * [D-11] [Y-05] [Y-06] [Y-07] [Y-10] [Y-12]
 * [R-18] [R-19] [R-20]
 */
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "stream.h"

enum { ROUNDS = 200 };

static int me, n, next, previous;

/* What tasks of a stream do to all PEs' words, and find in their own. */
typedef struct step {
    int32_t *words; /* by PE, symmetric */
    int32_t value;
    int wrong; /* words that were not what they should be, counted by tasks of one stream */
} step_t;

static void store_to_all(void *argument)
{
    const step_t *step = argument;
    for (int pe = 0; pe < n; pe++)
        __atomic_store_n((int32_t *)aclshmem_ptr(&step->words[me], pe), step->value, __ATOMIC_RELAXED);
}

static void look_at_all(void *argument)
{
    step_t *step = argument;
    for (int pe = 0; pe < n; pe++)
        step->wrong += __atomic_load_n(&step->words[pe], __ATOMIC_RELAXED) != step->value;
}

static int32_t *symmetric(size_t words)
{
    int32_t *made = aclshmem_calloc(words, sizeof *made);
    CHECK(made != NULL);
    return made;
}

/* Tasks store, meet, look, meet: many rounds are queued before the first has run. */
static void rounds_on(aclrtStream stream, aclshmem_team_t team, step_t *steps, int32_t *words)
{
    for (int i = 0; i < ROUNDS; i++) {
        steps[i] = (step_t){words, i + 1, 0};
        ACL(aclrtLaunchHostFunc(stream, store_to_all, &steps[i]));
        aclshmemx_barrier_on_stream(team, stream);
        ACL(aclrtLaunchHostFunc(stream, look_at_all, &steps[i]));
        aclshmemx_barrier_all_on_stream(stream);
    }
}

static void nobody_passes_early(void)
{
    int32_t *words = symmetric((size_t)n);
    step_t *steps = calloc(ROUNDS, sizeof *steps);
    aclrtStream stream;
    CHECK(steps != NULL);
    ACL(aclrtCreateStream(&stream));
    rounds_on(stream, ACLSHMEM_TEAM_WORLD, steps, words);
    ACL(aclrtSynchronizeStream(stream));
    for (int i = 0; i < ROUNDS; i++)
        CHECK_INT(steps[i].wrong, 0);
    CHECK_INT(aclshmemx_stream_status(stream), 0);
    ACL(aclrtDestroyStream(stream));
    free(steps);
    aclshmem_free(words);
}

/* The host meets while a stream is still held up in front of its barrier, in whatever order the two come to run. */
static void mixed_with_the_host(void)
{
    int32_t *words = symmetric((size_t)n), *counted = symmetric(1);
    step_t *steps = calloc(ROUNDS, sizeof *steps);
    aclrtStream stream;
    gate_t gate;
    CHECK(steps != NULL);
    ACL(aclrtCreateStream(&stream));
    gate_close(&gate, stream);
    rounds_on(stream, ACLSHMEM_TEAM_WORLD, steps, words);
    for (int32_t i = 1; i <= ROUNDS; i++) {
        if (i == ROUNDS / 4 && me % 2 == 0)
            gate_open(&gate);
        if (i == ROUNDS / 2 && me % 2 != 0)
            gate_open(&gate);
        for (int pe = 0; pe < n; pe++)
            aclshmemx_signal_op(counted, 1, ACLSHMEM_SIGNAL_ADD, pe);
        if (i % 3 == 0)
            aclshmem_barrier(ACLSHMEM_TEAM_WORLD);
        else
            aclshmem_barrier_all();
        CHECK_INT(*counted, i * n);
        aclshmem_sync_all();
    }
    ACL(aclrtSynchronizeStream(stream));
    for (int i = 0; i < ROUNDS; i++)
        CHECK_INT(steps[i].wrong, 0);
    ACL(aclrtDestroyStream(stream));
    free(steps);
    aclshmem_free(counted);
    aclshmem_free(words);
}

/* Barrier A is on one stream and B on another; some PEs' streams come to B first. Members still meet in the order of calls. */
static void two_streams_of_one_team(void)
{
    enum { TURNS = 30 };
    int32_t *words_a = symmetric((size_t)n), *words_b = symmetric((size_t)n);
    aclrtStream a, b;
    ACL(aclrtCreateStream(&a));
    ACL(aclrtCreateStream(&b));
    for (int32_t i = 1; i <= TURNS; i++) {
        step_t step_a = {words_a, i, 0}, step_b = {words_b, i, 0};
        gate_t gate;
        bool held = (me + i) % 2 == 0;
        if (held)
            gate_close(&gate, a);
        ACL(aclrtLaunchHostFunc(a, store_to_all, &step_a));
        aclshmemx_barrier_all_on_stream(a);
        ACL(aclrtLaunchHostFunc(a, look_at_all, &step_a));
        ACL(aclrtLaunchHostFunc(b, store_to_all, &step_b));
        aclshmemx_barrier_all_on_stream(b);
        ACL(aclrtLaunchHostFunc(b, look_at_all, &step_b));
        /* Let B of all who are held come up, so that a mix-up would show. */
        for (int pe = 0; held && pe < n; pe++)
            while (__atomic_load_n(&words_b[pe], __ATOMIC_RELAXED) < i)
                sched_yield();
        if (held)
            gate_open(&gate);
        ACL(aclrtSynchronizeStream(b));
        ACL(aclrtSynchronizeStream(a));
        CHECK(step_a.wrong == 0 && step_b.wrong == 0);
        aclshmem_barrier_all();
    }
    ACL(aclrtDestroyStream(a));
    ACL(aclrtDestroyStream(b));
    aclshmem_free(words_b);
    aclshmem_free(words_a);
}

/* NULL is the library's own stream, and barriers of the host wait for it. */
static void the_own_stream(void)
{
    enum { COUNT = 3000 };
    int32_t *there = symmetric(COUNT), *here = malloc(COUNT * sizeof *here);
    CHECK(here != NULL);
    for (int32_t round = 1; round <= 50; round++) {
        for (int i = 0; i < COUNT; i++)
            here[i] = me * 1000 + round * 7 + i;
        aclshmemx_putmem_on_stream(there, here, COUNT * sizeof *here, next, NULL);
        aclshmemx_barrier_all_on_stream(NULL);
        aclshmemx_getmem_on_stream(here, there, COUNT * sizeof *here, me, NULL);
        aclshmemx_barrier_on_stream(ACLSHMEM_TEAM_WORLD, NULL);
        aclshmem_barrier_all();
        for (int i = 0; i < COUNT; i++)
            CHECK_INT(here[i], previous * 1000 + round * 7 + i);
    }
    free(here);
    aclshmem_free(there);
}

/* What was put before by the host and on the own stream is covered by a barrier on another stream. */
static void what_a_barrier_covers(void)
{
    int32_t *there = symmetric(3), mine = 0;
    aclshmem_handle_t world = {ACLSHMEM_TEAM_WORLD};
    aclrtStream stream;
    note_t notes[3];
    ACL(aclrtCreateStream(&stream));
    for (int32_t round = 1; round <= 50; round++) {
        mine = me + round * 100;
        aclshmem_int32_put_nbi(&there[0], &mine, 1, next);
        aclshmemx_putmem_on_stream(&there[1], &mine, sizeof mine, next, NULL);
        aclshmemx_putmem_on_stream(&there[2], &mine, sizeof mine, next, stream);
        if (round % 2 == 0)
            aclshmemx_barrier_all_on_stream(stream);
        else
            aclshmemx_handle_wait(world, stream);
        for (int i = 0; i < 3; i++)
            note_take(&notes[i], &there[i], stream);
        aclshmemx_handle_wait(world, stream);
        ACL(aclrtSynchronizeStream(stream));
        for (int i = 0; i < 3; i++)
            CHECK_INT(notes[i].seen, previous + round * 100);
    }
    ACL(aclrtDestroyStream(stream));
    aclshmem_free(there);
}

/* Teams of the even and of the odd PEs meet on streams without each other. */
static void teams(void)
{
    aclshmem_team_t even = ACLSHMEM_TEAM_INVALID, odd = ACLSHMEM_TEAM_INVALID;
    int32_t *counted = symmetric(1);
    aclrtStream stream;
    note_t note;
    ACL(aclrtCreateStream(&stream));
    CHECK_INT(aclshmem_team_split_strided(ACLSHMEM_TEAM_WORLD, 0, 2, (n + 1) / 2, &even), 0);
    if (n > 1)
        CHECK_INT(aclshmem_team_split_strided(ACLSHMEM_TEAM_WORLD, 1, 2, n / 2, &odd), 0);
    aclshmem_team_t mine = me % 2 == 0 ? even : odd, not_mine = me % 2 == 0 ? odd : even;
    int members = aclshmem_team_n_pes(mine);
    CHECK_INT(not_mine, ACLSHMEM_TEAM_INVALID);
    for (int32_t round = 1; round <= 50; round++) {
        for (int i = 0; i < members; i++)
            aclshmemx_signal_op_on_stream(counted, 1, ACLSHMEM_SIGNAL_ADD,
                                          aclshmem_team_translate_pe(mine, i, ACLSHMEM_TEAM_WORLD), stream);
        aclshmemx_barrier_on_stream(mine, stream);
        note_take(&note, counted, stream);
        aclshmemx_clear_error();
        aclshmemx_barrier_on_stream(not_mine, stream); /* no member: nothing, and no error */
        aclshmemx_handle_wait((aclshmem_handle_t){not_mine}, stream);
        CHECK(aclshmemx_last_error(NULL)[0] == '\0');
        aclshmemx_handle_wait((aclshmem_handle_t){mine}, stream);
        ACL(aclrtSynchronizeStream(stream));
        CHECK_INT(note.seen, round * members);
    }
    if (mine != ACLSHMEM_TEAM_INVALID)
        aclshmem_team_destroy(mine);
    ACL(aclrtDestroyStream(stream));
    aclshmem_free(counted);
}

static void *open_later(void *argument)
{
    for (int i = 0; i < 100; i++)
        sched_yield();
    gate_open(argument);
    return NULL;
}

/* A team is destroyed while its barriers are still queued: destroy waits for them, and the next team on the slot works. */
static void a_team_goes(void)
{
    aclrtStream stream;
    ACL(aclrtCreateStream(&stream));
    for (int round = 0; round < 20; round++) {
        aclshmem_team_t team;
        pthread_t thread;
        gate_t gate;
        CHECK_INT(aclshmem_team_split_strided(ACLSHMEM_TEAM_WORLD, 0, 1, n, &team), 0);
        gate_close(&gate, stream);
        for (int i = 0; i < 5; i++)
            aclshmemx_barrier_on_stream(team, stream);
        CHECK(pthread_create(&thread, NULL, open_later, &gate) == 0);
        aclshmem_team_destroy(team);
        CHECK(pthread_join(thread, NULL) == 0);
        CHECK_INT(aclshmemx_stream_status(stream), 0);
    }
    ACL(aclrtSynchronizeStream(stream));
    ACL(aclrtDestroyStream(stream));
}

/* Collectives on streams and of the host, and barriers of both kinds, of one team. */
static void with_collectives(void)
{
    int32_t *sum = symmetric(2), *one = symmetric(2);
    aclrtStream stream;
    gate_t gate;
    ACL(aclrtCreateStream(&stream));
    for (int32_t round = 1; round <= 30; round++) {
        one[0] = one[1] = round;
        aclshmem_barrier_all();
        gate_close(&gate, stream);
        aclshmemx_barrier_all_on_stream(stream);
        CHECK_INT(aclshmemx_int32_sum_reduce_on_stream(ACLSHMEM_TEAM_WORLD, &sum[0], &one[0], 1, stream), 0);
        aclshmemx_barrier_all_on_stream(NULL);
        CHECK_INT(aclshmem_int32_sum_reduce(ACLSHMEM_TEAM_WORLD, &sum[1], &one[1], 1), 0);
        CHECK_INT(sum[1], n * round);
        gate_open(&gate);
        ACL(aclrtSynchronizeStream(stream));
        CHECK_INT(sum[0], n * round);
        aclshmem_barrier_all();
    }
    ACL(aclrtDestroyStream(stream));
    aclshmem_free(one);
    aclshmem_free(sum);
}

static void mistakes(void)
{
    aclshmemx_set_extern_logger(pe_swallow);
    CHECK_ERROR(aclshmemx_barrier_on_stream(777, NULL), ACLSHMEM_INVALID_PARAM);
    CHECK_ERROR(aclshmemx_barrier_on_stream(5000, NULL), ACLSHMEM_INVALID_PARAM);
    CHECK_ERROR(aclshmemx_barrier_on_stream(-2, NULL), ACLSHMEM_INVALID_PARAM);
    CHECK_ERROR(aclshmemx_handle_wait((aclshmem_handle_t){777}, NULL), ACLSHMEM_INVALID_PARAM);
    aclshmemx_clear_error();
    aclshmemx_barrier_all_on_stream((aclrtStream)&me); /* no stream */
    CHECK(aclshmemx_last_error(NULL)[0] != '\0');
    aclshmemx_set_extern_logger(NULL);
    aclshmemx_barrier_all_on_stream(NULL); /* the refused call has not put the PEs out of step */
    aclshmem_barrier_all();
    CHECK_INT(aclshmemx_stream_status(NULL), 0);
}

int main(void)
{
    pe_init(UINT64_C(8) << 20);
    me = aclshmem_my_pe();
    n = aclshmem_n_pes();
    next = (me + 1) % n;
    previous = (me + n - 1) % n;
    nobody_passes_early();
    mixed_with_the_host();
    two_streams_of_one_team();
    the_own_stream();
    what_a_barrier_covers();
    teams();
    a_team_goes();
    with_collectives();
    mistakes();
    pe_finalize();
    return 0;
}
