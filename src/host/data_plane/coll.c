/* SPDX-License-Identifier: Apache-2.0 */
/* How a collective runs: arguments, agreement, data, and the meetings around it. */
#define LOG_MODULE "coll"
#include "host/data_plane/coll.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/data_plane/reach.h"

/* Bytes of dest and source that the call touches on a member; false when they do not fit a size. */
static bool footprint(const aclshmemi_coll_t *coll, int members, size_t *dest, size_t *source)
{
    size_t block, all, strided;
    if (__builtin_mul_overflow(coll->count, coll->width, &block) ||
        __builtin_mul_overflow(block, (size_t)members, &all))
        return false;
    *dest = *source = block;
    switch (coll->kind) {
    case ACLSHMEMI_COLL_FCOLLECT:
        *dest = all;
        break;
    case ACLSHMEMI_COLL_ALLTOALL:
        *dest = *source = all;
        break;
    case ACLSHMEMI_COLL_REDUCE_SCATTER:
        *source = all;
        break;
    case ACLSHMEMI_COLL_ALLTOALLS:
        if (all == 0)
            break;
        all = all / coll->width - 1; /* distance to the last element, in elements */
        if (__builtin_mul_overflow(all, (size_t)coll->dst * coll->width, dest) ||
            __builtin_mul_overflow(all, (size_t)coll->sst * coll->width, &strided))
            return false;
        *source = strided + coll->width;
        *dest += coll->width;
        break;
    default: /* collect: the whole dest is known after the counts were exchanged */
        break;
    }
    return true;
}

static int check_object(const aclshmemi_instance_t *in, const aclshmemi_coll_t *coll, const void *address,
                        size_t bytes)
{
    aclshmemi_target_t target;
    if (bytes == 0 || aclshmemi_reach(in, address, bytes, in->pe) != NULL)
        return 0;
    return aclshmemi_reach_slowly(in, coll->call, address, bytes, in->pe, &target) != 0
               ? ACLSHMEM_INVALID_PARAM
               : fail(ACLSHMEM_NOT_SUPPORTED,
                      "%s: collectives work on the device heap; %p is on the host heap", coll->call, address);
}

static __attribute__((cold, noinline)) int check_slowly(const aclshmemi_instance_t *in,
                                                        const aclshmemi_coll_t *coll, int members)
{
    size_t dest, source;
    if (coll->kind == ACLSHMEMI_COLL_BROADCAST && (coll->root < 0 || coll->root >= members))
        return fail(ACLSHMEM_INVALID_PARAM, "%s: root %d is no member, members are 0..%d", coll->call,
                    coll->root, members - 1);
    if (coll->kind == ACLSHMEMI_COLL_ALLTOALLS && (coll->dst < 1 || coll->sst < 1))
        return fail(ACLSHMEM_INVALID_PARAM, "%s: strides are %td and %td, both must be at least 1",
                    coll->call, coll->dst, coll->sst);
    if (!footprint(coll, members, &dest, &source))
        return fail(ACLSHMEM_INVALID_PARAM,
                    "%s: %zu elements of %zu bytes on %d members are more than memory can hold", coll->call,
                    coll->count, coll->width, members);
    TRY(check_object(in, coll, coll->source, source));
    return check_object(in, coll, coll->dest, dest);
}

/* Most calls are right: two ranges of the device heap, of a block or of one for each member. Everything else, mistakes
 * included, is looked at slowly. */
static inline int check_arguments(const aclshmemi_instance_t *in, const aclshmemi_coll_t *coll, int members)
{
    const aclshmemi_space_t *space = &in->space[ACLSHMEMI_SPACE_DEVICE];
    uint64_t source_at = (uintptr_t)coll->source - (uintptr_t)space->base,
             dest_at = (uintptr_t)coll->dest - (uintptr_t)space->base;
    size_t block, source = 1, dest = 1;
    if (coll->kind == ACLSHMEMI_COLL_FCOLLECT || coll->kind == ACLSHMEMI_COLL_ALLTOALL)
        dest = (size_t)members;
    if (coll->kind == ACLSHMEMI_COLL_REDUCE_SCATTER || coll->kind == ACLSHMEMI_COLL_ALLTOALL)
        source = (size_t)members;
    /* A block that fits the heap times the members fits 64 bits. */
    bool right = !__builtin_mul_overflow(coll->count, coll->width, &block) && block <= space->bytes &&
                 source_at < space->bytes && dest_at < space->bytes &&
                 block * source <= space->bytes - source_at && block * dest <= space->bytes - dest_at &&
                 (unsigned)coll->root < (unsigned)members && coll->kind != ACLSHMEMI_COLL_ALLTOALLS &&
                 coll->kind != ACLSHMEMI_COLL_COLLECT;
    return __builtin_expect(right, 1) ? 0 : check_slowly(in, coll, members);
}

static void write_note(const aclshmemi_instance_t *in, const aclshmemi_group_t *group,
                       const aclshmemi_coll_t *coll, bool refused)
{
    const char *base = in->space[ACLSHMEMI_SPACE_DEVICE].base;
    bool strided = coll->kind == ACLSHMEMI_COLL_ALLTOALLS;
    *aclshmemi_coll_note(in, group, coll->lane, group->index) = (aclshmemi_coll_note_t){
        .kind = coll->kind,
        .op_width = coll->reduction != 0 ? coll->reduction : (uint32_t)coll->width << 16,
        .count = coll->count,
        .source = coll->count == 0 ? 0 : (uintptr_t)coll->source - (uintptr_t)base,
        .dest = coll->count == 0 ? 0 : (uintptr_t)coll->dest - (uintptr_t)base,
        .root_or_stride = strided ? coll->dst : coll->root,
        .second_stride = strided ? coll->sst : 0,
        .refused = refused,
    };
}

/* Counts may differ in collect, and then so may everything a zero count leaves out. */
static bool notes_agree(const aclshmemi_coll_note_t *a, const aclshmemi_coll_note_t *b)
{
    if (a->kind != b->kind || a->op_width != b->op_width)
        return false;
    if (a->kind == ACLSHMEMI_COLL_COLLECT)
        return a->count == 0 || b->count == 0 || (a->source == b->source && a->dest == b->dest);
    return memcmp(a, b, offsetof(aclshmemi_coll_note_t, refused)) == 0;
}

static int compare_notes(const aclshmemi_instance_t *in, const aclshmemi_team_t *team,
                         const aclshmemi_coll_t *coll)
{
    const aclshmemi_group_t *group = &team->group;
    const aclshmemi_coll_note_t *first = aclshmemi_coll_note(in, group, coll->lane, 0);
    for (int i = 0; i < group->size; i++) {
        const aclshmemi_coll_note_t *note = aclshmemi_coll_note(in, group, coll->lane, i);
        int pe = aclshmemi_group_pe(group, i);
        if (note->refused != 0)
            return pe == in->pe ? ACLSHMEM_INVALID_PARAM
                                : fail(ACLSHMEM_INVALID_PARAM,
                                       "%s: PE %d refused its arguments, so nobody goes on", coll->call, pe);
        if (!notes_agree(first, note))
            return fail(ACLSHMEM_INVALID_PARAM,
                        "%s: members of team %d differ: PE %d has kind %u, count %" PRIu64
                        ", source offset %" PRIu64 ", dest offset %" PRIu64 ", root %" PRId64
                        "; PE %d has kind %u, count %" PRIu64 ", source offset %" PRIu64
                        ", dest offset %" PRIu64 ", root %" PRId64,
                        coll->call, team->handle, aclshmemi_group_pe(group, 0), first->kind, first->count,
                        first->source, first->dest, first->root_or_stride, pe, note->kind, note->count,
                        note->source, note->dest, note->root_or_stride);
    }
    return 0;
}

/* Sums of products with odd constants: arguments that differ by small numbers do not meet. The low half is never 0, which
 * means refused. */
static inline uint64_t hash_of(const aclshmemi_instance_t *in, const aclshmemi_coll_t *coll)
{
    uintptr_t base = (uintptr_t)in->space[ACLSHMEMI_SPACE_DEVICE].base;
    uint64_t what = (uint64_t)coll->kind | (uint64_t)coll->width << 8 | (uint64_t)coll->reduction << 16 |
                    (uint64_t)(uint32_t)coll->root << 32;
    uint64_t hash = what * UINT64_C(0x9e3779b97f4a7c15);
    if (coll->kind != ACLSHMEMI_COLL_COLLECT && coll->count != 0)
        hash += coll->count * UINT64_C(0xd6e8feb86659fd93) +
                ((uintptr_t)coll->source - base) * UINT64_C(0xc2b2ae3d27d4eb4f) +
                ((uintptr_t)coll->dest - base) * UINT64_C(0xff51afd7ed558ccd);
    if (coll->kind == ACLSHMEMI_COLL_ALLTOALLS)
        hash += (uint64_t)coll->dst * UINT64_C(0xc4ceb9fe1a85ec53) +
                (uint64_t)coll->sst * UINT64_C(0x165667b19e3779f9);
    hash ^= hash >> 32;
    return (uint32_t)hash != 0 ? hash : hash + 1;
}

static bool hashes_agree(const aclshmemi_instance_t *in, const aclshmemi_group_t *group,
                         aclshmemi_lane_index_t lane, uint64_t hash)
{
    for (int i = 0; i < group->size; i++)
        if (i != group->index && !aclshmemi_message_has(in, group, lane, i, hash))
            return false;
    return hash != 0;
}

/* Everybody has seen that not all are the same and comes here, to find the words. */
static __attribute__((cold, noinline)) int disagree(aclshmemi_instance_t *in, aclshmemi_team_t *team,
                                                    const aclshmemi_coll_t *coll, bool refused)
{
    write_note(in, &team->group, coll, refused);
    TRY(aclshmemi_barrier_in(in, &team->group, coll->lane, ACLSHMEMI_CALL_COLLECTIVE));
    int rc = compare_notes(in, team, coll);
    TRY(aclshmemi_barrier_in(in, &team->group, coll->lane, ACLSHMEMI_CALL_COLLECTIVE));
    return rc != 0 ? rc
                   : fail(ACLSHMEM_INNER_ERROR, "%s: members of team %d disagree and look the same",
                          coll->call, team->handle);
}

static inline int run_in_step(aclshmemi_instance_t *in, aclshmemi_team_t *team, const aclshmemi_coll_t *coll)
{
    aclshmemi_group_t *group = &team->group;
    bool refused = check_arguments(in, coll, group->size) != 0;
    size_t carried = refused ? SIZE_MAX : aclshmemi_coll_carried(coll, group->size);
    aclshmemi_message_t bring;
    bring.hash = refused ? 0 : hash_of(in, coll);
    memset(bring.data, 0, sizeof bring.data);
    if (carried != SIZE_MAX)
        aclshmemi_coll_pack(group, coll, carried, bring.data);
    if (coll->kind == ACLSHMEMI_COLL_COLLECT)
        write_note(in, group, coll, refused);
    TRY(aclshmemi_exchange(in, group, coll->lane, ACLSHMEMI_CALL_COLLECTIVE, &bring,
                           carried == SIZE_MAX ? 0 : carried));
    if (!hashes_agree(in, group, coll->lane, bring.hash))
        return disagree(in, team, coll, refused);
    if (carried != SIZE_MAX) {
        aclshmemi_coll_unpack(in, group, coll, carried);
        return 0;
    }
    int rc = coll->kind == ACLSHMEMI_COLL_COLLECT ? compare_notes(in, team, coll) : 0;
    if (rc == 0)
        rc = aclshmemi_coll_move(in, team, coll);
    int after = aclshmemi_barrier_in(in, group, coll->lane, ACLSHMEMI_CALL_COLLECTIVE);
    return rc != 0 ? rc : after;
}

/* What a stream carries out has its turn and needs no other guard. */
int aclshmemi_coll_run(aclshmemi_instance_t *in, const aclshmemi_coll_t *coll)
{
    aclshmemi_team_t *team = aclshmemi_team_find(in, coll->team);
    if (team == NULL)
        team = aclshmemi_team_get(in, coll->call, coll->team);
    if (team == NULL)
        return in->n_pes == 0 ? ACLSHMEM_NOT_INITED : ACLSHMEM_INVALID_PARAM;
    if (!in->touch || !team->group.mapped)
        return fail(ACLSHMEM_NOT_SUPPORTED,
                    "%s: the members of team %d do not all share memory that host code can touch", coll->call,
                    coll->team);
    if (coll->lane != ACLSHMEMI_LANE_HOST)
        return run_in_step(in, team, coll);
    TRY(aclshmemi_collective_begin(&team->group, coll->call));
    int rc = run_in_step(in, team, coll);
    aclshmemi_collective_end(&team->group);
    return rc;
}

/* A request on its way through a stream. */
typedef struct enqueued {
    aclshmemi_task_t task;
    aclshmemi_coll_t coll;
    aclshmemi_group_t *group; /* stays until the turn is over */
    uint64_t ticket;
} enqueued_t;

static int run_enqueued(aclshmemi_task_t *task)
{
    const enqueued_t *e = (const enqueued_t *)(const void *)task;
    int rc = aclshmemi_turn_begin(task->in, e->group, e->ticket, ACLSHMEMI_CALL_COLLECTIVE);
    if (rc == 0)
        rc = aclshmemi_coll_run(task->in, &e->coll);
    aclshmemi_turn_end(task->in, e->group);
    return rc;
}

int aclshmemi_coll_enqueue(const aclshmemi_coll_t *coll, aclshmemi_npu_stream_t stream)
{
    aclshmemi_instance_t *in = aclshmemi_current();
    TRY(aclshmemi_stream_enter(in, coll->call, &stream));
    aclshmemi_team_t *team = aclshmemi_team_get(in, coll->call, coll->team);
    if (team == NULL)
        return ACLSHMEM_INVALID_PARAM;
    enqueued_t *e = malloc(sizeof *e);
    if (e == NULL)
        return fail(ACLSHMEM_MALLOC_FAILED, "%s: out of memory for the request", coll->call);
    *e = (enqueued_t){{run_enqueued, in, stream, NULL}, *coll, &team->group, team->group.tickets};
    TRY(aclshmemi_stream_task(&e->task));
    team->group.tickets++;
    return 0;
}
