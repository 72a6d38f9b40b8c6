/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Order between the pipes of a core. Copies happen where they are issued unless checked mode puts them off, so that
 * flags and barriers have nothing to wait for; what is left of them is the count: who waits for a flag that is down would wait for ever on a card, who
 * leaves one up spoils the next kernel.
 */
#include <string.h>

#include "check.h"

static const char *const names[] = {
    [AICORE_PIPE_S] = "S",       [AICORE_PIPE_V] = "V",       [AICORE_PIPE_M] = "M",
    [AICORE_PIPE_MTE1] = "MTE1", [AICORE_PIPE_MTE2] = "MTE2", [AICORE_PIPE_MTE3] = "MTE3",
    [AICORE_PIPE_ALL] = "ALL"};

const char *cpurt_pipe_name(aicore_pipe_t pipe)
{
    return (uint32_t)pipe <= AICORE_PIPE_ALL ? names[pipe] : "of no such number";
}

static void check_flag(const char *call, aicore_pipe_t from, aicore_pipe_t to, uint32_t number)
{
    if ((uint32_t)from >= AICORE_PIPE_COUNT || (uint32_t)to >= AICORE_PIPE_COUNT || from == to)
        cpurt_core_refuse("%s: flags go from one pipe to another, not from %s (%d) to %s (%d)", call,
                          cpurt_pipe_name(from), (int)from, cpurt_pipe_name(to), (int)to);
    if (number >= AICORE_FLAGS)
        cpurt_core_refuse("%s: flag %u from %s to %s; allowed are 0 to %u", call, number,
                          cpurt_pipe_name(from), cpurt_pipe_name(to), AICORE_FLAGS - 1);
}

void aicore_flag_set(aicore_pipe_t from, aicore_pipe_t to, uint32_t number)
{
    cpurt_core_t *const core = cpurt_core_needed("aicore_flag_set");
    const uint8_t bit = (uint8_t)(1u << (number % AICORE_FLAGS));

    check_flag("aicore_flag_set", from, to, number);
    if ((core->flags[from][to] & bit) != 0)
        cpurt_core_refuse("aicore_flag_set: flag %u from %s to %s is up already; each set needs its wait",
                          number, cpurt_pipe_name(from), cpurt_pipe_name(to));
    core->flags[from][to] |= bit;
    if (core->check != NULL)
        cpurt_check_flag_set(core, from, to, number);
    atomic_signal_fence(memory_order_seq_cst);
}

/* Only this core sets its flags, and it sets none while it waits: one that is down now stays down. */
void aicore_flag_wait(aicore_pipe_t from, aicore_pipe_t to, uint32_t number)
{
    cpurt_core_t *const core = cpurt_core_needed("aicore_flag_wait");
    const uint8_t bit = (uint8_t)(1u << (number % AICORE_FLAGS));

    check_flag("aicore_flag_wait", from, to, number);
    if ((core->flags[from][to] & bit) == 0)
        cpurt_core_refuse(
            "aicore_flag_wait: nobody has set flag %u from %s to %s, so this would wait for ever", number,
            cpurt_pipe_name(from), cpurt_pipe_name(to));
    core->flags[from][to] &= (uint8_t)~bit;
    if (core->check != NULL)
        cpurt_check_flag_wait(core, from, to, number);
    atomic_signal_fence(memory_order_seq_cst);
}

void aicore_barrier(aicore_pipe_t pipe)
{
    cpurt_core_t *const core = cpurt_core_needed("aicore_barrier");

    if ((uint32_t)pipe > AICORE_PIPE_ALL)
        cpurt_core_refuse("aicore_barrier: there is no pipe %d", (int)pipe);
    if (core->check != NULL && pipe == AICORE_PIPE_ALL) /* a single pipe is in order anyway */
        cpurt_check_barrier(core);
    atomic_signal_fence(memory_order_seq_cst);
}

void cpurt_core_begin_pipes(cpurt_core_t *core)
{
    memset(core->flags, 0, sizeof core->flags);
    core->element = AICORE_PLAIN;
    if (core->check != NULL)
        cpurt_check_begin(core);
}

void cpurt_core_end_pipes(cpurt_core_t *core)
{
    for (uint32_t from = 0; from < AICORE_PIPE_COUNT; from++)
        for (uint32_t to = 0; to < AICORE_PIPE_COUNT; to++)
            if (core->flags[from][to] != 0)
                cpurt_core_refuse(
                    "flag %d from %s to %s is still up at the end of the kernel; each set needs its wait",
                    __builtin_ctz(core->flags[from][to]), names[from], names[to]);
    if (core->check != NULL)
        cpurt_check_end(core);
}
