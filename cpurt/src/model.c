/* SPDX-License-Identifier: Apache-2.0 */
/* Models: the work of a capture, run any number of times. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture.h"

typedef struct replay {
    cpurt_task_t task;
    cpurt_model_t *model; /* a reference */
} replay_t;

static void destroy(cpurt_object_t *object)
{
    cpurt_model_t *const model = (cpurt_model_t *)(void *)object;

    while (model->first != NULL) {
        cpurt_task_t *const task = model->first;

        model->first = task->next;
        cpurt_task_free(task);
    }
    free(model);
}

aclError cpurt_model_make(aclmdlRICaptureMode mode, uint64_t owner, cpurt_model_t **out)
{
    cpurt_model_t *const model = calloc(1, sizeof *model);

    if (model == NULL)
        return cpurt_fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "out of memory for a model");
    cpurt_object_init(&model->object, CPURT_MODEL, destroy);
    model->last = &model->first;
    model->mode = mode;
    model->owner = owner;
    atomic_init(&model->open, true);
    const aclError error = cpurt_handle_create(&model->object);
    if (error != ACL_SUCCESS)
        cpurt_model_put(model);
    else
        *out = model;
    return error;
}

aclError cpurt_model_get(const void *handle, cpurt_model_t **model)
{
    cpurt_object_t *object = NULL;

    TRY(cpurt_handle_get(handle, CPURT_MODEL, &object));
    *model = (cpurt_model_t *)(void *)object;
    return ACL_SUCCESS;
}

void cpurt_model_put(cpurt_model_t *model)
{
    if (model != NULL)
        cpurt_object_put(&model->object);
}

static aclError get_ready(const char *call, const void *handle, cpurt_model_t **out)
{
    cpurt_model_t *model = NULL;

    TRY(cpurt_model_get(handle, &model));
    if (atomic_load(&model->open)) {
        cpurt_model_put(model);
        return cpurt_fail(ACL_ERROR_RT_MODEL_CAPTURED,
                          "%s: the model is still being captured; aclmdlRICaptureEnd comes first", call);
    }
    *out = model;
    return ACL_SUCCESS;
}

static _Thread_local bool skipping; /* a model around this one has failed, in a stream that stops then */

/* As the stream itself would: it goes on after a failure unless it is told to stop, and then only does what others wait
 * for. */
static aclError run(cpurt_task_t *task, cpurt_stream_t *stream)
{
    const cpurt_model_t *const model = ((const replay_t *)(const void *)task)->model;
    aclError first = ACL_SUCCESS;
    char text[CPURT_TEXT_LEN] = "";

    (void)pthread_mutex_lock(&stream->lock);
    const bool stops = stream->stop_on_failure, skipped = skipping;
    skipping = skipping || (stops && stream->failure != ACL_SUCCESS);
    (void)pthread_mutex_unlock(&stream->lock);
    for (cpurt_task_t *at = model->first; at != NULL; at = at->next) {
        if (skipping && !at->always)
            continue;
        const aclError error = cpurt_task_run(at, stream);
        if (error != ACL_SUCCESS && first == ACL_SUCCESS) {
            first = error;
            skipping = stops;
            (void)snprintf(text, sizeof text, "%s", cpurt_error_text());
        }
    }
    skipping = skipped;
    if (first != ACL_SUCCESS)
        cpurt_error_set(text);
    return first;
}

static void release(cpurt_task_t *task)
{
    cpurt_model_put(((replay_t *)(void *)task)->model);
}

static aclError queue(cpurt_model_t *model, cpurt_stream_t *stream)
{
    replay_t *const replay = calloc(1, sizeof *replay);

    if (replay == NULL)
        return cpurt_fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "out of memory for a task");
    replay->task = (cpurt_task_t){.category = "stream",
                                  .name = "model",
                                  .run = run,
                                  .release = release,
                                  .repeats = true,
                                  .always = true};
    replay->model = model;
    cpurt_object_hold(&model->object);
    return cpurt_stream_submit(stream, &replay->task);
}

aclError aclmdlRIExecuteAsync(aclmdlRI modelRI, aclrtStream stream)
{
    cpurt_model_t *model = NULL;
    cpurt_stream_t *on = NULL;

    TRY(cpurt_enter());
    TRY(get_ready("aclmdlRIExecuteAsync", modelRI, &model));
    aclError error = cpurt_stream_get(stream, &on);
    if (error == ACL_SUCCESS)
        error = queue(model, on);
    cpurt_stream_put(on);
    cpurt_model_put(model);
    return error;
}

aclError aclmdlRIExecute(aclmdlRI modelRI, int32_t timeout)
{
    TRY(cpurt_enter());
    if (timeout < -1 || timeout == 0)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclmdlRIExecute: timeout %d; allowed are -1, 1 and up",
                          timeout);
    TRY(aclmdlRIExecuteAsync(modelRI, NULL));
    return aclrtSynchronizeStreamWithTimeout(NULL, timeout);
}

aclError aclmdlRIDebugPrint(aclmdlRI modelRI)
{
    cpurt_model_t *model = NULL;
    size_t number = 0;

    TRY(cpurt_enter());
    TRY(get_ready("aclmdlRIDebugPrint", modelRI, &model));
    (void)printf("model of %zu tasks\n", model->count); /* allowed: printing is what it is for */
    for (const cpurt_task_t *task = model->first; task != NULL; task = task->next)
        (void)printf("%6zu %s\n", number++, task->name); /* allowed: printing is what it is for */
    cpurt_model_put(model);
    return ACL_SUCCESS;
}

aclError aclmdlRIDestroy(aclmdlRI modelRI)
{
    cpurt_model_t *model = NULL;
    cpurt_object_t *object = NULL;

    TRY(cpurt_enter());
    TRY(get_ready("aclmdlRIDestroy", modelRI, &model));
    cpurt_model_put(model);
    TRY(cpurt_handle_take(modelRI, CPURT_MODEL, &object));
    cpurt_object_put(object);
    return ACL_SUCCESS;
}
