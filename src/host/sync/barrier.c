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

typedef struct subject {
    const aclshmemi_group_t *group;
} subject_t;

static aclshmemi_barrier_t *barrier_of(const aclshmemi_instance_t *in, const aclshmemi_group_t *group,
                                       int index)
{
    char *base = in->space[ACLSHMEMI_SPACE_DEVICE].peers[aclshmemi_group_pe(group, index)];
    return (aclshmemi_barrier_t *)(void *)(base + group->sync_offset);
}

/* Rounds a member entered, in its own memory, for reports only. */
static uint64_t *entered_by(const aclshmemi_instance_t *in, const aclshmemi_group_t *group, int index)
{
    return &barrier_of(in, group, index)->entered;
}

/* "barrier_all round 7, missing PE 2 (last computing, 1.2 s ago) PE 5 (last wait, 0.4 s ago)" */
static void describe_barrier(const aclshmemi_wait_t *wait, char *out, size_t size)
{
    const aclshmemi_instance_t *in = wait->instance;
    const aclshmemi_group_t *group = ((const subject_t *)wait->subject)->group;
    int at = snprintf(out, size, "%s round %" PRIu64 " of %d PEs, missing",
                      aclshmemi_call_name((uint32_t)wait->call), group->round, group->size);
    int missing = 0;
    for (int i = 0; i < group->size && at > 0 && (size_t)at < size; i++) {
        int pe = aclshmemi_group_pe(group, i);
        const aclshmemi_activity_t *note = &aclshmemi_control_of(in, pe)->activity;
        if (__atomic_load_n(entered_by(in, group, i), __ATOMIC_RELAXED) >= group->round)
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

static int wait_for_round(aclshmemi_instance_t *in, const aclshmemi_group_t *group, const uint64_t *word,
                          aclshmemi_doorbell_t *bell, aclshmemi_call_t call)
{
    int rc = 0;
    subject_t subject = {group};
    aclshmemi_wait_t wait;
    aclshmemi_wait_begin(&wait, in, bell, call, in->env.wait_timeout_ms);
    wait.describe = describe_barrier;
    wait.subject = &subject;
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) < group->round && (rc = aclshmemi_wait_pause(&wait)) == 0)
        ;
    aclshmemi_wait_end(&wait);
    if (wait.started_ns != 0)
        aclshmemi_activity_set(in, ACLSHMEMI_CALL_NONE);
    return rc;
}

static int barrier_of_two(aclshmemi_instance_t *in, const aclshmemi_group_t *group, aclshmemi_call_t call)
{
    int partner = 1 - group->index;
    __atomic_store_n(&barrier_of(in, group, partner)->pair, group->round, __ATOMIC_RELEASE);
    aclshmemi_notify(in, aclshmemi_group_pe(group, partner));
    return wait_for_round(in, group, &barrier_of(in, group, group->index)->pair,
                          &aclshmemi_control_of(in, in->pe)->bell, call);
}

static int barrier_by_count(aclshmemi_instance_t *in, const aclshmemi_group_t *group, aclshmemi_call_t call)
{
    aclshmemi_barrier_t *root = barrier_of(in, group, 0);
    uint64_t arrived = __atomic_add_fetch(&root->arrived, 1, __ATOMIC_ACQ_REL);
    if (arrived != (uint64_t)group->size)
        return wait_for_round(in, group, &root->round, &root->bell, call);
    __atomic_store_n(&root->arrived, 0,
                     __ATOMIC_RELAXED); /* nobody comes again before the round is complete */
    __atomic_store_n(&root->round, group->round, __ATOMIC_RELEASE);
    /* Sleepers are counted before they look a last time; the fence keeps our look behind our store. */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (__atomic_load_n(&root->bell.sleepers, __ATOMIC_RELAXED) != 0)
        aclshmemi_doorbell_ring(&root->bell);
    return 0;
}

static int barrier_by_control_plane(aclshmemi_instance_t *in, const aclshmemi_group_t *group,
                                    aclshmemi_call_t call)
{
    if (group->size != in->n_pes)
        return fail(ACLSHMEM_NOT_SUPPORTED,
                    "%s: a team of %d PEs that do not all share memory is not supported",
                    aclshmemi_call_name((uint32_t)call), group->size);
    aclshmemi_fingerprint_t same =
        aclshmemi_fingerprint(aclshmemi_call_name((uint32_t)call), "round", 1, &group->round);
    return aclshmemi_bootstrap_barrier(&in->bootstrap, &same);
}

uint64_t aclshmemi_barrier_rounds_used(const aclshmemi_instance_t *in, const aclshmemi_group_t *group,
                                       int index)
{
    const aclshmemi_barrier_t *barrier = barrier_of(in, group, index);
    uint64_t round = __atomic_load_n(&barrier->round, __ATOMIC_ACQUIRE);
    uint64_t pair = __atomic_load_n(&barrier->pair, __ATOMIC_ACQUIRE);
    uint64_t entered = __atomic_load_n(&barrier->entered, __ATOMIC_ACQUIRE);
    round = pair > round ? pair : round;
    return entered > round ? entered : round;
}

void aclshmemi_barrier_clear(aclshmemi_instance_t *in, const aclshmemi_group_t *group)
{
    __atomic_store_n(&barrier_of(in, group, group->index)->arrived, 0, __ATOMIC_RELEASE);
}

int aclshmemi_barrier(aclshmemi_instance_t *in, aclshmemi_group_t *group, aclshmemi_call_t call)
{
    if (group->broken)
        return fail(ACLSHMEM_SMEM_ERROR,
                    "%s: an earlier barrier was given up, so PEs are out of step; finalize and start again",
                    aclshmemi_call_name((uint32_t)call));
    group->round++;
    if (group->size == 1)
        return 0;
    int rc;
    if (!group->mapped || !in->touch) {
        rc = barrier_by_control_plane(in, group, call);
    } else {
        __atomic_store_n(entered_by(in, group, group->index), group->round, __ATOMIC_RELAXED);
        rc = group->size == 2 ? barrier_of_two(in, group, call) : barrier_by_count(in, group, call);
    }
    group->broken = rc != 0;
    return rc;
}
