/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers over a team and over all PEs. */
#define LOG_MODULE "sync"
#include "host/data_plane/shmem_host_cc.h"

#include "host/team/team.h"

/* With nothing under way a barrier needs no fence of its own: it releases what was stored before. */
static void meet(const char *name, aclshmem_team_t handle, bool complete, aclshmemi_call_t call)
{
    aclshmemi_instance_t *in = aclshmemi_current();
    aclshmemi_team_t *team = aclshmemi_team_find(in, handle);
    if (__builtin_expect(team == NULL, 0)) {
        (void)!aclshmemi_team_get(in, name, handle);
        return;
    }
    if (complete && !aclshmemi_all_done(in) && aclshmemi_quiet(in) != 0)
        return;
    (void)!aclshmemi_barrier(in, &team->group, call);
}

void aclshmem_barrier_all(void)
{
    meet("barrier_all", ACLSHMEM_TEAM_WORLD, true, ACLSHMEMI_CALL_BARRIER);
}

void aclshmem_sync_all(void)
{
    meet("sync_all", ACLSHMEM_TEAM_WORLD, false, ACLSHMEMI_CALL_SYNC);
}

void aclshmem_barrier(aclshmem_team_t team)
{
    if (team != ACLSHMEM_TEAM_INVALID)
        meet("barrier", team, true, ACLSHMEMI_CALL_BARRIER);
}

void aclshmem_sync(aclshmem_team_t team)
{
    if (team != ACLSHMEM_TEAM_INVALID)
        meet("sync", team, false, ACLSHMEMI_CALL_SYNC);
}
