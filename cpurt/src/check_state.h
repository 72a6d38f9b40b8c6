/* SPDX-License-Identifier: Apache-2.0 */
/* What checked mode keeps for a core, for the files check*.c. */
#ifndef CPURT_CHECK_STATE_H
#define CPURT_CHECK_STATE_H

#include "check.h"

/* --- Work that is put off: check_pipe.c --- */

typedef enum cpurt_op_kind { CPURT_OP_COPY, CPURT_OP_SET, CPURT_OP_WAIT } cpurt_op_kind_t;

typedef struct cpurt_op {
    cpurt_op_kind_t kind;
    uint8_t from, to, bit; /* of a flag */
    cpurt_copy_t copy;
} cpurt_op_t;

#define CPURT_QUEUE_OPS 64u

typedef struct cpurt_queue {
    cpurt_op_t ops[CPURT_QUEUE_OPS];
    uint32_t first, count;
} cpurt_queue_t;

/* --- Who touches what, ordered or not: check_order.c --- */

/* A pipe's clock counts the stretches between its flags; what a pipe knows of the others are their clocks at the last
 * flag that came from them. */
typedef struct cpurt_clocks {
    uint32_t of[AICORE_PIPE_COUNT];
} cpurt_clocks_t;

typedef struct cpurt_access {
    uint64_t begin, end;
    const char *call;
    uint32_t clock; /* of the pipe, when it was issued */
    uint8_t pipe;
    bool writes;
} cpurt_access_t;

#define CPURT_ACCESSES 1024u

typedef struct cpurt_accesses {
    cpurt_access_t list[CPURT_ACCESSES];
    uint32_t count;
} cpurt_accesses_t;

/* --- The scalar unit's cache: check_cache.c --- */

#define CPURT_LINE      64u
#define CPURT_LINE_SETS 64u
#define CPURT_LINE_WAYS 4u

typedef struct cpurt_line {
    uint64_t address; /* 0: none */
    uint64_t dirty;   /* a bit per byte */
    unsigned char bytes[CPURT_LINE];
} cpurt_line_t;

struct cpurt_check {
    uint64_t random;
    uint32_t early;     /* chance in 256 that a pipe gets on when something is issued */
    uint32_t evictions; /* chance in 256 that the cache lets go of a line on its own */
    uint32_t lingers;   /* chance in 256 that others get ahead where that would tell */
    uint32_t pauses;    /* left to this block */
    bool straight;      /* pipes nobody waits for stay put */
    uint32_t polls;     /* since something was issued */

    cpurt_queue_t in, out;                            /* of MTE2 and MTE3 */
    uint8_t up[AICORE_PIPE_COUNT][AICORE_PIPE_COUNT]; /* flags, as far as the pipes have come */

    cpurt_clocks_t known[AICORE_PIPE_COUNT];
    cpurt_clocks_t at_flag[AICORE_PIPE_COUNT][AICORE_PIPE_COUNT][AICORE_FLAGS];
    cpurt_accesses_t buffer, memory;

    cpurt_line_t lines[CPURT_LINE_SETS][CPURT_LINE_WAYS];
};

/* 64 random bits; a number below a bound; whether something of so many chances in 256 happens. */
uint64_t cpurt_check_random(cpurt_check_t *check);
uint32_t cpurt_check_below(cpurt_check_t *check, uint32_t bound);
bool cpurt_check_chance(cpurt_check_t *check, uint32_t chances);
/* By chance, time for others. */
void cpurt_check_linger(cpurt_check_t *check);
/* Ends the launch with these words, and the seed. */
void cpurt_check_report(const cpurt_core_t *core, const char *format, ...)
    __attribute__((noreturn, format(printf, 2, 3)));

void cpurt_check_drain(cpurt_core_t *core);
/* Others can see something new, or this kernel ends: if copies are still to come, now is when they are missed. */
void cpurt_check_dawdle(cpurt_core_t *core);

void cpurt_order_begin(cpurt_check_t *check);
void cpurt_order_set(cpurt_check_t *check, aicore_pipe_t from, aicore_pipe_t to, uint32_t number);
void cpurt_order_wait(cpurt_check_t *check, aicore_pipe_t from, aicore_pipe_t to, uint32_t number);
void cpurt_order_barrier(cpurt_check_t *check);
void cpurt_order_copy(cpurt_core_t *core, const char *call, const cpurt_copy_t *copy);
void cpurt_order_touch(cpurt_core_t *core, aicore_pipe_t pipe, uint64_t ub, uint64_t bytes, bool writes);

void cpurt_lines_begin(cpurt_check_t *check);
/* A copy is about to read or write memory of which the cache holds stores that nobody else has seen. */
void cpurt_lines_copy(const cpurt_core_t *core, const char *call, const cpurt_copy_t *copy);
void cpurt_lines_end(const cpurt_core_t *core);

#endif
