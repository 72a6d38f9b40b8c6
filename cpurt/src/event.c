/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events: points in streams. Each record has a number; a wait means the number that was last given out when the wait
 * was asked for, so an event can be recorded again while somebody still waits for the time before.
 */
#include <stdlib.h>

#include "stream.h"
#include "trace.h"

#define SLICE_MS 100 /* how often a waiting stream looks whether it is being destroyed */

typedef struct event {
    cpurt_object_t object;
    pthread_mutex_t lock;
    pthread_cond_t done;
    uint64_t asked;     /* number of the last record asked for; 0: none */
    uint64_t completed; /* highest number a stream has come to */
    uint64_t time_ns;   /* when it did */
} event_t;

typedef struct event_task {
    cpurt_task_t task;
    event_t *event;
    uint64_t number;
} event_task_t;

static void destroy(cpurt_object_t *object)
{
    event_t *const event = (event_t *)(void *)object;

    (void)pthread_cond_destroy(&event->done);
    (void)pthread_mutex_destroy(&event->lock);
    free(event);
}

static aclError get(const void *handle, event_t **event)
{
    cpurt_object_t *object = NULL;

    TRY(cpurt_handle_get(handle, CPURT_EVENT, &object));
    *event = (event_t *)(void *)object;
    return ACL_SUCCESS;
}

aclError aclrtCreateEventExWithFlag(aclrtEvent *event, uint32_t flag)
{
    TRY(cpurt_enter());
    (void)flag; /* every event here keeps its time and can be waited for */
    if (event == NULL)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtCreateEvent: event is NULL");
    event_t *const made = calloc(1, sizeof *made);
    if (made == NULL || cpurt_cond_init(&made->done) != 0) {
        free(made);
        return cpurt_fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "out of memory for an event");
    }
    (void)pthread_mutex_init(&made->lock, NULL);
    cpurt_object_init(&made->object, CPURT_EVENT, destroy);
    const aclError error = cpurt_handle_create(&made->object);
    if (error == ACL_SUCCESS)
        *event = made->object.handle;
    else
        cpurt_object_put(&made->object);
    return error;
}

aclError aclrtCreateEventWithFlag(aclrtEvent *event, uint32_t flag)
{
    return aclrtCreateEventExWithFlag(event, flag);
}

aclError aclrtCreateEvent(aclrtEvent *event)
{
    return aclrtCreateEventExWithFlag(event, 0);
}

aclError aclrtDestroyEvent(aclrtEvent event)
{
    cpurt_object_t *object = NULL;

    TRY(cpurt_enter());
    TRY(cpurt_handle_take(event, CPURT_EVENT, &object));
    cpurt_object_put(object); /* queued records and waits hold their own references */
    return ACL_SUCCESS;
}

static aclError run_record(cpurt_task_t *task, cpurt_stream_t *stream)
{
    const event_task_t *const record = (const event_task_t *)(const void *)task;
    event_t *const event = record->event;

    (void)stream;
    (void)pthread_mutex_lock(&event->lock);
    if (record->number > event->completed) {
        event->completed = record->number;
        event->time_ns = cpurt_now_ns();
    }
    (void)pthread_cond_broadcast(&event->done);
    (void)pthread_mutex_unlock(&event->lock);
    return ACL_SUCCESS;
}

static aclError run_wait(cpurt_task_t *task, cpurt_stream_t *stream)
{
    const event_task_t *const wait = (const event_task_t *)(const void *)task;
    event_t *const event = wait->event;
    bool given_up = false;

    (void)pthread_mutex_lock(&event->lock);
    while (event->completed < wait->number && !given_up)
        if (!cpurt_cond_wait(&event->done, &event->lock, cpurt_deadline_ms(SLICE_MS)))
            given_up = cpurt_stream_gives_up(stream);
    (void)pthread_mutex_unlock(&event->lock);
    return given_up ? cpurt_fail(ACL_ERROR_RT_STREAM_ABORT,
                                 "the stream was destroyed while it waited for an event that never came")
                    : ACL_SUCCESS;
}

static void release(cpurt_task_t *task)
{
    cpurt_object_put(&((event_task_t *)(void *)task)->event->object);
}

/* Queues a record or a wait; the number is given out and queued in one step, so numbers and queue agree. */
static aclError queue(const void *event, void *stream, bool is_record)
{
    cpurt_stream_t *on = NULL;
    event_t *found = NULL;

    TRY(cpurt_enter());
    TRY(get(event, &found));
    event_task_t *const task = calloc(1, sizeof *task);
    aclError error = task == NULL ? cpurt_fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "out of memory for a task")
                                  : cpurt_stream_get(stream, &on);
    if (error != ACL_SUCCESS) {
        free(task);
        cpurt_object_put(&found->object);
        return error;
    }
    task->task.run = is_record ? run_record : run_wait;
    task->task.release = release;
    task->task.always = is_record;
    task->task.category = "sync";
    task->task.name = is_record ? "event record" : "event wait";
    task->event = found;
    cpurt_object_hold(&found->object); /* the task may be done before we are */
    (void)pthread_mutex_lock(&found->lock);
    const uint64_t number = is_record ? found->asked + 1 : (found->asked == 0 ? 1 : found->asked);
    task->number = number;
    error = cpurt_stream_submit(on, &task->task);
    if (error == ACL_SUCCESS && is_record)
        found->asked = number;
    (void)pthread_mutex_unlock(&found->lock);
    cpurt_stream_put(on);
    cpurt_object_put(&found->object);
    return error;
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream)
{
    return queue(event, stream, true);
}

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event)
{
    return queue(event, stream, false);
}

aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream)
{
    cpurt_stream_t *on = NULL;
    event_t *found = NULL;

    TRY(cpurt_enter());
    TRY(get(event, &found));
    cpurt_object_put(&found->object);
    TRY(cpurt_stream_get(stream, &on));
    cpurt_stream_put(on);
    return ACL_SUCCESS;
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus *status)
{
    event_t *found = NULL;

    TRY(cpurt_enter());
    if (status == NULL)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtQueryEventStatus: status is NULL");
    TRY(get(event, &found));
    (void)pthread_mutex_lock(&found->lock);
    *status = found->asked != 0 && found->completed >= found->asked ? ACL_EVENT_RECORDED_STATUS_COMPLETE
                                                                    : ACL_EVENT_RECORDED_STATUS_NOT_READY;
    (void)pthread_mutex_unlock(&found->lock);
    cpurt_object_put(&found->object);
    return ACL_SUCCESS;
}

aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus *status)
{
    aclrtEventRecordedStatus recorded = ACL_EVENT_RECORDED_STATUS_NOT_READY;

    if (status == NULL)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtQueryEvent: status is NULL");
    TRY(aclrtQueryEventStatus(event, &recorded));
    *status = recorded == ACL_EVENT_RECORDED_STATUS_COMPLETE ? ACL_EVENT_STATUS_COMPLETE
                                                             : ACL_EVENT_STATUS_NOT_READY;
    return ACL_SUCCESS;
}

aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout)
{
    event_t *found = NULL;
    bool in_time = true;
    aclError error = ACL_SUCCESS;

    TRY(cpurt_enter());
    if (timeout < -1)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM,
                          "aclrtSynchronizeEventWithTimeout: timeout %d; allowed are -1 and up", timeout);
    TRY(get(event, &found));
    const uint64_t deadline = cpurt_deadline_ms(timeout);
    (void)pthread_mutex_lock(&found->lock);
    const uint64_t number = found->asked, begin_ns = cpurt_trace_begin();
    while (number != 0 && found->completed < number && in_time)
        in_time = cpurt_cond_wait(&found->done, &found->lock, deadline);
    if (number == 0)
        error = cpurt_fail(ACL_ERROR_INVALID_PARAM,
                           "the event has not been recorded in any stream: nothing to wait for");
    else if (found->completed < number)
        error =
            cpurt_fail(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, "the event was not reached within %d ms", timeout);
    (void)pthread_mutex_unlock(&found->lock);
    cpurt_trace_wait(begin_ns, "synchronise an event");
    cpurt_object_put(&found->object);
    return error;
}

aclError aclrtSynchronizeEvent(aclrtEvent event)
{
    return aclrtSynchronizeEventWithTimeout(event, -1);
}

static aclError time_of(const void *handle, uint64_t *time_ns)
{
    event_t *found = NULL;

    TRY(get(handle, &found));
    (void)pthread_mutex_lock(&found->lock);
    const bool complete = found->asked != 0 && found->completed >= found->asked;
    const uint64_t time = found->time_ns;
    (void)pthread_mutex_unlock(&found->lock);
    cpurt_object_put(&found->object);
    if (!complete)
        return cpurt_fail(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID,
                          "the event has no time: it was not recorded, or its stream "
                          "has not come to it; synchronise first");
    *time_ns = time;
    return ACL_SUCCESS;
}

aclError aclrtEventElapsedTime(float *ms, aclrtEvent startEvent, aclrtEvent endEvent)
{
    uint64_t start = 0, end = 0;

    TRY(cpurt_enter());
    if (ms == NULL)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtEventElapsedTime: ms is NULL");
    TRY(time_of(startEvent, &start));
    TRY(time_of(endEvent, &end));
    *ms = (float)((double)(int64_t)(end - start) / 1e6);
    return ACL_SUCCESS;
}

aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t *timestamp)
{
    uint64_t time = 0;

    TRY(cpurt_enter());
    if (timestamp == NULL)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtEventGetTimestamp: timestamp is NULL");
    TRY(time_of(event, &time));
    *timestamp = time / 1000;
    return ACL_SUCCESS;
}
