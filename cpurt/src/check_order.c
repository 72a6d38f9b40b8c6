/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who touches what, and whether a flag or a barrier comes between. Each pipe has a clock, which its flags carry to
 * others; two accesses to the same bytes, one of them a write, by pipes of which the second does not know the first
 * one's clock, are a report. This looks at the program, not at what happens to come first, so that any seed shows it.
 */
#include <inttypes.h>
#include <string.h>

#include "check_state.h"

#define TIDY_AT 64u /* accesses from which on it pays to look for those that are over */

void cpurt_order_begin(cpurt_check_t *check)
{
    check->buffer.count = 0;
    check->memory.count = 0;
    memset(check->known, 0, sizeof check->known);
    for (uint32_t pipe = 0; pipe < AICORE_PIPE_COUNT; pipe++)
        check->known[pipe].of[pipe] = 1;
}

static void learn(cpurt_clocks_t *who, const cpurt_clocks_t *what)
{
    for (uint32_t pipe = 0; pipe < AICORE_PIPE_COUNT; pipe++)
        if (who->of[pipe] < what->of[pipe])
            who->of[pipe] = what->of[pipe];
}

/* What the scalar unit has waited for is over when it issues the next thing, on whatever pipe. What it has done itself
 * is not: its stores to the buffer take their time. */
static void issue(cpurt_check_t *check, aicore_pipe_t pipe)
{
    cpurt_clocks_t from_scalar = check->known[AICORE_PIPE_S];

    if (pipe == AICORE_PIPE_S)
        return;
    from_scalar.of[AICORE_PIPE_S] = 0;
    learn(&check->known[pipe], &from_scalar);
}

void cpurt_order_set(cpurt_check_t *check, aicore_pipe_t from, aicore_pipe_t to, uint32_t number)
{
    issue(check, from);
    check->at_flag[from][to][number] = check->known[from];
    check->known[from].of[from]++;
}

void cpurt_order_wait(cpurt_check_t *check, aicore_pipe_t from, aicore_pipe_t to, uint32_t number)
{
    issue(check, to);
    learn(&check->known[to], &check->at_flag[from][to][number]);
}

/* The kernel goes on when all pipes have come to rest: nothing from before it matters any more. */
void cpurt_order_barrier(cpurt_check_t *check)
{
    cpurt_clocks_t all = {{0}};

    check->buffer.count = 0;
    check->memory.count = 0;
    for (uint32_t pipe = 0; pipe < AICORE_PIPE_COUNT; pipe++)
        learn(&all, &check->known[pipe]);
    for (uint32_t pipe = 0; pipe < AICORE_PIPE_COUNT; pipe++) {
        check->known[pipe] = all;
        check->known[pipe].of[pipe]++;
    }
}

/* --- Accesses --- */

/* Whether every pipe knows it, now or when it is given its next work. */
static bool is_over(const cpurt_check_t *check, const cpurt_access_t *access)
{
    const uint32_t of = access->pipe;

    if (of != AICORE_PIPE_S && check->known[AICORE_PIPE_S].of[of] >= access->clock)
        return true;
    for (uint32_t pipe = 0; pipe < AICORE_PIPE_COUNT; pipe++)
        if (pipe != of && check->known[pipe].of[of] < access->clock)
            return false;
    return true;
}

/* What is unordered with an old access is unordered with a newer one of the same pipe that covers it. */
static bool replaces(const cpurt_access_t *later, const cpurt_access_t *access)
{
    return later->pipe == access->pipe && later->begin <= access->begin && later->end >= access->end &&
           (later->writes || !access->writes);
}

static void remember(const cpurt_check_t *check, cpurt_accesses_t *accesses, const cpurt_access_t *access)
{
    cpurt_access_t *const last = accesses->count > 0 ? &accesses->list[accesses->count - 1] : NULL;
    uint32_t kept = 0;

    if (last != NULL && last->pipe == access->pipe && last->clock == access->clock &&
        last->writes == access->writes && last->end == access->begin && last->call == access->call) {
        last->end = access->end;
        return;
    }
    for (uint32_t i = 0; i < accesses->count; i++) {
        const cpurt_access_t *const old = &accesses->list[i];

        if (!replaces(access, old) && (accesses->count < TIDY_AT || !is_over(check, old)))
            accesses->list[kept++] = *old;
    }
    if (kept == CPURT_ACCESSES) { /* more than anybody would leave open; the older half is let go */
        kept /= 2;
        memmove(accesses->list, &accesses->list[kept], kept * sizeof accesses->list[0]);
    }
    accesses->list[kept++] = *access;
    accesses->count = kept;
}

static const cpurt_access_t *unordered(const cpurt_check_t *check, const cpurt_accesses_t *accesses,
                                       const cpurt_access_t *access)
{
    const cpurt_clocks_t *const known = &check->known[access->pipe];

    for (uint32_t i = 0; i < accesses->count; i++) {
        const cpurt_access_t *const other = &accesses->list[i];

        if (other->pipe != access->pipe && other->begin < access->end && access->begin < other->end &&
            (other->writes || access->writes) && known->of[other->pipe] < other->clock)
            return other;
    }
    return NULL;
}

static void touch_buffer(cpurt_core_t *core, cpurt_access_t access)
{
    cpurt_check_t *const check = core->check;
    const cpurt_access_t *const other = unordered(check, &check->buffer, &access);

    if (other != NULL) {
        const uint64_t begin = other->begin > access.begin ? other->begin : access.begin;
        const uint64_t end = other->end < access.end ? other->end : access.end;
        const char *const mine = cpurt_pipe_name((aicore_pipe_t)access.pipe);
        const char *const its = cpurt_pipe_name((aicore_pipe_t)other->pipe);

        cpurt_check_report(core,
                           "%s: %s %s bytes %" PRIu64 " to %" PRIu64
                           " of the unified buffer, which %s may still be "
                           "%s (%s); no flag from %s to %s comes between",
                           access.call, mine, access.writes ? "writes" : "reads", begin, end - 1, its,
                           other->writes ? "writing" : "reading", other->call, its, mine);
    }
    remember(check, &check->buffer, &access);
}

static void touch_memory(cpurt_core_t *core, cpurt_access_t access)
{
    cpurt_check_t *const check = core->check;
    const cpurt_access_t *const other = unordered(check, &check->memory, &access);

    if (other != NULL) {
        const uint64_t begin = other->begin > access.begin ? other->begin : access.begin;
        const char *const mine = cpurt_pipe_name((aicore_pipe_t)access.pipe);
        const char *const its = cpurt_pipe_name((aicore_pipe_t)other->pipe);

        cpurt_check_report(core,
                           "%s: %s %s global memory at %#" PRIx64
                           ", which %s may still be %s (%s); no flag from %s to "
                           "%s comes between",
                           access.call, mine, access.writes ? "writes" : "reads", begin, its,
                           other->writes ? "writing" : "reading", other->call, its, mine);
    }
    remember(check, &check->memory, &access);
}

/* Rows without gaps are one piece. */
void cpurt_order_copy(cpurt_core_t *core, const char *call, const cpurt_copy_t *copy)
{
    cpurt_check_t *const check = core->check;
    const aicore_pipe_t pipe = copy->in ? AICORE_PIPE_MTE2 : AICORE_PIPE_MTE3;
    const uint64_t ub_bytes = copy->in ? cpurt_ub_rounded(copy->bytes) : copy->bytes;

    issue(check, pipe);
    cpurt_access_t buffer = {.call = call, .clock = check->known[pipe].of[pipe], .pipe = (uint8_t)pipe};
    cpurt_access_t memory = buffer;
    buffer.writes = copy->in;
    memory.writes = !copy->in;
    for (uint32_t row = 0; row < copy->rows; row++) {
        buffer.begin = copy->ub + row * copy->ub_step;
        buffer.end = buffer.begin + ub_bytes;
        touch_buffer(core, buffer);
        memory.begin = (uint64_t)(uintptr_t)copy->memory + row * copy->memory_step;
        memory.end = memory.begin + copy->bytes;
        touch_memory(core, memory);
    }
}

void cpurt_order_touch(cpurt_core_t *core, aicore_pipe_t pipe, uint64_t ub, uint64_t bytes, bool writes)
{
    cpurt_check_t *const check = core->check;

    issue(check, pipe);
    const cpurt_access_t access = {.begin = ub,
                                   .end = ub + bytes,
                                   .call = "aicore_touch",
                                   .clock = check->known[pipe].of[pipe],
                                   .pipe = (uint8_t)pipe,
                                   .writes = writes};
    touch_buffer(core, access);
}
