/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for signals. A look loads the word once, and the decision is about that value. */
#define LOG_MODULE "sync"
#include "host/data_plane/shmem_host_p2p_sync.h"

#include <stdio.h>

#include "host/data_plane/reach.h"
#include "host/sync/sync.h"

static const char *const cmp_names[] = {"==", "!=", ">", ">=", "<", "<="};

typedef struct subject {
    const int32_t *word;
    int cmp;
    int32_t wanted;
    int32_t seen;
} subject_t;

static bool holds(int32_t value, int cmp, int32_t wanted)
{
    switch (cmp) {
    case ACLSHMEM_CMP_EQ:
        return value == wanted;
    case ACLSHMEM_CMP_NE:
        return value != wanted;
    case ACLSHMEM_CMP_GT:
        return value > wanted;
    case ACLSHMEM_CMP_GE:
        return value >= wanted;
    case ACLSHMEM_CMP_LT:
        return value < wanted;
    default:
        return value <= wanted;
    }
}

static void describe_signal(const aclshmemi_wait_t *wait, char *out, size_t size)
{
    const subject_t *subject = wait->subject;
    const char *base = wait->instance->space[ACLSHMEMI_SPACE_DEVICE].base;
    snprintf(out, size, "signal_wait_until on PE %d for the word at heap offset %td to be %s %d; it is %d",
             wait->instance->pe, (const char *)subject->word - base, cmp_names[subject->cmp], subject->wanted,
             subject->seen);
}

/* The value now: a load where host code can touch the word, a copy by the runtime otherwise. */
static int look(const aclshmemi_instance_t *in, const int32_t *word, int32_t *value)
{
    if (in->touch) {
        *value = __atomic_load_n(word, __ATOMIC_ACQUIRE);
        return 0;
    }
    return npu_copy(value, word, sizeof *value, ACLSHMEMI_NPU_DEVICE_TO_HOST);
}

static int check(const aclshmemi_instance_t *in, const int32_t *word, int cmp)
{
    if (in->n_pes == 0)
        return aclshmemi_instance_missing("signal_wait_until");
    if (cmp < ACLSHMEM_CMP_EQ || cmp > ACLSHMEM_CMP_LE)
        return fail(ACLSHMEM_INVALID_PARAM,
                    "signal_wait_until: comparison %d is unknown, 0 (==) to 5 (<=) are allowed", cmp);
    if (word == NULL || (uintptr_t)word % sizeof *word != 0)
        return fail(ACLSHMEM_INVALID_PARAM,
                    "signal_wait_until: the signal word %p is NULL or not aligned to 4 bytes",
                    (const void *)word);
    aclshmemi_target_t target;
    if (aclshmemi_reach(in, word, sizeof *word, in->pe) == NULL)
        TRY(aclshmemi_reach_slowly(in, "signal_wait_until", word, sizeof *word, in->pe, &target));
    return 0;
}

int aclshmemx_signal_wait_until_timeout(int32_t *sig_addr, int cmp, int32_t cmp_val, uint64_t timeout_ms,
                                        int32_t *value)
{
    aclshmemi_instance_t *in = aclshmemi_current();
    TRY(check(in, sig_addr, cmp));
    subject_t subject = {.word = sig_addr, .cmp = cmp, .wanted = cmp_val};
    aclshmemi_wait_t wait;
    aclshmemi_wait_begin(&wait, in, in->touch ? &aclshmemi_control_of(in, in->pe)->bell : NULL,
                         ACLSHMEMI_CALL_WAIT, timeout_ms);
    wait.describe = describe_signal;
    wait.subject = &subject;
    int rc = 0;
    while ((rc = look(in, sig_addr, &subject.seen)) == 0 && !holds(subject.seen, cmp, cmp_val) &&
           (rc = aclshmemi_wait_pause(&wait)) == 0)
        ;
    aclshmemi_wait_end(&wait);
    if (wait.started_ns != 0)
        aclshmemi_activity_set(in, ACLSHMEMI_CALL_NONE);
    if (value != NULL)
        *value = subject.seen;
    return rc;
}

void aclshmem_signal_wait_until(int32_t *sig_addr, int cmp, int32_t cmp_val)
{
    (void)!aclshmemx_signal_wait_until_timeout(sig_addr, cmp, cmp_val,
                                               aclshmemi_current()->env.wait_timeout_ms, NULL);
}
