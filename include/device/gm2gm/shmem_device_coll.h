/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Extension: collectives over teams, from kernels. Rules and results are those of the host's collectives.
 *
 * Each call has two forms. Without a suffix one core of every member calls, whichever it is, while the other cores do
 * something else; one such call per team and PE at a time. With _block all vector cores of every member's launch call,
 * like a barrier, and share the work; launches may have different numbers of cores.
 *
 * All members give the same arguments. dest and source are symmetric, given by local addresses and aligned to their
 * type. They do not overlap, except that dest may equal source in broadcast and in reductions. Counts are elements (bytes in the
 * mem forms) and may be 0: the call then only synchronises. What the calling cores issued before is complete before a
 * source is read. On return dest is complete, source may be changed, and nobody reads either any more.
 *
 *   broadcast   dest of every member, the root included, gets nelems elements of the root's source; PE_root is a number
 *               in the team
 *   fcollect    dest[i * nelems ...] is the source of member i
 *   alltoall    block i of dest is block "me" of member i's source; blocks of nelems elements
 *   OP_reduce   dest[k] is OP over all members' source[k], combined in the order of members: the same bits everywhere
 *
 * Data moves by the rule of all gets; members out of reach of loads and stores are served too, a reduction with them is
 * slow. ACLSHMEM_TEAM_INVALID has no effect. What cannot be done ends the launch: another number that is no team of this PE,
 * a root that is no member, addresses, members that are found in another call; and a wait longer than
 * SHMEM_WAIT_TIMEOUT, with a report of who has not come.
 */
#ifndef ACLSHMEM_DEVICE_COLL_H
#define ACLSHMEM_DEVICE_COLL_H

#include "device/shmem_def.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The types that have bits, FUNC(NAME, TYPE). */
#define ACLSHMEM_TYPES_WHOLE(FUNC)                                                                           \
    FUNC(int8, int8_t)                                                                                       \
    FUNC(int16, int16_t)                                                                                     \
    FUNC(int32, int32_t)                                                                                     \
    FUNC(int64, int64_t)                                                                                     \
    FUNC(uint8, uint8_t)                                                                                     \
    FUNC(uint16, uint16_t)                                                                                   \
    FUNC(uint32, uint32_t)                                                                                   \
    FUNC(uint64, uint64_t)

/* aclshmemx_NAME_broadcast, _fcollect, _alltoall for the 13 types of put and get, aclshmemx_broadcastmem and so on. */
#define ACLSHMEM_DECLARE_DEVICE_MOVES(prefix, name, TYPE, suffix)                                            \
    ACLSHMEM_DEVICE void prefix##broadcast##name##suffix(                                                    \
        aclshmem_team_t team, __gm__ TYPE *dest, __gm__ const TYPE *source, size_t nelems, int PE_root);     \
    ACLSHMEM_DEVICE void prefix##fcollect##name##suffix(aclshmem_team_t team, __gm__ TYPE *dest,             \
                                                        __gm__ const TYPE *source, size_t nelems);           \
    ACLSHMEM_DEVICE void prefix##alltoall##name##suffix(aclshmem_team_t team, __gm__ TYPE *dest,             \
                                                        __gm__ const TYPE *source, size_t nelems);
#define ACLSHMEM_DECLARE_DEVICE_COLL(NAME, TYPE)                                                             \
    ACLSHMEM_DECLARE_DEVICE_MOVES(aclshmemx_##NAME##_, , TYPE, )                                             \
    ACLSHMEM_DECLARE_DEVICE_MOVES(aclshmemx_##NAME##_, , TYPE, _block)
ACLSHMEM_DECLARE_DEVICE_MOVES(aclshmemx_, mem, void, )
ACLSHMEM_DECLARE_DEVICE_MOVES(aclshmemx_, mem, void, _block)
ACLSHMEM_TYPES_RMA(ACLSHMEM_DECLARE_DEVICE_COLL)

/* aclshmemx_NAME_OP_reduce: sum, prod, min, max for the 13 types, and, or, xor for those that have bits. */
#define ACLSHMEM_DECLARE_DEVICE_REDUCE(NAME, TYPE, OP)                                                       \
    ACLSHMEM_DEVICE void aclshmemx_##NAME##_##OP##_reduce(aclshmem_team_t team, __gm__ TYPE *dest,           \
                                                          __gm__ const TYPE *source, size_t nreduce);        \
    ACLSHMEM_DEVICE void aclshmemx_##NAME##_##OP##_reduce_block(aclshmem_team_t team, __gm__ TYPE *dest,     \
                                                                __gm__ const TYPE *source, size_t nreduce);
#define ACLSHMEM_DECLARE_DEVICE_NUMBERS(NAME, TYPE)                                                          \
    ACLSHMEM_DECLARE_DEVICE_REDUCE(NAME, TYPE, sum)                                                          \
    ACLSHMEM_DECLARE_DEVICE_REDUCE(NAME, TYPE, prod)                                                         \
    ACLSHMEM_DECLARE_DEVICE_REDUCE(NAME, TYPE, min)                                                          \
    ACLSHMEM_DECLARE_DEVICE_REDUCE(NAME, TYPE, max)
#define ACLSHMEM_DECLARE_DEVICE_BITS(NAME, TYPE)                                                             \
    ACLSHMEM_DECLARE_DEVICE_REDUCE(NAME, TYPE, and)                                                          \
    ACLSHMEM_DECLARE_DEVICE_REDUCE(NAME, TYPE, or)                                                           \
    ACLSHMEM_DECLARE_DEVICE_REDUCE(NAME, TYPE, xor)
ACLSHMEM_TYPES_RMA(ACLSHMEM_DECLARE_DEVICE_NUMBERS)
ACLSHMEM_TYPES_WHOLE(ACLSHMEM_DECLARE_DEVICE_BITS)

#undef ACLSHMEM_DECLARE_DEVICE_MOVES
#undef ACLSHMEM_DECLARE_DEVICE_COLL
#undef ACLSHMEM_DECLARE_DEVICE_REDUCE
#undef ACLSHMEM_DECLARE_DEVICE_NUMBERS
#undef ACLSHMEM_DECLARE_DEVICE_BITS

#include "device/gm2gm/coll.inl"

#ifdef __cplusplus
}
#endif

#endif
