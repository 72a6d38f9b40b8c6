/* SPDX-License-Identifier: Apache-2.0 */
/* Making and ending contexts, for device.c. */
#ifndef CPURT_CONTEXT_H
#define CPURT_CONTEXT_H

#include "device.h"

aclError cpurt_context_make(int device, void **handle);
/* Ends all contexts of a device and their streams, waiting for what is queued; -1: of all devices. */
void cpurt_contexts_end(int device);

#endif
