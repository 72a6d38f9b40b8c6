/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts: a device as seen by the threads that share it, and the streams made there. */
#include <stdlib.h>

#include "context.h"
#include "stream.h"

static _Thread_local void *current; /* a handle, so it goes stale by itself when its context ends */

static void destroy(cpurt_object_t *object)
{
    cpurt_context_t *const context = (cpurt_context_t *)(void *)object;

    (void)pthread_mutex_destroy(&context->lock);
    free(context);
}

aclError cpurt_context_make(int device, void **handle)
{
    cpurt_context_t *const context = calloc(1, sizeof *context);

    if (context == NULL)
        return cpurt_fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "out of memory for a context");
    cpurt_object_init(&context->object, CPURT_CONTEXT, destroy);
    context->device = device;
    (void)pthread_mutex_init(&context->lock, NULL);
    const aclError error = cpurt_handle_create(&context->object);
    if (error == ACL_SUCCESS)
        *handle = context->object.handle;
    else
        cpurt_object_put(&context->object);
    return error;
}

void cpurt_context_adopt(void *context)
{
    current = context;
}

aclError cpurt_context_current(cpurt_context_t **context)
{
    cpurt_object_t *object = NULL;

    if (current == NULL)
        return cpurt_fail(ACL_ERROR_RT_CONTEXT_NULL, "this thread has no device: call aclrtSetDevice first");
    if (cpurt_handle_get(current, CPURT_CONTEXT, &object) != ACL_SUCCESS)
        return cpurt_fail(ACL_ERROR_RT_CONTEXT_NULL,
                          "the device of this thread has been reset: call aclrtSetDevice again");
    *context = (cpurt_context_t *)(void *)object;
    return ACL_SUCCESS;
}

static bool in_context(const cpurt_object_t *object, const void *context)
{
    return ((const cpurt_stream_t *)(const void *)object)->context == context;
}

static void end_one(cpurt_context_t *context)
{
    cpurt_streams_end(in_context, context->object.handle);
    cpurt_object_put(&context->object);
}

static bool of_device(const cpurt_object_t *object, const void *device)
{
    const int wanted = *(const int *)device;

    return wanted < 0 || ((const cpurt_context_t *)(const void *)object)->device == wanted;
}

void cpurt_contexts_end(int device)
{
    for (;;) {
        cpurt_object_t *const object = cpurt_handle_take_any(CPURT_CONTEXT, of_device, &device);

        if (object == NULL)
            return;
        end_one((cpurt_context_t *)(void *)object);
    }
}

aclError aclrtCreateContext(aclrtContext *context, int32_t deviceId)
{
    void *handle = NULL;

    TRY(cpurt_enter());
    if (context == NULL)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtCreateContext: context is NULL");
    TRY(cpurt_device_check(deviceId));
    TRY(cpurt_context_make(deviceId, &handle));
    cpurt_context_adopt(handle);
    *context = handle;
    return ACL_SUCCESS;
}

aclError aclrtDestroyContext(aclrtContext context)
{
    cpurt_object_t *object = NULL;

    TRY(cpurt_enter());
    if (cpurt_on_worker())
        return cpurt_fail(ACL_ERROR_FAILURE,
                          "aclrtDestroyContext cannot be called from a function that runs on a stream");
    TRY(cpurt_handle_take(context, CPURT_CONTEXT, &object));
    end_one((cpurt_context_t *)(void *)object);
    return ACL_SUCCESS;
}

aclError aclrtSetCurrentContext(aclrtContext context)
{
    cpurt_object_t *object = NULL;

    TRY(cpurt_enter());
    TRY(cpurt_handle_get(context, CPURT_CONTEXT, &object));
    cpurt_object_put(object);
    cpurt_context_adopt(context);
    return ACL_SUCCESS;
}

aclError aclrtGetCurrentContext(aclrtContext *context)
{
    cpurt_context_t *found = NULL;

    TRY(cpurt_enter());
    if (context == NULL)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetCurrentContext: context is NULL");
    TRY(cpurt_context_current(&found));
    *context = found->object.handle;
    cpurt_object_put(&found->object);
    return ACL_SUCCESS;
}
