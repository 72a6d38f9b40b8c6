/* SPDX-License-Identifier: Apache-2.0 */
/* The moves that the fronts of this folder share. `call` is the public name, for messages. */
#ifndef ACLSHMEMI_DATA_PLANE_TRANSFER_H
#define ACLSHMEMI_DATA_PLANE_TRANSFER_H

#include "host/instance.h"

/* Bytes to the memory of pe; the source may be reused on return. */
int aclshmemi_put(aclshmemi_instance_t *in, const char *call, void *to, const void *from, size_t bytes,
                  int pe);
/* The same without waking who sleeps there: a signal follows and does. */
int aclshmemi_put_silently(aclshmemi_instance_t *in, const char *call, void *to, const void *from,
                           size_t bytes, int pe);
/* Bytes from the memory of pe; there on return. */
int aclshmemi_get(aclshmemi_instance_t *in, const char *call, void *to, const void *from, size_t bytes,
                  int pe);
/* Changes a signal word on pe, after everything this PE put there before. */
int aclshmemi_signal(aclshmemi_instance_t *in, const char *call, void *word, int32_t signal, int op, int pe);

#endif
