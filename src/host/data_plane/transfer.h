/* SPDX-License-Identifier: Apache-2.0 */
/* The moves that the fronts of this folder share. `call` is the public name, for messages. */
#ifndef ACLSHMEMI_DATA_PLANE_TRANSFER_H
#define ACLSHMEMI_DATA_PLANE_TRANSFER_H

#include <string.h>

#include "host/data_plane/reach.h"
#include "host/sync/sync.h"
#include "host/utils/copy.h"

/* Bytes to the memory of pe; the source may be reused on return. */
int aclshmemi_put(aclshmemi_instance_t *in, const char *call, void *to, const void *from, size_t bytes,
                  int pe);
/* The same without waking who sleeps there: a signal follows and does. */
int aclshmemi_put_silently(aclshmemi_instance_t *in, const char *call, void *to, const void *from,
                           size_t bytes, int pe);
/* Bytes from the memory of pe; there on return. */
int aclshmemi_get(aclshmemi_instance_t *in, const char *call, void *to, const void *from, size_t bytes,
                  int pe);

/* The PE of a call that has nothing to move, and whose pointers are not looked at. */
int aclshmemi_check_pe(const aclshmemi_instance_t *in, const char *call, int pe);
/* count elements of width bytes as bytes, and the local operand: to be read or, written, to be filled. */
int aclshmemi_check_local(const char *call, const void *local, size_t count, size_t width, bool written,
                          size_t *bytes) ACLSHMEMI_MUST_CHECK;

/* A whole call that puts or gets count elements of width bytes, arguments as the user gave them. Everything out of the
 * ordinary goes the slow way, mistakes included. */
void aclshmemi_put_slowly(const char *call, void *to, const void *from, size_t count, size_t width, int pe)
    __attribute__((cold));
void aclshmemi_get_slowly(const char *call, void *to, const void *from, size_t count, size_t width, int pe)
    __attribute__((cold));

static inline __attribute__((always_inline)) void aclshmemi_put_call(const char *call, void *to,
                                                                     const void *from, size_t count,
                                                                     size_t width, int pe)
{
    aclshmemi_instance_t *in = aclshmemi_current();
    size_t bytes;
    char *address, *base;
    if (__builtin_expect(__builtin_mul_overflow(count, width, &bytes) || bytes == 0 || from == NULL ||
                             (address = aclshmemi_reach_from(in, to, bytes, pe, &base)) == NULL,
                         0)) {
        aclshmemi_put_slowly(call, to, from, count, width, pe);
        return;
    }
    aclshmemi_copy(address, from, bytes);
    aclshmemi_notify_at(in, base);
}

static inline __attribute__((always_inline)) void aclshmemi_get_call(const char *call, void *to,
                                                                     const void *from, size_t count,
                                                                     size_t width, int pe)
{
    size_t bytes;
    const char *address;
    if (__builtin_expect(__builtin_mul_overflow(count, width, &bytes) || bytes == 0 || to == NULL ||
                             (address = aclshmemi_reach(aclshmemi_current(), from, bytes, pe)) == NULL,
                         0)) {
        aclshmemi_get_slowly(call, to, from, count, width, pe);
        return;
    }
    aclshmemi_copy(to, address, bytes);
}

/* What is wrong with a signal before its place is looked at. */
int aclshmemi_signal_check(const char *call, const void *word, int op) ACLSHMEMI_MUST_CHECK;
/* Changes a signal word on pe, after everything this PE put there before. */
int aclshmemi_signal(aclshmemi_instance_t *in, const char *call, void *word, int32_t signal, int op, int pe);

/* A whole call that puts elements and then signals; a call that fails has done nothing. */
void aclshmemi_put_signal_call(const char *call, void *to, const void *from, size_t count, size_t width,
                               void *word, int32_t signal, int op, int pe);

#endif
