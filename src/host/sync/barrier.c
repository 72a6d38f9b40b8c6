/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The barrier of all PEs.
 *
 * Two PEs tell each other directly: one line crosses each way. More PEs count up in one word of PE 0 and wait for its
 * round: with more PEs than cores that costs each PE one turn on a core, which is the least a barrier can cost. PEs that
 * share no memory meet over the control plane.
 */
#define LOG_MODULE "sync"
#include "host/sync/sync.h"

#include <inttypes.h>
#include <stdio.h>

static aclshmemi_barrier_t *barrier_of(const aclshmemi_instance_t *in, int pe)
{
    return (aclshmemi_barrier_t *)(void *)(in->space[ACLSHMEMI_SPACE_DEVICE].peers[pe] + in->sync_offset);
}

/* "barrier_all round 7, missing PE 2 (computing for 1.2 s) PE 5 (wait for 0.4 s)" */
static void describe_barrier(const aclshmemi_wait_t *wait, char *out, size_t size)
{
    const aclshmemi_instance_t *in = wait->instance;
    int at = snprintf(out, size, "%s round %" PRIu64 ", missing", aclshmemi_call_name((uint32_t)wait->call),
                      in->barrier_round);
    int missing = 0;
    for (int pe = 0; pe < in->n_pes && at > 0 && (size_t)at < size; pe++) {
        const aclshmemi_activity_t *note = &aclshmemi_control_of(in, pe)->activity;
        if (__atomic_load_n(&note->round, __ATOMIC_RELAXED) >= in->barrier_round)
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

static int wait_for_round(aclshmemi_instance_t *in, const uint64_t *word, aclshmemi_doorbell_t *bell,
                          aclshmemi_call_t call)
{
    int rc = 0;
    aclshmemi_wait_t wait;
    aclshmemi_wait_begin(&wait, in, bell, call, in->env.wait_timeout_ms);
    wait.describe = describe_barrier;
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) < in->barrier_round &&
           (rc = aclshmemi_wait_pause(&wait)) == 0)
        ;
    aclshmemi_wait_end(&wait);
    if (wait.started_ns != 0)
        aclshmemi_activity_set(in, ACLSHMEMI_CALL_NONE);
    return rc;
}

static int barrier_of_two(aclshmemi_instance_t *in, aclshmemi_call_t call)
{
    int partner = 1 - in->pe;
    __atomic_store_n(&barrier_of(in, partner)->pair, in->barrier_round, __ATOMIC_RELEASE);
    aclshmemi_notify(in, partner);
    return wait_for_round(in, &barrier_of(in, in->pe)->pair, &aclshmemi_control_of(in, in->pe)->bell, call);
}

static int barrier_by_count(aclshmemi_instance_t *in, aclshmemi_call_t call)
{
    aclshmemi_barrier_t *root = barrier_of(in, 0);
    uint64_t arrived = __atomic_add_fetch(&root->arrived, 1, __ATOMIC_ACQ_REL);
    if (arrived != in->barrier_round * (uint64_t)in->n_pes)
        return wait_for_round(in, &root->round, &root->bell, call);
    __atomic_store_n(&root->round, in->barrier_round, __ATOMIC_RELEASE);
    /* Sleepers are counted before they look a last time; the fence keeps our look behind our store. */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (__atomic_load_n(&root->bell.sleepers, __ATOMIC_RELAXED) != 0)
        aclshmemi_doorbell_ring(&root->bell);
    return 0;
}

static int barrier_by_control_plane(aclshmemi_instance_t *in, aclshmemi_call_t call)
{
    aclshmemi_fingerprint_t same =
        aclshmemi_fingerprint(aclshmemi_call_name((uint32_t)call), "round", 1, &in->barrier_round);
    return aclshmemi_bootstrap_barrier(&in->bootstrap, &same);
}

int aclshmemi_barrier_all(aclshmemi_instance_t *in, aclshmemi_call_t call)
{
    if (in->barrier_broken)
        return fail(ACLSHMEM_SMEM_ERROR,
                    "%s: an earlier barrier was given up, so PEs are out of step; finalize and start again",
                    aclshmemi_call_name((uint32_t)call));
    in->barrier_round++;
    int rc = 0;
    if (!in->all_mapped || !in->touch) {
        rc = in->n_pes == 1 ? 0 : barrier_by_control_plane(in, call);
    } else {
        __atomic_store_n(&aclshmemi_control_of(in, in->pe)->activity.round, in->barrier_round,
                         __ATOMIC_RELEASE);
        if (in->n_pes == 2)
            rc = barrier_of_two(in, call);
        else if (in->n_pes > 2)
            rc = barrier_by_count(in, call);
    }
    in->barrier_broken = rc != 0;
    return rc;
}
