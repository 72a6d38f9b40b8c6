/* SPDX-License-Identifier: Apache-2.0 */
/* Captures: streams that keep their work, and what threads may not do meanwhile. */
#include "capture.h"

#include <stdio.h>
#include <string.h>

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER; /* taken after a stream's lock */
static cpurt_model_t *captures;                               /* open ones */
static atomic_uint capture_count;

static _Thread_local aclmdlRICaptureMode thread_mode = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;

/* A number that no other thread of the process has, or will have. */
static uint64_t this_thread(void)
{
    static atomic_uint_least64_t last;
    static _Thread_local uint64_t number;

    if (number == 0)
        number = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
    return number;
}

static bool mode_is_known(aclmdlRICaptureMode mode)
{
    return (int)mode >= ACL_MODEL_RI_CAPTURE_MODE_GLOBAL && mode <= ACL_MODEL_RI_CAPTURE_MODE_RELAXED;
}

/* --- What is unsafe --- */

bool cpurt_capturing(void)
{
    return atomic_load_explicit(&capture_count, memory_order_acquire) > 0;
}

static bool forbids(const cpurt_model_t *capture, uint64_t thread)
{
    if (capture->owner == thread)
        return capture->mode != ACL_MODEL_RI_CAPTURE_MODE_RELAXED;
    return capture->mode == ACL_MODEL_RI_CAPTURE_MODE_GLOBAL &&
           thread_mode == ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;
}

aclError cpurt_capture_allows(const char *call)
{
    bool forbidden = false;

    if (!cpurt_capturing() || thread_mode == ACL_MODEL_RI_CAPTURE_MODE_RELAXED)
        return ACL_SUCCESS;
    const uint64_t thread = this_thread();
    (void)pthread_mutex_lock(&list_lock);
    for (const cpurt_model_t *at = captures; at != NULL && !forbidden; at = at->next)
        forbidden = forbids(at, thread);
    (void)pthread_mutex_unlock(&list_lock);
    if (forbidden)
        return cpurt_fail(ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT,
                          "%s is not allowed here while a stream captures: it would not be in the model. "
                          "aclmdlRICaptureThreadExchangeMode with mode RELAXED lifts that",
                          call);
    return ACL_SUCCESS;
}

aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode *mode)
{
    TRY(cpurt_enter());
    if (mode == NULL || !mode_is_known(*mode))
        return cpurt_fail(ACL_ERROR_INVALID_PARAM,
                          "aclmdlRICaptureThreadExchangeMode: mode %d; allowed are 0 to 2",
                          mode == NULL ? -1 : (int)*mode);
    const aclmdlRICaptureMode before = thread_mode;
    thread_mode = *mode;
    *mode = before;
    return ACL_SUCCESS;
}

/* --- The list --- */

static void enlist(cpurt_model_t *capture)
{
    (void)pthread_mutex_lock(&list_lock);
    capture->next = captures;
    captures = capture;
    (void)atomic_fetch_add_explicit(&capture_count, 1, memory_order_release);
    (void)pthread_mutex_unlock(&list_lock);
}

static void strike(cpurt_model_t *capture)
{
    (void)pthread_mutex_lock(&list_lock);
    for (cpurt_model_t **at = &captures; *at != NULL; at = &(*at)->next)
        if (*at == capture) {
            *at = capture->next;
            (void)atomic_fetch_sub_explicit(&capture_count, 1, memory_order_release);
            break;
        }
    (void)pthread_mutex_unlock(&list_lock);
    atomic_store(&capture->open, false);
}

static void forget_handle(const cpurt_model_t *model)
{
    cpurt_object_t *object = NULL;

    if (cpurt_handle_take(model->object.handle, CPURT_MODEL, &object) == ACL_SUCCESS)
        cpurt_object_put(object);
}

void cpurt_capture_drop(cpurt_model_t *capture)
{
    if (capture != NULL) {
        strike(capture);
        forget_handle(capture);
        cpurt_model_put(capture);
    }
}

/* --- Tasks --- */

aclError cpurt_capture_keep(cpurt_model_t *capture, cpurt_task_t *task)
{
    if (task->repeats) {
        task->next = NULL;
        *capture->last = task;
        capture->last = &task->next;
        capture->count++;
        return ACL_SUCCESS;
    }
    const aclError error = cpurt_fail(
        ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT,
        "a stream that captures cannot take this: no model can hold a task of the kind \"%s\"", task->name);
    if (capture->refused == ACL_SUCCESS) {
        capture->refused = error;
        (void)snprintf(capture->text, sizeof capture->text, "%s", cpurt_error_text());
    }
    return error;
}

/* --- Begin and end --- */

static aclError get_capturable(aclrtStream stream, cpurt_stream_t **out)
{
    cpurt_stream_t *found = NULL;

    if (stream != NULL)
        TRY(cpurt_stream_get(stream, &found));
    if (found == NULL || cpurt_stream_is_default(found)) {
        cpurt_stream_put(found);
        return cpurt_fail(ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT,
                          "a default stream cannot capture; make one with aclrtCreateStream");
    }
    *out = found;
    return ACL_SUCCESS;
}

/* On success the stream has a reference to the model. */
static aclError attach(cpurt_stream_t *stream, cpurt_model_t *model)
{
    aclError error = ACL_SUCCESS;

    (void)pthread_mutex_lock(&stream->lock);
    if (stream->closing)
        error = cpurt_fail(ACL_ERROR_RT_INVALID_HANDLE, "the stream is being destroyed");
    else if (stream->capture != NULL)
        error = cpurt_fail(ACL_ERROR_RT_STREAM_CAPTURED, "stream %d captures already",
                           cpurt_handle_number(stream->object.handle));
    if (error == ACL_SUCCESS) {
        cpurt_object_hold(&model->object);
        stream->capture = model;
        enlist(model);
    }
    (void)pthread_mutex_unlock(&stream->lock);
    return error;
}

aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode)
{
    cpurt_stream_t *found = NULL;
    cpurt_model_t *model = NULL;

    TRY(cpurt_enter());
    if (!mode_is_known(mode))
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclmdlRICaptureBegin: mode %d; allowed are 0 to 2",
                          (int)mode);
    TRY(get_capturable(stream, &found));
    aclError error = cpurt_model_make(mode, this_thread(), &model);
    if (error == ACL_SUCCESS)
        error = attach(found, model);
    if (error != ACL_SUCCESS && model != NULL)
        forget_handle(model);
    cpurt_stream_put(found);
    return error;
}

/* Takes the capture off the stream; the stream's reference is the caller's then. */
static aclError detach(cpurt_stream_t *stream, cpurt_model_t **out)
{
    aclError error = ACL_SUCCESS;

    (void)pthread_mutex_lock(&stream->lock);
    cpurt_model_t *const capture = stream->capture;
    if (capture == NULL)
        error =
            cpurt_fail(ACL_ERROR_RT_STREAM_NOT_CAPTURED,
                       "aclmdlRICaptureEnd: the stream does not capture; aclmdlRICaptureBegin comes first");
    else if (capture->mode != ACL_MODEL_RI_CAPTURE_MODE_RELAXED && capture->owner != this_thread())
        error = cpurt_fail(
            ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD,
            "aclmdlRICaptureEnd: another thread began this capture, and must end it unless the mode "
            "is RELAXED");
    if (error == ACL_SUCCESS) {
        stream->capture = NULL;
        *out = capture;
    }
    (void)pthread_mutex_unlock(&stream->lock);
    return error;
}

aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI *modelRI)
{
    cpurt_stream_t *found = NULL;
    cpurt_model_t *model = NULL;

    TRY(cpurt_enter());
    if (modelRI == NULL)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclmdlRICaptureEnd: modelRI is NULL");
    TRY(cpurt_stream_get(stream, &found));
    aclError error = detach(found, &model);
    cpurt_stream_put(found);
    TRY(error);
    if (model->refused != ACL_SUCCESS) {
        error =
            cpurt_fail(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED, "the capture is void: %.400s", model->text);
        cpurt_capture_drop(model);
        return error;
    }
    strike(model);
    *modelRI = model->object.handle;
    cpurt_model_put(model); /* the stream's reference */
    return ACL_SUCCESS;
}

aclError aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus *status, aclmdlRI *modelRI)
{
    cpurt_stream_t *found = NULL;

    TRY(cpurt_enter());
    if (status == NULL)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclmdlRICaptureGetInfo: status is NULL");
    TRY(cpurt_stream_get(stream, &found));
    (void)pthread_mutex_lock(&found->lock);
    const cpurt_model_t *const capture = found->capture;
    if (capture == NULL)
        *status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    else
        *status = capture->refused == ACL_SUCCESS ? ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE
                                                  : ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED;
    if (modelRI != NULL)
        *modelRI = capture == NULL ? NULL : capture->object.handle;
    (void)pthread_mutex_unlock(&found->lock);
    cpurt_stream_put(found);
    return ACL_SUCCESS;
}
