/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The barrier of a group.
 *
 * Two PEs tell each other directly: one line crosses each way. More PEs count up in one word of member 0 and wait for its
 * round: with more PEs than cores that costs each PE one turn on a core, which is the least a barrier can cost. The
 * world meets over the control plane when its PEs do not all share memory.
 */
#define LOG_MODULE "sync"
#include "host/sync/sync.h"

#include <inttypes.h>
#include <stdio.h>

/* One barrier: its words, and where this PE is in it. */
typedef struct site {
    const aclshmemi_group_t *group;
    aclshmemi_lane_index_t index;
    uint64_t round;
    aclshmemi_call_t call;
} site_t;

static aclshmemi_barrier_t *barrier_of(const aclshmemi_instance_t *in, const aclshmemi_group_t *group,
                                       aclshmemi_lane_index_t lane, int member)
{
    char *base = in->space[ACLSHMEMI_SPACE_DEVICE].peers[aclshmemi_group_pe(group, member)];
    return &((aclshmemi_sync_array_t *)(void *)(base + group->sync_offset))->lane[lane];
}

static aclshmemi_barrier_t *words_of(const aclshmemi_instance_t *in, const site_t *site, int member)
{
    return barrier_of(in, site->group, site->index, member);
}

/* "barrier_all round 7, missing PE 2 (last computing, 1.2 s ago) PE 5 (last wait, 0.4 s ago)" */
static void describe_barrier(const aclshmemi_wait_t *wait, char *out, size_t size)
{
    const aclshmemi_instance_t *in = wait->instance;
    const site_t *site = wait->subject;
    int at = snprintf(out, size, "%s round %" PRIu64 " of %d PEs, missing",
                      aclshmemi_call_name((uint32_t)wait->call), site->round, site->group->size);
    int missing = 0;
    for (int i = 0; i < site->group->size && at > 0 && (size_t)at < size; i++) {
        int pe = aclshmemi_group_pe(site->group, i);
        const aclshmemi_activity_t *note = &aclshmemi_control_of(in, pe)->activity;
        if (__atomic_load_n(&words_of(in, site, i)->entered, __ATOMIC_RELAXED) >= site->round)
            continue;
        if (++missing > 8)
            continue;
        uint64_t since = __atomic_load_n(&note->since_ns, __ATOMIC_RELAXED);
        at += snprintf(out + at, size - (size_t)at, " PE %d (last %s, %.1f s ago)", pe,
                       aclshmemi_call_name(__atomic_load_n(&note->call, __ATOMIC_RELAXED)),
                       since == 0 ? 0.0 : (double)(aclshmemi_clock_ns() - since) / 1e9);
    }
    if (missing > 8 && at > 0 && (size_t)at < size)
        snprintf(out + at, size - (size_t)at, " and %d more", missing - 8);
}

static int wait_for_round(aclshmemi_instance_t *in, const site_t *site, const uint64_t *word,
                          aclshmemi_doorbell_t *bell)
{
    int rc = 0;
    aclshmemi_wait_t wait;
    aclshmemi_wait_begin(&wait, in, bell, site->call, in->env.wait_timeout_ms);
    wait.describe = describe_barrier;
    wait.subject = site;
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) < site->round && (rc = aclshmemi_wait_pause(&wait)) == 0)
        ;
    if (wait.started_ns != 0)
        aclshmemi_activity_set(in, ACLSHMEMI_CALL_NONE);
    return rc;
}

static int barrier_of_two(aclshmemi_instance_t *in, const site_t *site)
{
    int partner = 1 - site->group->index;
    __atomic_store_n(&words_of(in, site, partner)->pair, site->round, __ATOMIC_RELEASE);
    aclshmemi_notify(in, aclshmemi_group_pe(site->group, partner));
    return wait_for_round(in, site, &words_of(in, site, site->group->index)->pair,
                          &aclshmemi_control_of(in, in->pe)->bell);
}

static int barrier_by_count(aclshmemi_instance_t *in, const site_t *site)
{
    aclshmemi_barrier_t *root = words_of(in, site, 0);
    uint64_t arrived = __atomic_add_fetch(&root->arrived, 1, __ATOMIC_ACQ_REL);
    if (arrived != (uint64_t)site->group->size)
        return wait_for_round(in, site, &root->round, &root->bell);
    __atomic_store_n(&root->arrived, 0,
                     __ATOMIC_RELAXED); /* nobody comes again before the round is complete */
    __atomic_store_n(&root->round, site->round, __ATOMIC_RELEASE);
    /* A sleeper leaves its mark before it looks a last time; the fence keeps our look behind our store. */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (__atomic_load_n(&root->bell.sleepers, __ATOMIC_RELAXED) != 0)
        aclshmemi_doorbell_ring(&root->bell);
    return 0;
}

static int barrier_by_control_plane(aclshmemi_instance_t *in, const site_t *site)
{
    const char *name = aclshmemi_call_name((uint32_t)site->call);
    if (site->index != ACLSHMEMI_LANE_HOST)
        return fail(ACLSHMEM_NOT_SUPPORTED, "%s: %d PEs that do not all share memory cannot meet on a stream",
                    name, site->group->size);
    if (site->group->size != in->n_pes)
        return fail(ACLSHMEM_NOT_SUPPORTED,
                    "%s: a team of %d PEs that do not all share memory is not supported", name,
                    site->group->size);
    aclshmemi_fingerprint_t same = aclshmemi_fingerprint(name, "round", 1, &site->round);
    return aclshmemi_bootstrap_barrier(&in->bootstrap, &same);
}

int aclshmemi_barrier_in(aclshmemi_instance_t *in, aclshmemi_group_t *group, aclshmemi_lane_index_t index,
                         aclshmemi_call_t call)
{
    aclshmemi_lane_t *lane = &group->lane[index];
    if (__atomic_load_n(&lane->broken, __ATOMIC_RELAXED))
        return fail(ACLSHMEM_SMEM_ERROR,
                    "%s: an earlier barrier was given up, so PEs are out of step; finalize and start again",
                    aclshmemi_call_name((uint32_t)call));
    lane->round++;
    if (group->size == 1)
        return 0;
    site_t site = {group, index, lane->round, call};
    int rc;
    if (!group->mapped || !in->touch) {
        rc = barrier_by_control_plane(in, &site);
    } else {
        __atomic_store_n(&words_of(in, &site, group->index)->entered, lane->round, __ATOMIC_RELAXED);
        rc = group->size == 2 ? barrier_of_two(in, &site) : barrier_by_count(in, &site);
    }
    if (rc != 0)
        __atomic_store_n(&lane->broken, true, __ATOMIC_RELAXED);
    return rc;
}

/* A load and a store, no exchange: threads that collide within nanoseconds are not worth a locked instruction in every
 * barrier. */
int aclshmemi_collective_begin(aclshmemi_group_t *group, const char *call)
{
    if (__builtin_expect(__atomic_load_n(&group->taken, __ATOMIC_ACQUIRE), 0))
        return fail(
            ACLSHMEM_INVALID_PARAM,
            "%s: another thread of this PE is in a collective of the same team of %d PEs; one thread at "
            "a time may call them",
            call, group->size);
    __atomic_store_n(&group->taken, true, __ATOMIC_RELAXED);
    return 0;
}

int aclshmemi_barrier(aclshmemi_instance_t *in, aclshmemi_group_t *group, aclshmemi_call_t call)
{
    TRY(aclshmemi_collective_begin(group, aclshmemi_call_name((uint32_t)call)));
    int rc = aclshmemi_barrier_in(in, group, ACLSHMEMI_LANE_HOST, call);
    aclshmemi_collective_end(group);
    return rc;
}

/* --- Turns of what streams carry out --- */

typedef struct turn {
    const aclshmemi_group_t *group;
    uint64_t wanted;
} turn_t;

static void describe_turn(const aclshmemi_wait_t *wait, char *out, size_t size)
{
    const turn_t *turn = wait->subject;
    snprintf(out, size,
             "%s waits for collective work %" PRIu64
             " of the same %d PEs, which an earlier call put on a stream",
             aclshmemi_call_name((uint32_t)wait->call),
             __atomic_load_n(&turn->group->turn, __ATOMIC_RELAXED) + 1, turn->group->size);
}

static int wait_for_turn(aclshmemi_instance_t *in, const aclshmemi_group_t *group, uint64_t wanted,
                         aclshmemi_call_t call)
{
    int rc = 0;
    turn_t turn = {group, wanted};
    aclshmemi_wait_t wait;
    aclshmemi_wait_begin(&wait, in, in->touch ? &aclshmemi_control_of(in, in->pe)->bell : NULL, call,
                         in->env.wait_timeout_ms);
    wait.describe = describe_turn;
    wait.subject = &turn;
    while (__atomic_load_n(&group->turn, __ATOMIC_ACQUIRE) < wanted &&
           (rc = aclshmemi_wait_pause(&wait)) == 0)
        ;
    return rc;
}

/* Who gives up leaves the order of turns behind for good; what comes after finds the lane broken. */
int aclshmemi_turn_begin(aclshmemi_instance_t *in, aclshmemi_group_t *group, uint64_t ticket,
                         aclshmemi_call_t call)
{
    int rc = wait_for_turn(in, group, ticket, call);
    if (rc != 0)
        __atomic_store_n(&group->lane[ACLSHMEMI_LANE_STREAM].broken, true, __ATOMIC_RELAXED);
    return rc;
}

void aclshmemi_turn_end(aclshmemi_instance_t *in, aclshmemi_group_t *group)
{
    __atomic_add_fetch(&group->turn, 1, __ATOMIC_ACQ_REL);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    aclshmemi_notify(in, in->pe);
}

int aclshmemi_group_settle(aclshmemi_instance_t *in, aclshmemi_group_t *group, aclshmemi_call_t call)
{
    return wait_for_turn(in, group, __atomic_load_n(&group->tickets, __ATOMIC_RELAXED), call);
}

/* --- New groups --- */

static uint64_t rounds_used(const aclshmemi_barrier_t *barrier)
{
    uint64_t round = __atomic_load_n(&barrier->round, __ATOMIC_ACQUIRE);
    uint64_t pair = __atomic_load_n(&barrier->pair, __ATOMIC_ACQUIRE);
    uint64_t entered = __atomic_load_n(&barrier->entered, __ATOMIC_ACQUIRE);
    round = pair > round ? pair : round;
    return entered > round ? entered : round;
}

static aclshmemi_meet_t *meet_of(const aclshmemi_instance_t *in, const aclshmemi_group_t *group,
                                 aclshmemi_meet_index_t index, int member)
{
    char *base = in->space[ACLSHMEMI_SPACE_DEVICE].peers[aclshmemi_group_pe(group, member)];
    return &((aclshmemi_sync_array_t *)(void *)(base + group->sync_offset))->kernel.meet[index];
}

/* Kernels of the members start from one count, too. */
static void join_kernels(aclshmemi_instance_t *in, const aclshmemi_group_t *group)
{
    for (aclshmemi_meet_index_t index = 0; index < ACLSHMEMI_MEET_COUNT; index++) {
        uint64_t highest = 0;
        for (int i = 0; i < group->size; i++) {
            uint64_t reached = __atomic_load_n(&meet_of(in, group, index, i)->reached[0], __ATOMIC_ACQUIRE);
            highest = reached > highest ? reached : highest;
        }
        aclshmemi_meet_t *own = meet_of(in, group, index, group->index);
        for (int round = 0; round < ACLSHMEMI_MEET_ROUNDS; round++)
            __atomic_store_n(&own->reached[round], highest, __ATOMIC_RELEASE);
    }
}

void aclshmemi_group_join(aclshmemi_instance_t *in, aclshmemi_group_t *group)
{
    join_kernels(in, group);
    for (aclshmemi_lane_index_t lane = 0; lane < ACLSHMEMI_LANE_COUNT; lane++) {
        uint64_t *round = &group->lane[lane].round;
        for (int i = 0; i < group->size; i++) {
            uint64_t used = rounds_used(barrier_of(in, group, lane, i));
            *round = used > *round ? used : *round;
        }
        __atomic_store_n(&barrier_of(in, group, lane, group->index)->arrived, 0, __ATOMIC_RELEASE);
    }
}
