/* SPDX-License-Identifier: Apache-2.0 */
/* Events and notifies: what waits for what, and for how long. */
#include "support.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>

static void hold(void *gate)
{
    while (sem_wait(gate) != 0)
        continue;
}

static void let_go(void *gate)
{
    (void)sem_post(gate);
}

static void add_one(void *counter)
{
    (void)atomic_fetch_add((atomic_int *)counter, 1);
}

static void states(void **state)
{
    aclrtEvent event = NULL;
    aclrtEventStatus status = ACL_EVENT_STATUS_COMPLETE;
    aclrtEventRecordedStatus recorded = ACL_EVENT_RECORDED_STATUS_COMPLETE;
    aclrtStream stream = NULL;
    float ms = 0;
    sem_t gate;

    (void)state;
    assert_int_equal(sem_init(&gate, 0, 0), 0);
    ok(aclrtCreateStream(&stream));
    ok(aclrtCreateEvent(&event));
    ok(aclrtQueryEventStatus(event, &recorded));
    assert_int_equal(recorded, ACL_EVENT_RECORDED_STATUS_NOT_READY);
    fails(aclrtSynchronizeEvent(event), ACL_ERROR_INVALID_PARAM, "not been recorded");
    fails(aclrtEventElapsedTime(&ms, event, event), ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, "no time");
    ok(aclrtLaunchHostFunc(stream, hold, &gate));
    ok(aclrtRecordEvent(event, stream));
    ok(aclrtQueryEvent(event, &status));
    assert_int_equal(status, ACL_EVENT_STATUS_NOT_READY);
    fails(aclrtSynchronizeEventWithTimeout(event, 5), ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, "within 5 ms");
    let_go(&gate);
    ok(aclrtSynchronizeEvent(event));
    ok(aclrtQueryEvent(event, &status));
    assert_int_equal(status, ACL_EVENT_STATUS_COMPLETE);
    ok(aclrtResetEvent(event, stream));
    ok(aclrtDestroyEvent(event));
    fails(aclrtDestroyEvent(event), ACL_ERROR_RT_INVALID_HANDLE, "no event");
    fails(aclrtRecordEvent(event, stream), ACL_ERROR_RT_INVALID_HANDLE, "no event");
    fails(aclrtStreamWaitEvent(stream, event), ACL_ERROR_RT_INVALID_HANDLE, "no event");
    ok(aclrtDestroyStream(stream));
    (void)sem_destroy(&gate);
}

static void time_passes(void **state)
{
    aclrtEvent begin = NULL, end = NULL;
    static char memory[32 << 20];
    uint64_t at = 0;
    float ms = -1, back = 1;

    (void)state;
    ok(aclrtCreateEventWithFlag(&begin, ACL_EVENT_TIME_LINE));
    ok(aclrtCreateEventExWithFlag(&end, ACL_EVENT_TIME_LINE | ACL_EVENT_SYNC));
    ok(aclrtRecordEvent(begin, NULL));
    ok(aclrtMemsetAsync(memory, sizeof memory, 1, sizeof memory, NULL));
    ok(aclrtRecordEvent(end, NULL));
    ok(aclrtSynchronizeStream(NULL));
    ok(aclrtEventElapsedTime(&ms, begin, end));
    ok(aclrtEventElapsedTime(&back, end, begin));
    ok(aclrtEventGetTimestamp(end, &at));
    assert_true(ms > 0 && ms < 60000);
    assert_true(back < 0);
    assert_true(at > 0);
    ok(aclrtDestroyEvent(begin));
    ok(aclrtDestroyEvent(end));
}

static void one_stream_waits_for_another(void **state)
{
    aclrtStream first = NULL, second = NULL;
    aclrtEvent event = NULL;
    atomic_int counter = 0;
    sem_t gate;

    (void)state;
    assert_int_equal(sem_init(&gate, 0, 0), 0);
    ok(aclrtCreateStream(&first));
    ok(aclrtCreateStream(&second));
    ok(aclrtCreateEvent(&event));
    ok(aclrtLaunchHostFunc(first, hold, &gate));
    ok(aclrtRecordEvent(event, first));
    ok(aclrtStreamWaitEvent(second, event));
    ok(aclrtLaunchHostFunc(second, add_one, &counter));
    ok(aclrtDestroyEvent(event)); /* the wait keeps it */
    fails(aclrtSynchronizeStreamWithTimeout(second, 20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, "still has work");
    assert_int_equal(counter, 0);
    let_go(&gate);
    ok(aclrtSynchronizeStream(second));
    assert_int_equal(counter, 1);
    ok(aclrtDestroyStream(first));
    ok(aclrtDestroyStream(second));
    (void)sem_destroy(&gate);
}

/* A wait means the record before it, even when the event is recorded again while it waits. */
static void records_are_told_apart(void **state)
{
    aclrtStream first = NULL, second = NULL, third = NULL;
    aclrtEvent event = NULL;
    sem_t early, late;

    (void)state;
    assert_int_equal(sem_init(&early, 0, 0), 0);
    assert_int_equal(sem_init(&late, 0, 0), 0);
    ok(aclrtCreateStream(&first));
    ok(aclrtCreateStream(&second));
    ok(aclrtCreateStream(&third));
    ok(aclrtCreateEvent(&event));
    ok(aclrtStreamWaitEvent(third, event)); /* before any record: the first one to come */
    ok(aclrtLaunchHostFunc(first, hold, &early));
    ok(aclrtRecordEvent(event, first));
    ok(aclrtStreamWaitEvent(second, event));
    ok(aclrtLaunchHostFunc(first, hold, &late));
    ok(aclrtRecordEvent(event, first));
    let_go(&early);
    ok(aclrtSynchronizeStream(second));
    ok(aclrtSynchronizeStream(third));
    fails(aclrtSynchronizeEventWithTimeout(event, 0), ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, "not reached");
    ok(aclrtStreamWaitEvent(second, event)); /* the second record this time */
    fails(aclrtSynchronizeStreamWithTimeout(second, 20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, "still has work");
    let_go(&late);
    ok(aclrtSynchronizeEvent(event));
    ok(aclrtSynchronizeStream(second));
    ok(aclrtDestroyStream(first));
    ok(aclrtDestroyStream(second));
    ok(aclrtDestroyStream(third));
    ok(aclrtDestroyEvent(event));
    (void)sem_destroy(&early);
    (void)sem_destroy(&late);
}

static void notifies(void **state)
{
    aclrtStream first = NULL, second = NULL;
    aclrtNotify notify = NULL, other = NULL;
    uint32_t id = UINT32_MAX, other_id = UINT32_MAX;

    (void)state;
    ok(aclrtCreateStream(&first));
    ok(aclrtCreateStream(&second));
    ok(aclrtCreateNotify(&notify, 0));
    ok(aclrtCreateNotify(&other, 0));
    ok(aclrtGetNotifyId(notify, &id));
    ok(aclrtGetNotifyId(other, &other_id));
    assert_true(id < 1 << 13 && other_id < 1 << 13 && id != other_id);
    for (int i = 0; i < 200; i++) {
        ok(aclrtWaitAndResetNotify(notify, first, 0));
        ok(aclrtRecordNotify(other, first));
        ok(aclrtRecordNotify(notify, second));
        ok(aclrtWaitAndResetNotify(other, second, 0));
    }
    ok(aclrtSynchronizeStream(first));
    ok(aclrtSynchronizeStream(second));
    /* Binary: two records are one; and the wait has reset it. */
    ok(aclrtRecordNotify(notify, first));
    ok(aclrtRecordNotify(notify, first));
    ok(aclrtWaitAndResetNotify(notify, first, 0));
    ok(aclrtSynchronizeStream(first));
    ok(aclrtWaitAndResetNotify(notify, first, 1));
    fails(aclrtSynchronizeStream(first), ACL_ERROR_RT_WAIT_TIMEOUT, "not recorded within 1 s");
    ok(aclrtSynchronizeStream(first)); /* told once */
    ok(aclrtDestroyNotify(notify));
    ok(aclrtDestroyNotify(other));
    fails(aclrtRecordNotify(notify, first), ACL_ERROR_RT_INVALID_HANDLE, "no notify");
    ok(aclrtDestroyStream(first));
    ok(aclrtDestroyStream(second));
}

static void notify_comes_behind_the_copy(void **state)
{
    enum { BYTES = 1 << 20, ROUNDS = 50 };
    static unsigned char from[BYTES], to[BYTES], seen[ROUNDS];
    aclrtStream first = NULL, second = NULL;
    aclrtNotify notify = NULL, back = NULL;

    (void)state;
    ok(aclrtCreateStream(&first));
    ok(aclrtCreateStream(&second));
    ok(aclrtCreateNotify(&notify, 0));
    ok(aclrtCreateNotify(&back, 0));
    for (int i = 0; i < ROUNDS; i++) {
        ok(aclrtMemsetAsync(from, BYTES, i + 1, BYTES, first));
        ok(aclrtMemcpyAsync(to, BYTES, from, BYTES, ACL_MEMCPY_DEVICE_TO_DEVICE, first));
        ok(aclrtRecordNotify(notify, first));
        ok(aclrtWaitAndResetNotify(back, first, 0));
        ok(aclrtWaitAndResetNotify(notify, second, 0));
        ok(aclrtMemcpyAsync(&seen[i], 1, &to[BYTES - 1], 1, ACL_MEMCPY_DEVICE_TO_HOST, second));
        ok(aclrtRecordNotify(back, second));
    }
    ok(aclrtSynchronizeDevice());
    for (int i = 0; i < ROUNDS; i++)
        assert_int_equal(seen[i], i + 1);
    ok(aclrtDestroyNotify(notify));
    ok(aclrtDestroyNotify(back));
}

static void notifies_run_out(void **state)
{
    static aclrtNotify all[(1 << 13) + 1];
    size_t count = 0;
    aclError error = ACL_SUCCESS;

    (void)state;
    while (count < sizeof all / sizeof all[0] && (error = aclrtCreateNotify(&all[count], 0)) == ACL_SUCCESS)
        count++;
    assert_int_equal(count, 1 << 13);
    assert_int_equal(error, ACL_ERROR_RT_NO_NOTIFY_RESOURCE);
    while (count > 0)
        ok(aclrtDestroyNotify(all[--count]));
    ok(aclrtCreateNotify(&all[0], 0));
    ok(aclrtDestroyNotify(all[0]));
}

static void a_stopped_stream_stays_stopped(void **state)
{
    aclrtStream stream = NULL, other = NULL;
    aclrtNotify notify = NULL;
    aclrtEvent event = NULL;
    atomic_int counter = 0;

    (void)state;
    ok(aclrtCreateStream(&stream));
    ok(aclrtCreateStream(&other));
    ok(aclrtCreateNotify(&notify, 0));
    ok(aclrtCreateEvent(&event));
    ok(aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE));
    ok(aclrtWaitAndResetNotify(notify, stream, 1));
    ok(aclrtLaunchHostFunc(stream, add_one, &counter));
    ok(aclrtRecordEvent(event, stream)); /* others must not hang on it */
    ok(aclrtStreamWaitEvent(other, event));
    fails(aclrtSynchronizeStream(stream), ACL_ERROR_RT_WAIT_TIMEOUT, "notify");
    fails(aclrtSynchronizeStream(stream), ACL_ERROR_RT_WAIT_TIMEOUT, "notify");
    ok(aclrtSynchronizeStream(other));
    assert_int_equal(counter, 0);
    ok(aclrtDestroyStream(stream));
    ok(aclrtDestroyStream(other));
    ok(aclrtDestroyNotify(notify));
    ok(aclrtDestroyEvent(event));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(states, t_begin, t_end),
        cmocka_unit_test_setup_teardown(time_passes, t_begin, t_end),
        cmocka_unit_test_setup_teardown(one_stream_waits_for_another, t_begin, t_end),
        cmocka_unit_test_setup_teardown(records_are_told_apart, t_begin, t_end),
        cmocka_unit_test_setup_teardown(notifies, t_begin, t_end),
        cmocka_unit_test_setup_teardown(notify_comes_behind_the_copy, t_begin, t_end),
        cmocka_unit_test_setup_teardown(notifies_run_out, t_begin, t_end),
        cmocka_unit_test_setup_teardown(a_stopped_stream_stays_stopped, t_begin, t_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL) == 0 ? 0 : 1;
}
