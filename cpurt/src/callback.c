/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host functions in stream order. Blocking ones run on the stream's worker; the others on a second queue of the
 * stream, so that later work does not wait for them and they still run one after the other.
 */
#include <stdlib.h>

#include "stream.h"

typedef struct call_task {
    cpurt_task_t task;
    void (*function)(void *);
    void *argument;
} call_task_t;

static pthread_mutex_t report_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t report_done;
static uint64_t report_count; /* host functions that have run */
static pthread_once_t report_once = PTHREAD_ONCE_INIT;

static void report_setup(void)
{
    (void)cpurt_cond_init(&report_done);
}

static aclError call(cpurt_task_t *task, cpurt_stream_t *stream)
{
    const call_task_t *const what = (const call_task_t *)(const void *)task;

    cpurt_context_adopt(stream->context); /* whatever the function before has set */
    what->function(what->argument);
    (void)pthread_once(&report_once, report_setup);
    (void)pthread_mutex_lock(&report_lock);
    report_count++;
    (void)pthread_cond_broadcast(&report_done);
    (void)pthread_mutex_unlock(&report_lock);
    return ACL_SUCCESS;
}

static aclError new_call(const call_task_t *from, aclError (*run)(cpurt_task_t *, cpurt_stream_t *),
                         call_task_t **out)
{
    call_task_t *const task = malloc(sizeof *task);

    if (task == NULL)
        return cpurt_fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "out of memory for a task");
    *task = *from;
    task->task = (cpurt_task_t){.category = "host", .name = "host function", .run = run};
    *out = task;
    return ACL_SUCCESS;
}

/* The stream has come to a function it does not wait for. */
static aclError hand_over(cpurt_task_t *task, cpurt_stream_t *stream)
{
    cpurt_stream_t *reports = NULL;
    call_task_t *copy = NULL;

    TRY(cpurt_stream_reports(stream, &reports));
    TRY(new_call((const call_task_t *)(const void *)task, call, &copy));
    return cpurt_stream_submit(reports, &copy->task);
}

static aclError queue(void (*function)(void *), void *argument, bool blocking, void *stream)
{
    const call_task_t what = {.function = function, .argument = argument};
    cpurt_stream_t *on = NULL;
    call_task_t *task = NULL;

    TRY(cpurt_enter());
    if (function == NULL)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "the host function is NULL");
    TRY(new_call(&what, blocking ? call : hand_over, &task));
    aclError error = cpurt_stream_get(stream, &on);
    if (error != ACL_SUCCESS) {
        free(task);
        return error;
    }
    error = cpurt_stream_submit(on, &task->task);
    cpurt_stream_put(on);
    return error;
}

aclError aclrtLaunchCallback(aclrtCallback fn, void *userData, aclrtCallbackBlockType blockType,
                             aclrtStream stream)
{
    if (blockType != ACL_CALLBACK_BLOCK && blockType != ACL_CALLBACK_NO_BLOCK)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtLaunchCallback: block type %d; allowed are 0 and 1",
                          (int)blockType);
    return queue(fn, userData, blockType == ACL_CALLBACK_BLOCK, stream);
}

aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void *args)
{
    return queue(fn, args, true, stream);
}

aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream)
{
    cpurt_stream_t *on = NULL;

    TRY(cpurt_enter());
    (void)threadId;
    TRY(cpurt_stream_get(stream, &on));
    cpurt_stream_put(on);
    return ACL_SUCCESS;
}

aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream)
{
    return aclrtSubscribeReport(threadId, stream);
}

aclError aclrtProcessReport(int32_t timeout)
{
    static _Thread_local uint64_t seen; /* functions this thread has been told of */
    bool in_time = true;

    TRY(cpurt_enter());
    if (timeout < -1)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtProcessReport: timeout %d; allowed are -1 and up",
                          timeout);
    const uint64_t deadline = cpurt_deadline_ms(timeout);
    (void)pthread_once(&report_once, report_setup);
    (void)pthread_mutex_lock(&report_lock);
    while (report_count == seen && in_time)
        in_time = cpurt_cond_wait(&report_done, &report_lock, deadline);
    const bool ran = report_count != seen;
    seen = report_count;
    (void)pthread_mutex_unlock(&report_lock);
    return ran ? ACL_SUCCESS
               : cpurt_fail(ACL_ERROR_RT_REPORT_TIMEOUT, "no host function has run within %d ms", timeout);
}
