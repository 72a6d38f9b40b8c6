/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the bridge. */
#ifndef ACLSHMEMI_BRIDGE_PRIVATE_H
#define ACLSHMEMI_BRIDGE_PRIVATE_H

#include <pthread.h>

#include "host/bridge/bridge.h"

struct aclshmemi_team_record {
    aclshmemi_team_record_t *next;       /* in the list of all */
    aclshmemi_team_record_t *next_spare; /* in the list of those without a team */
    aclshmemx_team_t seen;               /* what kernels read */
};

struct aclshmemi_bridge {
    bool published;
    char
        *device; /* where the host cannot touch device memory: block, both address tables, world; else NULL */
    pthread_mutex_t lock; /* guards the lists */
    aclshmemi_team_record_t *all, *spare;
    aclshmemi_team_record_t *shown[ACLSHMEM_MAX_TEAMS];
};

void aclshmemi_bridge_record_fill(const aclshmemi_instance_t *in, aclshmem_team_t handle,
                                  const aclshmemi_group_t *group, aclshmemx_team_t *record);
void aclshmemi_bridge_records_free(aclshmemi_bridge_t *bridge);

#endif
