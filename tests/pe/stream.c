/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transfers, signals and waits on streams: they only enqueue, keep the order of their stream, run beside other streams,
 * and take NULL for the library's own stream, which quiet and barriers wait for. Every mistake.
 * [D-10] [D-12] [D-14] [D-15] [D-16] [D-17] [D-20] [D-28] [S-06] [S-10] [S-11] [Y-11]
 * [R-14] [R-19]
 */
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "stream.h"

enum { WORDS = 5000 };

static int me, n, next, previous;

static int32_t *symmetric(size_t words)
{
    int32_t *made = aclshmem_calloc(words, sizeof *made);
    CHECK(made != NULL);
    return made;
}

static void fill(int32_t *words, int32_t first)
{
    for (int i = 0; i < WORDS; i++)
        words[i] = first + i;
}

static void check_words(const int32_t *words, int32_t first)
{
    for (int i = 0; i < WORDS; i++)
        CHECK_INT(words[i], first + i);
}

/* The user's own copies and ours interleave; nothing happens while the stream is held up, so no call waited for it. */
static void order_on_one_stream(void)
{
    int32_t *one = symmetric(WORDS), *two = symmetric(WORDS), *signal = symmetric(1);
    int32_t *source = malloc(WORDS * sizeof *source), *first = malloc(WORDS * sizeof *first),
            *second = malloc(WORDS * sizeof *second);
    size_t bytes = WORDS * sizeof *source;
    aclrtStream stream;
    gate_t gate;
    CHECK(source != NULL && first != NULL && second != NULL);
    fill(first, me * 100);
    fill(second, me * 100 + 50000);
    memset(source, 0xff, bytes);
    ACL(aclrtCreateStream(&stream));
    gate_close(&gate, stream);
    ACL(aclrtMemcpyAsync(source, bytes, first, bytes, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    aclshmemx_putmem_on_stream(one, source, bytes, next, stream);
    ACL(aclrtMemcpyAsync(source, bytes, second, bytes, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    aclshmemx_putmem_on_stream(two, source, bytes, next, stream);
    aclshmemx_signal_op_on_stream(signal, 7, ACLSHMEM_SIGNAL_SET, next, stream);
    aclshmem_barrier_all();
    CHECK(one[0] == 0 && two[WORDS - 1] == 0 && *signal == 0);
    aclshmem_barrier_all();
    gate_open(&gate);
    aclshmem_signal_wait_until(signal, ACLSHMEM_CMP_EQ, 7);
    check_words(one, previous * 100); /* everything before the signal is there with it */
    check_words(two, previous * 100 + 50000);
    ACL(aclrtSynchronizeStream(stream));
    ACL(aclrtDestroyStream(stream));
    free(second);
    free(first);
    free(source);
    aclshmem_free(signal);
    aclshmem_free(two);
    aclshmem_free(one);
}

/* A get reads when the stream comes to it, and the destination is there behind it. */
static void gets_run_late(void)
{
    int32_t *there = symmetric(WORDS), *here = calloc(WORDS, sizeof *here);
    aclrtStream stream;
    gate_t gate;
    note_t note;
    CHECK(here != NULL);
    fill(there, me);
    ACL(aclrtCreateStream(&stream));
    gate_close(&gate, stream);
    aclshmemx_getmem_on_stream(here, there, WORDS * sizeof *here, next, stream);
    note_take(&note, &here[WORDS - 1], stream);
    aclshmem_barrier_all();
    CHECK(here[0] == 0 && !note_taken(&note));
    fill(there, me + 1000000);
    aclshmem_barrier_all();
    gate_open(&gate);
    ACL(aclrtSynchronizeStream(stream));
    check_words(here, next + 1000000);
    CHECK_INT(note.seen, next + 1000000 + WORDS - 1);
    ACL(aclrtDestroyStream(stream));
    aclshmem_barrier_all();
    free(here);
    aclshmem_free(there);
}

/* One stream stands still, in a task or in a wait; another one and the host go on. */
static void streams_overlap(void)
{
    int32_t *word = symmetric(4);
    aclrtStream held, waiting, other;
    gate_t gate;
    note_t behind_wait;
    int32_t mine = me + 1, back = 0;
    ACL(aclrtCreateStream(&held));
    ACL(aclrtCreateStream(&waiting));
    ACL(aclrtCreateStream(&other));
    gate_close(&gate, held);
    aclshmemx_putmem_on_stream(&word[0], &mine, sizeof mine, next, held);
    aclshmemx_signal_wait_until_on_stream(&word[2], ACLSHMEM_CMP_GE, 9, waiting);
    note_take(&behind_wait, &word[2], waiting);
    aclshmemx_putmem_on_stream(&word[1], &mine, sizeof mine, next, other);
    aclshmemx_getmem_on_stream(&back, &word[1], sizeof back, next, other);
    ACL(aclrtSynchronizeStream(other));
    CHECK_INT(back, mine);
    aclshmem_barrier_all();
    CHECK(word[0] == 0 && word[1] == previous + 1 && !note_taken(&behind_wait));
    aclshmem_barrier_all();
    aclshmemx_signal_op(&word[2], 9, ACLSHMEM_SIGNAL_ADD, next);
    ACL(aclrtSynchronizeStream(waiting));
    CHECK_INT(behind_wait.seen, 9);
    gate_open(&gate);
    ACL(aclrtSynchronizeStream(held));
    aclshmem_barrier_all();
    CHECK_INT(word[0], previous + 1);
    ACL(aclrtDestroyStream(held));
    ACL(aclrtDestroyStream(waiting));
    ACL(aclrtDestroyStream(other));
    aclshmem_free(word);
}

/* Round the ring, with each comparison: the word starts where the condition does not hold. */
static void rings(void)
{
    static const struct {
        int cmp;
        int32_t start, value, wanted;
    } rows[] = {{ACLSHMEM_CMP_EQ, 0, 5, 5},   {ACLSHMEM_CMP_NE, 4, 5, 4},  {ACLSHMEM_CMP_GT, 4, 5, 4},
                {ACLSHMEM_CMP_GE, 4, 5, 5},   {ACLSHMEM_CMP_LT, 4, -5, 4}, {ACLSHMEM_CMP_LE, 4, 3, 3},
                {ACLSHMEM_CMP_GT, -9, -1, -2}};
    aclrtStream stream;
    ACL(aclrtCreateStream(&stream));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int32_t *word = symmetric(1);
        note_t note;
        *word = rows[i].start;
        aclshmem_barrier_all();
        if (me == 0)
            aclshmemx_signal_op_on_stream(word, rows[i].value, ACLSHMEM_SIGNAL_SET, next, stream);
        aclshmemx_signal_wait_until_on_stream(word, rows[i].cmp, rows[i].wanted, stream);
        note_take(&note, word, stream);
        if (me != 0)
            aclshmemx_signal_op_on_stream(word, rows[i].value, ACLSHMEM_SIGNAL_SET, next, stream);
        ACL(aclrtSynchronizeStream(stream));
        CHECK_INT(note.seen, rows[i].value);
        aclshmem_free(word);
    }
    ACL(aclrtDestroyStream(stream));
}

/* Everybody adds on a stream; the sum is exact, and a neighbour word does not change. */
static void adds(void)
{
    int32_t *word = symmetric(3);
    aclrtStream stream;
    ACL(aclrtCreateStream(&stream));
    for (int i = 0; i < 100; i++)
        aclshmemx_signal_op_on_stream(&word[1], 10, ACLSHMEM_SIGNAL_ADD, 0, i % 2 == 0 ? stream : NULL);
    if (me == 0)
        aclshmem_signal_wait_until(&word[1], ACLSHMEM_CMP_EQ, 1000 * n);
    ACL(aclrtSynchronizeStream(stream));
    aclshmem_barrier_all();
    CHECK(word[0] == 0 && word[1] == (me == 0 ? 1000 * n : 0) && word[2] == 0);
    ACL(aclrtDestroyStream(stream));
    aclshmem_free(word);
}

/* The own stream keeps its order too: it stands at a wait while the host goes on, and a barrier brings it to its end. */
static void own_stream(void)
{
    int32_t *there = symmetric(WORDS), *signal = symmetric(2), *here = malloc(WORDS * sizeof *here),
            *back = malloc(WORDS * sizeof *back);
    CHECK(here != NULL && back != NULL);
    fill(here, me * 11);
    aclshmemx_signal_wait_until_on_stream(&signal[0], ACLSHMEM_CMP_EQ, 1, NULL);
    aclshmemx_putmem_on_stream(there, here, WORDS * sizeof *here, next, NULL);
    aclshmemx_signal_op_on_stream(&signal[1], 3, ACLSHMEM_SIGNAL_SET, next, NULL);
    aclshmem_sync_all();
    CHECK(there[0] == 0 && signal[1] == 0);
    aclshmem_sync_all();
    aclshmemx_signal_op(&signal[0], 1, ACLSHMEM_SIGNAL_SET, next);
    aclshmem_barrier_all();
    CHECK_INT(signal[1], 3);
    check_words(there, previous * 11);
    aclshmemx_getmem_on_stream(back, there, WORDS * sizeof *back, next, NULL);
    aclshmem_quiet();
    check_words(back, me * 11);
    memset(back, 0, WORDS * sizeof *back);
    aclshmemx_getmem_on_stream(back, there, WORDS * sizeof *back, next, NULL);
    aclshmem_fence();
    check_words(back, me * 11);
    memset(back, 0, WORDS * sizeof *back);
    aclshmemx_getmem_on_stream(back, there, WORDS * sizeof *back, next, NULL);
    aclshmemx_pe_quiet(next);
    check_words(back, me * 11);
    aclshmem_barrier_all();
    free(back);
    free(here);
    aclshmem_free(signal);
    aclshmem_free(there);
}

/* A quiet on one stream covers what the host put on the own one before: it stands still as long as that does. */
static void quiet_covers_own_stream(void)
{
    int32_t *word = symmetric(3), mine = me + 5;
    aclrtStream stream;
    note_t before, after;
    ACL(aclrtCreateStream(&stream));
    for (int round = 1; round <= 20; round++) {
        aclshmemx_signal_wait_until_on_stream(&word[0], ACLSHMEM_CMP_GE, round, NULL);
        mine = me + 5 + round;
        aclshmemx_putmem_on_stream(&word[1], &mine, sizeof mine, me, NULL);
        note_take(&before, &word[1], stream); /* goes on at once */
        aclshmemx_quiet_on_stream(stream);
        note_take(&after, &word[1], stream);
        while (!note_taken(&before))
            sched_yield();
        CHECK(!note_taken(&after));
        aclshmemx_signal_op(&word[0], 1, ACLSHMEM_SIGNAL_ADD, me);
        ACL(aclrtSynchronizeStream(stream));
        CHECK_INT(after.seen, me + 5 + round);
    }
    aclshmemx_quiet_on_stream(NULL);
    aclshmem_barrier_all();
    ACL(aclrtDestroyStream(stream));
    aclshmem_free(word);
}

/* Data of several puts, then quiet, then a flag, all on one stream: who sees the flag sees the data. */
static void quiet_then_flag(void)
{
    int32_t *there = symmetric(4 * WORDS), *flag = symmetric(1), *here = malloc(WORDS * sizeof *here);
    aclrtStream stream;
    CHECK(here != NULL);
    fill(here, me);
    ACL(aclrtCreateStream(&stream));
    for (int part = 0; part < 4; part++)
        if (part % 2 == 0)
            aclshmemx_putmem_on_stream(there + part * WORDS, here, WORDS * sizeof *here, next, stream);
        else
            aclshmem_int32_put_nbi(there + part * WORDS, here, WORDS, next);
    aclshmemx_quiet_on_stream(stream);
    int32_t one = 1;
    if (n > 1)
        aclshmemx_putmem_on_stream(flag, &one, sizeof one, next, stream);
    else /* within one process a copy may not meet a look, by the rules of C */
        aclshmemx_signal_op_on_stream(flag, one, ACLSHMEM_SIGNAL_SET, next, stream);
    aclshmem_int32_wait_until(flag, ACLSHMEM_CMP_EQ, 1);
    for (int part = 0; part < 4; part++)
        check_words(there + part * WORDS, previous);
    ACL(aclrtSynchronizeStream(stream));
    aclshmem_barrier_all();
    ACL(aclrtDestroyStream(stream));
    free(here);
    aclshmem_free(flag);
    aclshmem_free(there);
}

/* The host heap, and the own PE. */
static void other_places(void)
{
    int32_t *far = aclshmemx_calloc(WORDS, sizeof *far, HOST_SIDE), *here = malloc(WORDS * sizeof *here);
    CHECK(far != NULL && here != NULL);
    aclshmem_barrier_all();
    fill(here, me);
    aclshmemx_putmem_on_stream(far, here, WORDS * sizeof *here, next, NULL);
    aclshmem_barrier_all();
    check_words(far, previous);
    aclshmemx_getmem_on_stream(here, far, WORDS * sizeof *here, me, NULL);
    aclshmem_quiet();
    check_words(here, previous);
    aclshmem_barrier_all();
    free(here);
    aclshmemx_free(far, HOST_SIDE);
}

/* Threads of one PE, each with a stream of its own. */
typedef struct worker {
    int32_t *part;
    int32_t first;
} worker_t;

static void *put_on_streams(void *argument)
{
    const worker_t *w = argument;
    int32_t values[200];
    aclrtStream stream;
    ACL(aclrtSetDevice(0));
    ACL(aclrtCreateStream(&stream));
    for (int i = 0; i < 200; i++) {
        values[i] = w->first + i;
        aclshmemx_putmem_on_stream(&w->part[i], &values[i], sizeof values[i], next,
                                   i % 3 == 0 ? NULL : stream);
    }
    ACL(aclrtSynchronizeStream(stream));
    aclshmem_quiet();
    ACL(aclrtDestroyStream(stream));
    return NULL;
}

static void threads(void)
{
    enum { THREADS = 4 };
    int32_t *block = symmetric(THREADS * 200);
    pthread_t thread[THREADS];
    worker_t worker[THREADS];
    for (int i = 0; i < THREADS; i++) {
        worker[i] = (worker_t){block + i * 200, me * 1000 + i * 200};
        CHECK(pthread_create(&thread[i], NULL, put_on_streams, &worker[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(thread[i], NULL) == 0);
    aclshmem_barrier_all();
    for (int i = 0; i < THREADS * 200; i++)
        CHECK_INT(block[i], previous * 1000 + i);
    aclshmem_free(block);
}

/* --- Mistakes --- */

#define REFUSED(statement)    CHECK_ERROR(statement, ACLSHMEM_INVALID_PARAM)
#define NOT_INITED(statement) CHECK_ERROR(statement, ACLSHMEM_NOT_INITED)

static void mistakes(void)
{
    int32_t *word = symmetric(2), local = 3;
    aclrtStream stream;
    aclshmemx_heap_info_t info;
    char *base = aclshmemx_get_heap_base(DEVICE_SIDE);
    CHECK_INT(aclshmemx_heap_info(DEVICE_SIDE, &info), 0);
    ACL(aclrtCreateStream(&stream));
    aclshmemx_set_extern_logger(pe_swallow);
    for (int turn = 0; turn < 2; turn++) {
        aclrtStream on = turn == 0 ? stream : NULL;
        REFUSED(aclshmemx_putmem_on_stream(word, &local, 4, -1, on));
        REFUSED(aclshmemx_putmem_on_stream(word, &local, 4, n, on));
        REFUSED(aclshmemx_putmem_on_stream(word, &local, 0, n, on));
        REFUSED(aclshmemx_putmem_on_stream(&local, &local, 4, next, on));
        REFUSED(aclshmemx_putmem_on_stream(word, NULL, 4, next, on));
        REFUSED(aclshmemx_putmem_on_stream(base + info.size - 3, &local, 4, next, on));
        REFUSED(aclshmemx_getmem_on_stream(&local, word, 4, -1, on));
        REFUSED(aclshmemx_getmem_on_stream(&local, word, 4, 100000, on));
        REFUSED(aclshmemx_getmem_on_stream(&local, word, 0, n, on));
        REFUSED(aclshmemx_getmem_on_stream(&local, &local, 4, next, on));
        REFUSED(aclshmemx_getmem_on_stream(NULL, word, 4, next, on));
        REFUSED(aclshmemx_getmem_on_stream(&local, base, SIZE_MAX, next, on));
        for (int op = -1; op <= 2; op += 3)
            REFUSED(aclshmemx_signal_op_on_stream(word, 9, op, next, on));
        REFUSED(aclshmemx_signal_op_on_stream(word, 9, ACLSHMEM_SIGNAL_SET, n, on));
        REFUSED(aclshmemx_signal_op_on_stream(&local, 9, ACLSHMEM_SIGNAL_SET, next, on));
        REFUSED(aclshmemx_signal_op_on_stream(NULL, 9, ACLSHMEM_SIGNAL_SET, next, on));
        REFUSED(aclshmemx_signal_op_on_stream((int32_t *)(void *)((char *)word + 2), 9, 0, next, on));
        REFUSED(aclshmemx_signal_wait_until_on_stream(word, 6, 0, on));
        REFUSED(aclshmemx_signal_wait_until_on_stream(word, -1, 0, on));
        REFUSED(aclshmemx_signal_wait_until_on_stream(NULL, 0, 0, on));
        REFUSED(aclshmemx_signal_wait_until_on_stream((int32_t *)(void *)((char *)word + 2), 0, 0, on));
    }
    ACL(aclrtSynchronizeStream(stream));
    ACL(aclrtDestroyStream(stream));
    /* A stream that is none: the runtime's code, its words, nothing done. */
    aclshmemx_clear_error();
    aclshmemx_putmem_on_stream(word, &local, 4, next, stream);
    CHECK(aclshmemx_last_error(NULL)[0] != '\0');
    aclshmemx_clear_error();
    aclshmemx_signal_op_on_stream(word, 9, ACLSHMEM_SIGNAL_SET, next, stream);
    CHECK(aclshmemx_last_error(NULL)[0] != '\0');
    aclshmemx_clear_error();
    aclshmemx_quiet_on_stream(stream);
    CHECK(aclshmemx_last_error(NULL)[0] != '\0');
    aclshmemx_clear_error();
    aclshmemx_putmem_on_stream(NULL, NULL, 0, next, NULL);
    aclshmemx_getmem_on_stream(NULL, NULL, 0, next, NULL);
    CHECK(aclshmemx_last_error(NULL)[0] == '\0');
    CHECK_INT(aclshmemx_stream_status(NULL), 0);
    aclshmemx_set_extern_logger(NULL);
    aclshmem_barrier_all();
    CHECK(word[0] == 0 && word[1] == 0 && local == 3);
    aclshmem_free(word);
}

static void without_instance(void)
{
    int32_t word = 3;
    aclshmem_handle_t world = {ACLSHMEM_TEAM_WORLD};
    aclshmemx_set_extern_logger(pe_swallow);
    NOT_INITED(aclshmemx_putmem_on_stream(&word, &word, 4, 0, NULL));
    NOT_INITED(aclshmemx_putmem_on_stream(&word, &word, 0, 0, NULL));
    NOT_INITED(aclshmemx_getmem_on_stream(&word, &word, 4, 0, NULL));
    NOT_INITED(aclshmemx_signal_op_on_stream(&word, 4, 0, 0, NULL));
    NOT_INITED(aclshmemx_signal_wait_until_on_stream(&word, 0, 4, NULL));
    NOT_INITED(aclshmemx_quiet_on_stream(NULL));
    NOT_INITED(aclshmemx_barrier_on_stream(ACLSHMEM_TEAM_WORLD, NULL));
    NOT_INITED(aclshmemx_barrier_all_on_stream(NULL));
    NOT_INITED(aclshmemx_handle_wait(world, NULL));
    CHECK_INT(aclshmemx_stream_status(NULL), ACLSHMEM_NOT_INITED);
    aclshmemx_set_extern_logger(NULL);
    CHECK_INT(word, 3);
}

int main(void)
{
    without_instance();
    pe_init(UINT64_C(8) << 20);
    me = aclshmem_my_pe();
    n = aclshmem_n_pes();
    next = (me + 1) % n;
    previous = (me + n - 1) % n;
    order_on_one_stream();
    gets_run_late();
    streams_overlap();
    rings();
    adds();
    own_stream();
    quiet_covers_own_stream();
    quiet_then_flag();
    other_places();
    threads();
    mistakes();
    pe_finalize();
    without_instance();
    return 0;
}
