/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and fills, at once or in stream order. All memory is the host's, so the direction only has to make sense. */
#include <stdlib.h>
#include <string.h>

#include "capture.h"
#include "memory.h"
#include "stream.h"
#include "vmm.h"

typedef struct copy_task {
    cpurt_task_t task;
    void *to;
    const void *from; /* NULL: a fill */
    int32_t value;
    size_t count;
} copy_task_t;

static aclError check_copy(const char *call, const void *dst, size_t destMax, const void *src, size_t count,
                           aclrtMemcpyKind kind)
{
    if ((int)kind < ACL_MEMCPY_HOST_TO_HOST || kind > ACL_MEMCPY_DEFAULT)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "%s: kind %d; allowed are 0 to 4", call, (int)kind);
    if (count > destMax)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "%s: %zu bytes do not fit into the %zu of the destination",
                          call, count, destMax);
    if (count == 0)
        return ACL_SUCCESS;
    if (dst == NULL || src == NULL)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "%s: the %s is NULL", call,
                          dst == NULL ? "destination" : "source");
    TRY(cpurt_memory_check(dst, count, call));
    return cpurt_memory_check(src, count, call);
}

static aclError check_fill(const char *call, const void *devPtr, size_t maxCount, size_t count)
{
    if (count > maxCount)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "%s: %zu bytes do not fit into the %zu given", call, count,
                          maxCount);
    if (count == 0)
        return ACL_SUCCESS;
    if (devPtr == NULL)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "%s: devPtr is NULL", call);
    return cpurt_memory_check(devPtr, count, call);
}

aclError aclrtMemcpy(void *dst, size_t destMax, const void *src, size_t count, aclrtMemcpyKind kind)
{
    TRY(cpurt_enter());
    TRY(cpurt_capture_allows("aclrtMemcpy"));
    TRY(check_copy("aclrtMemcpy", dst, destMax, src, count, kind));
    if (count > 0)
        memmove(dst, src, count);
    return ACL_SUCCESS;
}

aclError aclrtMemset(void *devPtr, size_t maxCount, int32_t value, size_t count)
{
    TRY(cpurt_enter());
    TRY(cpurt_capture_allows("aclrtMemset"));
    TRY(check_fill("aclrtMemset", devPtr, maxCount, count));
    if (count > 0)
        memset(devPtr, value, count);
    return ACL_SUCCESS;
}

/* Whether the memory stays where it is until somebody gives it back to the runtime. */
static bool is_pinned(const void *address, size_t count)
{
    bool known = false;

    return (cpurt_memory_look(address, count, "", &known) == ACL_SUCCESS && known) ||
           (cpurt_vmm_check(address, count, "", &known) == ACL_SUCCESS && known);
}

static aclError run(cpurt_task_t *task, cpurt_stream_t *stream)
{
    const copy_task_t *const copy = (const copy_task_t *)(const void *)task;

    (void)stream;
    if (copy->count == 0)
        return ACL_SUCCESS;
    if (copy->from == NULL)
        memset(copy->to, copy->value, copy->count);
    else
        memmove(copy->to, copy->from, copy->count);
    return ACL_SUCCESS;
}

static aclError queue(const char *name, const copy_task_t *what, void *stream)
{
    cpurt_stream_t *on = NULL;

    TRY(cpurt_stream_get(stream, &on));
    copy_task_t *const task = malloc(sizeof *task);
    aclError error = ACL_SUCCESS;
    if (task == NULL) {
        error = cpurt_fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "out of memory for a task");
    } else {
        *task = *what;
        task->task = (cpurt_task_t){.category = "copy",
                                    .name = name,
                                    .unit = "bytes",
                                    .amount = what->count,
                                    .run = run,
                                    .repeats = true};
        error = cpurt_stream_submit(on, &task->task);
    }
    cpurt_stream_put(on);
    return error;
}

aclError aclrtMemcpyAsync(void *dst, size_t destMax, const void *src, size_t count, aclrtMemcpyKind kind,
                          aclrtStream stream)
{
    const copy_task_t what = {.to = dst, .from = src, .count = count};

    TRY(cpurt_enter());
    TRY(check_copy("aclrtMemcpyAsync", dst, destMax, src, count, kind));
    if (cpurt_capturing() && count > 0 && !(is_pinned(dst, count) && is_pinned(src, count)))
        TRY(cpurt_capture_allows("aclrtMemcpyAsync with host memory of the program's own"));
    return queue("copy", &what, stream);
}

aclError aclrtMemsetAsync(void *devPtr, size_t maxCount, int32_t value, size_t count, aclrtStream stream)
{
    const copy_task_t what = {.to = devPtr, .value = value, .count = count};

    TRY(cpurt_enter());
    TRY(check_fill("aclrtMemsetAsync", devPtr, maxCount, count));
    return queue("fill", &what, stream);
}

/* Cache hints: the CPU's caches are coherent, so there is nothing to do but to keep the order. */
aclError aclrtCmoAsync(void *src, size_t size, aclrtCmoType cmoType, aclrtStream stream)
{
    const copy_task_t what = {.to = src};

    TRY(cpurt_enter());
    if ((int)cmoType < ACL_RT_CMO_TYPE_PREFETCH || cmoType > ACL_RT_CMO_TYPE_FLUSH)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtCmoAsync: type %d; allowed are 0 to 3",
                          (int)cmoType);
    if (src == NULL || size == 0)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtCmoAsync: %zu bytes at %p", size, src);
    return queue("cache hint", &what, stream);
}
