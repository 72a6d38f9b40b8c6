/* SPDX-License-Identifier: Apache-2.0 */
/* Captures as streams and calls see them. model.c has what becomes of one. */
#ifndef CPURT_CAPTURE_H
#define CPURT_CAPTURE_H

#include "acl/acl_mdl.h"
#include "stream.h"

typedef struct cpurt_model {
    cpurt_object_t object;
    cpurt_task_t
        *first; /* in order; guarded by the stream's lock while the capture is open, never changed later */
    cpurt_task_t **last;
    size_t count;
    aclError refused; /* the first task that could not be held, guarded as the tasks are */
    char text[CPURT_TEXT_LEN];

    aclmdlRICaptureMode mode;
    uint64_t owner;           /* thread that began */
    atomic_bool open;         /* being made */
    struct cpurt_model *next; /* open captures of the process */
} cpurt_model_t;

aclError cpurt_model_make(aclmdlRICaptureMode mode, uint64_t owner, cpurt_model_t **out);
aclError cpurt_model_get(const void *handle, cpurt_model_t **model); /* a new reference */
void cpurt_model_put(cpurt_model_t *model);

/* Keeps the task, or refuses it and notes that. Takes it only on success. With the stream's lock held. */
aclError cpurt_capture_keep(cpurt_model_t *model, cpurt_task_t *task);
/* Ends a capture that will be no model; takes the stream's reference. Accepts NULL. */
void cpurt_capture_drop(cpurt_model_t *model);
/* Fails while a capture forbids the calling thread what is unsafe. */
aclError cpurt_capture_allows(const char *call);
/* False: nobody captures, so cpurt_capture_allows need not be asked. */
bool cpurt_capturing(void);

#endif
