/* SPDX-License-Identifier: Apache-2.0 */
/* First fit over a bitmap of 512-byte granules. */
#include "arena.h"

#include <string.h>

#define GRANULES (CPURT_ARENA_WORDS * 64)

static bool bit(const uint64_t *map, size_t i)
{
    return (map[i / 64] >> (i % 64)) & 1;
}

static void set_bit(uint64_t *map, size_t i, bool value)
{
    const uint64_t mask = UINT64_C(1) << (i % 64);

    map[i / 64] = value ? map[i / 64] | mask : map[i / 64] & ~mask;
}

void cpurt_arena_init(cpurt_arena_t *arena)
{
    memset(arena, 0, sizeof *arena);
    arena->too_much = GRANULES + 1;
}

bool cpurt_arena_take(cpurt_arena_t *arena, uint32_t granules, size_t *offset)
{
    size_t run = 0;

    if (granules >= arena->too_much)
        return false;
    for (size_t i = 0; i < GRANULES; i++) {
        if (i % 64 == 0 && arena->used[i / 64] == UINT64_MAX) {
            i += 63;
            run = 0;
            continue;
        }
        run = bit(arena->used, i) ? 0 : run + 1;
        if (run < granules)
            continue;
        const size_t start = i + 1 - granules;
        for (size_t j = start; j <= i; j++)
            set_bit(arena->used, j, true);
        set_bit(arena->first, start, true);
        arena->used_count += granules;
        *offset = start * CPURT_GRANULE;
        return true;
    }
    arena->too_much = granules;
    return false;
}

size_t cpurt_arena_piece(const cpurt_arena_t *arena, size_t offset, size_t *start)
{
    size_t begin = offset / CPURT_GRANULE;

    if (begin >= GRANULES || !bit(arena->used, begin))
        return 0;
    while (!bit(arena->first, begin))
        begin--;
    size_t end = begin + 1;
    while (end < GRANULES && bit(arena->used, end) && !bit(arena->first, end))
        end++;
    *start = begin * CPURT_GRANULE;
    return (end - begin) * CPURT_GRANULE;
}

bool cpurt_arena_give(cpurt_arena_t *arena, size_t offset)
{
    size_t start = 0;
    const size_t bytes = cpurt_arena_piece(arena, offset, &start);

    if (bytes == 0 || start != offset)
        return false;
    for (size_t i = start / CPURT_GRANULE; i < (start + bytes) / CPURT_GRANULE; i++)
        set_bit(arena->used, i, false);
    set_bit(arena->first, start / CPURT_GRANULE, false);
    arena->used_count -= (uint32_t)(bytes / CPURT_GRANULE);
    arena->too_much = GRANULES + 1;
    return true;
}
