/* SPDX-License-Identifier: Apache-2.0 */
/* Where the PEs of a job meet, what it takes to listen there, and the descriptors the system lets us have. */
#ifndef ACLSHMEMI_BOOTSTRAP_STORE_LISTEN_H
#define ACLSHMEMI_BOOTSTRAP_STORE_LISTEN_H

#include "host/bootstrap/bootstrap.h"
#include "host/bootstrap/store/dial.h"

typedef struct aclshmemi_store_meeting {
    bool by_id;
    uint64_t magic;
    uint8_t secret[ACLSHMEMI_SECRET_LEN]; /* of the id; the caller wipes it */
    aclshmemi_addr_t addrs[ACLSHMEMI_STORE_ADDRS_MAX];
    size_t n_addrs;
    char name[128]; /* for people */
} aclshmemi_store_meeting_t;

/* Reads address or id, and resolves names. */
int aclshmemi_store_meeting_find(const aclshmemi_bootstrap_params_t *params,
                                 aclshmemi_store_meeting_t *meeting) ACLSHMEMI_MUST_CHECK;

typedef struct aclshmemi_store_listener {
    int fd;        /* listening, non-blocking, ours to close */
    int origin_fd; /* the socket fd was duplicated from: of a unique id (ours) or the caller's; -1: none */
    bool of_id;
    uint64_t magic;
    int flags; /* of the caller's socket, to be put back; they are shared with fd */
    aclshmemi_addr_t addr;
} aclshmemi_store_listener_t;

/* PE 0 listens: on the caller's socket, the one of the id, or one bound now, exactly where the others will look. */
int aclshmemi_store_listener_open(const aclshmemi_bootstrap_params_t *params,
                                  const aclshmemi_store_meeting_t *meeting,
                                  aclshmemi_store_listener_t *listener) ACLSHMEMI_MUST_CHECK;
/* Puts back what is not ours: the caller's socket as it was; the socket of an id to its table when it may be used
 * again, else it is closed. listener->fd is somebody else's by now. Accepts one that was never opened (origin -1). */
void aclshmemi_store_listener_release(aclshmemi_store_listener_t *listener, bool again);

/* Raises the soft limit of open files when needed; fails with current and needed value when the hard one forbids it.
 * room: how many more than those we are left with, at most max. */
int aclshmemi_store_reserve_descriptors(uint64_t needed, const char *what, uint32_t max,
                                        uint32_t *room) ACLSHMEMI_MUST_CHECK;

#endif
