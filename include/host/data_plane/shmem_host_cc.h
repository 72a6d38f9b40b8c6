/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers over a team or all PEs of the current instance. One thread of a PE at a time in each team. */
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
 */
ACLSHMEM_HOST_API void aclshmem_barrier_all(void);

/** The same over the members of a team. ACLSHMEM_TEAM_INVALID has no effect (the caller is no member); another invalid
 * handle is an error without effect. */
ACLSHMEM_HOST_API void aclshmem_barrier(aclshmem_team_t team);

/** Returns after all PEs called it; completion of puts is not promised. Collective, time-out as above. */
ACLSHMEM_HOST_API void aclshmem_sync_all(void);
/** The same over the members of a team; handles as above. */
ACLSHMEM_HOST_API void aclshmem_sync(aclshmem_team_t team);

#ifdef __cplusplus
}
#endif

#endif
