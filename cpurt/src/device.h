/* SPDX-License-Identifier: Apache-2.0 */
/* Devices and contexts: which device a thread works on, and the default stream it has there. */
#ifndef CPURT_DEVICE_H
#define CPURT_DEVICE_H

#include "handle.h"

typedef struct cpurt_stream cpurt_stream_t;

typedef struct cpurt_context {
    cpurt_object_t object;
    int device;
    pthread_mutex_t lock;
    void *default_stream; /* handle, NULL until somebody uses it */
} cpurt_context_t;

/* The calling thread's context, as a new reference; fails when it has none. */
aclError cpurt_context_current(cpurt_context_t **context);
/* The device of the calling thread. */
aclError cpurt_device_current(int *device);
aclError cpurt_device_check(int64_t device);
/* Workers act in the context of their stream. */
void cpurt_context_adopt(void *context);
/* Ends all streams and contexts of all devices. */
void cpurt_devices_end(void);

#endif
