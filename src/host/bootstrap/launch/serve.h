/* SPDX-License-Identifier: Apache-2.0 */
/* Both sides of a meeting over sockets, apart from where the sockets come from. Inside launch/. */
#ifndef ACLSHMEMI_BOOTSTRAP_LAUNCH_SERVE_H
#define ACLSHMEMI_BOOTSTRAP_LAUNCH_SERVE_H

#include "host/bootstrap/launch/place.h"
#include "host/bootstrap/launch/wire.h"

typedef struct aclshmemi_meeting {
    const aclshmemi_job_t *job;
    const aclshmemi_env_t *env;
    aclshmemi_tls_context_t *tls; /* NULL: plain */
    int pe, n_pes;
    uint32_t round; /* meetings behind this PE; others take PE 0's */
    aclshmemi_deadline_t deadline;
} aclshmemi_meeting_t;

/* PE 0: hands the id to all others once all are here. listener stays the caller's. */
int aclshmemi_meeting_serve(const aclshmemi_meeting_t *meeting, int listener,
                            const aclshmemx_uniqueid_t *id) ACLSHMEMI_MUST_CHECK;
/* The others: find PE 0, wait, take the id. */
int aclshmemi_meeting_call(aclshmemi_meeting_t *meeting, const aclshmemi_places_t *places,
                           aclshmemx_uniqueid_t *id) ACLSHMEMI_MUST_CHECK;

#endif
