/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call to somebody who listens, or soon will: connects, shakes hands, says HELLO, and tries again until it is
 * answered, refused for good, or too late. Used towards PE 0 and towards the parent in the tree.
 */
#ifndef ACLSHMEMI_BOOTSTRAP_STORE_DIAL_H
#define ACLSHMEMI_BOOTSTRAP_STORE_DIAL_H

#include "host/bootstrap/store/link.h"

#define ACLSHMEMI_STORE_ADDRS_MAX 16

typedef struct aclshmemi_store_dial_params {
    aclshmemi_tls_context_t *tls;                      /* borrowed */
    aclshmemi_addr_t addrs[ACLSHMEMI_STORE_ADDRS_MAX]; /* tried in turn */
    size_t n_addrs;
    int fd; /* connected already: plain, one try, taken over; -1: use the addresses */
    aclshmemi_store_hello_t hello;
    aclshmemi_deadline_t deadline;
    uint64_t connect_ms; /* one attempt to connect */
    uint64_t answer_ms;  /* one handshake with its answer */
} aclshmemi_store_dial_params_t;

typedef struct aclshmemi_store_dial aclshmemi_store_dial_t;

typedef struct aclshmemi_store_dial_ops {
    /* link is the owner's now, to be given to it at once. */
    void (*answered)(void *owner, aclshmemi_store_link_t *link, const aclshmemi_store_welcome_t *welcome);
    /* code: of the refusal, or INNER_ERROR when the deadline passed; text: the last reason. */
    void (*gave_up)(void *owner, int code, const char *text);
} aclshmemi_store_dial_ops_t;

/* Starts at once; exactly one of ops is called, never inside this call. */
int aclshmemi_store_dial_create(aclshmemi_store_loop_t *loop, const aclshmemi_store_dial_params_t *params,
                                const aclshmemi_store_dial_ops_t *ops, void *owner,
                                aclshmemi_store_dial_t **dial) ACLSHMEMI_MUST_CHECK;
/* No callback follows. Accepts NULL; may be called inside a callback. */
void aclshmemi_store_dial_destroy(aclshmemi_store_dial_t *dial);

#endif
