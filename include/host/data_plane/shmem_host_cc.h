/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives over all PEs of the current instance. One thread of a PE at a time. */
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

/** Returns after all PEs called it; completion of puts is not promised. Collective, time-out as above. */
ACLSHMEM_HOST_API void aclshmem_sync_all(void);

#ifdef __cplusplus
}
#endif

#endif
