/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The barrier of a group, and the exchange, which is a barrier where every member brings a message.
 *
 * Two PEs tell each other directly, in one line, with what there is to say. More PEs count up in one word of
 * member 0 and wait for its round: with more PEs than cores that costs each PE one turn on a core, which is the least a barrier
 * can cost. The world meets over the control plane when its PEs do not all share memory.
 */
#define LOG_MODULE "sync"
#include "host/sync/sync.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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

static bool complete(const uint64_t *word, const site_t *site)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE) >= site->round;
}

static int wait_long(aclshmemi_instance_t *in, const site_t *site, const uint64_t *word,
                     aclshmemi_doorbell_t *bell)
{
    int rc = 0;
    aclshmemi_wait_t wait;
    aclshmemi_wait_begin(&wait, in, bell, site->call, in->env.wait_timeout_ms);
    wait.describe = describe_barrier;
    wait.subject = site;
    wait.turns = ACLSHMEMI_SPINS; /* it has spun */
    while (!complete(word, site) && (rc = aclshmemi_wait_pause(&wait)) == 0)
        ;
    if (wait.started_ns != 0)
        aclshmemi_activity_set(in, ACLSHMEMI_CALL_NONE);
    return rc;
}

static inline int wait_for_round(aclshmemi_instance_t *in, const site_t *site, const uint64_t *word,
                                 aclshmemi_doorbell_t *bell)
{
    for (int left = in->may_spin ? ACLSHMEMI_SPINS : 1; left > 0; left--) {
        if (__builtin_expect(complete(word, site), 0))
            return 0;
        aclshmemi_cpu_relax();
    }
    return wait_long(in, site, word, bell);
}

static aclshmemi_message_t *message_of(const aclshmemi_instance_t *in, const site_t *site)
{
    return &words_of(in, site, site->group->index)->message[site->round % 2];
}

/*
 * A partner that sleeps set its mark before its last look; the fence keeps our look at the mark behind our store, so one
 * of the two sees the other. A PE that may spin does without: its partner sleeps only after it waited for far
 * longer than a barrier takes, and then at most for the short time that bounds every sleep.
 */
static inline void come(const aclshmemi_instance_t *in, const site_t *site, const aclshmemi_lane_t *lane)
{
    __atomic_store_n(&lane->pair->side[site->group->index].round, site->round, __ATOMIC_RELEASE);
    if (!in->may_spin)
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (__builtin_expect(__atomic_load_n(&lane->other->sleepers, __ATOMIC_RELAXED) != 0, 0))
        aclshmemi_doorbell_ring(lane->other);
}

static int barrier_of_two(aclshmemi_instance_t *in, const site_t *site, aclshmemi_lane_t *lane)
{
    come(in, site, lane);
    return wait_for_round(in, site, &lane->pair->side[1 - site->group->index].round,
                          &aclshmemi_control_of(in, in->pe)->bell);
}

/* The same with what the two say. It is taken out of the line at once: the other one may be on its way to the next round, and to
 * come back for it would fetch the line once more. */
static int exchange_of_two(aclshmemi_instance_t *in, const site_t *site, aclshmemi_lane_t *lane,
                           const aclshmemi_message_t *bring, size_t bytes)
{
    int index = site->group->index, slot = (int)(site->round % 2);
    aclshmemi_pair_side_t *mine = &lane->pair->side[index], *theirs = &lane->pair->side[1 - index];
    uint64_t word;
    memcpy(&word, bring->data, sizeof word);
    if (bytes > ACLSHMEMI_WORD_BYTES)
        *message_of(in, site) = *bring;
    mine->hash[slot] = (uint32_t)bring->hash;
    mine->word[slot] = word;
    come(in, site, lane);
    lane->said_hash[index] = (uint32_t)bring->hash;
    lane->said_word[index] = word;
    TRY(wait_for_round(in, site, &theirs->round, &aclshmemi_control_of(in, in->pe)->bell));
    lane->said_hash[1 - index] = __atomic_load_n(&theirs->hash[slot], __ATOMIC_RELAXED);
    lane->said_word[1 - index] = __atomic_load_n(&theirs->word[slot], __ATOMIC_RELAXED);
    return 0;
}

static int barrier_by_count(aclshmemi_instance_t *in, const site_t *site, const aclshmemi_message_t *bring)
{
    aclshmemi_barrier_t *root = words_of(in, site, 0);
    if (bring != NULL)
        *message_of(in, site) = *bring;
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

/* The addresses that every barrier of the lane needs. */
static void find_words(const aclshmemi_instance_t *in, const aclshmemi_group_t *group,
                       aclshmemi_lane_index_t index, aclshmemi_lane_t *lane)
{
    lane->words = barrier_of(in, group, index, group->index);
    if (group->size != 2)
        return;
    lane->pair = &barrier_of(in, group, index, 0)->pair;
    lane->other = &aclshmemi_control_of(in, aclshmemi_group_pe(group, 1 - group->index))->bell;
}

static int meet(aclshmemi_instance_t *in, aclshmemi_group_t *group, aclshmemi_lane_index_t index,
                aclshmemi_call_t call, const aclshmemi_message_t *bring, size_t bytes)
{
    aclshmemi_lane_t *lane = &group->lane[index];
    if (__builtin_expect(__atomic_load_n(&lane->broken, __ATOMIC_RELAXED), 0))
        return fail(ACLSHMEM_SMEM_ERROR,
                    "%s: an earlier barrier was given up, so PEs are out of step; finalize and start again",
                    aclshmemi_call_name((uint32_t)call));
    lane->round++;
    if (group->size == 1)
        return 0;
    site_t site = {group, index, lane->round, call};
    int rc;
    if (__builtin_expect(!group->mapped || !in->touch, 0)) {
        rc = barrier_by_control_plane(in, &site);
    } else {
        if (__builtin_expect(lane->words == NULL, 0))
            find_words(in, group, index, lane);
        __atomic_store_n(&lane->words->entered, lane->round, __ATOMIC_RELAXED);
        if (lane->pair == NULL)
            rc = barrier_by_count(in, &site, bring);
        else if (bring == NULL)
            rc = barrier_of_two(in, &site, lane);
        else
            rc = exchange_of_two(in, &site, lane, bring, bytes);
    }
    if (__builtin_expect(rc != 0, 0))
        __atomic_store_n(&lane->broken, true, __ATOMIC_RELAXED);
    return rc;
}

int aclshmemi_collective_taken(const aclshmemi_group_t *group, const char *call)
{
    return fail(ACLSHMEM_INVALID_PARAM,
                "%s: another thread of this PE is in a collective of the same team of %d PEs; one thread at "
                "a time may call them",
                call, group->size);
}

int aclshmemi_barrier_in(aclshmemi_instance_t *in, aclshmemi_group_t *group, aclshmemi_lane_index_t index,
                         aclshmemi_call_t call)
{
    return meet(in, group, index, call, NULL, 0);
}

int aclshmemi_barrier(aclshmemi_instance_t *in, aclshmemi_group_t *group, aclshmemi_call_t call)
{
    if (__builtin_expect(!aclshmemi_collective_enter(group), 0))
        return aclshmemi_collective_taken(group, aclshmemi_call_name((uint32_t)call));
    int rc = meet(in, group, ACLSHMEMI_LANE_HOST, call, NULL, 0);
    aclshmemi_collective_end(group);
    return rc;
}

int aclshmemi_exchange(aclshmemi_instance_t *in, aclshmemi_group_t *group, aclshmemi_lane_index_t lane,
                       aclshmemi_call_t call, const aclshmemi_message_t *bring, size_t bytes)
{
    return meet(in, group, lane, call, bring, bytes);
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
    uint64_t entered = __atomic_load_n(&barrier->entered, __ATOMIC_ACQUIRE);
    for (int i = 0; i < 2; i++) {
        uint64_t told = __atomic_load_n(&barrier->pair.side[i].round, __ATOMIC_ACQUIRE);
        round = told > round ? told : round;
    }
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
