/* SPDX-License-Identifier: Apache-2.0 */
/* The table of teams of an instance, and how a new one comes into it on all members at once. */
#define LOG_MODULE "team"
#include "host/team/shmem_host_team.h"

#include <stdlib.h>
#include <string.h>

#include "host/bridge/bridge.h"
#include "host/team/team.h"

#define HANDLE_WORDS (ACLSHMEM_MAX_TEAMS / 64)

static aclshmemi_split_note_t *note_of(const aclshmemi_instance_t *in, int pe)
{
    return &aclshmemi_control_of(in, pe)->split;
}

static void set_free(const aclshmemi_instance_t *in, int handle, bool is_free)
{
    uint64_t *word = &note_of(in, in->pe)->free_handles[handle / 64], bit = UINT64_C(1) << (handle % 64);
    *word = is_free ? *word | bit : *word & ~bit;
}

static uint64_t slot_offset(const aclshmemi_instance_t *in, int handle)
{
    return in->sync_offset + (uint64_t)handle * SYNC_ARRAY_SIZE;
}

static bool all_mapped(const aclshmemi_instance_t *in, const aclshmemi_group_t *group)
{
    for (int i = 0; i < group->size; i++)
        if (in->space[ACLSHMEMI_SPACE_DEVICE].peers[aclshmemi_group_pe(group, i)] == NULL)
            return false;
    return true;
}

int aclshmemi_team_init(aclshmemi_instance_t *in)
{
    in->teams = calloc(ACLSHMEM_MAX_TEAMS, sizeof(aclshmemi_team_t *));
    aclshmemi_team_t *world = calloc(1, sizeof *world);
    if (in->teams == NULL || world == NULL) {
        free(world);
        return fail(ACLSHMEM_MALLOC_FAILED, "out of memory for the table of %d teams", ACLSHMEM_MAX_TEAMS);
    }
    world->group = (aclshmemi_group_t){
        .start = 0, .stride = 1, .size = in->n_pes, .index = in->pe, .sync_offset = slot_offset(in, 0)};
    world->group.mapped = all_mapped(in, &world->group);
    world->handle = ACLSHMEM_TEAM_WORLD;
    in->teams[ACLSHMEM_TEAM_WORLD] = world;
    if (in->touch) {
        memset(note_of(in, in->pe)->free_handles, 0xff, sizeof note_of(in, in->pe)->free_handles);
        set_free(in, ACLSHMEM_TEAM_WORLD, false);
    }
    return 0;
}

void aclshmemi_team_fini(aclshmemi_instance_t *in)
{
    if (in->teams == NULL)
        return;
    for (int i = 0; i < ACLSHMEM_MAX_TEAMS; i++)
        free(in->teams[i]);
    free(in->teams);
    in->teams = NULL;
}

aclshmemi_team_t *aclshmemi_team_get(const aclshmemi_instance_t *in, const char *call, aclshmem_team_t handle)
{
    aclshmemi_team_t *team = aclshmemi_team_find(in, handle);
    if (team != NULL)
        return team;
    if (in->n_pes == 0)
        (void)!aclshmemi_instance_missing(call);
    else
        (void)!fail(ACLSHMEM_INVALID_PARAM,
                    "%s: %d is no team of this PE; handles come from ACLSHMEM_TEAM_WORLD and the splits",
                    call, handle);
    return NULL;
}

/* All members of the parent must have asked for the same, and have memory for it. */
static int compare_notes(const aclshmemi_instance_t *in, const aclshmemi_group_t *parent)
{
    const aclshmemi_split_note_t *first = note_of(in, aclshmemi_group_pe(parent, 0));
    for (int i = 0; i < parent->size; i++) {
        int pe = aclshmemi_group_pe(parent, i);
        const aclshmemi_split_note_t *note = note_of(in, pe);
        if (memcmp(note->args, first->args, sizeof note->args) != 0)
            return fail(ACLSHMEM_INVALID_PARAM,
                        "team split: PE %d asks for (%lld, %lld, %lld), PE %d for (%lld, %lld, %lld); all "
                        "members of the parent must ask "
                        "for the same",
                        aclshmemi_group_pe(parent, 0), (long long)first->args[2], (long long)first->args[3],
                        (long long)first->args[4], pe, (long long)note->args[2], (long long)note->args[3],
                        (long long)note->args[4]);
        if (note->ready == 0)
            return fail(ACLSHMEM_INNER_ERROR, "team split: PE %d has no memory for another team", pe);
    }
    return 0;
}

/* Lowest handle that is free on all members; -1: none. */
static int common_handle(const aclshmemi_instance_t *in, const aclshmemi_group_t *group)
{
    for (int word = 0; word < HANDLE_WORDS; word++) {
        uint64_t common = UINT64_MAX;
        for (int i = 0; i < group->size && common != 0; i++)
            common &= note_of(in, aclshmemi_group_pe(group, i))->free_handles[word];
        if (common != 0)
            return word * 64 + __builtin_ctzll(common);
    }
    return -1;
}

/* Between the two barriers of the parent: nobody changes a note, everybody reads. */
static int place_team(aclshmemi_instance_t *in, const aclshmemi_group_t *parent, aclshmemi_team_t *team)
{
    aclshmemi_group_t *group = &team->group;
    TRY(compare_notes(in, parent));
    team->handle = common_handle(in, group);
    if (team->handle < 0)
        return fail(ACLSHMEM_INNER_ERROR,
                    "team split: all %d handles are in use on the members; destroy a team first",
                    ACLSHMEM_MAX_TEAMS);
    if (group->index < 0)
        return 0;
    group->sync_offset = slot_offset(in, team->handle);
    aclshmemi_group_join(in, group);
    return 0;
}

static void post_note(aclshmemi_instance_t *in, aclshmem_team_t parent, const int64_t args[4], bool ready)
{
    aclshmemi_split_note_t *note = note_of(in, in->pe);
    note->ready = ready;
    note->args[0] = parent;
    memcpy(&note->args[1], args, 4 * sizeof args[0]);
}

/* A split makes several teams at once, and some may find no handle: then nobody gets a team. Read between the second and
 * the third barrier: a PE that ran ahead into a split of another team would write the next verdict. */
static int common_verdict(const aclshmemi_instance_t *in, const aclshmemi_group_t *parent)
{
    int own = (int)note_of(in, in->pe)->verdict;
    for (int i = 0; i < parent->size && own == 0; i++) {
        int pe = aclshmemi_group_pe(parent, i), verdict = (int)note_of(in, pe)->verdict;
        if (verdict != 0)
            return fail(verdict, "team split: PE %d could not make its team", pe);
    }
    return own;
}

int aclshmemi_team_create(aclshmemi_instance_t *in, aclshmemi_team_t *parent, int start, int stride, int size,
                          const int64_t args[4], aclshmem_team_t *handle)
{
    if (!in->touch || !parent->group.mapped)
        return fail(ACLSHMEM_NOT_SUPPORTED,
                    "team split: the members of team %d do not all share memory that host code can touch",
                    parent->handle);
    aclshmemi_team_t *team = calloc(1, sizeof *team);
    aclshmemi_team_record_t *record = aclshmemi_bridge_team_take(in);
    post_note(in, parent->handle, args, team != NULL && record != NULL);
    int rc = aclshmemi_barrier(in, &parent->group, ACLSHMEMI_CALL_SPLIT);
    if (rc == 0) {
        aclshmemi_team_t scratch = {
            0}; /* a PE without memory still takes part, and learns that all of them fail */
        aclshmemi_team_t *made = team != NULL ? team : &scratch;
        made->group = (aclshmemi_group_t){.start = aclshmemi_group_pe(&parent->group, start),
                                          .stride = parent->group.stride * stride,
                                          .size = size,
                                          .mapped = true};
        made->group.index = aclshmemi_group_index(&made->group, in->pe);
        note_of(in, in->pe)->verdict = place_team(in, &parent->group, made);
        rc = aclshmemi_barrier(in, &parent->group, ACLSHMEMI_CALL_SPLIT);
        int verdict = rc == 0 ? common_verdict(in, &parent->group) : rc;
        if (rc == 0)
            rc = aclshmemi_barrier(in, &parent->group, ACLSHMEMI_CALL_SPLIT);
        rc = verdict != 0 ? verdict : rc;
    }
    if (rc != 0 || team->group.index < 0) {
        aclshmemi_bridge_team_give(in, record);
        free(team);
        return rc;
    }
    aclshmemi_bridge_team_show(in, team->handle, &team->group, record);
    set_free(in, team->handle, false);
    in->teams[team->handle] = team;
    *handle = team->handle;
    return 0;
}

void aclshmem_team_destroy(aclshmem_team_t handle)
{
    aclshmemi_instance_t *in = aclshmemi_current();
    aclshmemi_team_t *team = aclshmemi_team_get(in, "team_destroy", handle);
    if (team == NULL)
        return;
    if (handle == ACLSHMEM_TEAM_WORLD) {
        (void)!fail(ACLSHMEM_INVALID_PARAM,
                    "team_destroy: the world cannot be destroyed, it ends with finalize");
        return;
    }
    int unsettled = aclshmemi_group_settle(in, &team->group, ACLSHMEMI_CALL_SPLIT);
    (void)!aclshmemi_barrier(in, &team->group,
                             ACLSHMEMI_CALL_SPLIT); /* failure is logged; the team goes anyway */
    if (unsettled != 0)
        return; /* a stream may still come to a barrier of the team: its words stay until finalize */
    aclshmemi_bridge_team_hide(in, handle);
    in->teams[handle] = NULL;
    set_free(in, handle, true);
    free(team);
}
