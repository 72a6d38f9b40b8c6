/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Barriers over a team or all PEs of the current instance. One thread of a PE at a time in each team: while it is in a
 * barrier or collective, that of a second thread fails without effect (INVALID_PARAM as last error).
 *
 * Unless a call says otherwise:
 * @who every member of the team
 * @reuse of all earlier calls, on return
 * @done everything any member issued from the host before, on all of them, on return
 * @threads one at a time per team
 */
#ifndef ACLSHMEM_HOST_CC_H
#define ACLSHMEM_HOST_CC_H

#include "host/shmem_host_def.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Returns after all PEs called it; whatever any of them put, signalled or stored from the host before is then visible to
 * all. Collective. Gives up after SHMEM_WAIT_TIMEOUT seconds, or when a PE has died, with an error that names the PEs
 * that are missing.
 * @who every PE of the instance
 */
ACLSHMEM_HOST_API void aclshmem_barrier_all(void);

/** The same over the members of a team. ACLSHMEM_TEAM_INVALID has no effect (the caller is no member); another invalid
 * handle is an error without effect. */
ACLSHMEM_HOST_API void aclshmem_barrier(aclshmem_team_t team);

/**
 * Returns after all PEs called it; completion of puts is not promised. Collective, time-out as above.
 * @who every PE of the instance
 * @reuse -
 * @done all PEs have come; stores of each are visible to all, puts are not promised
 */
ACLSHMEM_HOST_API void aclshmem_sync_all(void);
/**
 * The same over the members of a team; handles as above.
 * @reuse -
 * @done all members have come; stores of each are visible to all, puts are not promised
 */
ACLSHMEM_HOST_API void aclshmem_sync(aclshmem_team_t team);

/**
 * Enqueues a barrier over the members of a team, or all PEs, and returns: work behind it on the stream starts after
 * all members' streams have come to theirs. NULL is the library's own stream. It covers what a PE issued from the host before
 * the call, what is before it on the stream, and what is on the library's own stream (shmem_host_rma.h). Collective: members
 * call in the same order among the _on_stream calls of the team; those run in the order of the calls even where they are on
 * several streams, and are independent of the team's barriers that do not go on a stream. One thread at a time per team.
 * A barrier that is given up is logged and kept for aclshmemx_stream_status().
 * @who every member, in the same order among the _on_stream calls of the team
 * @reuse of all earlier calls, when the stream has passed the call
 * @done everything any member issued before, on all of them, when the stream has passed the call
 */
ACLSHMEM_HOST_API void aclshmemx_barrier_on_stream(aclshmem_team_t team, aclrtStream stream);
ACLSHMEM_HOST_API void aclshmemx_barrier_all_on_stream(aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
