/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel per type that carries out the collective it is told to, by one core or by all. */
#include "coll.h"

#include "kernel.h"

#define CALL_MOVE(NAME, name, ...)                                                                           \
    if (a.core < 0)                                                                                          \
        aclshmemx_##NAME##_##name##_block(a.team, dest, source, a.count, ##__VA_ARGS__);                     \
    else                                                                                                     \
        aclshmemx_##NAME##_##name(a.team, dest, source, a.count, ##__VA_ARGS__);                             \
    break

#define DEFINE_COLL(NAME, TYPE)                                                                              \
    ACLSHMEM_KERNEL(coll_##NAME, coll_args_t, a)                                                             \
    {                                                                                                        \
        __gm__ TYPE *dest = (__gm__ TYPE *)a.dest;                                                           \
        __gm__ const TYPE *source = (__gm__ const TYPE *)a.source;                                           \
        if (a.core >= 0 && a.core != (int)aicore_block_index())                                              \
            return;                                                                                          \
        switch (a.kind) {                                                                                    \
        case COLL_BROADCAST:                                                                                 \
            CALL_MOVE(NAME, broadcast, a.root);                                                              \
        case COLL_FCOLLECT:                                                                                  \
            CALL_MOVE(NAME, fcollect);                                                                       \
        case COLL_ALLTOALL:                                                                                  \
            CALL_MOVE(NAME, alltoall);                                                                       \
        case COLL_SUM:                                                                                       \
            CALL_MOVE(NAME, sum_reduce);                                                                     \
        case COLL_PROD:                                                                                      \
            CALL_MOVE(NAME, prod_reduce);                                                                    \
        case COLL_MIN:                                                                                       \
            CALL_MOVE(NAME, min_reduce);                                                                     \
        default:                                                                                             \
            CALL_MOVE(NAME, max_reduce);                                                                     \
        }                                                                                                    \
    }
ACLSHMEM_TYPES_RMA(DEFINE_COLL)

#define DEFINE_BITS(NAME, TYPE)                                                                              \
    ACLSHMEM_KERNEL(bits_##NAME, coll_args_t, a)                                                             \
    {                                                                                                        \
        __gm__ TYPE *dest = (__gm__ TYPE *)a.dest;                                                           \
        __gm__ const TYPE *source = (__gm__ const TYPE *)a.source;                                           \
        if (a.core >= 0 && a.core != (int)aicore_block_index())                                              \
            return;                                                                                          \
        switch (a.kind) {                                                                                    \
        case COLL_AND:                                                                                       \
            CALL_MOVE(NAME, and_reduce);                                                                     \
        case COLL_OR:                                                                                        \
            CALL_MOVE(NAME, or_reduce);                                                                      \
        default:                                                                                             \
            CALL_MOVE(NAME, xor_reduce);                                                                     \
        }                                                                                                    \
    }
ACLSHMEM_TYPES_WHOLE(DEFINE_BITS)

/* The same in bytes, all of them in one launch. */
ACLSHMEM_KERNEL(coll_mem, coll_args_t, a)
{
    char *dest = (char *)a.dest;
    size_t n = (size_t)aclshmem_team_n_pes(a.team), step = a.count * n;
    aclshmemx_broadcastmem_block(a.team, dest, a.source, a.count, a.root);
    aclshmemx_fcollectmem_block(a.team, dest + step, a.source, a.count);
    aclshmemx_alltoallmem_block(a.team, dest + 2 * step, a.source, a.count);
    if (aicore_block_index() != 0)
        return;
    aclshmemx_broadcastmem(a.team, dest + 3 * step, a.source, a.count, a.root);
    aclshmemx_fcollectmem(a.team, dest + 4 * step, a.source, a.count);
    aclshmemx_alltoallmem(a.team, dest + 5 * step, a.source, a.count);
}

/* Cores of one launch in collectives of two teams at once, many times, each over what the last one left. */
ACLSHMEM_KERNEL(coll_two_teams, __gm__ int64_t *, words, aclshmem_team_t, one, aclshmem_team_t, other)
{
    __gm__ int64_t *own = words + aicore_block_index() * 8;
    for (int round = 0; round < 20; round++) {
        *own = aclshmem_my_pe() + round;
        aclshmemx_int64_max_reduce(aicore_block_index() == 0 ? one : other, own, own, 1);
        EXPECT_INT(*own, aclshmem_n_pes() - 1 + round);
    }
}
