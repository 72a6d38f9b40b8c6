/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who am I, how many are we; and teams: subsets of PEs with a numbering and a handle of their own.
 *
 * A handle is a small integer, the same on all members. Splits and destroy are collective over the parent or the team:
 * all its members call them in the same order with the same arguments, one thread of a PE at a time; PEs that ask for
 * different things are all told so. Queries are local and may be made from any thread. At most ACLSHMEM_MAX_TEAMS teams
 * exist at a time, the world included. Teams still alive end with finalize.
 *
 * Unless a call says otherwise:
 * @who one PE, local
 * @reuse on return
 * @done on return
 * @threads any thread at any time
 */
#ifndef ACLSHMEM_HOST_TEAM_H
#define ACLSHMEM_HOST_TEAM_H

#include "host/shmem_host_def.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Number of this PE in the current instance; -1 before init and after finalize. */
ACLSHMEM_HOST_API int aclshmem_my_pe(void);
/** Number of PEs of the current instance; -1 before init and after finalize. */
ACLSHMEM_HOST_API int aclshmem_n_pes(void);

/**
 * A team of the parent's members pe_start + i * pe_stride, i = 0 .. pe_size - 1, numbered in that order. Collective over
 * the parent.
 *
 * @param parent_team  a team this PE is in, the world for one
 * @param pe_start, pe_stride, pe_size  in the parent's numbering; stride at least 1, the last member inside the parent
 * @param new_team  the handle on members, ACLSHMEM_TEAM_INVALID on the parent's other PEs and after a failure
 * @return 0 (also on PEs outside the new team); INVALID_PARAM (NULL, invalid parent, arguments out of range or different
 *         on PEs); INNER_ERROR (no handle free on all members); NOT_SUPPORTED (members do not share memory); SMEM_ERROR,
 *         TIMEOUT_ERROR (a member died or never came).
 * @who every member of the parent
 * @done on return, on every member: the handle may be used
 * @threads one thread of a PE at a time per parent
 */
ACLSHMEM_HOST_API int aclshmem_team_split_strided(aclshmem_team_t parent_team, int pe_start, int pe_stride,
                                                  int pe_size, aclshmem_team_t *new_team);

/**
 * Lays the parent's members out in rows of x_range (cut to the parent's size; the last row may be shorter) and gives each PE
 * its row and its column. Collective over the parent. @return as above.
 * @who every member of the parent
 * @done on return, on every member: the handles may be used
 * @threads one thread of a PE at a time per parent
 */
ACLSHMEM_HOST_API int aclshmem_team_split_2d(aclshmem_team_t parent_team, int x_range,
                                             aclshmem_team_t *x_team, aclshmem_team_t *y_team);

/** Number in dest_team of member src_pe of src_team; -1 for an invalid team, a member that does not exist, or a PE that is
 * not in dest_team. Local. */
ACLSHMEM_HOST_API int aclshmem_team_translate_pe(aclshmem_team_t src_team, int src_pe,
                                                 aclshmem_team_t dest_team);

/**
 * Gives the handle back. Collective over the team. The world and invalid handles are refused with a message.
 * @who every member of the team
 * @done on return the handle is free
 * @threads one thread of a PE at a time per team, while no other uses it
 */
ACLSHMEM_HOST_API void aclshmem_team_destroy(aclshmem_team_t team);

/** Number of this PE in the team; -1 for an invalid handle. Local. */
ACLSHMEM_HOST_API int aclshmem_team_my_pe(aclshmem_team_t team);
/** Members of the team; -1 for an invalid handle. Local. */
ACLSHMEM_HOST_API int aclshmem_team_n_pes(aclshmem_team_t team);
/** The configuration given at creation; there is no way to give one, so all fields are 0. @return 0, INVALID_PARAM. */
ACLSHMEM_HOST_API int aclshmem_team_get_config(aclshmem_team_t team, aclshmem_team_config_t *config);

#ifdef __cplusplus
}
#endif

#endif
