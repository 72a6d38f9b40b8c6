/* SPDX-License-Identifier: Apache-2.0 */
/* The adaptive wait: spin, give way, sleep on a doorbell; deadlines, dead peers and reports on the way. */
#define LOG_MODULE "sync"
#include "host/sync/sync.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    YIELD_NS = 100 * 1000, /* the core is given away for this long before sleeping pays */
    FIRST_SLEEP_NS = 50 * 1000,
    LONGEST_SLEEP_NS = 1000 * 1000 /* bounds how late a store that rings no bell is seen */
};

void aclshmemi_doorbell_ring(aclshmemi_doorbell_t *bell)
{
    /* Who takes the mark away rings; writers that come before the sleeper is back have nothing to do. */
    if (__atomic_exchange_n(&bell->sleepers, 0, __ATOMIC_ACQ_REL) == 0)
        return;
    __atomic_fetch_add(&bell->rings, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &bell->rings, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

/* Leaves a mark and returns for one more look, so that a writer that comes after the look finds the mark. */
static void sleep_on_bell(aclshmemi_wait_t *wait)
{
    aclshmemi_doorbell_t *bell = wait->bell;
    if (wait->armed) {
        struct timespec limit = {.tv_nsec = (long)wait->sleep_ns};
        /* Any return is a reason to look again: a ring, the time-out, an interruption. */
        syscall(SYS_futex, &bell->rings, FUTEX_WAIT, wait->rings_seen, &limit, NULL, 0);
        wait->sleep_ns = wait->sleep_ns * 2 > LONGEST_SLEEP_NS ? LONGEST_SLEEP_NS : wait->sleep_ns * 2;
    }
    /* The count of rings first: a writer that takes our mark away afterwards changes it, and the next sleep ends at once. */
    wait->armed = true;
    wait->rings_seen = __atomic_load_n(&bell->rings, __ATOMIC_ACQUIRE);
    __atomic_store_n(&bell->sleepers, 1, __ATOMIC_SEQ_CST);
}

static void sleep_by_clock(aclshmemi_wait_t *wait)
{
    struct timespec nap = {.tv_nsec = (long)wait->sleep_ns};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
    wait->sleep_ns = wait->sleep_ns * 2 > LONGEST_SLEEP_NS ? LONGEST_SLEEP_NS : wait->sleep_ns * 2;
}

static void describe(const aclshmemi_wait_t *wait, char *out, size_t size)
{
    if (wait->describe != NULL)
        wait->describe(wait, out, size);
    else
        snprintf(out, size, "%s", aclshmemi_call_name((uint32_t)wait->call));
}

static void report(aclshmemi_wait_t *wait, uint64_t now)
{
    char text[512];
    describe(wait, text, sizeof text);
    log_info("waiting for %.1f s: %s", (double)(now - wait->started_ns) / 1e9, text);
    wait->report_gap_ns *= 2;
    wait->report_ns = now + wait->report_gap_ns;
}

static void start_clock(aclshmemi_wait_t *wait, uint64_t now)
{
    const aclshmemi_env_t *env = &wait->instance->env;
    wait->started_ns = now;
    wait->sleep_ns = FIRST_SLEEP_NS;
    wait->report_gap_ns = env->wait_report_ms * ACLSHMEMI_NS_PER_MS;
    wait->report_ns = wait->report_gap_ns == 0 ? ACLSHMEMI_NEVER : now + wait->report_gap_ns;
    aclshmemi_activity_set(wait->instance, wait->call);
}

void aclshmemi_await_end(const aclshmemi_instance_t *in)
{
    enum { NAPS = 500, NAP_NS = 10 * 1000 * 1000, STOP = 0 };
    struct timespec nap = {.tv_nsec = NAP_NS};
    if (atomic_load(&in->bootstrap.failed_pe) < 0 || in->env.on_peer_death != STOP ||
        in->status != ACLSHMEM_STATUS_IS_INITIALIZED)
        return;
    for (int i = 0; i < NAPS; i++)
        clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
}

static int look_around(aclshmemi_wait_t *wait, uint64_t now)
{
    char text[512];
    int dead = atomic_load_explicit(&wait->instance->bootstrap.failed_pe, memory_order_relaxed);
    if (dead >= 0) {
        aclshmemi_await_end(wait->instance);
        describe(wait, text, sizeof text);
        return fail(ACLSHMEM_SMEM_ERROR, "PE %d died; given up: %s", dead, text);
    }
    if (atomic_load_explicit(&wait->instance->streams.closing, memory_order_relaxed)) {
        describe(wait, text, sizeof text);
        return fail(ACLSHMEM_NOT_INITED, "given up because the instance is being finalized: %s", text);
    }
    if ((now - wait->started_ns) / ACLSHMEMI_NS_PER_MS >= wait->timeout_ms) {
        describe(wait, text, sizeof text);
        return fail(ACLSHMEM_TIMEOUT_ERROR,
                    "given up after %.3g s (SHMEM_WAIT_TIMEOUT or the time-out of the call): %s",
                    (double)(now - wait->started_ns) / 1e9, text);
    }
    if (now >= wait->report_ns)
        report(wait, now);
    return 0;
}

int aclshmemi_wait_pause(aclshmemi_wait_t *wait)
{
    if (wait->instance->may_spin && wait->turns < ACLSHMEMI_SPINS) {
        wait->turns++;
        aclshmemi_cpu_relax();
        return 0;
    }
    uint64_t now = aclshmemi_clock_ns();
    if (wait->started_ns == 0)
        start_clock(wait, now);
    TRY(look_around(wait, now));
    if (now - wait->started_ns < YIELD_NS)
        sched_yield();
    else if (wait->bell != NULL)
        sleep_on_bell(wait);
    else
        sleep_by_clock(wait);
    return 0;
}

const char *aclshmemi_call_name(uint32_t call)
{
    static const char *const names[ACLSHMEMI_CALL_COUNT] = {[ACLSHMEMI_CALL_NONE] = "computing",
                                                            [ACLSHMEMI_CALL_INIT] = "init",
                                                            [ACLSHMEMI_CALL_BARRIER] = "barrier_all",
                                                            [ACLSHMEMI_CALL_SYNC] = "sync_all",
                                                            [ACLSHMEMI_CALL_WAIT] = "wait",
                                                            [ACLSHMEMI_CALL_MALLOC] = "malloc",
                                                            [ACLSHMEMI_CALL_FREE] = "free",
                                                            [ACLSHMEMI_CALL_FINALIZE] = "finalize",
                                                            [ACLSHMEMI_CALL_SPLIT] = "team split or destroy",
                                                            [ACLSHMEMI_CALL_COLLECTIVE] = "collective",
                                                            [ACLSHMEMI_CALL_STREAM_BARRIER] =
                                                                "barrier_on_stream"};
    return call < ACLSHMEMI_CALL_COUNT ? names[call] : "an unknown call";
}

/* What the calling thread does from call to call of the next function, as a span of the timeline; what happens inside of
 * it (the barrier of an allocation) is a part of it. */
static void trace_activity(const aclshmemi_instance_t *in, aclshmemi_call_t call)
{
    static _Thread_local uint64_t begin;
    static _Thread_local aclshmemi_call_t current;

    if (call == ACLSHMEMI_CALL_NONE) {
        npu_trace_end(begin, aclshmemi_call_name((uint32_t)current), "pe", (uint64_t)in->pe);
        begin = 0;
    } else if (begin == 0) {
        begin = npu_trace_begin();
        current = call;
    }
}

void aclshmemi_activity_set(aclshmemi_instance_t *in, aclshmemi_call_t call)
{
    trace_activity(in, call);
    if (!in->touch || in->space[ACLSHMEMI_SPACE_DEVICE].base == NULL || in->control_offset == 0)
        return;
    aclshmemi_activity_t *note = &aclshmemi_control_of(in, in->pe)->activity;
    __atomic_store_n(&note->since_ns, aclshmemi_clock_ns(), __ATOMIC_RELAXED);
    __atomic_store_n(&note->call, (uint32_t)call, __ATOMIC_RELAXED);
}
