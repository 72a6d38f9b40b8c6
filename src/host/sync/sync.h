/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting for peers, and barriers. The door of this folder.
 *
 * Every wait of the host goes through one primitive with three stages: spin for a few microseconds while the PEs of this
 * host fit its cores, give the core away, and when that lasts, sleep on a doorbell with a time-out that doubles up to a
 * millisecond (a plain store by a user rings no bell). It notices deadlines and dead PEs, and says now and then who is
 * missing.
 *
 *     aclshmemi_wait_t wait;
 *     aclshmemi_wait_begin(&wait, instance, bell, ACLSHMEMI_CALL_WAIT, timeout_ms);
 *     while (!(condition) && (rc = aclshmemi_wait_pause(&wait)) == 0)
 *         ;
 *     aclshmemi_wait_end(&wait);
 */
#ifndef ACLSHMEMI_SYNC_H
#define ACLSHMEMI_SYNC_H

#include "host/instance.h"
#include "host/utils/clock.h"

typedef struct aclshmemi_wait aclshmemi_wait_t;

/* Describes the wait for reports: what for, and who is missing. */
typedef void aclshmemi_wait_describe_t(const aclshmemi_wait_t *wait, char *out, size_t size);

struct aclshmemi_wait {
    aclshmemi_instance_t *instance;
    aclshmemi_doorbell_t *bell; /* NULL: memory the host cannot touch, sleeps by the clock alone */
    aclshmemi_call_t call;
    uint64_t timeout_ms;
    aclshmemi_wait_describe_t *describe;
    const void *subject; /* for describe */
    uint32_t turns;      /* pauses so far */
    uint32_t rings_seen;
    bool registered;     /* counted among the sleepers */
    uint64_t sleep_ns;   /* of the next sleep */
    uint64_t started_ns; /* set by the first pause that looks at the clock */
    uint64_t report_ns;  /* when to report next */
    uint64_t report_gap_ns;
};

static inline void aclshmemi_wait_begin(aclshmemi_wait_t *wait, aclshmemi_instance_t *instance,
                                        aclshmemi_doorbell_t *bell, aclshmemi_call_t call,
                                        uint64_t timeout_ms)
{
    *wait = (aclshmemi_wait_t){.instance = instance, .bell = bell, .call = call, .timeout_ms = timeout_ms};
}

/* One step of waiting after a look that failed. 0: look again; TIMEOUT_ERROR or SMEM_ERROR (a PE died): give up, the
 * failure is logged with the description. */
int aclshmemi_wait_pause(aclshmemi_wait_t *wait) ACLSHMEMI_MUST_CHECK;

void aclshmemi_wait_leave(aclshmemi_wait_t *wait);
static inline void aclshmemi_wait_end(aclshmemi_wait_t *wait)
{
    if (__builtin_expect(wait->registered, 0))
        aclshmemi_wait_leave(wait);
}

/* --- Control block and doorbell of a PE --- */

static inline aclshmemi_control_t *aclshmemi_control_of(const aclshmemi_instance_t *in, int pe)
{
    return (aclshmemi_control_t *)(void *)(in->space[ACLSHMEMI_SPACE_DEVICE].peers[pe] + in->control_offset);
}

void aclshmemi_doorbell_ring(aclshmemi_doorbell_t *bell) __attribute__((cold));

/* After a write to memory of a mapped PE. One load of a line that is nearly always cached. */
static inline void aclshmemi_notify(const aclshmemi_instance_t *in, int pe)
{
    aclshmemi_doorbell_t *bell = &aclshmemi_control_of(in, pe)->bell;
    if (__builtin_expect(__atomic_load_n(&bell->sleepers, __ATOMIC_RELAXED) != 0, 0))
        aclshmemi_doorbell_ring(bell);
}

/* Notes what this PE does now; peers that wait for it read the note. */
void aclshmemi_activity_set(aclshmemi_instance_t *in, aclshmemi_call_t call);
const char *aclshmemi_call_name(uint32_t call);

/* --- Barrier --- */

/* All PEs of the instance; what they stored before is visible to all afterwards. */
int aclshmemi_barrier_all(aclshmemi_instance_t *in, aclshmemi_call_t call) ACLSHMEMI_MUST_CHECK;

#endif
