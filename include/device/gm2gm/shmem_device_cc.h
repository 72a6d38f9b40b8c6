/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Barriers, from kernels: over all vector cores of the launch and all members of a team.
 *
 * Every core of every member's launch calls the same ones in the same order; launches may have different numbers of
 * cores. barrier: whatever any of these cores issued before, on any engine, is complete and visible to all of them
 * afterwards. sync: they have all come, and see what the others stored themselves; copies and queued operations are not
 * waited for. Two launches of a PE must not be inside a barrier of one team at the same time: that ends the one that comes
 * second. ACLSHMEM_TEAM_INVALID has no effect; another number that is no team of this PE ends the launch. A wait
 * that lasts longer than SHMEM_WAIT_TIMEOUT ends it with a report of who has not come. Barriers of kernels never meet those of
 * host programs or streams.
 */
#ifndef ACLSHMEM_DEVICE_CC_H
#define ACLSHMEM_DEVICE_CC_H

#include "device/shmem_def.h"

#ifdef __cplusplus
extern "C" {
#endif

ACLSHMEM_DEVICE void aclshmem_barrier(aclshmem_team_t team);
ACLSHMEM_DEVICE void aclshmem_barrier_all(void); /* the team of all PEs */
ACLSHMEM_DEVICE void aclshmem_sync(aclshmem_team_t team);
ACLSHMEM_DEVICE void aclshmem_sync_all(void);

/* Older names, the same as barrier: only vector cores run kernels. */
ACLSHMEM_DEVICE void aclshmemx_barrier_vec(aclshmem_team_t team);
ACLSHMEM_DEVICE void aclshmemx_barrier_all_vec(void);

/** Hands the core what the host's util_get_ffts_config() returned, for barriers between cores in hardware. Cores here meet
 * in memory, so it has no effect; kernels that call it run unchanged. */
ACLSHMEM_DEVICE void util_set_ffts_config(uint64_t config);

#include "device/gm2gm/cc.inl"

#ifdef __cplusplus
}
#endif

#endif
