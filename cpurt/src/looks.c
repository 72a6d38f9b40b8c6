/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting inside kernels. Kernels poll; every look comes by here. A waiting core first looks a few times for nothing,
 * then gives its CPU away at each look, and after a millisecond sleeps in growing steps, for there are more cores than
 * CPUs. What it waits for too long ends the launch.
 */
#include <inttypes.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "trace.h"
#include "word.h"

#define YIELD_NS           UINT64_C(1000000) /* how long a core yields before it sleeps */
#define BELL_YIELD_NS      UINT64_C(50000) /* the same where somebody wakes it: whoever yields comes last of all */
#define FIRST_SLEEP        50u             /* microseconds */
#define LONGEST_SLEEP      1000u
#define DEFAULT_TIMEOUT_NS UINT64_C(60000000000)
#define BUSY_NS            UINT64_C(5000) /* time between two looks that shows the kernel does other things, too */

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

static struct timespec next_pause(uint32_t *sleep_us)
{
    *sleep_us = *sleep_us == 0 ? FIRST_SLEEP : *sleep_us * 2;
    if (*sleep_us > LONGEST_SLEEP)
        *sleep_us = LONGEST_SLEEP;
    return (struct timespec){.tv_nsec = (long)*sleep_us * 1000};
}

static void rest(uint64_t waited_ns, uint32_t *sleep_us)
{
    if (waited_ns < YIELD_NS) {
        (void)sched_yield();
        return;
    }
    const struct timespec pause = next_pause(sleep_us);
    (void)nanosleep(&pause, NULL);
}

/* Leaves the mark and returns for one more look, so that who writes after that look finds the mark. A plain store rings
 * nothing, so the sleep is bounded all the same. */
static void rest_on_bell(aicore_wait_t *wait)
{
    aicore_doorbell_t *const bell = wait->bell;

    if (wait->armed) {
        const struct timespec pause = next_pause(&wait->sleep_us);
        (void)syscall(SYS_futex, &bell->value, FUTEX_WAIT, wait->rings_seen, &pause, NULL, 0);
    }
    wait->armed = 1;
    wait->rings_seen = __atomic_load_n(&bell->value, __ATOMIC_ACQUIRE);
    __atomic_store_n(&bell->sleepers, 1, __ATOMIC_SEQ_CST);
}

static _Noreturn void too_late(const cpurt_gang_t *gang, uint64_t waited_ns, const char *what)
{
    char hint[96] = "", reason[256];

    if (gang == NULL)
        aicore_trap("waited %.1f s for %s", (double)waited_ns / 1e9,
                    what); /* on a thread that runs no kernel */
    if (gang->contexts > gang->threads)
        (void)snprintf(hint, sizeof hint, "; only %u of its %u cores run at once here", gang->threads,
                       gang->contexts);
    (void)snprintf(reason, sizeof reason, "waited %.1f s for %s%s", (double)waited_ns / 1e9, what, hint);
    cpurt_core_fail(cpurt_core_running(), ACL_ERROR_RT_VECTOR_CORE_TIMEOUT, reason);
}

static void describe_word(const volatile void *address, uint32_t bytes, char *out, size_t size)
{
    if (address == NULL)
        (void)snprintf(out, size, "something that did not happen");
    else
        (void)snprintf(out, size, "the %u-byte word at %p, whose value is %" PRIu64, bytes,
                       (const void *)(uintptr_t)address, cpurt_word_load(address, bytes));
}

static void leave_if_stopped(cpurt_core_t *core)
{
    if (atomic_load_explicit(&core->gang->stop, memory_order_relaxed))
        cpurt_core_jump(core);
}

/* A loop that has seen what it waited for does not come by again to say so: its wait ends where it rested last. */
void cpurt_core_end_wait(cpurt_core_t *core)
{
    const uint64_t from_ns = core->wait_from_ns;

    if (from_ns == 0)
        return;
    core->wait_from_ns = 0;
    if (core->wait_to_ns - from_ns >= CPURT_TRACE_WAIT_NS)
        cpurt_trace_span(
            from_ns,
            &(cpurt_span_t){.category = "wait", .name = "wait for a word", .end_ns = core->wait_to_ns});
}

static void note_wait(cpurt_core_t *core, uint64_t from_ns)
{
    if (core->wait_from_ns == 0)
        core->wait_from_ns = from_ns;
    core->wait_to_ns = cpurt_now_ns();
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
    if (core->check != NULL)
        cpurt_check_progress(core);
    if (!nothing_new(core, address, cpurt_word_load(address, bytes), &changed)) {
        cpurt_core_end_wait(core);
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
        cpurt_core_end_wait(core);
        core->stale = 0; /* it computes, and looks at times: let it */
        core->sleep_us = 0;
        return;
    }
    rest(core->waited_ns, &core->sleep_us);
    core->last_ns = cpurt_now_ns();
    core->looks_since = 0;
    core->waited_ns += core->last_ns - now;
    if (cpurt_tracing())
        note_wait(core, now);
    if (core->waited_ns > core->gang->timeout_ns) {
        char what[96];

        describe_word(address, bytes, what, sizeof what);
        too_late(core->gang, core->waited_ns, what);
    }
}

static _Noreturn void give_up(const aicore_wait_t *wait, const cpurt_gang_t *gang, uint64_t waited_ns,
                              const volatile void *address, uint32_t bytes)
{
    char what[160] = "";

    if (wait->describe != NULL)
        wait->describe(wait, what, sizeof what);
    else
        describe_word(address, bytes, what, sizeof what);
    too_late(gang, waited_ns, what);
}

static uint64_t longest_wait_ns(const aicore_wait_t *wait, const cpurt_gang_t *gang)
{
    uint64_t limit = gang != NULL ? gang->timeout_ns : cpurt_config()->kernel_timeout_ns;

    if (limit == 0) /* nobody has read the settings yet */
        limit = DEFAULT_TIMEOUT_NS;
    return wait->timeout_ns != 0 && wait->timeout_ns < limit ? wait->timeout_ns : limit;
}

void aicore_wait_step(aicore_wait_t *wait, const volatile void *address, uint32_t bytes)
{
    cpurt_core_t *const core = cpurt_core_running();
    const cpurt_gang_t *const gang = core != NULL ? core->gang : NULL;

    if (core != NULL) {
        leave_if_stopped(core);
        if (core->check != NULL)
            cpurt_check_progress(core);
        if (wait->looks == 0)
            cpurt_core_end_wait(core); /* the one before */
    }
    if (++wait->looks <= (gang != NULL ? free_looks(gang) : 1)) {
        cpurt_relax();
        return;
    }
    const uint64_t now = cpurt_now_ns();
    if (wait->start_ns == 0)
        wait->start_ns = now;
    const uint64_t waited_ns = now - wait->start_ns;
    if (waited_ns > longest_wait_ns(wait, gang))
        give_up(wait, gang, waited_ns, address, bytes);
    if (wait->bell != NULL && waited_ns >= BELL_YIELD_NS)
        rest_on_bell(wait);
    else
        rest(waited_ns, &wait->sleep_us);
    if (core != NULL && cpurt_tracing())
        note_wait(core, wait->start_ns);
}

static void describe_meeting(const aicore_wait_t *wait, char *out, size_t size)
{
    const cpurt_gang_t *const gang = wait->subject;

    (void)snprintf(out, size, "aicore_sync_all; %u of %u cores have come", atomic_load(&gang->arrived),
                   gang->contexts);
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
    if (core->check != NULL)
        cpurt_check_barrier(core); /* pipes come to rest before cores meet */
    const unsigned int round = atomic_load_explicit(&gang->round, memory_order_acquire);
    if (atomic_fetch_add_explicit(&gang->arrived, 1, memory_order_acq_rel) + 1 == gang->contexts) {
        atomic_store_explicit(&gang->arrived, 0, memory_order_relaxed);
        atomic_store_explicit(&gang->round, round + 1, memory_order_release);
        return;
    }
    aicore_wait_t wait;
    aicore_wait_begin(&wait);
    wait.describe = describe_meeting;
    wait.subject = gang;
    const uint64_t begin_ns = cpurt_trace_begin();
    while (atomic_load_explicit(&gang->round, memory_order_acquire) == round)
        aicore_wait_step(&wait, NULL, 0);
    cpurt_trace_wait(begin_ns, "aicore_sync_all");
    core->wait_from_ns = 0; /* that was it */
}
