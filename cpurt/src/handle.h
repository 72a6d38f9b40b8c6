/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles: what programs hold is a number (slot, generation, kind), never an address, so a stale or invented handle
 * is an error and not a crash. Objects are counted; the table owns one count.
 */
#ifndef CPURT_HANDLE_H
#define CPURT_HANDLE_H

#include "runtime.h"

typedef enum cpurt_kind {
    CPURT_CONTEXT = 1,
    CPURT_STREAM,
    CPURT_EVENT,
    CPURT_NOTIFY,
    CPURT_PHYSICAL,
    CPURT_BINARY,
    CPURT_FUNCTION,
    CPURT_DMA_QUEUE,
    CPURT_MODEL
} cpurt_kind_t;

typedef struct cpurt_object {
    atomic_uint references;
    cpurt_kind_t kind;
    void *handle;                           /* what the program holds; NULL until created */
    void (*destroy)(struct cpurt_object *); /* runs when the last reference goes */
} cpurt_object_t;

/* One reference, the caller's. */
void cpurt_object_init(cpurt_object_t *object, cpurt_kind_t kind, void (*destroy)(cpurt_object_t *));
void cpurt_object_hold(cpurt_object_t *object);
void cpurt_object_put(cpurt_object_t *object); /* accepts NULL */

/* Hands the caller's reference to the table. On failure the reference is still the caller's. */
aclError cpurt_handle_create(cpurt_object_t *object);
/* A new reference to what the handle names; fails with a text that has the kind's name in it. */
aclError cpurt_handle_get(const void *handle, cpurt_kind_t kind, cpurt_object_t **object);
/* Ends the handle; the table's reference is the caller's now. Of several callers one succeeds. */
aclError cpurt_handle_take(const void *handle, cpurt_kind_t kind, cpurt_object_t **object);
/* Takes any object of the kind that matches; NULL when there is none. match runs under the table's lock. */
cpurt_object_t *cpurt_handle_take_any(cpurt_kind_t kind, bool (*match)(const cpurt_object_t *, const void *),
                                      const void *argument);
/* References to up to room objects of the kind that match; returns how many there are. */
size_t cpurt_handle_list(cpurt_kind_t kind, bool (*match)(const cpurt_object_t *, const void *),
                         const void *argument, cpurt_object_t **out, size_t room);
/* A small number, unique among the live handles. */
int32_t cpurt_handle_number(const void *handle);

#endif
