/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checked mode: the life of its state, chance, and reports. Chance depends on the seed, the number of the launch and
 * the core, so that a run of one process can be repeated as far as its threads let it.
 */
#include "check_state.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PAUSES                                                                                               \
    32u /* of a block at most, some milliseconds: a kernel of many small steps should still end soon */

cpurt_check_t *cpurt_check_create(void)
{
    return calloc(1, sizeof(cpurt_check_t));
}

void cpurt_check_destroy(cpurt_check_t *check)
{
    free(check);
}

/* --- Chance --- */

static uint64_t mixed(uint64_t value)
{
    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

uint64_t cpurt_check_random(cpurt_check_t *check)
{
    check->random += UINT64_C(0x9e3779b97f4a7c15);
    return mixed(check->random);
}

uint32_t cpurt_check_below(cpurt_check_t *check, uint32_t bound)
{
    return (uint32_t)((cpurt_check_random(check) >> 32) * bound >> 32);
}

bool cpurt_check_chance(cpurt_check_t *check, uint32_t chances)
{
    return chances != 0 && cpurt_check_below(check, 256) < chances;
}

void cpurt_check_linger(cpurt_check_t *check)
{
    if (check->pauses == 0 || !cpurt_check_chance(check, check->lingers))
        return;
    check->pauses--;
    const struct timespec pause = {.tv_nsec = 100000 + (long)cpurt_check_below(check, 2000000)};
    (void)nanosleep(&pause, NULL);
}

/* --- Around a block --- */

/* Each block has habits: some put everything off as long as they may, some get on now and then. */
void cpurt_check_begin(cpurt_core_t *core)
{
    static const uint32_t early[] = {0, 0, 16, 128}, evictions[] = {0, 0, 4, 64};
    static const uint32_t lingers[] = {0, 16, 64, 128};
    cpurt_check_t *const check = core->check;

    check->random = mixed(cpurt_config()->check_seed) ^ mixed((uint64_t)core->seen.launch << 32) ^
                    mixed((uint64_t)core->seen.block * 2 + core->seen.sub + 1);
    check->early = early[cpurt_check_below(check, 4)];
    check->evictions = evictions[cpurt_check_below(check, 4)];
    check->lingers = lingers[cpurt_check_below(check, 4)];
    check->pauses = PAUSES;
    check->straight = cpurt_check_chance(check, 128);
    check->polls = 0;
    check->in.first = check->in.count = check->out.first = check->out.count = 0;
    memset(check->up, 0, sizeof check->up);
    cpurt_order_begin(check);
    cpurt_lines_begin(check);
    memset(core->seen.ub, (int)cpurt_check_below(check, 255) + 1, core->seen.ub_bytes);
    cpurt_check_linger(check); /* cores need not start together */
}

void cpurt_check_end(cpurt_core_t *core)
{
    cpurt_check_dawdle(core);
    cpurt_check_drain(core);
    cpurt_lines_end(core);
}

void cpurt_check_report(const cpurt_core_t *core, const char *format, ...)
{
    char reason[320], words[280] = "";
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    (void)snprintf(reason, sizeof reason, "%s [seed %" PRIu64 "]", words, cpurt_config()->check_seed);
    cpurt_core_fail((cpurt_core_t *)(uintptr_t)core, ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, reason);
}
