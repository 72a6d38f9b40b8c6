/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectives inside: one request, whatever the type. The members meet, each with a message that has a hash of its
 * arguments in it; the hashes are compared; data is read straight from the members' memory; the members meet again. What is
 * small comes with the messages, and then nobody reads anybody's memory and one meeting is all.
 */
#ifndef ACLSHMEMI_DATA_PLANE_COLL_H
#define ACLSHMEMI_DATA_PLANE_COLL_H

#include "host/data_plane/reduce.h"
#include "host/team/team.h"

typedef enum aclshmemi_coll_kind {
    ACLSHMEMI_COLL_BROADCAST = 1,
    ACLSHMEMI_COLL_FCOLLECT,
    ACLSHMEMI_COLL_COLLECT,
    ACLSHMEMI_COLL_ALLTOALL,
    ACLSHMEMI_COLL_ALLTOALLS,
    ACLSHMEMI_COLL_REDUCE,
    ACLSHMEMI_COLL_REDUCE_SCATTER,
} aclshmemi_coll_kind_t;

typedef struct aclshmemi_coll {
    const char *call; /* public name */
    aclshmemi_coll_kind_t kind;
    aclshmem_team_t team;
    void *dest;
    const void *source;
    size_t count; /* elements, as the caller gave them */
    size_t width; /* bytes of an element */
    int root;
    ptrdiff_t dst, sst;
    aclshmemi_reduction_t reduction; /* reductions only */
    aclshmemi_lane_index_t lane;     /* where the members meet */
} aclshmemi_coll_t;

/* Runs it now, in the calling thread. */
int aclshmemi_coll_run(aclshmemi_instance_t *in, const aclshmemi_coll_t *coll) ACLSHMEMI_MUST_CHECK;
/* Enqueues it; NULL: the instance's own stream. */
int aclshmemi_coll_enqueue(const aclshmemi_coll_t *coll, aclshmemi_npu_stream_t stream) ACLSHMEMI_MUST_CHECK;

/* The data phase (coll_data.c): members are in step, arguments agree. notes gives what each member brought. */
int aclshmemi_coll_move(aclshmemi_instance_t *in, aclshmemi_team_t *team,
                        const aclshmemi_coll_t *coll) ACLSHMEMI_MUST_CHECK;

/* Bytes that come with a member's message, SIZE_MAX when it is too much for one: then data is read where it is. The same on
 * all members, if their arguments agree. */
size_t aclshmemi_coll_carried(const aclshmemi_coll_t *coll, int members);
void aclshmemi_coll_pack(const aclshmemi_group_t *group, const aclshmemi_coll_t *coll, size_t carried,
                         uint8_t *data);
/* The data phase of what was carried. */
void aclshmemi_coll_unpack(const aclshmemi_instance_t *in, const aclshmemi_group_t *group,
                           const aclshmemi_coll_t *coll, size_t carried);

static inline aclshmemi_coll_note_t *aclshmemi_coll_note(const aclshmemi_instance_t *in,
                                                         const aclshmemi_group_t *group,
                                                         aclshmemi_lane_index_t lane, int index)
{
    char *base = in->space[ACLSHMEMI_SPACE_DEVICE].peers[aclshmemi_group_pe(group, index)];
    return &((aclshmemi_sync_array_t *)(void *)(base + group->sync_offset))->lane[lane].note;
}

#endif
