/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bodies of the collectives of kernels. Members meet, every member reads what it needs from the others' memory, and they
 * meet again. Each starts at its own neighbour, so that not all read from one PE at once. A reduction is cut into a part
 * per member, which is reduced by that member and then read by the others. In the forms for a whole launch the cores
 * cut a member's work once more.
 */
#ifndef ACLSHMEMI_DEVICE_COLL_INL
#define ACLSHMEMI_DEVICE_COLL_INL

#include <assert.h>
#include <string.h>

#include "device/gm2gm/bounce.inl"
#include "device/gm2gm/cc.inl"
#include "host_device/combine.h"

/* One call. */
typedef struct aclshmemi_device_coll {
    const aclshmemi_state_t *state;
    const aclshmemx_team_t *team;
    const char *call;
    bool whole; /* all cores of the launch share the work; else one core of the PE does it */
    uint32_t share, shares;
    uint64_t purpose;
    __gm__ char *dest;
    __gm__ const char *source;
    uint64_t bytes; /* of a block */
    size_t width;   /* of an element */
} aclshmemi_device_coll_t;

/* --- Coming and going --- */

ACLSHMEM_DEVICE void aclshmemi_coll_meet(const aclshmemi_device_coll_t *c)
{
    aclshmemi_quiet_core(c->call);
    if (c->whole) {
        aclshmemi_gather(c->state, c->team, c->call, c->purpose);
    } else {
        aclshmemi_meeting_t m;
        aclshmemi_meet_begin(&m, c->state, c->team, c->call, ACLSHMEMI_MEET_CORES, c->purpose);
        aclshmemi_meet_others(&m);
    }
    aclshmemi_port_cache_all();
}

ACLSHMEM_DEVICE void aclshmemi_coll_claim(const aclshmemi_device_coll_t *c)
{
    if (__atomic_exchange_n(&aclshmemi_kernel_words(c->state, c->team)->busy, 1, __ATOMIC_ACQUIRE) != 0)
        aclshmemi_port_trap(
            "%s of team %d on PE %d: another core is inside a collective of that team, or failed inside one",
            c->call, c->team->team_idx, c->state->seen.mype);
}

/* What all members have to agree on, as a number. */
ACLSHMEM_DEVICE uint64_t aclshmemi_coll_purpose(const aclshmemi_device_coll_t *c, int root)
{
    uint64_t words[4], hash = UINT64_C(14695981039346656037);
    words[0] = c->bytes;
    words[1] = (uint64_t)(uintptr_t)c->dest - (uint64_t)(uintptr_t)c->state->seen.heap_base;
    words[2] = (uint64_t)(uintptr_t)c->source - (uint64_t)(uintptr_t)c->state->seen.heap_base;
    words[3] = (uint64_t)root;
    for (const char *letter = c->call; *letter != '\0'; letter++)
        hash = (hash ^ (unsigned char)*letter) * UINT64_C(1099511628211);
    for (int i = 0; i < 4; i++)
        hash = (hash ^ words[i]) * UINT64_C(1099511628211);
    return hash | UINT64_C(2); /* not that of a barrier */
}

/* False: the team is the invalid one, nothing happens. dest_blocks, source_blocks: how many blocks they have. */
ACLSHMEM_DEVICE bool aclshmemi_coll_enter(aclshmemi_device_coll_t *c, const char *call, bool whole,
                                          aclshmem_team_t team, __gm__ void *dest, __gm__ const void *source,
                                          size_t elements, size_t width, bool dest_has_all,
                                          bool source_has_all, int root)
{
    if (team == ACLSHMEM_TEAM_INVALID)
        return false;
    c->state = aclshmemi_state(call);
    c->team = aclshmemi_team_needed(c->state, call, team);
    c->call = call;
    c->whole = whole;
    c->share = whole ? aclshmemi_port_block() : 0;
    c->shares = whole ? aclshmemi_port_cores() : 1;
    c->dest = (__gm__ char *)dest;
    c->source = (__gm__ const char *)source;
    c->bytes = aclshmemi_bytes(elements, width);
    c->width = width;
    uint64_t all = aclshmemi_bytes(c->bytes, (uint64_t)c->team->size);
    aclshmemi_check(c->state, call, dest, dest_has_all ? all : c->bytes, c->state->seen.mype);
    aclshmemi_check(c->state, call, source, source_has_all ? all : c->bytes, c->state->seen.mype);
    if ((uintptr_t)dest % width != 0 || (uintptr_t)source % width != 0)
        aclshmemi_port_trap("%s: dest %p or source %p is not aligned to %zu bytes", call, (const void *)dest,
                            (const void *)source, width);
    if (root < 0 || root >= c->team->size)
        aclshmemi_port_trap("%s: root %d is no member of team %d, which has %d", call, root, team,
                            c->team->size);
    c->purpose = aclshmemi_coll_purpose(c, root);
    if (!whole)
        aclshmemi_coll_claim(c);
    aclshmemi_coll_meet(c);
    return true;
}

ACLSHMEM_DEVICE void aclshmemi_coll_leave(const aclshmemi_device_coll_t *c)
{
    aclshmemi_coll_meet(c);
    if (!c->whole)
        __atomic_store_n(&aclshmemi_kernel_words(c->state, c->team)->busy, 0, __ATOMIC_RELEASE);
}

/* --- Shares of the work --- */

/* This core's part of so many bytes: whole lines, from *begin up to *end. */
ACLSHMEM_DEVICE void aclshmemi_coll_slice(const aclshmemi_device_coll_t *c, uint64_t bytes, uint64_t *begin,
                                          uint64_t *end)
{
    uint64_t lines = bytes / ACLSHMEMI_LINE + (bytes % ACLSHMEMI_LINE != 0);
    *begin = lines * c->share / c->shares * ACLSHMEMI_LINE;
    *end = lines * (c->share + 1) / c->shares * ACLSHMEMI_LINE;
    *begin = *begin < bytes ? *begin : bytes;
    *end = *end < bytes ? *end : bytes;
}

ACLSHMEM_DEVICE void aclshmemi_coll_get(const aclshmemi_device_coll_t *c, uint64_t to, uint64_t from,
                                        uint64_t bytes, __gm__ const char *source, int member)
{
    int pe = aclshmemi_member(c->team, member);
    if (bytes != 0 && (pe != c->state->seen.mype || c->dest + to != source + from))
        aclshmemi_get(c->call, c->dest + to, source + from, bytes, pe);
}

ACLSHMEM_DEVICE void aclshmemi_coll_broadcast(const char *call, bool whole, aclshmem_team_t team,
                                              __gm__ void *dest, __gm__ const void *source, size_t elements,
                                              size_t width, int root)
{
    aclshmemi_device_coll_t c;
    uint64_t begin, end;
    if (!aclshmemi_coll_enter(&c, call, whole, team, dest, source, elements, width, false, false, root))
        return;
    aclshmemi_coll_slice(&c, c.bytes, &begin, &end);
    aclshmemi_coll_get(&c, begin, begin, end - begin, c.source, root);
    aclshmemi_coll_leave(&c);
}

/* Block i of dest is a block of member i: its only one, or the one for this member. */
ACLSHMEM_DEVICE void aclshmemi_coll_blocks(const char *call, bool whole, aclshmem_team_t team,
                                           __gm__ void *dest, __gm__ const void *source, size_t elements,
                                           size_t width, bool all_to_all)
{
    aclshmemi_device_coll_t c;
    uint64_t begin, end;
    if (!aclshmemi_coll_enter(&c, call, whole, team, dest, source, elements, width, true, all_to_all, 0))
        return;
    aclshmemi_coll_slice(&c, c.bytes * (uint64_t)c.team->size, &begin, &end);
    uint64_t mine = all_to_all ? (uint64_t)c.team->mype * c.bytes : 0;
    while (begin < end) {
        uint64_t turn = begin / c.bytes, at = begin % c.bytes;
        uint64_t piece = c.bytes - at < end - begin ? c.bytes - at : end - begin;
        int member = (int)(((uint64_t)c.team->mype + turn) % (uint64_t)c.team->size);
        aclshmemi_coll_get(&c, (uint64_t)member * c.bytes + at, mine + at, piece, c.source, member);
        begin += piece;
    }
    aclshmemi_coll_leave(&c);
}

/* --- Reductions --- */

/* Some of a member's source: where it lies, or a copy of it in a bounce buffer, which is taken when the first is needed. */
ACLSHMEM_DEVICE __gm__ const char *aclshmemi_coll_look(const aclshmemi_device_coll_t *c, int member,
                                                       uint64_t at, uint64_t bytes,
                                                       __gm__ aclshmemi_bounce_t **bounce)
{
    int pe = aclshmemi_member(c->team, member);
    __gm__ const char *place = aclshmemi_readable(c->state, c->source + at, bytes, pe);
    if (place != NULL)
        return place;
    if (*bounce == NULL)
        *bounce = aclshmemi_bounce_take(c->state);
    aclshmemi_get_now(c->call, (*bounce)->bytes, c->source + at, bytes, pe);
    return (__gm__ const char *)(*bounce)->bytes;
}

/* dest = reduction of all sources from begin to end, in the order of members. */
ACLSHMEM_DEVICE void aclshmemi_coll_combine(const aclshmemi_device_coll_t *c, aclshmemi_combine_t *combine,
                                            uint64_t begin, uint64_t end)
{
    uint64_t block[1024 / sizeof(uint64_t)];
    static_assert(sizeof block <= ACLSHMEMI_BOUNCE_BYTES, "a copy of a block has room");
    __gm__ aclshmemi_bounce_t *bounce = NULL;
    while (begin < end) {
        uint64_t piece = end - begin < sizeof block ? end - begin : sizeof block;
        memcpy(block, aclshmemi_coll_look(c, 0, begin, piece, &bounce), piece);
        for (int i = 1; i < c->team->size; i++)
            combine(block, aclshmemi_coll_look(c, i, begin, piece, &bounce), piece / c->width);
        memcpy(c->dest + begin, block, piece);
        begin += piece;
    }
    if (bounce != NULL)
        aclshmemi_bounce_give(bounce);
}

/* Nobody but member i reads part i of any source before the meeting in the middle, so dest may be source. */
ACLSHMEM_DEVICE void aclshmemi_coll_reduce(const char *call, bool whole, aclshmem_team_t team,
                                           __gm__ void *dest, __gm__ const void *source, size_t elements,
                                           size_t width, aclshmemi_combine_t *combine)
{
    aclshmemi_device_coll_t c;
    if (!aclshmemi_coll_enter(&c, call, whole, team, dest, source, elements, width, false, false, 0))
        return;
    uint64_t size = (uint64_t)c.team->size, begin, end;
    uint64_t part = ALIGN_UP(c.bytes / size + (c.bytes % size != 0), (uint64_t)ACLSHMEMI_LINE);
    uint64_t own = (uint64_t)c.team->mype * part, own_end = own + part < c.bytes ? own + part : c.bytes;
    if (own < c.bytes) {
        aclshmemi_coll_slice(&c, own_end - own, &begin, &end);
        aclshmemi_coll_combine(&c, combine, own + begin, own + end);
    }
    aclshmemi_coll_meet(&c);
    aclshmemi_coll_slice(&c, part * (size - 1), &begin, &end);
    while (begin < end) {
        uint64_t turn = begin / part, at = begin % part;
        uint64_t piece = part - at < end - begin ? part - at : end - begin;
        int member = (int)(((uint64_t)c.team->mype + 1 + turn) % size);
        uint64_t from = (uint64_t)member * part + at;
        if (from < c.bytes)
            aclshmemi_coll_get(&c, from, from, c.bytes - from < piece ? c.bytes - from : piece, c.dest,
                               member);
        begin += piece;
    }
    aclshmemi_coll_leave(&c);
}

/* --- Calls --- */

#define ACLSHMEMI_COLL_MOVES(prefix, name, TYPE, width, suffix, words, whole)                                \
    ACLSHMEM_DEVICE void prefix##broadcast##name##suffix(                                                    \
        aclshmem_team_t team, __gm__ TYPE *dest, __gm__ const TYPE *source, size_t nelems, int PE_root)      \
    {                                                                                                        \
        aclshmemi_coll_broadcast("broadcast" words, whole, team, dest, source, nelems, width, PE_root);      \
    }                                                                                                        \
    ACLSHMEM_DEVICE void prefix##fcollect##name##suffix(aclshmem_team_t team, __gm__ TYPE *dest,             \
                                                        __gm__ const TYPE *source, size_t nelems)            \
    {                                                                                                        \
        aclshmemi_coll_blocks("fcollect" words, whole, team, dest, source, nelems, width, false);            \
    }                                                                                                        \
    ACLSHMEM_DEVICE void prefix##alltoall##name##suffix(aclshmem_team_t team, __gm__ TYPE *dest,             \
                                                        __gm__ const TYPE *source, size_t nelems)            \
    {                                                                                                        \
        aclshmemi_coll_blocks("alltoall" words, whole, team, dest, source, nelems, width, true);             \
    }
#define ACLSHMEMI_COLL_TYPED(NAME, TYPE)                                                                     \
    ACLSHMEMI_COLL_MOVES(aclshmemx_##NAME##_, , TYPE, sizeof(TYPE), , "", false)                             \
    ACLSHMEMI_COLL_MOVES(aclshmemx_##NAME##_, , TYPE, sizeof(TYPE), _block, "_block", true)
ACLSHMEMI_COLL_MOVES(aclshmemx_, mem, void, 1, , "mem", false)
ACLSHMEMI_COLL_MOVES(aclshmemx_, mem, void, 1, _block, "mem_block", true)
ACLSHMEM_TYPES_RMA(ACLSHMEMI_COLL_TYPED)

#define ACLSHMEMI_COLL_REDUCE(NAME, TYPE, OP)                                                                \
    ACLSHMEM_DEVICE void aclshmemx_##NAME##_##OP##_reduce(aclshmem_team_t team, __gm__ TYPE *dest,           \
                                                          __gm__ const TYPE *source, size_t nreduce)         \
    {                                                                                                        \
        aclshmemi_coll_reduce(#NAME "_" #OP "_reduce", false, team, dest, source, nreduce, sizeof(TYPE),     \
                              aclshmemi_combine_##NAME##_##OP);                                              \
    }                                                                                                        \
    ACLSHMEM_DEVICE void aclshmemx_##NAME##_##OP##_reduce_block(aclshmem_team_t team, __gm__ TYPE *dest,     \
                                                                __gm__ const TYPE *source, size_t nreduce)   \
    {                                                                                                        \
        aclshmemi_coll_reduce(#NAME "_" #OP "_reduce_block", true, team, dest, source, nreduce,              \
                              sizeof(TYPE), aclshmemi_combine_##NAME##_##OP);                                \
    }
#define ACLSHMEMI_COLL_NUMBERS(NAME, TYPE)                                                                   \
    ACLSHMEMI_COLL_REDUCE(NAME, TYPE, sum)                                                                   \
    ACLSHMEMI_COLL_REDUCE(NAME, TYPE, prod)                                                                  \
    ACLSHMEMI_COLL_REDUCE(NAME, TYPE, min)                                                                   \
    ACLSHMEMI_COLL_REDUCE(NAME, TYPE, max)
#define ACLSHMEMI_COLL_BITS(NAME, TYPE)                                                                      \
    ACLSHMEMI_COLL_REDUCE(NAME, TYPE, and)                                                                   \
    ACLSHMEMI_COLL_REDUCE(NAME, TYPE, or)                                                                    \
    ACLSHMEMI_COLL_REDUCE(NAME, TYPE, xor)
ACLSHMEM_TYPES_RMA(ACLSHMEMI_COLL_NUMBERS)
ACLSHMEM_TYPES_WHOLE(ACLSHMEMI_COLL_BITS)

#undef ACLSHMEMI_COLL_MOVES
#undef ACLSHMEMI_COLL_TYPED
#undef ACLSHMEMI_COLL_REDUCE
#undef ACLSHMEMI_COLL_NUMBERS
#undef ACLSHMEMI_COLL_BITS

#endif
