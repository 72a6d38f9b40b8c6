/* SPDX-License-Identifier: Apache-2.0 */
/* Small pieces of device memory, cut from 2 MiB of it. Book-keeping lies outside, where kernels cannot overrun it. */
#ifndef CPURT_ARENA_H
#define CPURT_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CPURT_GRANULE     512u
#define CPURT_ARENA_BYTES ((size_t)2 << 20)
#define CPURT_ARENA_WORDS (CPURT_ARENA_BYTES / CPURT_GRANULE / 64)

typedef struct cpurt_arena {
    uint64_t used[CPURT_ARENA_WORDS];  /* a bit per granule */
    uint64_t first[CPURT_ARENA_WORDS]; /* set for the first granule of a piece */
    uint32_t used_count;
    uint32_t too_much; /* no run of so many granules was free at the last look, and nothing was freed since */
} cpurt_arena_t;

void cpurt_arena_init(cpurt_arena_t *arena);
/* Offset of a free run of granules, now taken; false when there is none. */
bool cpurt_arena_take(cpurt_arena_t *arena, uint32_t granules, size_t *offset);
/* Bytes of the piece that holds the offset, and where it starts; 0 when that is free. */
size_t cpurt_arena_piece(const cpurt_arena_t *arena, size_t offset, size_t *start);
/* Gives the piece back that starts there; false when none does. */
bool cpurt_arena_give(cpurt_arena_t *arena, size_t offset);

#endif
