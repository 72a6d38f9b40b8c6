/* SPDX-License-Identifier: Apache-2.0 */
/* Streams: order within one, independence between two, deadlines, host functions, failure modes. */
#include "support.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A host function that holds its stream until the test lets go. */
static void hold(void *gate)
{
    while (sem_wait(gate) != 0)
        continue;
}

static void let_go(void *gate)
{
    (void)sem_post(gate);
}

static void in_order(void **state)
{
    enum { STEPS = 2000 };
    uint32_t *memory = NULL, *seen = NULL;
    aclrtStream stream = NULL;

    (void)state;
    ok(aclrtCreateStream(&stream));
    ok(aclrtMalloc((void **)&memory, STEPS * sizeof *memory, ACL_MEM_MALLOC_HUGE_FIRST));
    ok(aclrtMallocHost((void **)&seen, STEPS * sizeof *seen));
    /* Each fill is copied out before the next one. */
    for (int i = 0; i < STEPS; i++) {
        ok(aclrtMemsetAsync(memory, 4, i & 0xff, 4, stream));
        ok(aclrtMemcpyAsync(&seen[i], 4, memory, 4, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    }
    ok(aclrtSynchronizeStream(stream));
    for (uint32_t i = 0; i < STEPS; i++)
        assert_int_equal(seen[i], (i & 0xff) * 0x01010101u);
    ok(aclrtDestroyStream(stream));
    ok(aclrtFree(memory));
    ok(aclrtFreeHost(seen));
}

static void side_by_side(void **state)
{
    aclrtStream first = NULL, second = NULL;
    aclrtStreamStatus status = ACL_STREAM_STATUS_COMPLETE;
    int32_t first_id = -1, second_id = -1;
    sem_t gate;

    (void)state;
    assert_int_equal(sem_init(&gate, 0, 0), 0);
    ok(aclrtCreateStream(&first));
    ok(aclrtCreateStreamWithConfig(&second, 0, ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC));
    ok(aclrtStreamGetId(first, &first_id));
    ok(aclrtStreamGetId(second, &second_id));
    assert_int_not_equal(first_id, second_id);
    /* The first waits for what the second does later; on one worker this would never end. */
    ok(aclrtLaunchHostFunc(first, hold, &gate));
    ok(aclrtStreamQuery(first, &status));
    assert_int_equal(status, ACL_STREAM_STATUS_NOT_READY);
    ok(aclrtSynchronizeStream(second));
    ok(aclrtLaunchHostFunc(second, let_go, &gate));
    ok(aclrtSynchronizeStream(first));
    ok(aclrtStreamQuery(first, &status));
    assert_int_equal(status, ACL_STREAM_STATUS_COMPLETE);
    ok(aclrtDestroyStream(first));
    ok(aclrtDestroyStream(second));
    (void)sem_destroy(&gate);
}

static void deadlines(void **state)
{
    aclrtStream stream = NULL;
    sem_t gate;

    (void)state;
    assert_int_equal(sem_init(&gate, 0, 0), 0);
    ok(aclrtCreateStream(&stream));
    ok(aclrtSynchronizeStreamWithTimeout(stream, 0)); /* nothing queued */
    ok(aclrtLaunchHostFunc(stream, hold, &gate));
    fails(aclrtSynchronizeStreamWithTimeout(stream, 0), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, "still has work");
    const uint64_t before = t_now_ms();
    fails(aclrtSynchronizeStreamWithTimeout(stream, 60), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, "still has work");
    assert_true(t_now_ms() - before >= 60);
    fails(aclrtSynchronizeDeviceWithTimeout(1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, "still has work");
    fails(aclrtSynchronizeStreamWithTimeout(stream, -2), ACL_ERROR_INVALID_PARAM, "-2");
    let_go(&gate);
    ok(aclrtSynchronizeStreamWithTimeout(stream, -1));
    ok(aclrtSynchronizeDevice());
    ok(aclrtDestroyStream(stream));
    (void)sem_destroy(&gate);
}

static void default_stream(void **state)
{
    char *memory = NULL;

    (void)state;
    ok(aclrtMalloc((void **)&memory, 16, ACL_MEM_MALLOC_HUGE_FIRST));
    ok(aclrtMemsetAsync(memory, 16, 7, 16, NULL));
    ok(aclrtSynchronizeStream(NULL));
    assert_int_equal(memory[15], 7);
    fails(aclrtDestroyStream(NULL), ACL_ERROR_INVALID_PARAM, "default stream");
    ok(aclrtSetDevice(1)); /* another device, another default stream */
    ok(aclrtMemsetAsync(memory, 16, 8, 16, NULL));
    ok(aclrtResetDevice(1)); /* waits */
    assert_int_equal(memory[15], 8);
    fails(aclrtSynchronizeStream(NULL), ACL_ERROR_RT_CONTEXT_NULL, "reset");
    ok(aclrtSetDevice(0));
    ok(aclrtResetDevice(0));
    ok(aclrtFree(memory));
}

static void destroy_waits(void **state)
{
    enum { BYTES = 8 << 20 };
    unsigned char *memory = NULL;

    (void)state;
    ok(aclrtMalloc((void **)&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int round = 0; round < 10; round++) {
        aclrtStream stream = NULL;

        ok(aclrtCreateStream(&stream));
        for (int i = 0; i < 10; i++)
            ok(aclrtMemsetAsync(memory, BYTES, i + round, BYTES, stream));
        ok(aclrtDestroyStream(stream));
        assert_int_equal(memory[BYTES - 1], 9 + round);
        fails(aclrtMemsetAsync(memory, 8, 1, 8, stream), ACL_ERROR_RT_INVALID_HANDLE, "no stream");
    }
    ok(aclrtFree(memory));
}

typedef struct order {
    atomic_int next;
    int seen[64];
} order_t;

typedef struct call {
    order_t *order;
    int number;
} call_t;

static void note(void *argument)
{
    const call_t *const call = argument;

    call->order->seen[atomic_fetch_add(&call->order->next, 1)] = call->number;
}

static void functions_in_order(void **state)
{
    order_t order = {0};
    call_t calls[64];

    (void)state;
    for (int i = 0; i < 64; i++) {
        calls[i] = (call_t){&order, i};
        ok(aclrtLaunchCallback(note, &calls[i], ACL_CALLBACK_BLOCK, NULL));
    }
    ok(aclrtSynchronizeStream(NULL));
    assert_int_equal(order.next, 64);
    for (int i = 0; i < 64; i++)
        assert_int_equal(order.seen[i], i);
    ok(aclrtSubscribeReport(1, NULL));
    ok(aclrtProcessReport(-1)); /* some have run */
    fails(aclrtProcessReport(1), ACL_ERROR_RT_REPORT_TIMEOUT, "no host function");
    ok(aclrtUnSubscribeReport(1, NULL));
    fails(aclrtLaunchHostFunc(NULL, NULL, NULL), ACL_ERROR_INVALID_PARAM, "NULL");
    fails(aclrtLaunchCallback(note, &calls[0], (aclrtCallbackBlockType)2, NULL), ACL_ERROR_INVALID_PARAM,
          "block type 2");
}

static void stream_does_not_wait_for_reports(void **state)
{
    aclrtStream stream = NULL;
    sem_t gate, done;

    (void)state;
    assert_int_equal(sem_init(&gate, 0, 0), 0);
    assert_int_equal(sem_init(&done, 0, 0), 0);
    ok(aclrtCreateStream(&stream));
    /* The first function waits for one that comes later in the same stream. */
    ok(aclrtLaunchCallback(hold, &gate, ACL_CALLBACK_NO_BLOCK, stream));
    ok(aclrtLaunchCallback(let_go, &done, ACL_CALLBACK_NO_BLOCK, stream));
    ok(aclrtLaunchCallback(let_go, &gate, ACL_CALLBACK_BLOCK, stream));
    ok(aclrtSynchronizeStream(stream));
    hold(&done); /* in the order they were queued */
    ok(aclrtDestroyStream(stream));
    (void)sem_destroy(&gate);
    (void)sem_destroy(&done);
}

typedef struct inside {
    aclrtStream stream;
    aclError synchronise, destroy, finalise, reset, init, device, copy;
    int32_t current;
} inside_t;

static void from_inside(void *argument)
{
    inside_t *const inside = argument;
    char from = 1, to = 0;

    inside->synchronise = aclrtSynchronizeStream(inside->stream);
    inside->destroy = aclrtDestroyStream(inside->stream);
    inside->finalise = aclFinalize();
    inside->init = aclInit(NULL);
    inside->reset = aclrtResetDevice(0);
    inside->device = aclrtGetDevice(&inside->current);
    inside->copy = aclrtMemcpy(&to, 1, &from, 1, ACL_MEMCPY_HOST_TO_HOST);
}

static void functions_cannot_wait_for_themselves(void **state)
{
    inside_t inside = {.current = -1};

    (void)state;
    ok(aclrtCreateStream(&inside.stream));
    ok(aclrtLaunchHostFunc(inside.stream, from_inside, &inside));
    ok(aclrtSynchronizeStream(inside.stream));
    assert_int_equal(inside.synchronise, ACL_ERROR_FAILURE);
    assert_int_equal(inside.destroy, ACL_ERROR_FAILURE);
    assert_int_equal(inside.finalise, ACL_ERROR_FAILURE);
    assert_int_equal(inside.init, ACL_ERROR_FAILURE);
    assert_int_equal(inside.reset, ACL_ERROR_FAILURE);
    assert_int_equal(inside.device, ACL_SUCCESS);
    assert_int_equal(inside.current, 0);
    assert_int_equal(inside.copy, ACL_SUCCESS);
    ok(aclrtDestroyStream(inside.stream));
}

static void attributes(void **state)
{
    aclrtStreamAttrValue value = {.failureMode = ACL_STOP_ON_FAILURE}, back = {0};
    aclrtStream stream = NULL;

    (void)state;
    ok(aclrtCreateStream(&stream));
    ok(aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_FAILURE_MODE, &value));
    ok(aclrtGetStreamAttribute(stream, ACL_STREAM_ATTR_FAILURE_MODE, &back));
    assert_int_equal(back.failureMode, ACL_STOP_ON_FAILURE);
    value.failureMode = 2;
    fails(aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_FAILURE_MODE, &value), ACL_ERROR_INVALID_PARAM,
          "mode 2");
    fails(aclrtSetStreamAttribute(stream, (aclrtStreamAttr)99, &value), ACL_ERROR_INVALID_PARAM,
          "attribute 99");
    ok(aclrtDestroyStream(stream));
}

static void for_the_device_only(void **state)
{
    aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
    aclrtStream stream = NULL;
    char memory[8];

    (void)state;
    ok(aclrtCreateStreamWithConfig(&stream, 5, ACL_STREAM_DEVICE_USE_ONLY));
    fails(aclrtMemsetAsync(memory, 8, 0, 8, stream), ACL_ERROR_INVALID_PARAM, "DEVICE_USE_ONLY");
    fails(aclrtLaunchHostFunc(stream, hold, NULL), ACL_ERROR_INVALID_PARAM, "DEVICE_USE_ONLY");
    ok(aclrtSynchronizeStream(stream));
    ok(aclrtStreamQuery(stream, &status));
    assert_int_equal(status, ACL_STREAM_STATUS_COMPLETE);
    ok(aclrtDestroyStream(stream));
}

static void bad_handles(void **state)
{
    aclrtEvent event = NULL;
    char memory[8];
    const uintptr_t values[] = {1, 2, 0xdeadbeef, UINTPTR_MAX, (uintptr_t)memory};

    (void)state;
    ok(aclrtCreateEvent(&event));
    fails(aclrtSynchronizeStream(event), ACL_ERROR_RT_INVALID_HANDLE, "no stream"); /* the wrong kind */
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        aclrtStream const stream = (aclrtStream)values[i];

        fails(aclrtSynchronizeStream(stream), ACL_ERROR_RT_INVALID_HANDLE, "no stream");
        fails(aclrtDestroyStream(stream), ACL_ERROR_RT_INVALID_HANDLE, "no stream");
        fails(aclrtMemsetAsync(memory, 8, 0, 8, stream), ACL_ERROR_RT_INVALID_HANDLE, "no stream");
        fails(aclrtDestroyEvent(stream), ACL_ERROR_RT_INVALID_HANDLE, "no event");
        fails(aclrtDestroyNotify(stream), ACL_ERROR_RT_INVALID_HANDLE, "no notify");
        fails(aclrtFreePhysical(stream), ACL_ERROR_RT_INVALID_HANDLE, "no physical memory");
    }
    fails(aclrtCreateStream(NULL), ACL_ERROR_INVALID_PARAM, "NULL");
    ok(aclrtDestroyEvent(event));
}

/* Threads create, use and destroy streams of one device while others synchronise it. */
static void *busy(void *failed)
{
    bool *const bad = failed;

    if (aclrtSetDevice(0) != ACL_SUCCESS)
        *bad = true;
    for (int i = 0; i < 100 && !*bad; i++) {
        aclrtStream stream = NULL;
        unsigned char memory[64] = {0};

        if (aclrtCreateStream(&stream) != ACL_SUCCESS)
            *bad = true;
        for (int k = 1; k <= 10; k++)
            if (aclrtMemsetAsync(memory, sizeof memory, k, sizeof memory, stream) != ACL_SUCCESS)
                *bad = true;
        if (i % 2 == 0 && aclrtSynchronizeStream(stream) != ACL_SUCCESS)
            *bad = true;
        if (aclrtDestroyStream(stream) != ACL_SUCCESS || memory[63] != 10)
            *bad = true;
    }
    if (aclrtSynchronizeDevice() != ACL_SUCCESS || aclrtResetDevice(0) != ACL_SUCCESS)
        *bad = true;
    return NULL;
}

static void from_many_threads(void **state)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    bool failed[THREADS] = {false};

    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, busy, &failed[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_false(failed[i]);
    }
}

static int stuck_stream(void *argument)
{
    aclrtStream streams[4];
    aclrtNotify notify = NULL;

    (void)argument;
    (void)setenv("SHMEM_CPU_KERNEL_TIMEOUT", "0.3", 1);
    if (aclInit(NULL) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS ||
        aclrtCreateNotify(&notify, 0) != ACL_SUCCESS)
        return 1;
    for (int i = 0; i < 4; i++)
        if (aclrtCreateStream(&streams[i]) != ACL_SUCCESS ||
            aclrtWaitAndResetNotify(notify, streams[i], 0) != ACL_SUCCESS)
            return 2;
    /* Nobody will ever record it; the end comes all the same, and once for all four. */
    const uint64_t before = t_now_ms();
    if (aclrtDestroyStream(streams[0]) != ACL_SUCCESS || t_now_ms() - before < 300)
        return 3;
    return aclFinalize() == ACL_SUCCESS && t_now_ms() - before < 10000 ? 0 : 4;
}

static void a_stuck_stream_ends(void **state)
{
    (void)state;
    assert_int_equal(t_fork(stuck_stream, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stuck_stream_ends),
        cmocka_unit_test_setup_teardown(in_order, t_begin, t_end),
        cmocka_unit_test_setup_teardown(side_by_side, t_begin, t_end),
        cmocka_unit_test_setup_teardown(deadlines, t_begin, t_end),
        cmocka_unit_test_setup_teardown(default_stream, t_begin, t_end),
        cmocka_unit_test_setup_teardown(destroy_waits, t_begin, t_end),
        cmocka_unit_test_setup_teardown(functions_in_order, t_begin, t_end),
        cmocka_unit_test_setup_teardown(stream_does_not_wait_for_reports, t_begin, t_end),
        cmocka_unit_test_setup_teardown(functions_cannot_wait_for_themselves, t_begin, t_end),
        cmocka_unit_test_setup_teardown(attributes, t_begin, t_end),
        cmocka_unit_test_setup_teardown(for_the_device_only, t_begin, t_end),
        cmocka_unit_test_setup_teardown(bad_handles, t_begin, t_end),
        cmocka_unit_test_setup_teardown(from_many_threads, t_begin, t_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL) == 0 ? 0 : 1;
}
