/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting inside kernels. Kernels poll; every look comes by here. A waiting core first looks a few times for nothing,
 * then gives its CPU away at each look, and after a millisecond sleeps in growing steps, for there are more cores than
 * CPUs. What it waits for too long ends the launch.
 */
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core_state.h"

#define YIELD_NS      UINT64_C(1000000) /* how long a core yields before it sleeps */
#define FIRST_SLEEP   50u               /* microseconds */
#define LONGEST_SLEEP 1000u
#define BUSY_NS       UINT64_C(5000) /* time between two looks that shows the kernel does other things, too */

static uint32_t free_looks(const cpurt_gang_t *gang)
{
    return gang->threads <= (uint32_t)cpurt_cpus() ? 256 : 8;
}

void cpurt_core_begin_looks(cpurt_core_t *core)
{
    memset(core->looks, 0, sizeof core->looks);
    core->stale = 0;
    core->sleep_us = 0;
    core->last_ns = 0;
    core->waited_ns = 0;
}

static uint64_t load(const volatile void *address, uint32_t bytes)
{
    switch (bytes) {
    case 1:
        return __atomic_load_n((const volatile uint8_t *)address, __ATOMIC_ACQUIRE);
    case 2:
        return __atomic_load_n((const volatile uint16_t *)address, __ATOMIC_ACQUIRE);
    case 4:
        return __atomic_load_n((const volatile uint32_t *)address, __ATOMIC_ACQUIRE);
    default:
        return __atomic_load_n((const volatile uint64_t *)address, __ATOMIC_ACQUIRE);
    }
}

/* Whether the core looks at this word again and finds what it found before. */
static bool nothing_new(cpurt_core_t *core, const volatile void *address, uint64_t value, bool *changed)
{
    const uint64_t hash = ((uint64_t)(uintptr_t)address * UINT64_C(0x9e3779b97f4a7c15)) >> 32;
    const uint32_t set = (uint32_t)hash % CPURT_LOOK_SETS;

    for (uint32_t way = 0; way < CPURT_LOOK_WAYS; way++) {
        cpurt_look_t *const look = &core->looks[set][way];

        if (look->address == address) {
            *changed = look->value != value;
            look->value = value;
            return !*changed;
        }
    }
    core->looks[set][core->next_way[set]++ % CPURT_LOOK_WAYS] = (cpurt_look_t){address, value};
    return false;
}

static void rest(uint64_t waited_ns, uint32_t *sleep_us)
{
    if (waited_ns < YIELD_NS) {
        (void)sched_yield();
        return;
    }
    *sleep_us = *sleep_us == 0 ? FIRST_SLEEP : *sleep_us * 2;
    if (*sleep_us > LONGEST_SLEEP)
        *sleep_us = LONGEST_SLEEP;
    const struct timespec pause = {.tv_nsec = (long)*sleep_us * 1000};
    (void)nanosleep(&pause, NULL);
}

static _Noreturn void too_late(cpurt_core_t *core, uint64_t waited_ns, const volatile void *address,
                               uint32_t bytes)
{
    const cpurt_gang_t *const gang = core->gang;
    char what[96] = "something that did not happen", hint[96] = "";

    if (address != NULL)
        (void)snprintf(what, sizeof what, "the %u-byte word at %p, whose value is %" PRIu64, bytes,
                       (const void *)(uintptr_t)address, load(address, bytes));
    if (gang->contexts > gang->threads)
        (void)snprintf(hint, sizeof hint, "; only %u of its %u cores run at once here", gang->threads,
                       gang->contexts);
    char reason[256];
    (void)snprintf(reason, sizeof reason, "waited %.1f s for %s%s", (double)waited_ns / 1e9, what, hint);
    cpurt_core_fail(core, ACL_ERROR_RT_VECTOR_CORE_TIMEOUT, reason);
}

static void leave_if_stopped(cpurt_core_t *core)
{
    if (atomic_load_explicit(&core->gang->stop, memory_order_relaxed))
        cpurt_core_jump(core);
}

void aicore_poll(const volatile void *address, uint32_t bytes)
{
    cpurt_core_t *const core = cpurt_core_running();
    bool changed = false;

    if (core == NULL) {
        (void)sched_yield();
        return;
    }
    leave_if_stopped(core);
    if (!nothing_new(core, address, load(address, bytes), &changed)) {
        if (changed) {
            core->stale = 0;
            core->sleep_us = 0;
            core->waited_ns = 0;
        }
        return;
    }
    if (core->stale++ == 0) {
        core->last_ns = cpurt_now_ns();
        core->looks_since = 0;
    }
    core->looks_since++;
    if (core->stale <= free_looks(core->gang)) {
        cpurt_relax();
        return;
    }
    const uint64_t now = cpurt_now_ns();
    if (now - core->last_ns > BUSY_NS * core->looks_since) {
        core->stale = 0; /* it computes, and looks at times: let it */
        core->sleep_us = 0;
        return;
    }
    rest(core->waited_ns, &core->sleep_us);
    core->last_ns = cpurt_now_ns();
    core->looks_since = 0;
    core->waited_ns += core->last_ns - now;
    if (core->waited_ns > core->gang->timeout_ns)
        too_late(core, core->waited_ns, address, bytes);
}

void aicore_wait_step(aicore_wait_t *wait, const volatile void *address, uint32_t bytes)
{
    cpurt_core_t *const core = cpurt_core_running();

    if (core == NULL) {
        (void)sched_yield();
        return;
    }
    leave_if_stopped(core);
    if (++wait->looks <= free_looks(core->gang)) {
        cpurt_relax();
        return;
    }
    const uint64_t now = cpurt_now_ns();
    if (wait->start_ns == 0)
        wait->start_ns = now;
    const uint64_t waited_ns = now - wait->start_ns;
    if (waited_ns > core->gang->timeout_ns)
        too_late(core, waited_ns, address, bytes);
    rest(waited_ns, &wait->sleep_us);
}

void aicore_sync_all(void)
{
    cpurt_core_t *const core = cpurt_core_running();

    if (core == NULL)
        return; /* one core, and it is here */
    cpurt_gang_t *const gang = core->gang;
    if (gang->contexts > gang->threads)
        aicore_trap("aicore_sync_all needs all %u cores of the launch at once, and the device has %u",
                    gang->contexts, gang->threads);
    const unsigned int round = atomic_load_explicit(&gang->round, memory_order_acquire);
    if (atomic_fetch_add_explicit(&gang->arrived, 1, memory_order_acq_rel) + 1 == gang->contexts) {
        atomic_store_explicit(&gang->arrived, 0, memory_order_relaxed);
        atomic_store_explicit(&gang->round, round + 1, memory_order_release);
        return;
    }
    aicore_wait_t wait;
    aicore_wait_begin(&wait);
    while (atomic_load_explicit(&gang->round, memory_order_acquire) == round) {
        if (wait.start_ns != 0 && cpurt_now_ns() - wait.start_ns > gang->timeout_ns)
            aicore_trap("waited %.1f s in aicore_sync_all; %u of %u cores have come",
                        (double)gang->timeout_ns / 1e9, atomic_load(&gang->arrived), gang->contexts);
        aicore_wait_step(&wait, NULL, 0);
    }
}
