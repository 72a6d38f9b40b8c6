/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting in device code: the core's own wait, with the limit of the instance and the PE's doorbell, on which a wait that
 * lasts sleeps. Whoever writes to this PE's memory by a call of this library rings it.
 */
#ifndef ACLSHMEMI_DEVICE_WAIT_INL
#define ACLSHMEMI_DEVICE_WAIT_INL

#include <stdio.h>

#include "device/core.inl"

/* describe tells what the wait is for in some 150 characters, as a phrase behind "waited 60 s for ". */
ACLSHMEM_DEVICE void aclshmemi_wait_start(const aclshmemi_state_t *state, aicore_wait_t *wait,
                                          aicore_wait_describe_t *describe, const void *subject)
{
    aclshmemi_port_wait_begin(wait);
    wait->describe = describe;
    wait->subject = subject;
    wait->timeout_ns = state->wait_timeout_ms * UINT64_C(1000000);
    char *heap = (char *)state->seen.p2p_device_heap_base[state->seen.mype];
    aclshmemi_doorbell_t *bell = &((aclshmemi_control_t *)(void *)(heap + state->control_offset))->bell;
    wait->bell = (aicore_doorbell_t *)(void *)bell;
}

#endif
