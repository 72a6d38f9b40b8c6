/* SPDX-License-Identifier: Apache-2.0 */
/* Capture and replay: a model does what its calls would have done, with the values of the capture, and no less. */
#include "support.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aicore/aicore.h"

enum { WORDS = 32 };

/* Neither commutes with the other, nor with copies. */
ACL_KERNEL(mix, uint32_t *, words, uint32_t, factor, uint32_t, term)
{
    for (uint32_t i = aicore_block_index(); i < WORDS; i += aicore_block_count())
        words[i] = words[i] * factor + term + i;
}

ACL_KERNEL(count_up, _Atomic(uint32_t) *, counter, uint32_t, by)
{
    (void)atomic_fetch_add(counter, by);
}

ACL_KERNEL_VECTOR(trips)
{
    aicore_trap("on purpose");
}

static void launch(const char *name, uint32_t blocks, const void *args, size_t bytes, aclrtStream stream)
{
    aclrtFuncHandle function = NULL;

    ok(aclrtBinaryGetFunction(NULL, name, &function));
    ok(aclrtLaunchKernel(function, blocks, args, bytes, stream));
}

static void launch_count(_Atomic(uint32_t) *counter, uint32_t by, aclrtStream stream)
{
    const struct count_up_args args = {counter, by};

    launch("count_up", 1, &args, sizeof args, stream);
}

typedef struct memory {
    uint32_t *a, *b;
    _Atomic(uint32_t) *counter;
} memory_t;

static memory_t get_memory(void)
{
    memory_t memory = {0};
    void *counter = NULL;

    ok(aclrtMalloc((void **)&memory.a, WORDS * 4, ACL_MEM_MALLOC_HUGE_FIRST));
    ok(aclrtMalloc((void **)&memory.b, WORDS * 4, ACL_MEM_MALLOC_HUGE_FIRST));
    ok(aclrtMalloc(&counter, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    memory.counter = counter;
    for (uint32_t i = 0; i < WORDS; i++)
        memory.a[i] = memory.b[i] = i * 77;
    atomic_store(memory.counter, 0);
    return memory;
}

static void free_memory(memory_t *memory)
{
    ok(aclrtFree(memory->a));
    ok(aclrtFree(memory->b));
    ok(aclrtFree((void *)(uintptr_t)memory->counter));
}

/* --- What a model does --- */

/* A hundred pieces of work, each of which changes what the next ones find. */
static void queue_hundred(const memory_t *memory, aclrtStream stream)
{
    for (uint32_t i = 0; i < 100; i++) {
        const struct mix_args args = {i % 2 == 0 ? memory->a : memory->b, 3 + i, i};

        switch (i % 10) {
        case 3:
            ok(aclrtMemcpyAsync(memory->a, WORDS * 4, memory->b, WORDS * 2, ACL_MEMCPY_DEVICE_TO_DEVICE,
                                stream));
            break;
        case 6:
            ok(aclrtMemcpyAsync(memory->b, WORDS * 4, memory->a + 5, WORDS * 3, ACL_MEMCPY_DEVICE_TO_DEVICE,
                                stream));
            break;
        case 8:
            ok(aclrtMemsetAsync(memory->a + 3, 20, (int32_t)i, 7, stream));
            break;
        case 9:
            ok(aclrtCmoAsync(memory->a, WORDS * 4, ACL_RT_CMO_TYPE_PREFETCH, stream));
            break;
        default:
            launch("mix", i % 7 == 0 ? 2 : 1, &args, sizeof args, stream);
        }
    }
}

static void equals_running(void **state)
{
    enum { ROUNDS = 1000 };
    memory_t run = get_memory(), replayed = get_memory();
    aclrtStream stream = NULL;
    aclmdlRI model = NULL;

    (void)state;
    ok(aclrtCreateStream(&stream));
    ok(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    queue_hundred(&replayed, stream);
    ok(aclmdlRICaptureEnd(stream, &model));
    assert_memory_equal(run.a, replayed.a, WORDS * 4); /* nothing has run */
    for (int round = 0; round < ROUNDS; round++) {
        ok(aclmdlRIExecuteAsync(model, stream));
        if (round % 100 == 0)
            ok(aclrtSynchronizeStream(stream));
    }
    ok(aclrtSynchronizeStream(stream));
    for (int round = 0; round < ROUNDS; round++)
        queue_hundred(&run, stream);
    ok(aclrtSynchronizeStream(stream));
    assert_memory_equal(run.a, replayed.a, WORDS * 4);
    assert_memory_equal(run.b, replayed.b, WORDS * 4);
    ok(aclmdlRIDestroy(model));
    ok(aclrtDestroyStream(stream));
    free_memory(&run);
    free_memory(&replayed);
}

static void values_of_the_capture(void **state)
{
    memory_t memory = get_memory();
    struct count_up_args args = {memory.counter, 5};
    aclrtStream stream = NULL, other = NULL;
    aclmdlRI model = NULL;

    (void)state;
    ok(aclrtCreateStream(&stream));
    ok(aclrtCreateStream(&other));
    launch_count(memory.counter, 100, stream); /* before the capture: runs */
    ok(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL));
    launch("count_up", 1, &args, sizeof args, stream);
    launch_count(memory.counter, 1000, other); /* another stream: runs */
    args.by = 7;
    ok(aclmdlRICaptureEnd(stream, &model));
    launch_count(memory.counter, 10000, stream); /* afterwards: runs */
    ok(aclrtSynchronizeStream(stream));
    ok(aclrtSynchronizeStream(other));
    assert_int_equal(atomic_load(memory.counter), 11100);
    ok(aclmdlRIExecuteAsync(model, other));
    ok(aclmdlRIExecuteAsync(model, stream));
    ok(aclmdlRIExecute(model, -1));
    ok(aclmdlRIDestroy(model)); /* whether it has run or not */
    ok(aclrtSynchronizeStream(stream));
    ok(aclrtSynchronizeStream(other));
    assert_int_equal(atomic_load(memory.counter), 11115);
    ok(aclrtDestroyStream(stream));
    ok(aclrtDestroyStream(other));
    free_memory(&memory);
}

/* One model on several streams at once. */
static void side_by_side(void **state)
{
    enum { STREAMS = 4, ROUNDS = 50 };
    memory_t memory = get_memory();
    aclrtStream streams[STREAMS];
    aclmdlRI model = NULL;

    (void)state;
    for (int i = 0; i < STREAMS; i++)
        ok(aclrtCreateStream(&streams[i]));
    ok(aclmdlRICaptureBegin(streams[0], ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    launch_count(memory.counter, 1, streams[0]);
    launch_count(memory.counter, 2, streams[0]);
    ok(aclmdlRICaptureEnd(streams[0], &model));
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < STREAMS; i++)
            ok(aclmdlRIExecuteAsync(model, streams[i]));
    ok(aclmdlRIDestroy(model));
    ok(aclrtSynchronizeDevice());
    assert_int_equal(atomic_load(memory.counter), 3 * STREAMS * ROUNDS);
    for (int i = 0; i < STREAMS; i++)
        ok(aclrtDestroyStream(streams[i]));
    free_memory(&memory);
}

/* A model waits for a notify that another model records. */
static void notifies(void **state)
{
    enum { ROUNDS = 20 };
    memory_t memory = get_memory();
    aclrtStream waits = NULL, records = NULL;
    aclrtNotify there = NULL, back = NULL;
    aclmdlRI waiting = NULL, recording = NULL;

    (void)state;
    ok(aclrtCreateStream(&waits));
    ok(aclrtCreateStream(&records));
    ok(aclrtCreateNotify(&there, 0));
    ok(aclrtCreateNotify(&back, 0));
    ok(aclmdlRICaptureBegin(waits, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    ok(aclrtWaitAndResetNotify(there, waits, 0));
    ok(aclrtMemcpyAsync(memory.b, 4, memory.a, 4, ACL_MEMCPY_DEVICE_TO_DEVICE, waits));
    ok(aclrtRecordNotify(back, waits));
    ok(aclmdlRICaptureEnd(waits, &waiting));
    ok(aclmdlRICaptureBegin(records, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    launch("mix", 1, &(struct mix_args){memory.a, 1, 1}, sizeof(struct mix_args), records);
    ok(aclrtRecordNotify(there, records));
    ok(aclrtWaitAndResetNotify(back, records, 0));
    ok(aclmdlRICaptureEnd(records, &recording));
    memory.a[0] = 0;
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        ok(aclmdlRIExecuteAsync(waiting, waits));
        ok(aclmdlRIExecuteAsync(recording, records));
        ok(aclrtSynchronizeStream(records));
        assert_int_equal(memory.b[0], round);
    }
    ok(aclrtDestroyNotify(there)); /* the models still have them */
    ok(aclrtDestroyNotify(back));
    ok(aclmdlRIExecuteAsync(waiting, waits));
    ok(aclmdlRIExecuteAsync(recording, records));
    ok(aclrtDestroyStream(records));
    ok(aclrtDestroyStream(waits));
    ok(aclmdlRIDestroy(waiting));
    ok(aclmdlRIDestroy(recording));
    free_memory(&memory);
}

static void models_in_models(void **state)
{
    memory_t memory = get_memory();
    aclrtStream stream = NULL;
    aclmdlRI inner = NULL, outer = NULL;

    (void)state;
    ok(aclrtCreateStream(&stream));
    ok(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    launch_count(memory.counter, 1, stream);
    ok(aclmdlRICaptureEnd(stream, &inner));
    ok(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    ok(aclmdlRIExecuteAsync(inner, stream));
    launch_count(memory.counter, 10, stream);
    ok(aclmdlRIExecuteAsync(inner, stream));
    ok(aclmdlRICaptureEnd(stream, &outer));
    ok(aclmdlRIDestroy(inner));
    ok(aclmdlRIExecuteAsync(outer, stream));
    ok(aclmdlRIExecuteAsync(outer, stream));
    ok(aclrtSynchronizeStream(stream));
    assert_int_equal(atomic_load(memory.counter), 24);
    ok(aclmdlRIDebugPrint(outer));
    ok(aclmdlRIDestroy(outer));
    ok(aclrtDestroyStream(stream));
    free_memory(&memory);
}

static void failures_inside(void **state)
{
    memory_t memory = get_memory();
    aclrtStream stream = NULL;
    aclmdlRI model = NULL;

    (void)state;
    ok(aclrtCreateStream(&stream));
    ok(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    launch_count(memory.counter, 1, stream);
    launch("trips", 2, NULL, 0, stream);
    launch_count(memory.counter, 10, stream);
    ok(aclmdlRICaptureEnd(stream, &model));
    ok(aclmdlRIExecuteAsync(model, stream));
    fails(aclrtSynchronizeStream(stream), ACL_ERROR_RT_VECTOR_CORE_TRAP_EXCEPTION, "kernel trips");
    assert_int_equal(atomic_load(memory.counter), 11);
    ok(aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE));
    ok(aclmdlRIExecuteAsync(model, stream));
    ok(aclmdlRIExecuteAsync(model, stream)); /* nothing of it any more */
    fails(aclrtSynchronizeStream(stream), ACL_ERROR_RT_VECTOR_CORE_TRAP_EXCEPTION, "on purpose");
    assert_int_equal(atomic_load(memory.counter), 12);
    ok(aclmdlRIDestroy(model));
    ok(aclrtDestroyStream(stream));
    free_memory(&memory);
}

/* --- What a capture refuses --- */

static void nothing(void *argument)
{
    (void)argument;
}

static void refuses(aclrtStream stream, aclError error, const char *words)
{
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    aclmdlRI model = NULL;

    fails(error, ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT, words);
    ok(aclmdlRICaptureGetInfo(stream, &status, &model));
    assert_int_equal(status, ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED);
    fails(aclmdlRICaptureEnd(stream, &model), ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED, words);
    fails(aclmdlRIDestroy(model), ACL_ERROR_RT_INVALID_HANDLE, "no model");
    ok(aclrtSynchronizeStream(stream)); /* an ordinary stream again */
    ok(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
}

static void what_no_model_holds(void **state)
{
    aclrtStream stream = NULL;
    aclrtEvent event = NULL;
    aclmdlRI model = NULL;

    (void)state;
    ok(aclrtCreateStream(&stream));
    ok(aclrtCreateEvent(&event));
    ok(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    refuses(stream, aclrtRecordEvent(event, stream), "event record");
    refuses(stream, aclrtStreamWaitEvent(stream, event), "event wait");
    refuses(stream, aclrtLaunchHostFunc(stream, nothing, NULL), "host function");
    refuses(stream, aclrtLaunchCallback(nothing, NULL, ACL_CALLBACK_NO_BLOCK, stream), "host function");
    ok(aclmdlRICaptureEnd(stream, &model)); /* empty, and runs */
    ok(aclmdlRIExecuteAsync(model, stream));
    ok(aclrtRecordEvent(event, stream));
    ok(aclrtSynchronizeEvent(event));
    ok(aclmdlRIDestroy(model));
    ok(aclrtDestroyEvent(event));
    ok(aclrtDestroyStream(stream));
}

static void wrong_calls(void **state)
{
    aclrtStreamStatus is_done = ACL_STREAM_STATUS_COMPLETE;
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE;
    aclrtStream stream = NULL;
    aclmdlRI model = NULL, early = NULL;

    (void)state;
    ok(aclrtCreateStream(&stream));
    fails(aclmdlRICaptureEnd(stream, &model), ACL_ERROR_RT_STREAM_NOT_CAPTURED, "does not capture");
    fails(aclmdlRICaptureEnd(NULL, &model), ACL_ERROR_RT_STREAM_NOT_CAPTURED, "does not capture");
    fails(aclmdlRICaptureBegin(NULL, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT,
          "default stream");
    fails(aclmdlRICaptureBegin(stream, (aclmdlRICaptureMode)3), ACL_ERROR_INVALID_PARAM, "mode 3");
    ok(aclmdlRICaptureGetInfo(stream, &status, &model));
    assert_int_equal(status, ACL_MODEL_RI_CAPTURE_STATUS_NONE);
    assert_null(model);
    ok(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    fails(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), ACL_ERROR_RT_STREAM_CAPTURED,
          "captures already");
    fails(aclrtSynchronizeStream(stream), ACL_ERROR_RT_STREAM_CAPTURED, "captures");
    fails(aclrtSynchronizeDevice(), ACL_ERROR_RT_STREAM_CAPTURED, "captures");
    fails(aclrtStreamQuery(stream, &is_done), ACL_ERROR_RT_STREAM_CAPTURED, "captures");
    fails(aclrtDestroyStream(stream), ACL_ERROR_RT_STREAM_CAPTURED, "captures");
    ok(aclmdlRICaptureGetInfo(stream, &status, &early));
    assert_int_equal(status, ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE);
    fails(aclmdlRIExecuteAsync(early, stream), ACL_ERROR_RT_MODEL_CAPTURED, "still being captured");
    fails(aclmdlRIDestroy(early), ACL_ERROR_RT_MODEL_CAPTURED, "still being captured");
    fails(aclmdlRICaptureEnd(stream, NULL), ACL_ERROR_INVALID_PARAM, "NULL");
    ok(aclmdlRICaptureEnd(stream, &model));
    assert_ptr_equal(model, early);
    fails(aclmdlRIExecute(model, 0), ACL_ERROR_INVALID_PARAM, "timeout 0");
    ok(aclmdlRIExecute(model, 60000));
    ok(aclmdlRIDestroy(model));
    fails(aclmdlRIDestroy(model), ACL_ERROR_RT_INVALID_HANDLE, "no model");
    fails(aclmdlRIExecuteAsync(model, stream), ACL_ERROR_RT_INVALID_HANDLE, "no model");
    ok(aclrtDestroyStream(stream));
}

/* --- Modes --- */

typedef struct attempt {
    aclrtStream stream;
    aclmdlRICaptureMode mode; /* of the thread */
    aclError copy, fill, pinned, unpinned, end;
} attempt_t;

static void try_all(attempt_t *attempt)
{
    static char pageable[8];
    char from = 1, to = 0;
    void *pinned = NULL;

    attempt->copy = aclrtMemcpy(&to, 1, &from, 1, ACL_MEMCPY_HOST_TO_HOST);
    attempt->fill = aclrtMemset(&to, 1, 0, 1);
    ok(aclrtMallocHost(&pinned, 8));
    attempt->pinned = aclrtMemcpyAsync(pinned, 8, pinned, 8, ACL_MEMCPY_HOST_TO_HOST, NULL);
    attempt->unpinned = aclrtMemcpyAsync(pageable, 8, pinned, 8, ACL_MEMCPY_DEVICE_TO_HOST, NULL);
    ok(aclrtSynchronizeStream(NULL));
    ok(aclrtFreeHost(pinned));
}

static void *other_thread(void *argument)
{
    attempt_t *const attempt = argument;
    aclmdlRICaptureMode mode = attempt->mode;
    aclmdlRI model = NULL;

    ok(aclrtSetDevice(0));
    ok(aclmdlRICaptureThreadExchangeMode(&mode));
    assert_int_equal(mode, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL); /* every thread starts there */
    try_all(attempt);
    attempt->end = aclmdlRICaptureEnd(attempt->stream, &model);
    if (attempt->end == ACL_SUCCESS)
        ok(aclmdlRIDestroy(model));
    ok(aclrtResetDevice(0));
    return NULL;
}

static void check_attempt(const attempt_t *attempt, bool allowed)
{
    const aclError wanted = allowed ? ACL_SUCCESS : ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT;

    assert_int_equal(attempt->copy, wanted);
    assert_int_equal(attempt->fill, wanted);
    assert_int_equal(attempt->unpinned, wanted);
    assert_int_equal(attempt->pinned, ACL_SUCCESS);
}

static void one_mode(aclmdlRICaptureMode mode, aclmdlRICaptureMode others, bool here, bool there)
{
    attempt_t mine = {0}, theirs = {.mode = others};
    aclmdlRICaptureMode change = ACL_MODEL_RI_CAPTURE_MODE_RELAXED;
    aclmdlRI model = NULL;
    pthread_t thread;

    ok(aclrtCreateStream(&theirs.stream));
    ok(aclmdlRICaptureBegin(theirs.stream, mode));
    try_all(&mine);
    check_attempt(&mine, here);
    ok(aclmdlRICaptureThreadExchangeMode(&change));
    try_all(&mine);
    check_attempt(&mine, true);
    ok(aclmdlRICaptureThreadExchangeMode(&change));
    assert_int_equal(change, ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
    assert_int_equal(pthread_create(&thread, NULL, other_thread, &theirs), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    check_attempt(&theirs, there);
    if (mode == ACL_MODEL_RI_CAPTURE_MODE_RELAXED) {
        assert_int_equal(theirs.end, ACL_SUCCESS);
    } else {
        assert_int_equal(theirs.end, ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD);
        ok(aclmdlRICaptureEnd(theirs.stream, &model));
        ok(aclmdlRIDestroy(model));
    }
    try_all(&mine);
    check_attempt(&mine, true);
    ok(aclrtDestroyStream(theirs.stream));
}

static void modes(void **state)
{
    aclmdlRICaptureMode wrong = (aclmdlRICaptureMode)7;
    const aclmdlRICaptureMode global = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL,
                              local = ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL,
                              relaxed = ACL_MODEL_RI_CAPTURE_MODE_RELAXED;

    (void)state;
    one_mode(global, global, false, false);
    one_mode(global, local, false, true);
    one_mode(global, relaxed, false, true);
    one_mode(local, global, false, true);
    one_mode(relaxed, global, true, true);
    fails(aclmdlRICaptureThreadExchangeMode(&wrong), ACL_ERROR_INVALID_PARAM, "mode 7");
    fails(aclmdlRICaptureThreadExchangeMode(NULL), ACL_ERROR_INVALID_PARAM, "allowed");
}

/* --- Life --- */

static void ends_with_its_device(void **state)
{
    memory_t memory = get_memory();
    aclrtStream stream = NULL;
    aclmdlRI model = NULL, open = NULL;
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    char from = 1, to = 0;

    (void)state;
    ok(aclrtSetDevice(1));
    ok(aclrtCreateStream(&stream));
    ok(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    launch_count(memory.counter, 1, stream);
    ok(aclmdlRICaptureEnd(stream, &model));
    ok(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    launch_count(memory.counter, 1, stream);
    ok(aclmdlRICaptureGetInfo(stream, &status, &open));
    ok(aclrtResetDevice(1));                                    /* with a capture open */
    ok(aclrtMemcpy(&to, 1, &from, 1, ACL_MEMCPY_HOST_TO_HOST)); /* which forbids nothing any more */
    fails(aclmdlRIDestroy(open), ACL_ERROR_RT_INVALID_HANDLE, "no model");
    ok(aclrtSetDevice(0));
    ok(aclmdlRIExecute(model, -1)); /* a model outlives its stream, and is ended by aclFinalize */
    assert_int_equal(atomic_load(memory.counter), 1);
    ok(aclrtResetDevice(0));
    free_memory(&memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(equals_running, t_begin, t_end),
        cmocka_unit_test_setup_teardown(values_of_the_capture, t_begin, t_end),
        cmocka_unit_test_setup_teardown(side_by_side, t_begin, t_end),
        cmocka_unit_test_setup_teardown(notifies, t_begin, t_end),
        cmocka_unit_test_setup_teardown(models_in_models, t_begin, t_end),
        cmocka_unit_test_setup_teardown(failures_inside, t_begin, t_end),
        cmocka_unit_test_setup_teardown(what_no_model_holds, t_begin, t_end),
        cmocka_unit_test_setup_teardown(wrong_calls, t_begin, t_end),
        cmocka_unit_test_setup_teardown(modes, t_begin, t_end),
        cmocka_unit_test_setup_teardown(ends_with_its_device, t_begin, t_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL) == 0 ? 0 : 1;
}
