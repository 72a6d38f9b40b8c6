/* SPDX-License-Identifier: Apache-2.0 */
/* The table behind handles. */
#include <stdlib.h>

#include "handle.h"

#define KIND_BITS  4
#define INDEX_BITS 24
#define MAX_SLOTS  (1u << INDEX_BITS)
#define NO_SLOT    UINT32_MAX

typedef struct slot {
    cpurt_object_t *object;
    uint32_t generation; /* of the object in it, or of the last one */
    uint32_t next_free;
} slot_t;

pthread_mutex_t cpurt_handle_lock = PTHREAD_MUTEX_INITIALIZER;
static slot_t *slots;
static uint32_t slot_count;
static uint32_t first_free = NO_SLOT;

static const char *kind_name(cpurt_kind_t kind)
{
    static const char *const names[] = {"object", "context", "stream",
                                        "event",  "notify",  "physical memory",
                                        "binary", "kernel",  "queue of the DMA engine",
                                        "model"};

    return names[kind];
}

void cpurt_object_init(cpurt_object_t *object, cpurt_kind_t kind, void (*destroy)(cpurt_object_t *))
{
    atomic_init(&object->references, 1);
    object->kind = kind;
    object->handle = NULL;
    object->destroy = destroy;
}

void cpurt_object_hold(cpurt_object_t *object)
{
    (void)atomic_fetch_add_explicit(&object->references, 1, memory_order_relaxed);
}

void cpurt_object_put(cpurt_object_t *object)
{
    if (object != NULL && atomic_fetch_sub_explicit(&object->references, 1, memory_order_acq_rel) == 1)
        object->destroy(object);
}

static bool grow(void)
{
    const uint32_t count = slot_count == 0 ? 64 : slot_count * 2;
    slot_t *more = count > MAX_SLOTS ? NULL : realloc(slots, count * sizeof *slots);

    if (more == NULL)
        return false;
    for (uint32_t i = count; i-- > slot_count;) {
        more[i] = (slot_t){.next_free = first_free};
        first_free = i;
    }
    slots = more;
    slot_count = count;
    return true;
}

aclError cpurt_handle_create(cpurt_object_t *object)
{
    (void)pthread_mutex_lock(&cpurt_handle_lock);
    if (first_free == NO_SLOT && !grow()) {
        (void)pthread_mutex_unlock(&cpurt_handle_lock);
        return cpurt_fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "no room for another %s: %u handles are in use",
                          kind_name(object->kind), slot_count);
    }
    const uint32_t index = first_free;
    slot_t *const slot = &slots[index];
    first_free = slot->next_free;
    slot->object = object;
    if (++slot->generation == 0)
        slot->generation = 1;
    object->handle = (void *)(uintptr_t)(((uint64_t)slot->generation << (INDEX_BITS + KIND_BITS)) |
                                         ((uint64_t)index << KIND_BITS) | (uint64_t)object->kind);
    (void)pthread_mutex_unlock(&cpurt_handle_lock);
    cpurt_live_add(1);
    return ACL_SUCCESS;
}

int32_t cpurt_handle_number(const void *handle)
{
    return (int32_t)(((uint64_t)(uintptr_t)handle >> KIND_BITS) & (MAX_SLOTS - 1));
}

/* The slot of a live handle, or NULL; called with the lock held. */
static slot_t *find(const void *handle, cpurt_kind_t kind)
{
    const uint64_t bits = (uint64_t)(uintptr_t)handle;
    const uint32_t index = (uint32_t)cpurt_handle_number(handle);

    if ((bits & ((1u << KIND_BITS) - 1)) != (uint64_t)kind || index >= slot_count ||
        slots[index].object == NULL ||
        slots[index].generation != (uint32_t)(bits >> (INDEX_BITS + KIND_BITS)) ||
        (bits >> (INDEX_BITS + KIND_BITS)) > UINT32_MAX)
        return NULL;
    return &slots[index];
}

static cpurt_object_t *empty(slot_t *slot)
{
    cpurt_object_t *const object = slot->object;

    slot->object = NULL;
    slot->next_free = first_free;
    first_free = (uint32_t)(slot - slots);
    return object;
}

static aclError no_such(const void *handle, cpurt_kind_t kind)
{
    return cpurt_fail(ACL_ERROR_RT_INVALID_HANDLE, "%p is no %s: it was never one, or has been destroyed",
                      handle, kind_name(kind));
}

aclError cpurt_handle_get(const void *handle, cpurt_kind_t kind, cpurt_object_t **object)
{
    cpurt_object_t *found = NULL;

    (void)pthread_mutex_lock(&cpurt_handle_lock);
    slot_t *const slot = find(handle, kind);
    if (slot != NULL) {
        found = slot->object;
        cpurt_object_hold(found);
    }
    (void)pthread_mutex_unlock(&cpurt_handle_lock);
    if (found == NULL)
        return no_such(handle, kind);
    *object = found;
    return ACL_SUCCESS;
}

aclError cpurt_handle_take(const void *handle, cpurt_kind_t kind, cpurt_object_t **object)
{
    cpurt_object_t *found = NULL;

    (void)pthread_mutex_lock(&cpurt_handle_lock);
    slot_t *const slot = find(handle, kind);
    if (slot != NULL)
        found = empty(slot);
    (void)pthread_mutex_unlock(&cpurt_handle_lock);
    if (found == NULL)
        return no_such(handle, kind);
    cpurt_live_add(-1);
    *object = found;
    return ACL_SUCCESS;
}

cpurt_object_t *cpurt_handle_take_any(cpurt_kind_t kind, bool (*match)(const cpurt_object_t *, const void *),
                                      const void *argument)
{
    cpurt_object_t *found = NULL;

    (void)pthread_mutex_lock(&cpurt_handle_lock);
    for (uint32_t i = 0; i < slot_count && found == NULL; i++) {
        const cpurt_object_t *const object = slots[i].object;

        if (object != NULL && object->kind == kind && (match == NULL || match(object, argument)))
            found = empty(&slots[i]);
    }
    (void)pthread_mutex_unlock(&cpurt_handle_lock);
    if (found != NULL)
        cpurt_live_add(-1);
    return found;
}

size_t cpurt_handle_list(cpurt_kind_t kind, bool (*match)(const cpurt_object_t *, const void *),
                         const void *argument, cpurt_object_t **out, size_t room)
{
    size_t count = 0;

    (void)pthread_mutex_lock(&cpurt_handle_lock);
    for (uint32_t i = 0; i < slot_count; i++) {
        cpurt_object_t *const object = slots[i].object;

        if (object == NULL || object->kind != kind || (match != NULL && !match(object, argument)))
            continue;
        if (count < room) {
            cpurt_object_hold(object);
            out[count] = object;
        }
        count++;
    }
    (void)pthread_mutex_unlock(&cpurt_handle_lock);
    return count;
}
