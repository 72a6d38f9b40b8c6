/* SPDX-License-Identifier: Apache-2.0 */
/* The queue of a stream and its worker. stream_api.c has the calls programs make. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stream.h"

#include "capture.h"
#include "core.h"
#include "trace.h"

#define IDLE_SPINS  64 /* looks before a waiting thread yields */
#define IDLE_YIELDS 16 /* yields before it sleeps: about what a futex wake costs */

static _Thread_local cpurt_stream_t *mine; /* the stream whose worker this thread is */

bool cpurt_on_worker(void)
{
    return mine != NULL;
}

static void destroy(cpurt_object_t *object)
{
    cpurt_stream_t *const stream = (cpurt_stream_t *)(void *)object;

    (void)pthread_cond_destroy(&stream->queued);
    (void)pthread_cond_destroy(&stream->finished);
    (void)pthread_mutex_destroy(&stream->lock);
    free(stream);
}

aclError cpurt_stream_make(int device, void *context, uint32_t flags, cpurt_stream_t **out)
{
    cpurt_stream_t *const stream = calloc(1, sizeof *stream);

    if (stream == NULL || cpurt_cond_init(&stream->queued) != 0 || cpurt_cond_init(&stream->finished) != 0) {
        free(stream);
        return cpurt_fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "out of memory for a stream");
    }
    cpurt_object_init(&stream->object, CPURT_STREAM, destroy);
    (void)pthread_mutex_init(&stream->lock, NULL);
    stream->device = device;
    stream->context = context;
    stream->flags = flags;
    stream->last = &stream->first;
    *out = stream;
    return ACL_SUCCESS;
}

void cpurt_stream_put(cpurt_stream_t *stream)
{
    if (stream != NULL)
        cpurt_object_put(&stream->object);
}

aclError cpurt_stream_reports(cpurt_stream_t *stream, cpurt_stream_t **reports)
{
    aclError error = ACL_SUCCESS;

    (void)pthread_mutex_lock(&stream->lock);
    if (stream->reports == NULL)
        error = cpurt_stream_make(stream->device, stream->context, 0, &stream->reports);
    *reports = stream->reports;
    (void)pthread_mutex_unlock(&stream->lock);
    return error;
}

bool cpurt_stream_gives_up(const cpurt_stream_t *stream)
{
    const uint64_t since = atomic_load_explicit(&stream->closing_since_ns, memory_order_relaxed);

    return since != 0 && cpurt_now_ns() - since > cpurt_config()->kernel_timeout_ns;
}

/* Looks at a counter for some microseconds before the caller goes to sleep: most waits are short. */
static void look_around(const atomic_uint_least64_t *counter, uint64_t at_least)
{
    for (int i = 0; i < IDLE_SPINS + IDLE_YIELDS; i++) {
        if (atomic_load_explicit(counter, memory_order_acquire) >= at_least)
            return;
        if (i < IDLE_SPINS)
            cpurt_relax();
        else
            (void)sched_yield();
    }
}

aclError cpurt_task_run(cpurt_task_t *task, cpurt_stream_t *stream)
{
    const uint64_t begin_ns = cpurt_trace_begin();
    const aclError error = task->run(task, stream);

    if (begin_ns != 0)
        cpurt_trace_span(begin_ns, &(cpurt_span_t){.category = task->category,
                                                   .name = task->name,
                                                   .key = task->unit,
                                                   .value = task->amount});
    return error;
}

void cpurt_task_free(cpurt_task_t *task)
{
    if (task->release != NULL)
        task->release(task);
    free(task);
}

static cpurt_task_t *next_task(cpurt_stream_t *stream)
{
    if (stream->first == NULL && !stream->closing) {
        const uint64_t done = atomic_load_explicit(&stream->completed, memory_order_relaxed);

        (void)pthread_mutex_unlock(&stream->lock);
        look_around(&stream->submitted, done + 1);
        (void)pthread_mutex_lock(&stream->lock);
    }
    while (stream->first == NULL && !stream->closing)
        (void)cpurt_cond_wait(&stream->queued, &stream->lock, CPURT_FOREVER);
    cpurt_task_t *const task = stream->first;
    if (task != NULL) {
        stream->first = task->next;
        if (stream->first == NULL)
            stream->last = &stream->first;
    }
    return task;
}

static void finish(cpurt_stream_t *stream, aclError error)
{
    if (error != ACL_SUCCESS && stream->failure == ACL_SUCCESS) {
        stream->failure = error;
        stream->fetched = false;
        (void)snprintf(stream->text, sizeof stream->text, "%s", cpurt_error_text());
    }
    (void)atomic_fetch_add_explicit(&stream->completed, 1, memory_order_release);
    (void)pthread_cond_broadcast(&stream->finished);
}

static void *work(void *argument)
{
    cpurt_stream_t *const stream = argument;
    cpurt_task_t *task = NULL;

    mine = stream;
    cpurt_context_adopt(stream->context);
    cpurt_trace_name_thread("stream", cpurt_handle_number(stream->object.handle));
    (void)pthread_mutex_lock(&stream->lock);
    while ((task = next_task(stream)) != NULL) {
        const bool skip = stream->stop_on_failure && stream->failure != ACL_SUCCESS && !task->always;

        (void)pthread_mutex_unlock(&stream->lock);
        const aclError error = skip ? ACL_SUCCESS : cpurt_task_run(task, stream);
        cpurt_task_free(task);
        (void)pthread_mutex_lock(&stream->lock);
        finish(stream, error);
    }
    (void)pthread_mutex_unlock(&stream->lock);
    cpurt_core_leave();
    return NULL;
}

static aclError enqueue(cpurt_stream_t *stream, cpurt_task_t *task)
{
    if (stream->closing)
        return cpurt_fail(ACL_ERROR_RT_INVALID_HANDLE,
                          "the stream is being destroyed and takes no more work");
    if ((stream->flags & ACL_STREAM_DEVICE_USE_ONLY) != 0)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM,
                          "the host cannot queue work (%s) on a stream made with ACL_STREAM_DEVICE_USE_ONLY",
                          task->name);
    if (stream->capture != NULL)
        return cpurt_capture_keep(stream->capture, task);
    if (!stream->started) {
        TRY(cpurt_thread_start(&stream->worker, "acl-stream", 0, work, stream));
        stream->started = true;
    }
    task->next = NULL;
    *stream->last = task;
    stream->last = &task->next;
    (void)atomic_fetch_add_explicit(&stream->submitted, 1, memory_order_release);
    (void)pthread_cond_signal(&stream->queued);
    return ACL_SUCCESS;
}

aclError cpurt_stream_submit(cpurt_stream_t *stream, cpurt_task_t *task)
{
    (void)pthread_mutex_lock(&stream->lock);
    const aclError error = enqueue(stream, task);
    (void)pthread_mutex_unlock(&stream->lock);
    if (error != ACL_SUCCESS)
        cpurt_task_free(task);
    return error;
}

/* Called with the lock held; a stopped stream keeps its failure. */
static aclError fetch_failure(cpurt_stream_t *stream)
{
    const aclError failure = stream->failure;

    if (failure != ACL_SUCCESS) {
        cpurt_error_set(stream->text);
        stream->fetched = true;
        if (!stream->stop_on_failure)
            stream->failure = ACL_SUCCESS;
    }
    return failure;
}

aclError cpurt_stream_not_capturing(cpurt_stream_t *stream, const char *call)
{
    (void)pthread_mutex_lock(&stream->lock);
    const bool captures = stream->capture != NULL;
    (void)pthread_mutex_unlock(&stream->lock);
    if (captures)
        return cpurt_fail(
            ACL_ERROR_RT_STREAM_CAPTURED,
            "%s: stream %d captures, so nothing that is queued on it runs; aclmdlRICaptureEnd comes first",
            call, cpurt_handle_number(stream->object.handle));
    return ACL_SUCCESS;
}

aclError cpurt_stream_synchronise(cpurt_stream_t *stream, uint64_t deadline_ns)
{
    aclError error = ACL_SUCCESS;
    bool in_time = true;

    if (mine == stream)
        return cpurt_fail(ACL_ERROR_FAILURE, "a function that runs on a stream cannot wait for that stream");
    TRY(cpurt_stream_not_capturing(stream, "synchronising"));
    const uint64_t target = atomic_load_explicit(&stream->submitted, memory_order_acquire);
    const uint64_t begin_ns = cpurt_trace_begin();
    if (deadline_ns > cpurt_now_ns())
        look_around(&stream->completed, target);
    (void)pthread_mutex_lock(&stream->lock);
    while (atomic_load_explicit(&stream->completed, memory_order_relaxed) < target && in_time)
        in_time = cpurt_cond_wait(&stream->finished, &stream->lock, deadline_ns);
    if (atomic_load_explicit(&stream->completed, memory_order_relaxed) < target)
        error = cpurt_fail(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, "stream %d still has work after the time given",
                           cpurt_handle_number(stream->object.handle));
    else
        error = fetch_failure(stream);
    (void)pthread_mutex_unlock(&stream->lock);
    cpurt_trace_wait(begin_ns, "synchronise a stream");
    return error;
}

static void begin_close(cpurt_stream_t *stream)
{
    (void)pthread_mutex_lock(&stream->lock);
    stream->closing = true;
    if (atomic_load_explicit(&stream->closing_since_ns, memory_order_relaxed) == 0)
        atomic_store_explicit(&stream->closing_since_ns, cpurt_now_ns(), memory_order_relaxed);
    (void)pthread_cond_broadcast(&stream->queued);
    (void)pthread_mutex_unlock(&stream->lock);
}

void cpurt_stream_close(cpurt_stream_t *stream)
{
    begin_close(stream);
    (void)pthread_mutex_lock(&stream->lock);
    cpurt_model_t *const capture = stream->capture;
    stream->capture = NULL;
    (void)pthread_mutex_unlock(&stream->lock);
    cpurt_capture_drop(capture);
    if (stream->started)
        (void)pthread_join(stream->worker, NULL);
    if (stream->reports != NULL)
        cpurt_stream_close(stream->reports);
    /* Programs that never look at codes should not fail in silence. */
    if (stream->failure != ACL_SUCCESS && !stream->fetched)
        (void)fprintf(stderr, "acl: a stream ended with a failure nobody asked for: %s\n", stream->text);
    cpurt_stream_put(stream);
}

void cpurt_streams_end(bool (*match)(const cpurt_object_t *, const void *), const void *argument)
{
    cpurt_object_t **list = NULL;
    size_t count = 0;

    /* All of them run out side by side; one after the other their deadlines would add up. */
    if (cpurt_streams_list(match, argument, &list, &count) == ACL_SUCCESS) {
        for (size_t i = 0; i < count; i++)
            begin_close((cpurt_stream_t *)(void *)list[i]);
        cpurt_streams_list_free(list, count);
    }
    for (;;) {
        cpurt_object_t *const object = cpurt_handle_take_any(CPURT_STREAM, match, argument);

        if (object == NULL)
            return;
        cpurt_stream_close((cpurt_stream_t *)(void *)object);
    }
}
