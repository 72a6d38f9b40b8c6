/* SPDX-License-Identifier: Apache-2.0 */
/* Notifies as other parts of the device see them: whoever finishes something may post one. */
#ifndef CPURT_NOTIFY_H
#define CPURT_NOTIFY_H

#include "handle.h"

typedef struct cpurt_notify cpurt_notify_t;

aclError cpurt_notify_get(const void *handle, cpurt_notify_t **notify);    /* a new reference */
aclError cpurt_notify_by_number(uint32_t number, cpurt_notify_t **notify); /* a new reference */
void cpurt_notify_put(cpurt_notify_t *notify);
void cpurt_notify_post(cpurt_notify_t *notify);

#endif
