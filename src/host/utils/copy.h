/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one copy of this library: memory to memory, by the caller's thread. Small ones are done in line, middling ones by libc,
 * large ones by the way that is fastest on this machine at that size. Which one that is is measured in each class of sizes
 * when it is first used, once per process; until then, and where nothing is measurably faster, a default serves. No way leaves
 * stores behind that a later store of the same thread could overtake: a signal may follow at once.
 */
#ifndef ACLSHMEMI_UTILS_COPY_H
#define ACLSHMEMI_UTILS_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define ACLSHMEMI_COPY_LARGE 2048

typedef enum aclshmemi_copy_way {
    ACLSHMEMI_COPY_LIBC,   /* memcpy */
    ACLSHMEMI_COPY_VECTOR, /* a loop over the widest registers */
    ACLSHMEMI_COPY_STRING, /* the processor's instruction for it */
    ACLSHMEMI_COPY_STREAM, /* stores that go around the caches */
    ACLSHMEMI_COPY_WAYS
} aclshmemi_copy_way_t;

/* Is there such a way on this processor? */
bool aclshmemi_copy_has(aclshmemi_copy_way_t way);
/* Copies that way; the ranges do not overlap. */
void aclshmemi_copy_by(aclshmemi_copy_way_t way, void *to, const void *from, size_t bytes);
/* The way that copies of this size go at present. */
aclshmemi_copy_way_t aclshmemi_copy_way(size_t bytes);

/* From ACLSHMEMI_COPY_LARGE bytes; overlap as in memmove. whole: bytes of all that is copied in a row, which decides. */
void aclshmemi_copy_large(void *to, const void *from, size_t bytes, size_t whole);

/* Any number of bytes of a larger whole; overlap as in memmove. A word is one access. */
static inline void aclshmemi_copy_part(void *to, const void *from, size_t bytes, size_t whole)
{
    if (bytes == sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, from, sizeof word);
        memcpy(to, &word, sizeof word);
    } else if (bytes == sizeof(uint32_t)) {
        uint32_t word;
        memcpy(&word, from, sizeof word);
        memcpy(to, &word, sizeof word);
    } else if (bytes < ACLSHMEMI_COPY_LARGE) {
        memmove(to, from, bytes);
    } else {
        aclshmemi_copy_large(to, from, bytes, whole);
    }
}

static inline void aclshmemi_copy(void *to, const void *from, size_t bytes)
{
    aclshmemi_copy_part(to, from, bytes, bytes);
}

#endif
