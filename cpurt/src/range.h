/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of address ranges that do not overlap, found by any address inside; each set is a balanced tree of libc's. */
#ifndef CPURT_RANGE_H
#define CPURT_RANGE_H

#include <stdbool.h>
#include <stddef.h>

/* Embedded at the front of what has the range. */
typedef struct cpurt_range {
    char *base;
    size_t bytes;
} cpurt_range_t;

typedef struct cpurt_ranges {
    void *root;
} cpurt_ranges_t;

bool cpurt_range_add(cpurt_ranges_t *set, cpurt_range_t *range); /* false: out of memory */
void cpurt_range_remove(cpurt_ranges_t *set, const cpurt_range_t *range);
cpurt_range_t *cpurt_range_find(const cpurt_ranges_t *set, const void *address);
/* Any member that has a byte in common with the given range. */
cpurt_range_t *cpurt_range_overlap(const cpurt_ranges_t *set, const void *address, size_t bytes);
cpurt_range_t *cpurt_range_any(const cpurt_ranges_t *set); /* NULL when empty */

/* Whether all the bytes lie in the range, which may be NULL. */
static inline bool cpurt_range_has(const cpurt_range_t *range, const void *address, size_t bytes)
{
    return range != NULL && (const char *)address >= range->base && bytes <= range->bytes &&
           (size_t)((const char *)address - range->base) <= range->bytes - bytes;
}

#endif
