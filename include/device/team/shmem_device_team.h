/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PEs, teams, addresses and instances, asked by a kernel. All of it is answered from memory of this PE, by the scalar unit;
 * a thread of the host that runs no kernel may ask as well, of a source file of its own.
 */
#ifndef ACLSHMEM_DEVICE_TEAM_H
#define ACLSHMEM_DEVICE_TEAM_H

#include "device/shmem_def.h"

#ifdef __cplusplus
extern "C" {
#endif

/** This PE in the world, and how many there are; -1 while the instance is not initialized. */
ACLSHMEM_DEVICE int aclshmem_my_pe(void);
ACLSHMEM_DEVICE int aclshmem_n_pes(void);

/**
 * This PE's index in a team, and the team's size; -1 for what is no team of this PE. Teams made while the kernel runs are
 * seen. A team that is destroyed while the kernel runs must not be used any more; asking for it is harmless, but the answer
 * may be that of the team which has its number by then.
 */
ACLSHMEM_DEVICE int aclshmem_team_my_pe(aclshmem_team_t team);
ACLSHMEM_DEVICE int aclshmem_team_n_pes(aclshmem_team_t team);

/** Index in dest_team of member src_pe of src_team; -1 when a team is none, src_pe no member, or the PE not in dest_team. */
ACLSHMEM_DEVICE int aclshmem_team_translate_pe(aclshmem_team_t src_team, int src_pe,
                                               aclshmem_team_t dest_team);

/** PE in the world of member pe of a team, -1 when either does not exist. */
ACLSHMEM_DEVICE int aclshmem_team_pe_mapping(aclshmem_team_t team, int pe);

/** Where this PE's loads and stores reach the counterpart of symmetric memory on a PE; NULL when they do not, when there is
 * no such PE, or ptr lies in no symmetric heap. */
ACLSHMEM_DEVICE __gm__ void *aclshmem_ptr(__gm__ void *ptr, int pe);

/** The address by which the network adapter knows it; not one for loads and stores. NULL as above. */
ACLSHMEM_DEVICE __gm__ void *aclshmem_roce_ptr(__gm__ void *ptr, int pe);

/**
 * The instance that the calling core uses from now on, until its block ends; at first it is the one that was current when
 * the kernel was enqueued. Every core that needs another one calls it, before anything else. @return 0. An instance that is
 * not initialized ends the launch; on a thread that runs no kernel it is -1, and nothing changes.
 */
ACLSHMEM_DEVICE int aclshmemx_instance_ctx_set(uint64_t instance_id);

/** Address of what the calling core knows of its instance, 0 when there is none. In C++ the second name is the host's. */
ACLSHMEM_DEVICE uint64_t aclshmemx_instance_addr_get(void);
#ifndef __cplusplus
ACLSHMEM_DEVICE uint64_t aclshmemx_instance_ctx_get(void);
#endif

#include "device/team/team.inl"

#ifdef __cplusplus
}
#endif

#endif
