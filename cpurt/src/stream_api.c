/* SPDX-License-Identifier: Apache-2.0 */
/* The calls programs make on streams. */
#include <stdlib.h>

#include "stream.h"

/* The default stream of a context is made when first used. */
static aclError default_stream(cpurt_context_t *context, void **handle)
{
    aclError error = ACL_SUCCESS;

    (void)pthread_mutex_lock(&context->lock);
    if (context->default_stream == NULL) {
        cpurt_stream_t *stream = NULL;

        error = cpurt_stream_make(context->device, context->object.handle, 0, &stream);
        if (error == ACL_SUCCESS)
            error = cpurt_handle_create(&stream->object);
        if (error == ACL_SUCCESS)
            context->default_stream = stream->object.handle;
        else
            cpurt_stream_put(stream);
    }
    *handle = context->default_stream;
    (void)pthread_mutex_unlock(&context->lock);
    return error;
}

aclError cpurt_stream_get(void *handle, cpurt_stream_t **stream)
{
    cpurt_object_t *object = NULL;

    if (handle == NULL) {
        cpurt_context_t *context = NULL;

        TRY(cpurt_context_current(&context));
        const aclError error = default_stream(context, &handle);
        cpurt_object_put(&context->object);
        TRY(error);
    }
    TRY(cpurt_handle_get(handle, CPURT_STREAM, &object));
    *stream = (cpurt_stream_t *)(void *)object;
    return ACL_SUCCESS;
}

aclError cpurt_streams_list(bool (*match)(const cpurt_object_t *, const void *), const void *argument,
                            cpurt_object_t ***list, size_t *count)
{
    size_t room = 0, found = 0;
    cpurt_object_t **array = NULL;

    for (;;) {
        found = cpurt_handle_list(CPURT_STREAM, match, argument, array, room);
        if (found <= room)
            break;
        cpurt_streams_list_free(array, room);
        room = found + 16;
        array = malloc(room * sizeof(array[0]));
        if (array == NULL)
            return cpurt_fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "out of memory for a list of %zu streams",
                              found);
    }
    *list = array;
    *count = found;
    return ACL_SUCCESS;
}

void cpurt_streams_list_free(cpurt_object_t **list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        cpurt_object_put(list[i]);
    free(list);
}

aclError aclrtCreateStreamWithConfig(aclrtStream *stream, uint32_t priority, uint32_t flag)
{
    cpurt_context_t *context = NULL;
    cpurt_stream_t *made = NULL;

    TRY(cpurt_enter());
    (void)priority;
    if (stream == NULL)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtCreateStream: stream is NULL");
    TRY(cpurt_context_current(&context));
    aclError error = cpurt_stream_make(context->device, context->object.handle, flag, &made);
    cpurt_object_put(&context->object);
    TRY(error);
    error = cpurt_handle_create(&made->object);
    if (error == ACL_SUCCESS)
        *stream = made->object.handle;
    else
        cpurt_stream_put(made);
    return error;
}

aclError aclrtCreateStream(aclrtStream *stream)
{
    return aclrtCreateStreamWithConfig(stream, 0, 0);
}

bool cpurt_stream_is_default(const cpurt_stream_t *stream)
{
    cpurt_object_t *object = NULL;
    bool yes = false;

    if (cpurt_handle_get(stream->context, CPURT_CONTEXT, &object) == ACL_SUCCESS) {
        cpurt_context_t *const context = (cpurt_context_t *)(void *)object;

        (void)pthread_mutex_lock(&context->lock);
        yes = context->default_stream == stream->object.handle;
        (void)pthread_mutex_unlock(&context->lock);
        cpurt_object_put(object);
    }
    return yes;
}

aclError aclrtDestroyStream(aclrtStream stream)
{
    cpurt_stream_t *found = NULL;
    cpurt_object_t *object = NULL;

    TRY(cpurt_enter());
    if (stream == NULL)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM,
                          "aclrtDestroyStream: stream is NULL; a default stream ends with its device");
    if (cpurt_on_worker())
        return cpurt_fail(ACL_ERROR_FAILURE,
                          "aclrtDestroyStream cannot be called from a function that runs on a stream");
    TRY(cpurt_stream_get(stream, &found));
    const bool refused = cpurt_stream_is_default(found);
    const aclError captures = cpurt_stream_not_capturing(found, "aclrtDestroyStream");
    cpurt_stream_put(found);
    TRY(captures);
    if (refused)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM,
                          "aclrtDestroyStream: a default stream ends with its device");
    TRY(cpurt_handle_take(stream, CPURT_STREAM, &object));
    cpurt_stream_close((cpurt_stream_t *)(void *)object);
    return ACL_SUCCESS;
}

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout)
{
    cpurt_stream_t *found = NULL;

    TRY(cpurt_enter());
    if (timeout < -1)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM,
                          "aclrtSynchronizeStreamWithTimeout: timeout %d; allowed are -1 and up", timeout);
    TRY(cpurt_stream_get(stream, &found));
    const aclError error = cpurt_stream_synchronise(found, cpurt_deadline_ms(timeout));
    cpurt_stream_put(found);
    return error;
}

aclError aclrtSynchronizeStream(aclrtStream stream)
{
    return aclrtSynchronizeStreamWithTimeout(stream, -1);
}

aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus *status)
{
    cpurt_stream_t *found = NULL;

    TRY(cpurt_enter());
    if (status == NULL)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtStreamQuery: status is NULL");
    TRY(cpurt_stream_get(stream, &found));
    const aclError captures = cpurt_stream_not_capturing(found, "aclrtStreamQuery");
    if (captures != ACL_SUCCESS) {
        cpurt_stream_put(found);
        return captures;
    }
    const uint64_t submitted = atomic_load_explicit(&found->submitted, memory_order_acquire);
    *status = atomic_load_explicit(&found->completed, memory_order_acquire) >= submitted
                  ? ACL_STREAM_STATUS_COMPLETE
                  : ACL_STREAM_STATUS_NOT_READY;
    cpurt_stream_put(found);
    return ACL_SUCCESS;
}

aclError aclrtStreamGetId(aclrtStream stream, int32_t *streamId)
{
    cpurt_stream_t *found = NULL;

    TRY(cpurt_enter());
    if (streamId == NULL)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtStreamGetId: streamId is NULL");
    TRY(cpurt_stream_get(stream, &found));
    *streamId = cpurt_handle_number(found->object.handle);
    cpurt_stream_put(found);
    return ACL_SUCCESS;
}

aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode)
{
    cpurt_stream_t *found = NULL;

    TRY(cpurt_enter());
    if (mode != ACL_CONTINUE_ON_FAILURE && mode != ACL_STOP_ON_FAILURE)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM,
                          "stream failure mode %llu; allowed are 0, continue, and 1, stop",
                          (unsigned long long)mode);
    TRY(cpurt_stream_get(stream, &found));
    (void)pthread_mutex_lock(&found->lock);
    found->stop_on_failure = mode == ACL_STOP_ON_FAILURE;
    (void)pthread_mutex_unlock(&found->lock);
    cpurt_stream_put(found);
    return ACL_SUCCESS;
}

aclError aclrtSetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType, aclrtStreamAttrValue *value)
{
    cpurt_stream_t *found = NULL;

    TRY(cpurt_enter());
    if (value == NULL)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtSetStreamAttribute: value is NULL");
    switch (stmAttrType) {
    case ACL_STREAM_ATTR_FAILURE_MODE:
        return aclrtSetStreamFailureMode(stream, value->failureMode);
    case ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK: /* the host's floating point has nothing to switch */
    case ACL_STREAM_ATTR_USER_CUSTOM_TAG:      /* for the vendor's profiler */
        TRY(cpurt_stream_get(stream, &found));
        cpurt_stream_put(found);
        return ACL_SUCCESS;
    default:
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtSetStreamAttribute: attribute %d is not known here",
                          (int)stmAttrType);
    }
}

aclError aclrtGetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType, aclrtStreamAttrValue *value)
{
    cpurt_stream_t *found = NULL;

    TRY(cpurt_enter());
    if (value == NULL)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetStreamAttribute: value is NULL");
    if (stmAttrType != ACL_STREAM_ATTR_FAILURE_MODE)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetStreamAttribute: attribute %d is not kept here",
                          (int)stmAttrType);
    TRY(cpurt_stream_get(stream, &found));
    (void)pthread_mutex_lock(&found->lock);
    value->failureMode = found->stop_on_failure ? ACL_STOP_ON_FAILURE : ACL_CONTINUE_ON_FAILURE;
    (void)pthread_mutex_unlock(&found->lock);
    cpurt_stream_put(found);
    return ACL_SUCCESS;
}
