/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work on streams. A call that only enqueues leaves a task behind, which the runtime runs on a thread of its own when the
 * stream comes to it. A task cannot make its stream fail (the runtime's host functions return nothing), so a failure is
 * logged and kept until somebody asks.
 */
#define LOG_MODULE "sync"
#include "host/sync/sync.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    TEXT_LEN = 512,
    GRACE_MS = 2000, /* in which tasks that were told to end do so, on a machine that is busy */
    NAP_NS = 200 * 1000
};

typedef struct aclshmemi_stream_failure {
    struct aclshmemi_stream_failure *next;
    aclshmemi_npu_stream_t stream;
    int code;
    char text[TEXT_LEN];
} failure_t;

/* --- Failures --- */

static failure_t **find_failure(aclshmemi_streams_t *streams, aclshmemi_npu_stream_t stream)
{
    failure_t **at = &streams->failures;
    while (*at != NULL && (*at)->stream != stream)
        at = &(*at)->next;
    return at;
}

static void keep_failure(aclshmemi_instance_t *in, aclshmemi_npu_stream_t stream, int code)
{
    aclshmemi_streams_t *streams = &in->streams;
    failure_t *failure = calloc(1, sizeof *failure);
    if (failure == NULL)
        return; /* it has been logged */
    failure->stream = stream;
    failure->code = code;
    snprintf(failure->text, sizeof failure->text, "%s", aclshmemi_status_last_text());
    pthread_mutex_lock(&streams->lock);
    failure_t **at = find_failure(streams, stream);
    if (*at == NULL) {
        *at = failure;
        failure = NULL;
        atomic_store(&streams->failed, true);
    }
    pthread_mutex_unlock(&streams->lock);
    free(failure);
}

/* Puts what failed on the stream into this thread's last error, without another line in the log. */
static int tell_failure(aclshmemi_instance_t *in, aclshmemi_npu_stream_t stream, bool take)
{
    aclshmemi_streams_t *streams = &in->streams;
    int code = 0;
    if (!atomic_load_explicit(&streams->failed, memory_order_acquire))
        return 0;
    pthread_mutex_lock(&streams->lock);
    failure_t **at = find_failure(streams, stream), *found = *at;
    if (found != NULL)
        code = fail_quietly(found->code, "earlier on this stream: %s", found->text);
    if (found != NULL && take) {
        *at = found->next;
        free(found);
    }
    atomic_store(&streams->failed, streams->failures != NULL);
    pthread_mutex_unlock(&streams->lock);
    return code;
}

int aclshmemi_stream_take_failure(aclshmemi_instance_t *in, aclshmemi_npu_stream_t stream)
{
    return tell_failure(in, stream, true);
}

int aclshmemi_stream_enter(aclshmemi_instance_t *in, const char *call, aclshmemi_npu_stream_t *stream)
{
    if (in->n_pes == 0)
        return aclshmemi_instance_missing(call);
    if (*stream == NULL)
        *stream = in->stream;
    (void)tell_failure(in, *stream, false);
    return 0;
}

/* --- Aids --- */

int aclshmemi_stream_aid_take(aclshmemi_instance_t *in, aclshmemi_stream_aid_t **aid)
{
    pthread_mutex_lock(&in->streams.lock);
    aclshmemi_stream_aid_t *found = in->streams.aids;
    if (found != NULL)
        in->streams.aids = found->next;
    pthread_mutex_unlock(&in->streams.lock);
    if (found == NULL)
        found = calloc(1, sizeof *found);
    if (found == NULL)
        return fail(ACLSHMEM_MALLOC_FAILED, "out of memory for work on a stream");
    *aid = found;
    return 0;
}

static void enter_aid(aclshmemi_instance_t *in, aclshmemi_stream_aid_t **list, aclshmemi_stream_aid_t *aid)
{
    if (aid == NULL)
        return;
    pthread_mutex_lock(&in->streams.lock);
    aid->next = *list;
    *list = aid;
    pthread_mutex_unlock(&in->streams.lock);
}

void aclshmemi_stream_aid_give(aclshmemi_instance_t *in, aclshmemi_stream_aid_t *aid)
{
    enter_aid(in, &in->streams.aids, aid);
}

/* --- Tasks --- */

void aclshmemi_stream_used(aclshmemi_instance_t *in, aclshmemi_npu_stream_t stream)
{
    if (stream == in->stream)
        atomic_fetch_add_explicit(&in->streams.issued, 1, memory_order_release);
}

static void drop_task(aclshmemi_task_t *task)
{
    aclshmemi_instance_t *in = task->in;
    free(task);
    /* The last touch of the instance: finalize may free it now. */
    atomic_fetch_sub_explicit(&in->streams.tasks, 1, memory_order_release);
}

/* The stream did not take the task, but it may have taken the copy or the wait in front of it, which uses the aid until
 * a time that nobody will tell us. Waiting for the stream here could wait for the caller itself. */
static void refuse_task(aclshmemi_task_t *task)
{
    if (task->aid != NULL)
        aclshmemi_stream_used(task->in, task->stream);
    enter_aid(task->in, &task->in->streams.aside, task->aid);
    drop_task(task);
}

static void run_task(void *argument)
{
    aclshmemi_task_t *task = argument;
    if (!atomic_load_explicit(&task->in->streams.closing, memory_order_acquire)) {
        int rc = task->run(task);
        if (rc != 0)
            keep_failure(task->in, task->stream, rc);
    }
    aclshmemi_stream_aid_give(task->in, task->aid);
    drop_task(task);
}

static int enqueue(aclshmemi_task_t *task)
{
    aclshmemi_instance_t *in = task->in;
    aclshmemi_npu_stream_t stream = task->stream;
    int rc = npu_stream_call(stream, run_task, task);
    if (rc != 0) {
        refuse_task(task);
        return rc;
    }
    aclshmemi_stream_used(in, stream); /* the task may be gone by now */
    return 0;
}

int aclshmemi_stream_task(aclshmemi_task_t *task)
{
    atomic_fetch_add_explicit(&task->in->streams.tasks, 1, memory_order_relaxed);
    return enqueue(task);
}

static int wait_for_own(const aclshmemi_instance_t *in, aclshmemi_task_t *task)
{
    aclshmemi_stream_aid_t *aid = task->aid;
    if (aid->event == NULL)
        TRY(npu_event_create(&aid->event));
    TRY(npu_event_record(aid->event, in->stream));
    return npu_event_wait(aid->event, task->stream);
}

static bool own_is_empty(aclshmemi_instance_t *in)
{
    return atomic_load_explicit(&in->streams.issued, memory_order_acquire) ==
           atomic_load_explicit(&in->streams.complete, memory_order_acquire);
}

/* The event is free for another record when the stream has passed the wait, and the task behind it knows that. */
int aclshmemi_stream_task_after_own(aclshmemi_task_t *task)
{
    aclshmemi_instance_t *in = task->in;
    atomic_fetch_add_explicit(&in->streams.tasks, 1, memory_order_relaxed);
    if (task->stream != in->stream && !own_is_empty(in)) {
        int rc = task->aid != NULL ? 0 : aclshmemi_stream_aid_take(in, &task->aid);
        if (rc == 0)
            rc = wait_for_own(in, task);
        if (rc != 0) {
            refuse_task(task);
            return rc;
        }
    }
    return enqueue(task);
}

/* --- Completion --- */

int aclshmemi_stream_complete(aclshmemi_instance_t *in)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (__builtin_expect(own_is_empty(in), 1))
        return 0;
    uint64_t issued = atomic_load_explicit(&in->streams.issued, memory_order_acquire);
    TRY(npu_stream_sync(in->stream, in->env.wait_timeout_ms));
    atomic_store_explicit(&in->streams.complete, issued, memory_order_release);
    return 0;
}

int aclshmemi_quiet(aclshmemi_instance_t *in)
{
    TRY(aclshmemi_stream_complete(in));
    return aclshmemi_transport_quiet(&in->transports);
}

void aclshmemi_streams_init(aclshmemi_instance_t *in)
{
    pthread_mutex_init(&in->streams.lock, NULL);
}

static bool tasks_end(aclshmemi_instance_t *in, uint64_t timeout_ms)
{
    aclshmemi_deadline_t deadline = aclshmemi_deadline_after_ms(timeout_ms);
    while (atomic_load_explicit(&in->streams.tasks, memory_order_acquire) != 0) {
        if (aclshmemi_deadline_passed(deadline))
            return false;
        struct timespec nap = {.tv_nsec = NAP_NS};
        clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
    }
    return true;
}

/* A failure other than time is no reason to wait longer: the runtime has said what failed, and the stream is empty. */
static bool work_ends(aclshmemi_instance_t *in, bool whole_device, uint64_t timeout_ms)
{
    int device = -1;
    if (in->stream != NULL && npu_stream_sync(in->stream, timeout_ms) == ACLSHMEM_TIMEOUT_ERROR)
        return false;
    if (!tasks_end(in, timeout_ms))
        return false;
    if (!whole_device || npu_device_current(&device) != 0 || device != in->device)
        return true;
    int rc = npu_device_sync(timeout_ms);
    in->streams.device_idle = rc == 0;
    return rc != ACLSHMEM_TIMEOUT_ERROR;
}

int aclshmemi_streams_drain(aclshmemi_instance_t *in, bool whole_device, bool *left)
{
    *left = false;
    if (work_ends(in, whole_device, in->operation_timeout_ms)) {
        atomic_store(&in->streams.closing, true);
        return 0;
    }
    uint32_t tasks = atomic_load(&in->streams.tasks);
    atomic_store(&in->streams.closing, true);
    if (in->touch)
        aclshmemi_doorbell_ring(&aclshmemi_control_of(in, in->pe)->bell);
    *left = !work_ends(in, whole_device, GRACE_MS);
    return fail(ACLSHMEM_TIMEOUT_ERROR,
                "finalize: streams still have work after %.3g s, %u operations of this library among it; "
                "synchronize your streams before finalize",
                (double)in->operation_timeout_ms / 1e3, tasks);
}

static void destroy_aids(aclshmemi_stream_aid_t *list)
{
    for (aclshmemi_stream_aid_t *next, *at = list; at != NULL; at = next) {
        next = at->next;
        npu_event_destroy(at->event);
        npu_host_free(at->word);
        free(at);
    }
}

void aclshmemi_streams_fini(aclshmemi_instance_t *in)
{
    aclshmemi_streams_t *streams = &in->streams;
    for (failure_t *next, *at = streams->failures; at != NULL; at = next) {
        next = at->next;
        free(at);
    }
    destroy_aids(streams->aids);
    if (streams
            ->device_idle) /* else they stay until the process ends: a word too many, instead of a wild copy */
        destroy_aids(streams->aside);
    streams->failures = NULL;
    streams->aids = streams->aside = NULL;
    pthread_mutex_destroy(&streams->lock);
}
