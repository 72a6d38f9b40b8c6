/* SPDX-License-Identifier: Apache-2.0 */
/* What the host and the kernels of the engine tests share: where things lie in the symmetric heap. */
#ifndef ENGINES_H
#define ENGINES_H

#include <stdint.h>

enum {
    ENGINES_CORES = 48,
    ENGINES_POSTS = 100,               /* by every core to one queue: many times its places */
    ENGINES_BYTES = (2 << 20) + 12345, /* more than a piece of SDMA, more than any scratch */
    ENGINES_LINE = 64,                 /* bytes between words of cores */
};

/* One per PE, symmetric. */
typedef struct engines {
    _Alignas(64) uint64_t count; /* all cores of all PEs add here */
    _Alignas(64) int64_t word[8];
    _Alignas(64) uint64_t signal;
    _Alignas(64) uint64_t of_core[ENGINES_CORES][ENGINES_LINE / 8]; /* by core of the PE before */
    uint64_t rounds[ENGINES_POSTS + 1];                             /* the number of each, to put from */
    unsigned char source[ENGINES_BYTES + 64];
    unsigned char target[ENGINES_BYTES + 64];
    unsigned char back[ENGINES_BYTES + 64];
} engines_t;

static inline unsigned char engines_pattern(int pe, int i)
{
    return (unsigned char)(i * 131 + i / 251 + pe * 17);
}

/* Which engine a kernel is to use. */
enum { ENGINES_SDMA, ENGINES_ROCE, ENGINES_UDMA };

#endif
