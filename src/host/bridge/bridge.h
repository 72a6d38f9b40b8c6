/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What kernels know of an instance: the state block of host_device/state.h and the records of its teams, in memory that
 * kernels reach, with the block's address under the number of the instance. The door of this folder.
 *
 * Where host code can touch device memory, in->state is that block itself; elsewhere it is an image, and update copies it.
 * A kernel may run while any of this is called: pointers in the block are stored after what they point to.
 */
#ifndef ACLSHMEMI_BRIDGE_H
#define ACLSHMEMI_BRIDGE_H

#include "host/sync/sync.h"
#include "host_device/state.h"

typedef struct aclshmemi_bridge aclshmemi_bridge_t;
typedef struct aclshmemi_team_record aclshmemi_team_record_t;

/* Fills the block from everything init has made before it, with the world in it, and publishes it. */
int aclshmemi_bridge_open(aclshmemi_instance_t *in, const aclshmemi_group_t *world) ACLSHMEMI_MUST_CHECK;
/* Launches from now on find no instance. Memory stays, for the kernels that run. Accepts any state. */
void aclshmemi_bridge_withdraw(aclshmemi_instance_t *in);
void aclshmemi_bridge_close(aclshmemi_instance_t *in);

/* After a change of in->state, of what PEs are reached by, or of the host heap: kernels that start later see it. */
int aclshmemi_bridge_update(aclshmemi_instance_t *in) ACLSHMEMI_MUST_CHECK;

/*
 * Records of teams, where host code can touch device memory. take gives one to be shown or given back, NULL when there is
 * no memory; a record that was shown and hidden serves a later team and is not freed before close, so that a kernel that
 * holds on to it reads memory that exists.
 */
aclshmemi_team_record_t *aclshmemi_bridge_team_take(aclshmemi_instance_t *in);
void aclshmemi_bridge_team_give(aclshmemi_instance_t *in, aclshmemi_team_record_t *record); /* accepts NULL */
void aclshmemi_bridge_team_show(aclshmemi_instance_t *in, aclshmem_team_t handle,
                                const aclshmemi_group_t *group, aclshmemi_team_record_t *record);
void aclshmemi_bridge_team_hide(aclshmemi_instance_t *in, aclshmem_team_t handle);

#endif
