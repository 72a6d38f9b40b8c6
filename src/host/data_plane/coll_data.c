/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data of collectives: every member reads what it needs straight from the members' memory, and starts at its own
 * neighbour, so that not all read from one PE at once. A large reduction is cut into a part per member, each reduced by one member
 * and then read by the others; a small one is computed by every member itself.
 */
#define LOG_MODULE "coll"
#include "host/data_plane/coll.h"

#include <string.h>

#include "host/utils/copy.h"

enum {
    SMALL_REDUCE_BYTES = 2048,      /* computed by everybody, also in place */
    PAIR_REDUCE_BYTES = 256 * 1024, /* computed by both of two */
    ALL_REDUCE_BYTES = 64 * 1024,   /* of all members together, computed by all of more */
    REDUCE_BLOCK_BYTES = 8192       /* of the result that stays in cache while members are added to it */
};

/* The symmetric object `local` on member i. */
static char *on_member(const aclshmemi_instance_t *in, const aclshmemi_group_t *group, int i,
                       const void *local)
{
    const aclshmemi_space_t *space = &in->space[ACLSHMEMI_SPACE_DEVICE];
    return space->peers[aclshmemi_group_pe(group, i)] + ((uintptr_t)local - (uintptr_t)space->base);
}

static void broadcast(const aclshmemi_instance_t *in, const aclshmemi_group_t *group,
                      const aclshmemi_coll_t *c)
{
    const char *from = on_member(in, group, c->root, c->source);
    if (from != c->dest)
        aclshmemi_copy(c->dest, from, c->count * c->width);
}

static void fcollect(const aclshmemi_instance_t *in, const aclshmemi_group_t *group,
                     const aclshmemi_coll_t *c)
{
    size_t block = c->count * c->width;
    for (int step = 0; step < group->size; step++) {
        int i = (group->index + step) % group->size;
        aclshmemi_copy_part((char *)c->dest + (size_t)i * block, on_member(in, group, i, c->source), block,
                            block * (size_t)group->size);
    }
}

/* Counts of all members are in their notes; everybody comes to the same sum. */
static int collect(const aclshmemi_instance_t *in, const aclshmemi_group_t *group, const aclshmemi_coll_t *c)
{
    const aclshmemi_space_t *space = &in->space[ACLSHMEMI_SPACE_DEVICE];
    const aclshmemi_coll_note_t *any = NULL;
    uint64_t bytes = 0;
    for (int i = 0; i < group->size; i++) {
        const aclshmemi_coll_note_t *note = aclshmemi_coll_note(in, group, c->lane, i);
        any = note->count != 0 ? note : any;
        bytes += note->count * c->width;
    }
    if (any == NULL)
        return 0;
    if (any->dest >= space->bytes || bytes > space->bytes - any->dest)
        return fail(ACLSHMEM_INVALID_PARAM,
                    "%s: the members bring %llu bytes, and dest at heap offset %llu has no room for them",
                    c->call, (unsigned long long)bytes, (unsigned long long)any->dest);
    if (c->count == 0 && c->dest == NULL)
        return 0; /* a member that brings nothing and wants nothing */
    char *to = c->dest;
    for (int i = 0; i < group->size; i++) {
        const aclshmemi_coll_note_t *note = aclshmemi_coll_note(in, group, c->lane, i);
        size_t part = note->count * c->width;
        aclshmemi_copy(to, space->peers[aclshmemi_group_pe(group, i)] + note->source, part);
        to += part;
    }
    return 0;
}

static void alltoall(const aclshmemi_instance_t *in, const aclshmemi_group_t *group,
                     const aclshmemi_coll_t *c)
{
    size_t block = c->count * c->width;
    for (int step = 0; step < group->size; step++) {
        int i = (group->index + step) % group->size;
        aclshmemi_copy_part((char *)c->dest + (size_t)i * block,
                            on_member(in, group, i, c->source) + (size_t)group->index * block, block,
                            block * (size_t)group->size);
    }
}

static void alltoalls(const aclshmemi_instance_t *in, const aclshmemi_group_t *group,
                      const aclshmemi_coll_t *c)
{
    size_t to_step = (size_t)c->dst * c->width, from_step = (size_t)c->sst * c->width;
    for (int step = 0; step < group->size; step++) {
        int i = (group->index + step) % group->size;
        char *to = (char *)c->dest + (size_t)i * c->count * to_step;
        const char *from = on_member(in, group, i, c->source) + (size_t)group->index * c->count * from_step;
        for (size_t k = 0; k < c->count; k++)
            memcpy(to + k * to_step, from + k * from_step, c->width);
    }
}

/* result = reduction over members of `bytes` bytes at `offset` of their source, in the order of members. In place, result lies over
 * what this member brings, so it is computed beside unless this member is the first. */
static void reduce_part(const aclshmemi_instance_t *in, const aclshmemi_group_t *group,
                        const aclshmemi_coll_t *c, size_t offset, size_t bytes, char *result)
{
    aclshmemi_combine_t *combine = aclshmemi_reduce_function(c->reduction);
    const char *first = on_member(in, group, 0, c->source) + offset;
    bool beside = c->dest == c->source && group->index != 0;
    char block[REDUCE_BLOCK_BYTES];
    for (size_t done = 0; done < bytes; done += sizeof block) {
        size_t part = bytes - done < sizeof block ? bytes - done : sizeof block;
        char *into = beside ? block : result + done;
        if (into != first + done)
            memcpy(into, first + done, part);
        for (int i = 1; i < group->size; i++)
            combine(into, on_member(in, group, i, c->source) + offset + done, part / c->width);
        if (beside)
            memcpy(result + done, block, part);
    }
}

/* Everybody computes everything, which saves a meeting and that results cross from PE to PE. In place, they wait until all have
 * read. */
static int reduce_by_all(aclshmemi_instance_t *in, aclshmemi_group_t *group, const aclshmemi_coll_t *c)
{
    char result[SMALL_REDUCE_BYTES];
    size_t bytes = c->count * c->width;
    if (c->dest != c->source) {
        reduce_part(in, group, c, 0, bytes, c->dest);
        return 0;
    }
    aclshmemi_coll_t apart = *c;
    apart.dest = result;
    reduce_part(in, group, &apart, 0, bytes, result);
    TRY(aclshmemi_barrier_in(in, group, c->lane, ACLSHMEMI_CALL_COLLECTIVE));
    memcpy(c->dest, result, bytes);
    return 0;
}

/* Two members read as much of each other in either way. */
static bool all_compute(const aclshmemi_group_t *group, const aclshmemi_coll_t *c)
{
    size_t bytes = c->count * c->width;
    if (bytes <= SMALL_REDUCE_BYTES)
        return true;
    if (c->dest == c->source)
        return false;
    return group->size == 2 ? bytes <= PAIR_REDUCE_BYTES : bytes <= ALL_REDUCE_BYTES / (size_t)group->size;
}

/* Member i's part: nobody but member i reads part i of any source, so this is safe in place. */
static int reduce_large(aclshmemi_instance_t *in, aclshmemi_group_t *group, const aclshmemi_coll_t *c)
{
    size_t members = (size_t)group->size, part = (c->count + members - 1) / members,
           bytes = c->count * c->width;
    part = (part * c->width + 63) / 64 * 64; /* whole lines */
    size_t own = (size_t)group->index * part;
    if (own < bytes)
        reduce_part(in, group, c, own, bytes - own < part ? bytes - own : part, (char *)c->dest + own);
    TRY(aclshmemi_barrier_in(in, group, c->lane, ACLSHMEMI_CALL_COLLECTIVE));
    for (int step = 1; step < group->size; step++) {
        int i = (group->index + step) % group->size;
        size_t at = (size_t)i * part;
        if (at < bytes)
            aclshmemi_copy((char *)c->dest + at, on_member(in, group, i, c->dest) + at,
                           bytes - at < part ? bytes - at : part);
    }
    return 0;
}

/* In place, dest lies over the first part of source, which member 0 reads: results wait until all have read. */
static int reduce_scatter(aclshmemi_instance_t *in, aclshmemi_group_t *group, const aclshmemi_coll_t *c)
{
    size_t bytes = c->count * c->width, own = (size_t)group->index * bytes;
    if (c->dest != c->source) {
        reduce_part(in, group, c, own, bytes, c->dest);
        return 0;
    }
    reduce_part(in, group, c, own, bytes,
                (char *)c->dest + own); /* our part of our own source is read by us alone */
    TRY(aclshmemi_barrier_in(in, group, c->lane, ACLSHMEMI_CALL_COLLECTIVE));
    memmove(c->dest, (char *)c->dest + own, bytes);
    return 0;
}

/* --- What comes with the messages --- */

/* Of collectives that give everybody something else, what is for all: a message is the same for everybody. Of two members each
 * sends what the other one needs. */
size_t aclshmemi_coll_carried(const aclshmemi_coll_t *c, int members)
{
    bool for_each = c->kind == ACLSHMEMI_COLL_ALLTOALL || c->kind == ACLSHMEMI_COLL_REDUCE_SCATTER;
    size_t bytes = c->count * c->width * (for_each && members != 2 ? (size_t)members : 1);
    if (c->kind == ACLSHMEMI_COLL_COLLECT || c->kind == ACLSHMEMI_COLL_ALLTOALLS || members == 1 ||
        bytes > ACLSHMEMI_MESSAGE_BYTES)
        return SIZE_MAX;
    return bytes;
}

void aclshmemi_coll_pack(const aclshmemi_group_t *group, const aclshmemi_coll_t *c, size_t carried,
                         uint8_t *data)
{
    bool for_each = c->kind == ACLSHMEMI_COLL_ALLTOALL || c->kind == ACLSHMEMI_COLL_REDUCE_SCATTER;
    const char *from = c->source;
    if (for_each && group->size == 2)
        from += (size_t)(1 - group->index) * carried;
    if (carried == sizeof(uint64_t))
        memcpy(data, from, sizeof(uint64_t));
    else if (carried != 0)
        memcpy(data, from, carried);
}

/* What member i has for us. */
static const void *share_of(const aclshmemi_instance_t *in, const aclshmemi_group_t *group,
                            const aclshmemi_coll_t *c, size_t carried, int i)
{
    size_t block = c->count * c->width;
    bool for_each = c->kind == ACLSHMEMI_COLL_ALLTOALL || c->kind == ACLSHMEMI_COLL_REDUCE_SCATTER;
    size_t own = for_each ? (size_t)group->index * block : 0;
    if (i == group->index)
        return (const char *)c->source + own;
    return aclshmemi_message_data(in, group, c->lane, i, carried) + (group->size != 2 ? own : 0);
}

/* In the order of members. A share may start anywhere in a message. */
static void combine_messages(const aclshmemi_instance_t *in, const aclshmemi_group_t *group,
                             const aclshmemi_coll_t *c, size_t carried)
{
    _Alignas(8) uint8_t result[ACLSHMEMI_MESSAGE_BYTES], next[ACLSHMEMI_MESSAGE_BYTES];
    size_t bytes = c->count * c->width;
    aclshmemi_combine_t *combine = aclshmemi_reduce_function(c->reduction);
    memcpy(result, share_of(in, group, c, carried, 0), bytes);
    for (int i = 1; i < group->size; i++) {
        memcpy(next, share_of(in, group, c, carried, i), bytes);
        combine(result, next, c->count);
    }
    memcpy(c->dest, result, bytes);
}

void aclshmemi_coll_unpack(const aclshmemi_instance_t *in, const aclshmemi_group_t *group,
                           const aclshmemi_coll_t *c, size_t carried)
{
    size_t block = c->count * c->width;
    if (block == 0)
        return;
    switch (c->kind) {
    case ACLSHMEMI_COLL_BROADCAST:
        aclshmemi_copy(c->dest, share_of(in, group, c, carried, c->root), block);
        break;
    case ACLSHMEMI_COLL_FCOLLECT:
    case ACLSHMEMI_COLL_ALLTOALL:
        for (int i = 0; i < group->size; i++)
            aclshmemi_copy((char *)c->dest + (size_t)i * block, share_of(in, group, c, carried, i), block);
        break;
    default:
        combine_messages(in, group, c, carried);
        break;
    }
}

int aclshmemi_coll_move(aclshmemi_instance_t *in, aclshmemi_team_t *team, const aclshmemi_coll_t *c)
{
    aclshmemi_group_t *group = &team->group;
    if (c->kind == ACLSHMEMI_COLL_COLLECT)
        return collect(in, group, c);
    if (c->count == 0)
        return 0;
    switch (c->kind) {
    case ACLSHMEMI_COLL_BROADCAST:
        broadcast(in, group, c);
        return 0;
    case ACLSHMEMI_COLL_FCOLLECT:
        fcollect(in, group, c);
        return 0;
    case ACLSHMEMI_COLL_ALLTOALL:
        alltoall(in, group, c);
        return 0;
    case ACLSHMEMI_COLL_ALLTOALLS:
        alltoalls(in, group, c);
        return 0;
    case ACLSHMEMI_COLL_REDUCE:
        return all_compute(group, c) ? reduce_by_all(in, group, c) : reduce_large(in, group, c);
    default:
        return reduce_scatter(in, group, c);
    }
}
