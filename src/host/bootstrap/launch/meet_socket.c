/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A meeting without a launcher's service: PE 0 makes the id and hands it out at a place all PEs can work out.
 *
 * On one host the id is for loopback and the place a Unix socket, whose ends know each other's user. Between hosts the
 * channel is TLS with the job's or the user's secret, and the very socket of the meeting becomes the one PE 0 listens
 * on afterwards: one open port, and every PE keeps the address under which it reached PE 0.
 */
#define LOG_MODULE "launch"
#include <stdatomic.h>
#include <string.h>

#include "host/bootstrap/launch/serve.h"
#include "host/bootstrap/uid/uid.h"

static _Atomic uint32_t rounds; /* meetings behind this process */

/* Makes the id, meets, and leaves the socket for the init that uses the id. */
static int lead_on_host(const aclshmemi_meeting_t *meeting, int listener, aclshmemx_uniqueid_t *id)
{
    TRY(aclshmemi_uid_create(meeting->env, true, id));
    return aclshmemi_meeting_serve(meeting, listener, id);
}

static int lead_between_hosts(const aclshmemi_meeting_t *meeting, int *listener, const aclshmemi_addr_t *addr,
                              aclshmemx_uniqueid_t *id)
{
    uint64_t magic = 0;
    char text[ACLSHMEMI_ADDR_TEXT_LEN];
    TRY(aclshmemi_uid_encode(addr, id, &magic));
    log_info("PE 0 waits for the others at %s", aclshmemi_addr_print(addr, text));
    TRY(aclshmemi_meeting_serve(meeting, *listener, id));
    aclshmemi_uid_return_socket(magic, *listener);
    *listener = -1;
    return 0;
}

static int lead(const aclshmemi_meeting_t *meeting, const aclshmemi_places_t *places,
                aclshmemx_uniqueid_t *id)
{
    aclshmemi_addr_t addr;
    aclshmemx_uniqueid_t made;
    int listener = -1;
    TRY(aclshmemi_places_listen(places, meeting->job, meeting->deadline, &listener, &addr));
    int rc = places->local ? lead_on_host(meeting, listener, &made)
                           : lead_between_hosts(meeting, &listener, &addr, &made);
    aclshmemi_net_close(&listener);
    if (rc == 0)
        *id = made;
    explicit_bzero(&made, sizeof made);
    return rc;
}

int aclshmemi_meet_socket(const aclshmemi_job_t *job, const aclshmemi_env_t *env,
                          const aclshmemi_launch_t *launch, aclshmemi_deadline_t deadline,
                          aclshmemx_uniqueid_t *uid)
{
    aclshmemi_places_t places;
    aclshmemi_meeting_t meeting = {
        .job = job,
        .env = env,
        .pe = launch->pe,
        .n_pes = launch->n_pes,
        .round = atomic_load(&rounds),
        .deadline = deadline,
    };
    TRY(aclshmemi_places_init(&places, job, deadline));
    if (!job->local)
        TRY(aclshmemi_tls_context_create(env, NULL, &meeting.tls));
    int rc = meeting.pe == 0 ? lead(&meeting, &places, uid) : aclshmemi_meeting_call(&meeting, &places, uid);
    aclshmemi_tls_context_destroy(meeting.tls);
    if (rc == 0)
        atomic_store(&rounds, meeting.round + 1);
    return rc;
}
