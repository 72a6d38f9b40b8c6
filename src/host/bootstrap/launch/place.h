/* SPDX-License-Identifier: Apache-2.0 */
/* The sockets of a meeting: nine places in a fixed order, of which PE 0 takes the first that is free. Inside launch/. */
#ifndef ACLSHMEMI_BOOTSTRAP_LAUNCH_PLACE_H
#define ACLSHMEMI_BOOTSTRAP_LAUNCH_PLACE_H

#include "host/bootstrap/launch/launch.h"
#include "host/utils/net.h"

#define ACLSHMEMI_PLACES          9
#define ACLSHMEMI_PLACE_ADDRESSES 8

typedef struct aclshmemi_places {
    bool local;
    char name[64]; /* local: abstract name without its leading zero and its number */
    bool by_name;  /* PE 0's host is given by a name that is not always loopback */
    size_t count;  /* addresses of PE 0's host, with the first port */
    aclshmemi_addr_t addr[ACLSHMEMI_PLACE_ADDRESSES];
} aclshmemi_places_t;

int aclshmemi_places_init(aclshmemi_places_t *places, const aclshmemi_job_t *job,
                          aclshmemi_deadline_t deadline) ACLSHMEMI_MUST_CHECK;
/* Listens at the first free place; addr is the address there (several hosts only). Waits until the deadline when this
 * user's own earlier job still holds it. */
int aclshmemi_places_listen(const aclshmemi_places_t *places, const aclshmemi_job_t *job,
                            aclshmemi_deadline_t deadline, int *fd,
                            aclshmemi_addr_t *addr) ACLSHMEMI_MUST_CHECK;
/* One attempt at one place; quiet. addr: how PE 0's host was reached (several hosts only). */
int aclshmemi_places_connect(const aclshmemi_places_t *places, size_t place, aclshmemi_deadline_t deadline,
                             int *fd, aclshmemi_addr_t *addr) ACLSHMEMI_MUST_CHECK;
/* Whether the process at the other end of a Unix socket belongs to our user. */
bool aclshmemi_peer_is_ours(int fd, long *peer);

#endif
