/* SPDX-License-Identifier: Apache-2.0 */
/* Notifies: binary semaphores with a small number, posted and awaited in stream order. */
#include "notify.h"

#include <stdlib.h>

#include "stream.h"

#define MAX_NOTIFIES (1 << 13) /* the number has 13 bits on a card */
#define SLICE_MS     100

struct cpurt_notify {
    cpurt_object_t object;
    uint32_t id;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool posted;
};

typedef struct notify_task {
    cpurt_task_t task;
    cpurt_notify_t *notify;
    uint32_t timeout_s; /* 0: for ever */
} notify_task_t;

static pthread_mutex_t id_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t id_used[MAX_NOTIFIES / 64];
static void *id_handle[MAX_NOTIFIES]; /* of the notify that has the number, or had it last */

static bool take_id(uint32_t *id)
{
    bool found = false;

    (void)pthread_mutex_lock(&id_lock);
    for (uint32_t i = 0; i < MAX_NOTIFIES / 64 && !found; i++)
        if (~id_used[i] != 0) {
            const uint32_t bit = (uint32_t)__builtin_ctzll(~id_used[i]);

            id_used[i] |= UINT64_C(1) << bit;
            *id = i * 64 + bit;
            found = true;
        }
    (void)pthread_mutex_unlock(&id_lock);
    return found;
}

static void give_id(uint32_t id)
{
    (void)pthread_mutex_lock(&id_lock);
    id_used[id / 64] &= ~(UINT64_C(1) << (id % 64));
    (void)pthread_mutex_unlock(&id_lock);
}

static void destroy(cpurt_object_t *object)
{
    cpurt_notify_t *const notify = (cpurt_notify_t *)(void *)object;

    give_id(notify->id);
    (void)pthread_cond_destroy(&notify->changed);
    (void)pthread_mutex_destroy(&notify->lock);
    free(notify);
}

aclError cpurt_notify_get(const void *handle, cpurt_notify_t **notify)
{
    cpurt_object_t *object = NULL;

    TRY(cpurt_handle_get(handle, CPURT_NOTIFY, &object));
    *notify = (cpurt_notify_t *)(void *)object;
    return ACL_SUCCESS;
}

aclError cpurt_notify_by_number(uint32_t number, cpurt_notify_t **notify)
{
    const void *handle = NULL;

    if (number < MAX_NOTIFIES) {
        (void)pthread_mutex_lock(&id_lock);
        handle = id_handle[number];
        (void)pthread_mutex_unlock(&id_lock);
    }
    if (cpurt_notify_get(handle, notify) != ACL_SUCCESS)
        return cpurt_fail(ACL_ERROR_RT_INVALID_HANDLE, "there is no notify with the number %u", number);
    return ACL_SUCCESS;
}

void cpurt_notify_put(cpurt_notify_t *notify)
{
    if (notify != NULL)
        cpurt_object_put(&notify->object);
}

void cpurt_notify_post(cpurt_notify_t *notify)
{
    (void)pthread_mutex_lock(&notify->lock);
    notify->posted = true;
    (void)pthread_cond_broadcast(&notify->changed);
    (void)pthread_mutex_unlock(&notify->lock);
}

aclError aclrtCreateNotify(aclrtNotify *notify, uint64_t flag)
{
    int device = 0;
    uint32_t id = 0;

    TRY(cpurt_enter());
    (void)flag;
    if (notify == NULL)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtCreateNotify: notify is NULL");
    TRY(cpurt_device_current(&device));
    if (!take_id(&id))
        return cpurt_fail(ACL_ERROR_RT_NO_NOTIFY_RESOURCE, "all %d notifies are in use", MAX_NOTIFIES);
    cpurt_notify_t *const made = calloc(1, sizeof *made);
    if (made == NULL || cpurt_cond_init(&made->changed) != 0) {
        free(made);
        give_id(id);
        return cpurt_fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "out of memory for a notify");
    }
    (void)pthread_mutex_init(&made->lock, NULL);
    made->id = id;
    cpurt_object_init(&made->object, CPURT_NOTIFY, destroy);
    const aclError error = cpurt_handle_create(&made->object);
    if (error != ACL_SUCCESS) {
        cpurt_object_put(&made->object);
        return error;
    }
    (void)pthread_mutex_lock(&id_lock);
    id_handle[id] = made->object.handle;
    (void)pthread_mutex_unlock(&id_lock);
    *notify = made->object.handle;
    return ACL_SUCCESS;
}

aclError aclrtDestroyNotify(aclrtNotify notify)
{
    cpurt_object_t *object = NULL;

    TRY(cpurt_enter());
    TRY(cpurt_handle_take(notify, CPURT_NOTIFY, &object));
    cpurt_object_put(object);
    return ACL_SUCCESS;
}

aclError aclrtGetNotifyId(aclrtNotify notify, uint32_t *notifyId)
{
    cpurt_notify_t *found = NULL;

    TRY(cpurt_enter());
    if (notifyId == NULL)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetNotifyId: notifyId is NULL");
    TRY(cpurt_notify_get(notify, &found));
    *notifyId = found->id;
    cpurt_notify_put(found);
    return ACL_SUCCESS;
}

static aclError run_post(cpurt_task_t *task, cpurt_stream_t *stream)
{
    (void)stream;
    cpurt_notify_post(((notify_task_t *)(void *)task)->notify);
    return ACL_SUCCESS;
}

static aclError run_wait(cpurt_task_t *task, cpurt_stream_t *stream)
{
    const notify_task_t *const wait = (const notify_task_t *)(const void *)task;
    cpurt_notify_t *const notify = wait->notify;
    const uint64_t deadline =
        wait->timeout_s == 0 ? CPURT_FOREVER : cpurt_deadline_ms((int64_t)wait->timeout_s * 1000);
    bool given_up = false, late = false;

    (void)pthread_mutex_lock(&notify->lock);
    while (!notify->posted && !given_up && !late) {
        const uint64_t slice = cpurt_deadline_ms(SLICE_MS);

        if (!cpurt_cond_wait(&notify->changed, &notify->lock, slice < deadline ? slice : deadline)) {
            given_up = cpurt_stream_gives_up(stream);
            late = cpurt_now_ns() >= deadline;
        }
    }
    const bool got_it = notify->posted;
    if (got_it)
        notify->posted = false;
    (void)pthread_mutex_unlock(&notify->lock);
    if (got_it)
        return ACL_SUCCESS;
    if (late)
        return cpurt_fail(ACL_ERROR_RT_WAIT_TIMEOUT, "notify %u was not recorded within %u s", notify->id,
                          wait->timeout_s);
    return cpurt_fail(ACL_ERROR_RT_STREAM_ABORT, "the stream was destroyed while it waited for notify %u",
                      notify->id);
}

static void release(cpurt_task_t *task)
{
    cpurt_notify_put(((notify_task_t *)(void *)task)->notify);
}

static aclError queue(const void *notify, void *stream, bool is_post, uint32_t timeout_s)
{
    cpurt_stream_t *on = NULL;
    cpurt_notify_t *found = NULL;

    TRY(cpurt_enter());
    TRY(cpurt_notify_get(notify, &found));
    notify_task_t *const task = calloc(1, sizeof *task);
    aclError error = task == NULL ? cpurt_fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "out of memory for a task")
                                  : cpurt_stream_get(stream, &on);
    if (error != ACL_SUCCESS) {
        free(task);
        cpurt_notify_put(found);
        return error;
    }
    task->task.run = is_post ? run_post : run_wait;
    task->task.release = release;
    task->task.always = is_post;
    task->task.repeats = true;
    task->task.category = "sync";
    task->task.name = is_post ? "notify record" : "notify wait";
    task->task.unit = "notify";
    task->task.amount = found->id;
    task->notify = found;
    task->timeout_s = timeout_s;
    error = cpurt_stream_submit(on, &task->task);
    cpurt_stream_put(on);
    return error;
}

aclError aclrtRecordNotify(aclrtNotify notify, aclrtStream stream)
{
    return queue(notify, stream, true, 0);
}

aclError aclrtWaitAndResetNotify(aclrtNotify notify, aclrtStream stream, uint32_t timeout)
{
    return queue(notify, stream, false, timeout);
}

static void end_all(cpurt_kind_t kind)
{
    cpurt_object_t *object = NULL;

    while ((object = cpurt_handle_take_any(kind, NULL, NULL)) != NULL)
        cpurt_object_put(object);
}

void cpurt_streams_end_marks(void)
{
    end_all(CPURT_MODEL); /* they hold on to notifies */
    end_all(CPURT_EVENT);
    end_all(CPURT_NOTIFY);
}
