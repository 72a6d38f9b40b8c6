/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Teams: sets of PEs with a handle that is the same number on all members. The door of this folder.
 *
 * Every team is a start, a stride and a size over the world, and so is every split of one; nothing is stored per
 * member. A handle names the team's slot in the sync pool of its members; members choose the lowest one that is free on all of
 * them. Disjoint teams may have the same handle. Nobody but members keeps anything.
 */
#ifndef ACLSHMEMI_TEAM_H
#define ACLSHMEMI_TEAM_H

#include "host/sync/sync.h"

typedef struct aclshmemi_team {
    aclshmemi_group_t group;
    aclshmem_team_t handle;
    aclshmem_team_config_t config;
} aclshmemi_team_t;

/* The table with the world in it; needs the blocks of the heap. fini accepts any state. */
int aclshmemi_team_init(aclshmemi_instance_t *in) ACLSHMEMI_MUST_CHECK;
void aclshmemi_team_fini(aclshmemi_instance_t *in);

/* The team of a handle, NULL when it is not valid on this PE. */
static inline aclshmemi_team_t *aclshmemi_team_find(const aclshmemi_instance_t *in, aclshmem_team_t handle)
{
    if (in->teams == NULL || handle < 0 || handle >= ACLSHMEM_MAX_TEAMS)
        return NULL;
    return in->teams[handle];
}

/* The same, failing with the call's name. */
aclshmemi_team_t *aclshmemi_team_get(const aclshmemi_instance_t *in, const char *call,
                                     aclshmem_team_t handle);

/*
 * Collective over parent. start, stride and size of the new team are in the parent's numbering and have been checked. args:
 * what the user asked for, compared between PEs. *handle is ACLSHMEM_TEAM_INVALID on PEs outside the new team.
 */
int aclshmemi_team_create(aclshmemi_instance_t *in, aclshmemi_team_t *parent, int start, int stride, int size,
                          const int64_t args[4], aclshmem_team_t *handle) ACLSHMEMI_MUST_CHECK;

#endif
