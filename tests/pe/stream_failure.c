/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What goes wrong on a stream after the call has returned: a wait that nobody ends, a barrier some PE never comes to, a
 * runtime that refuses; and finalize with work left on streams.
 * [D-32] [I-34]
 */
#include <string.h>

#include "stream.h"

static int me, n;

static void init_with(const char *name, const char *value, uint32_t control_timeout_s)
{
    aclshmemx_init_attr_t attr = ACLSHMEMX_INIT_ATTR_INITIALIZER;
    attr.local_mem_size = UINT64_C(4) << 20;
    attr.option_attr.control_operation_timeout = control_timeout_s;
    CHECK(name == NULL || setenv(name, value, 1) == 0);
    CHECK_INT(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_LAUNCHER, &attr), 0);
    CHECK(name == NULL || unsetenv(name) == 0);
    me = aclshmem_my_pe();
    n = aclshmem_n_pes();
}

/* The stream goes on behind a wait that was given up; the failure is kept for this stream alone, and once. */
static void a_wait_nobody_ends(void)
{
    init_with("SHMEM_WAIT_TIMEOUT", "0.2", 30);
    int32_t *word = aclshmem_calloc(2, sizeof *word);
    aclrtStream stream, other;
    note_t note;
    int code = 0;
    CHECK(word != NULL);
    ACL(aclrtCreateStream(&stream));
    ACL(aclrtCreateStream(&other));
    aclshmemx_set_extern_logger(pe_swallow);
    aclshmemx_signal_wait_until_on_stream(word, ACLSHMEM_CMP_EQ, 77, stream);
    aclshmemx_signal_wait_until_on_stream(&word[1], ACLSHMEM_CMP_GT, 78, stream);
    note_take(&note, word, stream);
    ACL(aclrtSynchronizeStream(stream));
    CHECK(note_taken(&note));
    aclshmemx_clear_error();
    aclshmemx_quiet_on_stream(other);
    CHECK(aclshmemx_last_error(NULL)[0] == '\0');
    aclshmemx_quiet_on_stream(stream); /* tells what failed before, and does its work */
    CHECK(strstr(aclshmemx_last_error(&code), "earlier on this stream") != NULL);
    CHECK_INT(code, ACLSHMEM_TIMEOUT_ERROR);
    CHECK_INT(aclshmemx_stream_status(other), 0);
    CHECK_INT(aclshmemx_stream_status(stream), ACLSHMEM_TIMEOUT_ERROR);
    CHECK(strstr(aclshmemx_last_error(NULL), "wanted == 77") != NULL); /* the first one */
    CHECK_INT(aclshmemx_stream_status(stream), 0);
    /* On the own stream likewise; a quiet that began with the wait may give up before it does. */
    aclshmemx_signal_wait_until_on_stream(word, ACLSHMEM_CMP_LT, -5, NULL);
    while ((code = aclshmemx_stream_status(NULL)) == 0)
        aclshmem_quiet();
    CHECK_INT(code, ACLSHMEM_TIMEOUT_ERROR);
    aclshmemx_clear_error();
    aclshmem_quiet();
    CHECK(aclshmemx_last_error(NULL)[0] == '\0');
    aclshmemx_set_extern_logger(NULL);
    ACL(aclrtSynchronizeStream(stream));
    ACL(aclrtDestroyStream(stream));
    ACL(aclrtDestroyStream(other));
    aclshmem_free(word);
    pe_finalize();
}

/* PE 0 calls a barrier that nobody else calls. Its streams cannot meet any more; the host's barriers still do. */
static void a_barrier_nobody_comes_to(void)
{
    init_with("SHMEM_WAIT_TIMEOUT", "0.2", 30);
    aclrtStream stream;
    ACL(aclrtCreateStream(&stream));
    aclshmemx_set_extern_logger(pe_swallow);
    if (me == 0 && n > 1) {
        aclshmemx_barrier_all_on_stream(stream);
        ACL(aclrtSynchronizeStream(stream));
        CHECK_INT(aclshmemx_stream_status(stream), ACLSHMEM_TIMEOUT_ERROR);
        CHECK(strstr(aclshmemx_last_error(NULL), "barrier_on_stream round 1 of") != NULL);
        CHECK(strstr(aclshmemx_last_error(NULL), "missing PE 1") != NULL);
        aclshmemx_barrier_all_on_stream(stream);
        ACL(aclrtSynchronizeStream(stream));
        CHECK_INT(aclshmemx_stream_status(stream), ACLSHMEM_SMEM_ERROR);
        CHECK(strstr(aclshmemx_last_error(NULL), "out of step") != NULL);
    }
    aclshmemx_set_extern_logger(NULL);
    ACL(aclrtDestroyStream(stream));
    pe_finalize();
}

/* A call that cannot be enqueued says so at once, and everything after it works. */
static void a_runtime_that_refuses(void)
{
    static const char *const calls[] = {"copy_async:1", "stream_call:1", "event_create:1", "event_record:1",
                                        "event_wait:1"};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        init_with("SHMEM_NPU_FAIL", calls[i], 30);
        int32_t *word = aclshmem_calloc(1, sizeof *word), mine = me + 1;
        aclrtStream stream;
        CHECK(word != NULL);
        ACL(aclrtCreateStream(&stream));
        aclshmemx_set_extern_logger(pe_swallow);
        aclshmemx_clear_error();
        for (int turn = 0; turn < 3; turn++) {
            aclshmemx_putmem_on_stream(word, &mine, sizeof mine, me, NULL);
            aclshmemx_signal_op_on_stream(word, mine, ACLSHMEM_SIGNAL_SET, me, NULL);
            aclshmemx_quiet_on_stream(stream);
            CHECK((turn == 0) == (aclshmemx_last_error(NULL)[0] != '\0'));
            aclshmemx_clear_error();
        }
        aclshmemx_set_extern_logger(NULL);
        ACL(aclrtSynchronizeStream(stream));
        aclshmem_quiet();
        CHECK_INT(*word, mine);
        ACL(aclrtDestroyStream(stream));
        aclshmem_free(word);
        pe_finalize();
    }
}

/* Finalize brings the own stream and the user's to their end before the memory goes. */
static void finalize_waits(void)
{
    init_with(NULL, NULL, 30);
    int32_t *there = aclshmem_calloc(100000, sizeof *there), *signal = aclshmem_calloc(1, sizeof *signal);
    int32_t *here = calloc(100000, sizeof *here), *back = malloc(100000 * sizeof *back);
    aclrtStream stream;
    CHECK(there != NULL && signal != NULL && here != NULL && back != NULL);
    here[99999] = me + 7;
    ACL(aclrtCreateStream(&stream));
    aclshmemx_signal_wait_until_on_stream(signal, ACLSHMEM_CMP_EQ, 1, NULL);
    aclshmemx_putmem_on_stream(there, here, 100000 * sizeof *here, me, NULL);
    aclshmemx_quiet_on_stream(stream);
    aclshmemx_getmem_on_stream(back, there, 100000 * sizeof *back, me, stream);
    aclshmemx_signal_op(signal, 1, ACLSHMEM_SIGNAL_SET, (me + 1) % n);
    pe_finalize();
    CHECK_INT(back[99999], me + 7);
    ACL(aclrtDestroyStream(stream));
    free(back);
    free(here);
}

/* A wait that nobody ends does not hold up finalize for long, and leaves nothing behind. */
static void finalize_ends_waits(void)
{
    init_with(NULL, NULL, 3);
    int32_t *word = aclshmem_calloc(1, sizeof *word);
    CHECK(word != NULL);
    aclshmemx_set_extern_logger(pe_swallow);
    aclshmemx_signal_wait_until_on_stream(word, ACLSHMEM_CMP_EQ, 1, NULL);
    aclshmemx_putmem_on_stream(word, &me, sizeof me, me, NULL);
    CHECK_INT(aclshmem_finalize(), ACLSHMEM_TIMEOUT_ERROR);
    CHECK(strstr(aclshmemx_last_error(NULL), "synchronize your streams") != NULL);
    aclshmemx_set_extern_logger(NULL);
    CHECK_INT(aclshmemx_init_status(), ACLSHMEM_STATUS_NOT_INITIALIZED);
}

/* The user's stream is held up by the user: its work finds memory in place when it comes to it, long after finalize. */
static void finalize_leaves_work(void)
{
    init_with(NULL, NULL, 3);
    static int32_t mine[1000];
    int32_t *there = aclshmem_calloc(1000, sizeof *there);
    aclrtStream stream;
    gate_t gate;
    CHECK(there != NULL);
    ACL(aclrtCreateStream(&stream));
    gate_close(&gate, stream);
    aclshmemx_putmem_on_stream(there, mine, sizeof mine, (me + 1) % n, stream);
    aclshmemx_signal_op_on_stream(there, 1, ACLSHMEM_SIGNAL_ADD, (me + 1) % n, stream);
    aclshmemx_barrier_all_on_stream(stream);
    aclshmemx_set_extern_logger(pe_swallow);
    CHECK_INT(aclshmem_finalize(), ACLSHMEM_TIMEOUT_ERROR);
    aclshmemx_set_extern_logger(NULL);
    CHECK(aclshmem_n_pes() == -1);
    gate_open(&gate);
    ACL(aclrtSynchronizeStream(stream));
    ACL(aclrtDestroyStream(stream));
}

int main(void)
{
    ACL(aclInit(NULL));
    ACL(aclrtSetDevice(0)); /* our own, so that finalize does not give it back with our streams */
    a_wait_nobody_ends();
    a_barrier_nobody_comes_to();
    a_runtime_that_refuses();
    finalize_waits();
    finalize_ends_waits();
    finalize_waits(); /* once more: nothing of the round before is in the way */
    finalize_leaves_work();
    finalize_waits();
    ACL(aclrtResetDevice(0));
    ACL(aclFinalize());
    return 0;
}
