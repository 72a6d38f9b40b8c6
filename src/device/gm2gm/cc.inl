/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bodies of barrier and sync. The cores of a launch count up in a word of their own PE; the last one to come meets the
 * other PEs and then lets the cores go. So a barrier costs each core one turn on a processor, however many more cores than
 * processors there are.
 */
#ifndef ACLSHMEMI_DEVICE_CC_INL
#define ACLSHMEMI_DEVICE_CC_INL

#include "device/gm2gm/meet.inl"

#define ACLSHMEMI_PURPOSE_BARRIER UINT64_C(1)

/* A core that waits for the last one of its launch, and for what that one waits for. */
typedef struct aclshmemi_gathering {
    const aclshmemi_meeting_t *meeting;
    const aclshmemi_kernel_sync_t *words;
    uint32_t cores;
} aclshmemi_gathering_t;

ACLSHMEM_DEVICE void aclshmemi_gathering_describe(const aicore_wait_t *wait, char *out, size_t size)
{
    const aclshmemi_gathering_t *gathering = (const aclshmemi_gathering_t *)wait->subject;
    const aclshmemi_meeting_t *m = gathering->meeting;
    uint32_t arrived = __atomic_load_n(&gathering->words->arrived, __ATOMIC_RELAXED);
    if (arrived == gathering->cores)
        aclshmemi_meet_print(m, out, size);
    else
        snprintf(out, size, "%s of team %d on PE %d: %u of %u cores of this launch have come", m->call,
                 m->team->team_idx, m->state->seen.mype, arrived, gathering->cores);
}

/* Another launch that is inside a barrier of the team, or was when it failed, would count our cores as its own. */
ACLSHMEM_DEVICE void aclshmemi_gathering_enter(const aclshmemi_meeting_t *m, aclshmemi_kernel_sync_t *words)
{
    uint32_t launch = aclshmemi_port_self()->launch, inside = 0;
    launch = launch != 0 ? launch : UINT32_MAX; /* a thread of the host */
    if (!__atomic_compare_exchange_n(&words->launch, &inside, launch, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE) &&
        inside != launch)
        aclshmemi_port_trap(
            "%s of team %d on PE %d: another launch is inside a barrier of that team, or failed inside one",
            m->call, m->team->team_idx, m->state->seen.mype);
}

/* All cores of the launch and all members meet. */
ACLSHMEM_DEVICE void aclshmemi_gather(const aclshmemi_state_t *state, const aclshmemx_team_t *team,
                                      const char *call, uint64_t purpose)
{
    aclshmemi_kernel_sync_t *words = aclshmemi_kernel_words(state, team);
    aclshmemi_meeting_t m;
    uint64_t released = __atomic_load_n(&words->released, __ATOMIC_ACQUIRE);
    aclshmemi_meet_begin(&m, state, team, call, ACLSHMEMI_MEET_LAUNCHES, purpose);
    aclshmemi_gathering_enter(&m, words);
    aclshmemi_gathering_t gathering;
    gathering.meeting = &m;
    gathering.words = words;
    gathering.cores = aclshmemi_port_cores();
    if (__atomic_add_fetch(&words->arrived, 1, __ATOMIC_ACQ_REL) == gathering.cores) {
        aclshmemi_meet_others(&m);
        __atomic_store_n(&words->arrived, 0, __ATOMIC_RELAXED); /* nobody comes again before the release */
        __atomic_store_n(&words->launch, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&words->released, released + 1, __ATOMIC_RELEASE);
        aclshmemi_port_fence();
        aclshmemi_notify(state, state->seen.mype);
        return;
    }
    aicore_wait_t wait;
    aclshmemi_wait_start(state, &wait, aclshmemi_gathering_describe, &gathering);
    while (__atomic_load_n(&words->released, __ATOMIC_ACQUIRE) == released)
        aclshmemi_port_wait_step(&wait, NULL, 0);
}

ACLSHMEM_DEVICE void aclshmemi_barrier_call(const char *call, aclshmem_team_t team, bool complete)
{
    if (team == ACLSHMEM_TEAM_INVALID)
        return;
    const aclshmemi_state_t *state = aclshmemi_state(call);
    const aclshmemx_team_t *record = aclshmemi_team_needed(state, call, team);
    if (complete)
        aclshmemi_quiet_core(call);
    else
        aclshmemi_port_cache_all(); /* what the core stored itself */
    aclshmemi_gather(state, record, call, ACLSHMEMI_PURPOSE_BARRIER);
    aclshmemi_port_cache_all(); /* what it loads from now on is new */
}

ACLSHMEM_DEVICE void aclshmem_barrier(aclshmem_team_t team)
{
    aclshmemi_barrier_call("barrier", team, true);
}

ACLSHMEM_DEVICE void aclshmem_barrier_all(void)
{
    aclshmemi_barrier_call("barrier_all", ACLSHMEM_TEAM_WORLD, true);
}

ACLSHMEM_DEVICE void aclshmemx_barrier_vec(aclshmem_team_t team)
{
    aclshmemi_barrier_call("barrier_vec", team, true);
}

ACLSHMEM_DEVICE void aclshmemx_barrier_all_vec(void)
{
    aclshmemi_barrier_call("barrier_all_vec", ACLSHMEM_TEAM_WORLD, true);
}

ACLSHMEM_DEVICE void aclshmem_sync(aclshmem_team_t team)
{
    aclshmemi_barrier_call("sync", team, false);
}

ACLSHMEM_DEVICE void aclshmem_sync_all(void)
{
    aclshmemi_barrier_call("sync_all", ACLSHMEM_TEAM_WORLD, false);
}

ACLSHMEM_DEVICE void util_set_ffts_config(uint64_t config)
{
    (void)config;
}

#endif
