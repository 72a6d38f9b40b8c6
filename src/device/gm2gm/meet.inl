/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How PEs of a team meet, one core of each: dissemination. In a round of distance d a PE waits until the PEs 1 d, 2 d, ...
 * before it have come to that round; it shows how far it is itself in a line that the others read, and tells those who
 * cannot read it by a signal. Up to 16 members look at all others in one round; above that each looks at 8 per round, and d grows
 * ninefold.
 */
#ifndef ACLSHMEMI_DEVICE_MEET_INL
#define ACLSHMEMI_DEVICE_MEET_INL

#include "device/dispatch.inl"
#include "device/team/team.inl"
#include "device/wait.inl"

/* One meeting, for the loops and for reports. */
typedef struct aclshmemi_meeting {
    const aclshmemi_state_t *state;
    const aclshmemx_team_t *team;
    const char *call;
    aclshmemi_meet_index_t index;
    uint64_t number;  /* of the meeting, the same on all members */
    uint64_t purpose; /* call and a hash of its arguments */
} aclshmemi_meeting_t;

ACLSHMEM_DEVICE const aclshmemx_team_t *aclshmemi_team_needed(const aclshmemi_state_t *state,
                                                              const char *call, aclshmem_team_t team)
{
    const aclshmemx_team_t *record = aclshmemi_team_record(state, team);
    if (record == NULL)
        aclshmemi_port_trap("%s: %d is no team of PE %d", call, team, state->seen.mype);
    return record;
}

ACLSHMEM_DEVICE int aclshmemi_member(const aclshmemx_team_t *team, int index)
{
    return team->start + index * team->stride;
}

/* The words for kernels in the sync array of a team, on this PE. */
ACLSHMEM_DEVICE aclshmemi_kernel_sync_t *aclshmemi_kernel_words(const aclshmemi_state_t *state,
                                                                const aclshmemx_team_t *team)
{
    char *array =
        (char *)state->seen.heap_base + state->sync_offset + (uint64_t)team->team_idx * SYNC_ARRAY_SIZE;
    return &((aclshmemi_sync_array_t *)(void *)array)->kernel;
}

ACLSHMEM_DEVICE aclshmemi_meet_t *aclshmemi_meet_own(const aclshmemi_meeting_t *m)
{
    return &aclshmemi_kernel_words(m->state, m->team)->meet[m->index];
}

/* Where this PE reads what lies on another, NULL when it cannot. Two PEs read each other's or neither does. Tests define
 * ACLSHMEMI_FAR, so that PEs of one host behave as if they were on two. */
ACLSHMEM_DEVICE __gm__ const char *aclshmemi_readable(const aclshmemi_state_t *state,
                                                      const volatile void *address, uint64_t bytes, int pe)
{
#ifdef ACLSHMEMI_FAR
    if (pe != state->seen.mype)
        return NULL;
#endif
    return aclshmemi_mapped(state, address, bytes, pe);
}

/* The words of a member. */
ACLSHMEM_DEVICE const aclshmemi_meet_t *aclshmemi_meet_of(const aclshmemi_meeting_t *m, int member)
{
    return (const aclshmemi_meet_t *)(const void *)aclshmemi_readable(
        m->state, aclshmemi_meet_own(m), sizeof(aclshmemi_meet_t), aclshmemi_member(m->team, member));
}

ACLSHMEM_DEVICE int aclshmemi_meet_before(const aclshmemi_meeting_t *m, uint64_t distance)
{
    uint64_t size = (uint64_t)m->team->size;
    return (int)(((uint64_t)m->team->mype + size - distance % size) % size);
}

/* Whether the member `distance` before this one has come to the round. */
ACLSHMEM_DEVICE bool aclshmemi_meet_has_come(const aclshmemi_meeting_t *m, int round, int step,
                                             uint64_t distance)
{
    const aclshmemi_meet_t *theirs = aclshmemi_meet_of(m, aclshmemi_meet_before(m, distance));
    if (theirs != NULL)
        return __atomic_load_n(&theirs->reached[round], __ATOMIC_ACQUIRE) >= m->number;
    int32_t told = __atomic_load_n(&aclshmemi_meet_own(m)->told[round][step], __ATOMIC_ACQUIRE);
    return (int32_t)((uint32_t)told - (uint32_t)m->number) >= 0;
}

/* "barrier of team 0 on PE 1, meeting 7: missing PE 2 PE 5" */
ACLSHMEM_DEVICE void aclshmemi_meet_print(const aclshmemi_meeting_t *m, char *out, size_t size)
{
    int missing = 0, at = snprintf(out, size, "%s of team %d on PE %d, meeting %llu:", m->call,
                                   m->team->team_idx, m->state->seen.mype, (unsigned long long)m->number);
    bool few = m->team->size <= ACLSHMEMI_MEET_FEW;
    for (int distance = 1; distance < m->team->size && at > 0 && (size_t)at < size; distance++) {
        int member = aclshmemi_meet_before(m, (uint64_t)distance);
        if (!few && aclshmemi_meet_of(m, member) == NULL)
            continue; /* it tells others, not this PE */
        if (aclshmemi_meet_has_come(m, 0, few ? distance : 0, (uint64_t)distance))
            continue;
        if (++missing <= 4)
            at += snprintf(out + at, size - (size_t)at, "%s PE %d", missing == 1 ? " missing" : "",
                           aclshmemi_member(m->team, member));
    }
    if (missing > 4 && at > 0 && (size_t)at < size)
        snprintf(out + at, size - (size_t)at, " and %d more", missing - 4);
    else if (missing == 0 && at > 0 && (size_t)at < size)
        snprintf(out + at, size - (size_t)at, " all have come that this PE can see, others wait");
}

ACLSHMEM_DEVICE void aclshmemi_meet_describe(const aicore_wait_t *wait, char *out, size_t size)
{
    aclshmemi_meet_print((const aclshmemi_meeting_t *)wait->subject, out, size);
}

/* Who came for something else is found out where the line can be read. He cannot be ahead by more than one meeting while
 * we are in this one, so what he said about this one is still there. */
ACLSHMEM_DEVICE void aclshmemi_meet_compare(const aclshmemi_meeting_t *m, uint64_t distance)
{
    int member = aclshmemi_meet_before(m, distance);
    const aclshmemi_meet_t *theirs = aclshmemi_meet_of(m, member);
    if (theirs != NULL && __atomic_load_n(&theirs->purpose[m->number & 1], __ATOMIC_ACQUIRE) != m->purpose)
        aclshmemi_port_trap("%s of team %d on PE %d: PE %d is in another call, or gave other arguments",
                            m->call, m->team->team_idx, m->state->seen.mype,
                            aclshmemi_member(m->team, member));
}

/* Shows the others that this PE has come to the round. */
ACLSHMEM_DEVICE void aclshmemi_meet_show(const aclshmemi_meeting_t *m, int round, int steps, uint64_t unit)
{
    uint64_t size = (uint64_t)m->team->size;
    aclshmemi_meet_t *own = aclshmemi_meet_own(m);
    if (round == 0)
        __atomic_store_n(&own->purpose[m->number & 1], m->purpose, __ATOMIC_RELEASE);
    __atomic_store_n(&own->reached[round], m->number, __ATOMIC_RELEASE);
    /* A sleeper leaves its mark before it looks a last time; the fence keeps our look at marks behind our store. */
    aclshmemi_port_fence();
    for (int step = 1; step <= steps && (uint64_t)step * unit < size; step++) {
        int member = (int)(((uint64_t)m->team->mype + (uint64_t)step * unit) % size);
        int pe = aclshmemi_member(m->team, member);
        if (aclshmemi_meet_of(m, member) != NULL)
            aclshmemi_notify(m->state, pe);
        else
            aclshmemi_signal(m->call, &own->told[round][step], (int32_t)(uint32_t)m->number,
                             ACLSHMEM_SIGNAL_SET, pe);
    }
}

ACLSHMEM_DEVICE void aclshmemi_meet_await(const aclshmemi_meeting_t *m, aicore_wait_t *wait, int round,
                                          int steps, uint64_t unit)
{
    for (int step = 1; step <= steps && (uint64_t)step * unit < (uint64_t)m->team->size; step++) {
        while (!aclshmemi_meet_has_come(m, round, step, (uint64_t)step * unit))
            aclshmemi_port_wait_step(wait, NULL, 0);
        if (round == 0)
            aclshmemi_meet_compare(m, (uint64_t)step * unit);
    }
}

/* The meeting that comes after the last one of this PE. */
ACLSHMEM_DEVICE void aclshmemi_meet_begin(aclshmemi_meeting_t *m, const aclshmemi_state_t *state,
                                          const aclshmemx_team_t *team, const char *call,
                                          aclshmemi_meet_index_t index, uint64_t purpose)
{
    m->state = state;
    m->team = team;
    m->call = call;
    m->index = index;
    m->purpose = purpose;
    m->number = __atomic_load_n(&aclshmemi_meet_own(m)->reached[0], __ATOMIC_RELAXED) + 1;
}

ACLSHMEM_DEVICE void aclshmemi_meet_others(const aclshmemi_meeting_t *m)
{
    int steps =
        m->team->size <= ACLSHMEMI_MEET_FEW ? ACLSHMEMI_MEET_FEW - 1 : ACLSHMEM_BARRIER_TG_DISSEM_KVAL;
    aicore_wait_t wait;
    aclshmemi_wait_start(m->state, &wait, aclshmemi_meet_describe, m);
    uint64_t unit = 1;
    for (int round = 0; unit < (uint64_t)m->team->size; round++, unit *= (uint64_t)steps + 1) {
        aclshmemi_meet_show(m, round, steps, unit);
        aclshmemi_meet_await(m, &wait, round, steps, unit);
    }
    if (m->team->size == 1)
        __atomic_store_n(&aclshmemi_meet_own(m)->reached[0], m->number, __ATOMIC_RELEASE);
}

#endif
