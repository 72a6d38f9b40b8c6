/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is a peer that takes no data stopped, or gone? The kernel's user timeout cannot tell: it ends a connection whose
 * peer acknowledges every probe but has no room, as one does that is stopped by a debugger. So while a link is blocked
 * that timeout is off, and the probes themselves are looked at.
 */
#ifndef ACLSHMEMI_BOOTSTRAP_STORE_STALL_H
#define ACLSHMEMI_BOOTSTRAP_STORE_STALL_H

#include "host/bootstrap/store/loop.h"

typedef struct aclshmemi_store_stall {
    aclshmemi_store_loop_t *loop;
    int fd;
    aclshmemi_store_timer_t timer;
    bool blocked;
    unsigned user_timeout_ms; /* to be put back */
    uint64_t answered_ns;     /* when the peer's kernel last kept up with us */
    void (*gone)(void *owner);
    void *owner;
} aclshmemi_store_stall_t;

void aclshmemi_store_stall_begin(
    aclshmemi_store_stall_t *stall); /* not all could be written; again is harmless */
void aclshmemi_store_stall_end(aclshmemi_store_stall_t *stall); /* all was, or the link ends */

#endif
