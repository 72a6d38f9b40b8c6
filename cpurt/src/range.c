/* SPDX-License-Identifier: Apache-2.0 */
/* Address ranges in a tsearch tree: two ranges are equal to it when they overlap. */
#include "range.h"

#include <search.h>
#include <stdint.h>

static int compare(const void *left, const void *right)
{
    const cpurt_range_t *const a = left, *const b = right;
    const uintptr_t a_first = (uintptr_t)a->base, b_first = (uintptr_t)b->base;

    if (a_first + a->bytes <= b_first)
        return -1;
    return b_first + b->bytes <= a_first ? 1 : 0;
}

bool cpurt_range_add(cpurt_ranges_t *set, cpurt_range_t *range)
{
    return tsearch(range, &set->root, compare) != NULL;
}

void cpurt_range_remove(cpurt_ranges_t *set, const cpurt_range_t *range)
{
    (void)tdelete(range, &set->root, compare);
}

cpurt_range_t *cpurt_range_overlap(const cpurt_ranges_t *set, const void *address, size_t bytes)
{
    const cpurt_range_t wanted = {(char *)(uintptr_t)address, bytes};
    void *const *const node = tfind(&wanted, &set->root, compare);

    return node == NULL ? NULL : *node;
}

cpurt_range_t *cpurt_range_find(const cpurt_ranges_t *set, const void *address)
{
    return cpurt_range_overlap(set, address, 1);
}

cpurt_range_t *cpurt_range_any(const cpurt_ranges_t *set)
{
    return set->root == NULL ? NULL : *(cpurt_range_t **)set->root;
}
