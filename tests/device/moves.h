/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of put and get share: memory with a known content on every PE, and what a call must make of it. Every PE
 * writes to its own part of each PE's memory and looks at it there, so that nobody waits for anybody.
 */
#ifndef DEVICE_MOVES_H
#define DEVICE_MOVES_H

#include "device.h"
#include "rma.h"

enum { ROOM = 96 << 10 };

static char *moves_source, *moves_targets; /* symmetric: a source, and a target for each PE that writes */
static char *moves_local;                  /* not symmetric */

static inline char moves_byte(int pe, uint64_t i)
{
    return (char)((uint64_t)pe * 37 + i * 131 + (i >> 8) * 7 + 1);
}

static inline void moves_begin(void)
{
    int n = aclshmem_n_pes();
    moves_source = aclshmem_malloc(ROOM);
    moves_targets = aclshmem_malloc((size_t)n * ROOM);
    moves_local = malloc(ROOM);
    CHECK(moves_source != NULL && moves_targets != NULL && moves_local != NULL);
    for (uint64_t i = 0; i < ROOM; i++)
        moves_source[i] = moves_byte(aclshmem_my_pe(), i);
    aclshmem_barrier_all();
}

static inline void moves_end(void)
{
    aclshmem_barrier_all();
    free(moves_local);
}

/* My target on pe: the symmetric address, and where this PE sees it. */
static inline char *moves_target(void)
{
    return moves_targets + (size_t)aclshmem_my_pe() * ROOM;
}

static inline char *moves_seen(int pe)
{
    return aclshmem_ptr(moves_target(), pe);
}

static inline bool moves_is_get(operation_t op)
{
    return op == OP_GET || op == OP_GET_NBI || op == OP_GET_ROWS || op == OP_IGET || op == OP_G ||
           op == OP_GET_UB || op == OP_GET_UB_ROWS || op == OP_MTE_GET_HINT || op == OP_MTE_GET_HINT_CFG;
}

/* Runs the call with dst and src as offsets in bytes, and looks at every byte of the target. */
static inline void moves_check(const char *kernel, uint32_t blocks, call_t call, uint64_t dst, uint64_t src,
                               uint64_t element, bool rows)
{
    static char expected[ROOM], untouched[ROOM];
    if (untouched[0] == 0)
        for (uint64_t i = 0; i < ROOM; i++)
            untouched[i] = (char)(i * 3 + 0x40);
    int from_pe = moves_is_get(call.op) ? call.pe : aclshmem_my_pe();
    char *seen = moves_is_get(call.op) ? moves_local : moves_seen(call.pe);
    call.dst = (moves_is_get(call.op) ? moves_local : moves_target()) + dst;
    call.src = moves_source + src;
    call.element = (uint32_t)element;
    uint64_t count = rows ? call.repeat : call.count, bytes = rows ? call.length * element : element;
    memcpy(seen, untouched, ROOM);
    memcpy(expected, untouched, ROOM);
    for (uint64_t time = 0; time < call.times; time++)
        for (uint64_t i = 0; i < count; i++) {
            uint64_t to = dst + time * call.advance + i * (uint64_t)call.dst_step * element;
            uint64_t from = src + time * call.advance + i * (uint64_t)call.src_step * element;
            CHECK(to + bytes <= ROOM && from + bytes <= ROOM);
            for (uint64_t b = 0; b < bytes; b++)
                expected[to + b] = moves_byte(from_pe, from + b);
        }
    call_args_t args = {&call};
    device_run(kernel, blocks, &args, sizeof args);
    for (uint64_t i = 0; memcmp(seen, expected, ROOM) != 0 && i < ROOM; i++)
        if (seen[i] != expected[i]) {
            fprintf(stderr,
                    "PE %d: %s op %d to PE %d, %llu elements of %llu, rows %u of %u, steps %lld %lld, "
                    "scratch %u: byte "
                    "%llu is %d, expected %d\n",
                    aclshmem_my_pe(), kernel, (int)call.op, call.pe, (unsigned long long)call.count,
                    (unsigned long long)element, call.repeat, call.length, (long long)call.dst_step,
                    (long long)call.src_step, call.scratch_bytes, (unsigned long long)i, seen[i],
                    expected[i]);
            exit(1);
        }
}

/* Me, my neighbour, the last. */
static inline int moves_pes(int pes[3])
{
    int me = aclshmem_my_pe(), n = aclshmem_n_pes(), count = 1;
    pes[0] = me;
    if (n > 1)
        pes[count++] = (me + 1) % n;
    if (n > 3)
        pes[count++] = me == n - 1 ? 0 : n - 1;
    return count;
}

#endif
