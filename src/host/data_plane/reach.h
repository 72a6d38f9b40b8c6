/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a local symmetric address and a PE to where the bytes are. The fast path is a bounds check, an add and a test;
 * everything else (host heap, cards, peers on other hosts, mistakes) is in reach.c.
 */
#ifndef ACLSHMEMI_DATA_PLANE_REACH_H
#define ACLSHMEMI_DATA_PLANE_REACH_H

#include "host/instance.h"

/* Where an operand is: an address to load from and store to, or a place behind a transport. */
typedef struct aclshmemi_target {
    char *address; /* for loads and stores of the host; NULL: use the transport */
    char *mapped;  /* for the runtime's copies; NULL: the PE's memory is not mapped here */
    aclshmemi_transport_t *transport;
    aclshmemi_remote_t remote;
} aclshmemi_target_t;

/* Finds the target or fails with the call's name, the value and what is allowed. */
int aclshmemi_reach_slowly(const aclshmemi_instance_t *in, const char *call, const void *address,
                           size_t bytes, int pe, aclshmemi_target_t *target) ACLSHMEMI_MUST_CHECK;

/* Address of [address, address + bytes) on pe in the device heap, when host code can touch it; NULL otherwise. *base: where
 * that PE's heap starts here. */
static inline __attribute__((always_inline)) char *aclshmemi_reach_from(const aclshmemi_instance_t *in,
                                                                        const void *address, size_t bytes,
                                                                        int pe, char **base)
{
    const aclshmemi_space_t *space = &in->space[ACLSHMEMI_SPACE_DEVICE];
    size_t offset = (uintptr_t)address - (uintptr_t)space->base;
    *base = NULL;
    if (__builtin_expect((unsigned)pe < (unsigned)in->n_pes && offset < space->bytes &&
                             bytes <= space->bytes - offset && in->direct,
                         1))
        *base = space->peers[pe];
    return __builtin_expect(*base != NULL, 1) ? *base + offset : NULL;
}

static inline char *aclshmemi_reach(const aclshmemi_instance_t *in, const void *address, size_t bytes, int pe)
{
    char *base;
    return aclshmemi_reach_from(in, address, bytes, pe, &base);
}

#endif
