/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers in the order of a stream, with the quiet in front of them. */
#define LOG_MODULE "sync"
#include "host/data_plane/shmem_host_cc.h"

#include <stdlib.h>

#include "host/data_plane/shmem_host_rma.h"
#include "host/team/team.h"

typedef struct barrier_task {
    aclshmemi_task_t task;
    aclshmemi_group_t *group;
    uint64_t ticket;
} barrier_task_t;

/* Peers are not kept waiting because our quiet failed; that is reported all the same. */
static int run_barrier(aclshmemi_task_t *task)
{
    const barrier_task_t *b = (const barrier_task_t *)(const void *)task;
    int quiet = aclshmemi_transport_quiet(&task->in->transports);
    int rc = aclshmemi_turn_begin(task->in, b->group, b->ticket, ACLSHMEMI_CALL_STREAM_BARRIER);
    if (rc == 0)
        rc = aclshmemi_barrier_in(task->in, b->group, ACLSHMEMI_LANE_STREAM, ACLSHMEMI_CALL_STREAM_BARRIER);
    aclshmemi_turn_end(task->in, b->group);
    return quiet != 0 ? quiet : rc;
}

static int barrier_on_stream(const char *call, aclshmem_team_t handle, aclshmemi_npu_stream_t stream)
{
    aclshmemi_instance_t *in = aclshmemi_current();
    TRY(aclshmemi_stream_enter(in, call, &stream));
    aclshmemi_team_t *team = aclshmemi_team_get(in, call, handle);
    if (team == NULL)
        return ACLSHMEM_INVALID_PARAM;
    if (team->group.size > 1 && (!in->touch || !team->group.mapped))
        return fail(ACLSHMEM_NOT_SUPPORTED,
                    "%s: the %d members of team %d do not all share memory that host code can touch, so they "
                    "cannot meet on a stream",
                    call, team->group.size, handle);
    barrier_task_t *b = malloc(sizeof *b);
    if (b == NULL)
        return fail(ACLSHMEM_MALLOC_FAILED, "%s: out of memory for the request", call);
    *b = (barrier_task_t){{run_barrier, in, stream, NULL}, &team->group, team->group.tickets};
    TRY(aclshmemi_stream_task_after_own(&b->task));
    team->group.tickets++;
    return 0;
}

void aclshmemx_barrier_on_stream(aclshmem_team_t team, aclrtStream stream)
{
    if (team != ACLSHMEM_TEAM_INVALID)
        (void)!barrier_on_stream("barrier_on_stream", team, stream);
}

void aclshmemx_barrier_all_on_stream(aclrtStream stream)
{
    (void)!barrier_on_stream("barrier_all_on_stream", ACLSHMEM_TEAM_WORLD, stream);
}

void aclshmemx_handle_wait(aclshmem_handle_t handle, aclrtStream stream)
{
    if (handle.team_id != ACLSHMEM_TEAM_INVALID)
        (void)!barrier_on_stream("handle_wait", handle.team_id, stream);
}
