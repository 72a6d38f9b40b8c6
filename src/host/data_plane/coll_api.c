/* SPDX-License-Identifier: Apache-2.0 */
/* The typed calls of collectives: each fills a request. */
#define LOG_MODULE "coll"
#include "host/data_plane/shmem_host_coll.h"

#include "host/data_plane/coll.h"

static int run(aclshmemi_coll_t coll)
{
    return aclshmemi_coll_run(aclshmemi_current(), &coll);
}

static int enqueue(aclshmemi_coll_t coll, void *stream)
{
    return aclshmemi_coll_enqueue(&coll, stream);
}

#define REQUEST(KIND, CALL, WIDTH, COUNT, ...)                                                               \
    ((aclshmemi_coll_t){.call = CALL,                                                                        \
                        .kind = ACLSHMEMI_COLL_##KIND,                                                       \
                        .team = team,                                                                        \
                        .dest = dest,                                                                        \
                        .source = source,                                                                    \
                        .count = COUNT,                                                                      \
                        .width = WIDTH,                                                                      \
                        __VA_ARGS__})

int aclshmem_broadcastmem(aclshmem_team_t team, void *dest, const void *source, size_t nelems, int PE_root)
{
    return run(REQUEST(BROADCAST, "broadcastmem", 1, nelems, .root = PE_root));
}

int aclshmem_fcollectmem(aclshmem_team_t team, void *dest, const void *source, size_t nelems)
{
    return run(REQUEST(FCOLLECT, "fcollectmem", 1, nelems, .root = 0));
}

int aclshmem_collectmem(aclshmem_team_t team, void *dest, const void *source, size_t nelems)
{
    return run(REQUEST(COLLECT, "collectmem", 1, nelems, .root = 0));
}

int aclshmem_alltoallmem(aclshmem_team_t team, void *dest, const void *source, size_t nelems)
{
    return run(REQUEST(ALLTOALL, "alltoallmem", 1, nelems, .root = 0));
}

int aclshmem_alltoallsmem(aclshmem_team_t team, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,
                          size_t nelems)
{
    return run(REQUEST(ALLTOALLS, "alltoallsmem", 1, nelems, .dst = dst, .sst = sst));
}

#define DEFINE_COLL(NAME, TYPE)                                                                              \
    int aclshmem_##NAME##_broadcast(aclshmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems,     \
                                    int PE_root)                                                             \
    {                                                                                                        \
        return run(REQUEST(BROADCAST, #NAME "_broadcast", sizeof(TYPE), nelems, .root = PE_root));           \
    }                                                                                                        \
    int aclshmem_##NAME##_fcollect(aclshmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems)      \
    {                                                                                                        \
        return run(REQUEST(FCOLLECT, #NAME "_fcollect", sizeof(TYPE), nelems, .root = 0));                   \
    }                                                                                                        \
    int aclshmem_##NAME##_collect(aclshmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems)       \
    {                                                                                                        \
        return run(REQUEST(COLLECT, #NAME "_collect", sizeof(TYPE), nelems, .root = 0));                     \
    }                                                                                                        \
    int aclshmem_##NAME##_alltoall(aclshmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems)      \
    {                                                                                                        \
        return run(REQUEST(ALLTOALL, #NAME "_alltoall", sizeof(TYPE), nelems, .root = 0));                   \
    }                                                                                                        \
    int aclshmem_##NAME##_alltoalls(aclshmem_team_t team, TYPE *dest, const TYPE *source, ptrdiff_t dst,     \
                                    ptrdiff_t sst, size_t nelems)                                            \
    {                                                                                                        \
        return run(REQUEST(ALLTOALLS, #NAME "_alltoalls", sizeof(TYPE), nelems, .dst = dst, .sst = sst));    \
    }                                                                                                        \
    int aclshmemx_##NAME##_broadcast_on_stream(aclshmem_team_t team, TYPE *dest, const TYPE *source,         \
                                               size_t nelems, int PE_root, aclrtStream stream)               \
    {                                                                                                        \
        return enqueue(                                                                                      \
            REQUEST(BROADCAST, #NAME "_broadcast_on_stream", sizeof(TYPE), nelems, .root = PE_root),         \
            stream);                                                                                         \
    }                                                                                                        \
    int aclshmemx_##NAME##_fcollect_on_stream(aclshmem_team_t team, TYPE *dest, const TYPE *source,          \
                                              size_t nelems, aclrtStream stream)                             \
    {                                                                                                        \
        return enqueue(REQUEST(FCOLLECT, #NAME "_fcollect_on_stream", sizeof(TYPE), nelems, .root = 0),      \
                       stream);                                                                              \
    }                                                                                                        \
    int aclshmemx_##NAME##_collect_on_stream(aclshmem_team_t team, TYPE *dest, const TYPE *source,           \
                                             size_t nelems, aclrtStream stream)                              \
    {                                                                                                        \
        return enqueue(REQUEST(COLLECT, #NAME "_collect_on_stream", sizeof(TYPE), nelems, .root = 0),        \
                       stream);                                                                              \
    }                                                                                                        \
    int aclshmemx_##NAME##_alltoall_on_stream(aclshmem_team_t team, TYPE *dest, const TYPE *source,          \
                                              size_t nelems, aclrtStream stream)                             \
    {                                                                                                        \
        return enqueue(REQUEST(ALLTOALL, #NAME "_alltoall_on_stream", sizeof(TYPE), nelems, .root = 0),      \
                       stream);                                                                              \
    }                                                                                                        \
    int aclshmemx_##NAME##_alltoalls_on_stream(aclshmem_team_t team, TYPE *dest, const TYPE *source,         \
                                               ptrdiff_t dst, ptrdiff_t sst, size_t nelems,                  \
                                               aclrtStream stream)                                           \
    {                                                                                                        \
        return enqueue(                                                                                      \
            REQUEST(ALLTOALLS, #NAME "_alltoalls_on_stream", sizeof(TYPE), nelems, .dst = dst, .sst = sst),  \
            stream);                                                                                         \
    }                                                                                                        \
    struct aclshmemi_needs_a_semicolon

#define DEFINE_REDUCE_OP(NAME, TYPE, OP)                                                                     \
    int aclshmem_##NAME##_##OP##_reduce(aclshmem_team_t team, TYPE *dest, const TYPE *source,                \
                                        size_t nreduce)                                                      \
    {                                                                                                        \
        return run(REQUEST(REDUCE, #NAME "_" #OP "_reduce", sizeof(TYPE), nreduce,                           \
                           .reduction = ACLSHMEMI_REDUCTION(NAME, OP)));                                     \
    }                                                                                                        \
    int aclshmem_##NAME##_##OP##_reduce_scatter(aclshmem_team_t team, TYPE *dest, const TYPE *source,        \
                                                size_t nreduce)                                              \
    {                                                                                                        \
        return run(REQUEST(REDUCE_SCATTER, #NAME "_" #OP "_reduce_scatter", sizeof(TYPE), nreduce,           \
                           .reduction = ACLSHMEMI_REDUCTION(NAME, OP)));                                     \
    }                                                                                                        \
    int aclshmemx_##NAME##_##OP##_reduce_on_stream(aclshmem_team_t team, TYPE *dest, const TYPE *source,     \
                                                   size_t nreduce, aclrtStream stream)                       \
    {                                                                                                        \
        return enqueue(REQUEST(REDUCE, #NAME "_" #OP "_reduce_on_stream", sizeof(TYPE), nreduce,             \
                               .reduction = ACLSHMEMI_REDUCTION(NAME, OP)),                                  \
                       stream);                                                                              \
    }                                                                                                        \
    int aclshmemx_##NAME##_##OP##_reduce_scatter_on_stream(                                                  \
        aclshmem_team_t team, TYPE *dest, const TYPE *source, size_t nreduce, aclrtStream stream)            \
    {                                                                                                        \
        return enqueue(REQUEST(REDUCE_SCATTER, #NAME "_" #OP "_reduce_scatter_on_stream", sizeof(TYPE),      \
                               nreduce, .reduction = ACLSHMEMI_REDUCTION(NAME, OP)),                         \
                       stream);                                                                              \
    }

#define DEFINE_REDUCE(NAME, TYPE)                                                                            \
    DEFINE_REDUCE_OP(NAME, TYPE, sum)                                                                        \
    DEFINE_REDUCE_OP(NAME, TYPE, prod)                                                                       \
    DEFINE_REDUCE_OP(NAME, TYPE, min)                                                                        \
    DEFINE_REDUCE_OP(NAME, TYPE, max)                                                                        \
    struct aclshmemi_needs_a_semicolon
#define DEFINE_REDUCE_BITWISE(NAME, TYPE)                                                                    \
    DEFINE_REDUCE_OP(NAME, TYPE, and)                                                                        \
    DEFINE_REDUCE_OP(NAME, TYPE, or)                                                                         \
    DEFINE_REDUCE_OP(NAME, TYPE, xor)                                                                        \
    struct aclshmemi_needs_a_semicolon

ACLSHMEM_COLL_TYPE_FUNC(DEFINE_COLL);
ACLSHMEM_COLL_TYPE_FUNC(DEFINE_REDUCE);
ACLSHMEM_COLL_BITWISE_FUNC(DEFINE_REDUCE_BITWISE);
