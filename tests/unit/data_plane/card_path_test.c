/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The roads a transfer takes where host code may not touch device memory. The CPU runtime stands in for the card: the
 * instance is told that it may not touch, so every byte goes through the device port.
 */
#define LOG_MODULE "test"

#include "host/data_plane/shmem_host_rma.h"
#include "host/data_plane/shmem_host_so.h"

#include <stdlib.h>
#include <string.h>

#include "host/data_plane/shmem_host_cc.h"
#include "host/init/shmem_host_init.h"
#include "host/instance.h"
#include "host/mem/shmem_host_heap.h"
#include "host/npu/npu.h"
#include "support/unit.h"

enum { WORDS = 1000 };

static int32_t *there, here[4 * WORDS], back[4 * WORDS];

static void expect_error(int code, const char *part)
{
    int found = 0;
    t_check_contains(aclshmemx_last_error(&found), part);
    t_check_int(found, code);
    aclshmemx_clear_error();
}

static void expect_no_error(void)
{
    t_check_text(aclshmemx_last_error(NULL), "");
}

static void start(void)
{
    aclshmemx_init_attr_t attr = ACLSHMEMX_INIT_ATTR_INITIALIZER;
    attr.local_mem_size = 2 << 20;
    t_unit_log_start(ACLSHMEMI_LOG_WARN);
    t_check_int(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_LAUNCHER, &attr), 0);
    aclshmemi_current()->touch = false;
    aclshmemi_instance_use_engines(aclshmemi_current());
    there = aclshmem_calloc(4 * WORDS, sizeof *there);
    t_check(there != NULL);
    for (int i = 0; i < 4 * WORDS; i++)
        here[i] = i + 1;
    memset(back, 0, sizeof back);
    aclshmemx_clear_error();
}

static void stop(void)
{
    aclshmem_free(there);
    t_check_int(aclshmem_finalize(), 0);
    t_unit_log_stop();
}

static void directly(void **unused)
{
    (void)unused;
    start();
    aclshmem_int32_put_nbi(there, here, WORDS, 0);
    aclshmem_get32(back, there, WORDS, 0);
    t_check_memory(back, here, WORDS * sizeof *here);
    aclshmem_int32_iput(there, here, 3, 2, WORDS, 0);
    for (int i = 0; i < WORDS; i++)
        t_check_int(there[3 * i], here[2 * i]);
    t_check_int(there[1], here[1]); /* from the put before: gaps stay */
    aclshmem_iget64(back, there, 1, 2, WORDS / 2, 0);
    for (int i = 0; i < WORDS / 2; i++)
        t_check_memory(&back[2 * i], &there[4 * i], 8);
    aclshmem_iput128(there, here, 1, 1, WORDS, 0);
    t_check_memory(there, here, (size_t)WORDS * 16);
    aclshmem_quiet();
    aclshmemx_pe_quiet(0);
    expect_no_error();
    aclshmem_iput32(there, here, 0, 1, WORDS, 0);
    expect_error(ACLSHMEM_INVALID_PARAM, "at least 1");
    stop();
}

static void on_streams(void **unused)
{
    (void)unused;
    start();
    for (int turn = 0; turn < 3; turn++) { /* what the first turn made is used again */
        there[4 * WORDS - 1] = 0;
        here[0] = turn;
        aclshmemx_putmem_on_stream(there, here, WORDS * sizeof *here, 0, NULL);
        aclshmemx_signal_op_on_stream(&there[4 * WORDS - 1], 5 + turn, ACLSHMEM_SIGNAL_SET, 0, NULL);
        aclshmemx_getmem_on_stream(back, there, WORDS * sizeof *here, 0, NULL);
        aclshmemx_quiet_on_stream(NULL);
        aclshmemx_barrier_all_on_stream(NULL);
        aclshmem_quiet();
        expect_no_error();
        t_check_memory(back, here, WORDS * sizeof *here);
        t_check_int(there[4 * WORDS - 1], 5 + turn);
    }
    aclshmemx_signal_op_on_stream(there, 1, ACLSHMEM_SIGNAL_ADD, 0, NULL);
    expect_error(ACLSHMEM_NOT_SUPPORTED, "needs a kernel");
    aclshmemx_signal_wait_until_on_stream(there, ACLSHMEM_CMP_EQ, 1, NULL);
    expect_error(ACLSHMEM_NOT_SUPPORTED, "needs a kernel");
    aclshmem_quiet();
    t_check_int(there[0], 2);
    stop();
}

/* The device port says no at each place where a signal asks it for something. */
static void refusals(void **unused)
{
    (void)unused;
    static const char *const calls[] = {"host_alloc:1", "copy_async:1", "stream_call:1"};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        t_check_int(setenv("SHMEM_NPU_FAIL", calls[i], 1), 0);
        start();
        aclshmemx_signal_op_on_stream(there, 9, ACLSHMEM_SIGNAL_SET, 0, NULL);
        t_check(aclshmemx_last_error(NULL)[0] != '\0');
        aclshmemx_clear_error();
        aclshmemx_signal_op_on_stream(there, 10, ACLSHMEM_SIGNAL_SET, 0, NULL);
        aclshmem_quiet();
        expect_no_error();
        t_check_int(there[0], 10);
        stop();
        t_check_int(unsetenv("SHMEM_NPU_FAIL"), 0);
    }
}

/* A stream that waits for an event takes no task behind the wait: the event is not used for another wait, and what was
 * put on the own stream is complete all the same. */
static void refused_after_event(void **unused)
{
    (void)unused;
    aclshmemi_npu_stream_t stream = NULL;
    t_check_int(setenv("SHMEM_NPU_FAIL", "stream_call:1", 1), 0);
    start();
    t_check_int(npu_stream_create(&stream), 0);
    for (int turn = 0; turn < 4; turn++) {
        here[0] = 100 + turn;
        aclshmemx_putmem_on_stream(there, here, WORDS * sizeof *here, 0, NULL);
        aclshmemx_quiet_on_stream(stream);
        if (turn == 0)
            expect_error(ACLSHMEM_INNER_ERROR, "npu_stream_call");
        aclshmemx_getmem_on_stream(back, there, WORDS * sizeof *here, 0, stream);
        t_check_int(npu_stream_sync(stream, 60000), 0);
        t_check_memory(back, here, WORDS * sizeof *here);
        expect_no_error();
    }
    npu_stream_destroy(stream);
    stop();
    t_check_int(unsetenv("SHMEM_NPU_FAIL"), 0);
}

int main(void)
{
    t_clean_environment();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(directly),
        cmocka_unit_test(on_streams),
        cmocka_unit_test(refusals),
        cmocka_unit_test(refused_after_event),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
