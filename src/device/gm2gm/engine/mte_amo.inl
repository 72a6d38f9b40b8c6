/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals and atomics of MTE: instructions of the processor on the other PE's memory, the same that host code uses
 * (host_device/amo_apply.h). They come behind this core's copies, and are complete at once.
 */
#ifndef ACLSHMEMI_DEVICE_MTE_AMO_INL
#define ACLSHMEMI_DEVICE_MTE_AMO_INL

#include "device/gm2gm/engine/mte.inl"
#include "host_device/amo_apply.h"

/* Copies that are made where they are issued need no waiting. */
ACLSHMEM_DEVICE void aclshmemi_mte_behind_copies(void)
{
    if (!aclshmemi_port_copies_directly())
        aclshmemi_port_barrier(AICORE_PIPE_ALL);
}

ACLSHMEM_DEVICE void aclshmemi_mte_signal(const aclshmemi_state_t *state, const char *call,
                                          __gm__ int32_t *word, int32_t value, int op, int pe)
{
    __gm__ char *place = aclshmemi_mte_place(state, call, word, sizeof *word, pe);
    aclshmemi_mte_behind_copies();
    if (op == ACLSHMEM_SIGNAL_SET)
        (void)aclshmemi_amo_apply(place, ACLSHMEMI_AMO_STORE, ACLSHMEMI_AMO_32, (uint32_t)value, 0, false);
    else
        (void)aclshmemi_amo_apply(place, ACLSHMEMI_AMO_PLUS, ACLSHMEMI_AMO_32, (uint32_t)value, 0, false);
    aclshmemi_notify(state, pe);
}

/* The core alone, wherever its copies are. */
ACLSHMEM_DEVICE uint64_t aclshmemi_mte_amo_now(const aclshmemi_state_t *state, const char *call,
                                               aclshmemi_amo_op_t op, aclshmemi_amo_type_t type,
                                               __gm__ void *there, uint64_t value, uint64_t condition, int pe,
                                               bool wanted)
{
    __gm__ char *place = aclshmemi_mte_place(state, call, there, aclshmemi_amo_width(type), pe);
    uint64_t old = aclshmemi_amo_apply(place, op, type, value, condition, wanted);
    if (op != ACLSHMEMI_AMO_FETCH)
        aclshmemi_notify(state, pe);
    return old;
}

ACLSHMEM_DEVICE uint64_t aclshmemi_mte_amo(const aclshmemi_state_t *state, const char *call,
                                           aclshmemi_amo_op_t op, aclshmemi_amo_type_t type,
                                           __gm__ void *there, uint64_t value, uint64_t condition, int pe,
                                           bool wanted)
{
    aclshmemi_mte_behind_copies();
    return aclshmemi_mte_amo_now(state, call, op, type, there, value, condition, pe, wanted);
}

#endif
