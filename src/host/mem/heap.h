/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An allocator over offsets: no device, no globals, no addresses. The same sequence of calls gives the same offsets
 * on every PE, which is what makes a heap symmetric.
 *
 * Best fit, lowest offset on a tie, the free end of the heap only when nothing else fits; neighbours merged on free. Offsets and sizes are multiples of 16. Block records
 * live in ordinary memory, so user overruns cannot damage them. Not locked: the caller holds the heap's lock.
 */
#ifndef ACLSHMEMI_HEAP_H
#define ACLSHMEMI_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/utils/status.h"

#define ACLSHMEMI_HEAP_GRANULARITY UINT64_C(16)
#define ACLSHMEMI_HEAP_NONE        UINT64_MAX

typedef struct aclshmemi_heap aclshmemi_heap_t;

typedef struct aclshmemi_heap_stats {
    uint64_t size; /* bytes managed */
    uint64_t used; /* bytes handed out, after rounding */
    uint64_t free;
    uint64_t largest_free; /* largest block one malloc could get */
    uint64_t peak;         /* highest used so far */
    uint64_t blocks;       /* live allocations */
} aclshmemi_heap_stats_t;

int aclshmemi_heap_create(uint64_t size, aclshmemi_heap_t **heap) ACLSHMEMI_MUST_CHECK;
void aclshmemi_heap_destroy(aclshmemi_heap_t *heap); /* accepts NULL */

/* Offset of a block of at least size bytes whose offset is a multiple of alignment (a power of two, raised to 16), or
 * ACLSHMEMI_HEAP_NONE: size 0, bad alignment, no room, no memory for the record. Logs nothing. */
uint64_t aclshmemi_heap_alloc(aclshmemi_heap_t *heap, uint64_t size, uint64_t alignment);
/* Gives a block back. INVALID_PARAM (quiet, with the reason in the text) unless offset is the start of a live block;
 * the heap is unharmed then. */
int aclshmemi_heap_free(aclshmemi_heap_t *heap, uint64_t offset) ACLSHMEMI_MUST_CHECK;
/* The live block that contains offset: its start and size, or false. */
bool aclshmemi_heap_find(const aclshmemi_heap_t *heap, uint64_t offset, uint64_t *start, uint64_t *size);
void aclshmemi_heap_stats(const aclshmemi_heap_t *heap, aclshmemi_heap_stats_t *stats);
/* For a request that found no room: the size of a heap in which it would have, after the same calls. What the heap lacks is
 * added at its end, where only a free block that lies there already helps; others are as they are. */
uint64_t aclshmemi_heap_size_for(const aclshmemi_heap_t *heap, uint64_t size, uint64_t alignment);
/* Walks everything; true when every record is consistent with its neighbours, the totals and the indexes. */
bool aclshmemi_heap_is_valid(const aclshmemi_heap_t *heap);

#endif
