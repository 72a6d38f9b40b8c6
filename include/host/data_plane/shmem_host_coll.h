/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Extension: collectives over teams, named and ruled as in OpenSHMEM 1.6, driven by the host.
 *
 * All members of the team call with the same arguments, one thread of a PE at a time per team; arguments are compared on
 * every call, and when they differ all members return INVALID_PARAM with both sides' values, and nothing has moved.
 * dest and source are symmetric objects (given by local addresses). They do not overlap, except that dest may equal source
 * in broadcast, and in reductions where it then holds the result. Counts are elements and may be 0: the call then only
 * synchronises. On return dest is complete on the calling PE, and source may be changed.
 *
 *   broadcast       dest of every member, the root included, gets nelems elements of the root's source. PE_root is a number in the team.
 *   fcollect        dest[i * nelems ...] is the source of member i
 *   collect         the same with a count that may differ between members
 *   alltoall        block i of dest is block "me" of member i's source; blocks of nelems elements
 *   alltoalls       the same with strides: element k of a block is at k * dst in dest, at k * sst in source; strides from 1
 *   OP_reduce       dest[k] is OP over all members' source[k], combined in the order of members: the same bits everywhere
 *   OP_reduce_scatter  the same for source of nreduce * members elements; member i gets elements i * nreduce ...
 *
 * @return 0; INVALID_PARAM (team, root, stride, address, PEs that differ); NOT_SUPPORTED (members do not share memory);
 *         SMEM_ERROR, TIMEOUT_ERROR (a member died or never came); NOT_INITED.
 * The _on_stream forms only enqueue, in order with the other work of the stream; NULL is the library's own stream. Members
 * call in the same order among the _on_stream calls of the team, barriers included; those run in the order of the calls
 * even where they are on several streams. Their return value tells whether the work was enqueued; a failure later is logged and kept for
 * aclshmemx_stream_status().
 *
 * Unless a call says otherwise:
 * @who every member of the team, with the same arguments
 * @reuse of the source, on return; of _on_stream when the stream has passed the call
 * @done dest of the calling PE on return; of _on_stream when the stream has passed the call
 * @threads one at a time per team
 */
#ifndef ACLSHMEM_HOST_COLL_H
#define ACLSHMEM_HOST_COLL_H

#include "host/shmem_host_def.h"
#include "host_device/shmem_type_lists.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef uint16_t aclshmemx_half_t;     /* the bits of an IEEE half */
typedef uint16_t aclshmemx_bfloat16_t; /* the upper half of the bits of a float */

/* In bytes instead of elements. */
ACLSHMEM_HOST_API int aclshmem_broadcastmem(aclshmem_team_t team, void *dest, const void *source,
                                            size_t nelems, int PE_root);
ACLSHMEM_HOST_API int aclshmem_fcollectmem(aclshmem_team_t team, void *dest, const void *source,
                                           size_t nelems);
ACLSHMEM_HOST_API int aclshmem_collectmem(aclshmem_team_t team, void *dest, const void *source,
                                          size_t nelems);
ACLSHMEM_HOST_API int aclshmem_alltoallmem(aclshmem_team_t team, void *dest, const void *source,
                                           size_t nelems);
ACLSHMEM_HOST_API int aclshmem_alltoallsmem(aclshmem_team_t team, void *dest, const void *source,
                                            ptrdiff_t dst, ptrdiff_t sst, size_t nelems);

/* Collectives that move data, counts in elements; blocking, and on a stream. */
#define ACLSHMEM_DECLARE_COLL(NAME, TYPE)                                                                    \
    ACLSHMEM_HOST_API int aclshmem_##NAME##_broadcast(aclshmem_team_t team, TYPE *dest, const TYPE *source,  \
                                                      size_t nelems, int PE_root);                           \
    ACLSHMEM_HOST_API int aclshmem_##NAME##_fcollect(aclshmem_team_t team, TYPE *dest, const TYPE *source,   \
                                                     size_t nelems);                                         \
    ACLSHMEM_HOST_API int aclshmem_##NAME##_collect(aclshmem_team_t team, TYPE *dest, const TYPE *source,    \
                                                    size_t nelems);                                          \
    ACLSHMEM_HOST_API int aclshmem_##NAME##_alltoall(aclshmem_team_t team, TYPE *dest, const TYPE *source,   \
                                                     size_t nelems);                                         \
    ACLSHMEM_HOST_API int aclshmem_##NAME##_alltoalls(aclshmem_team_t team, TYPE *dest, const TYPE *source,  \
                                                      ptrdiff_t dst, ptrdiff_t sst, size_t nelems);          \
    ACLSHMEM_HOST_API int aclshmemx_##NAME##_broadcast_on_stream(aclshmem_team_t team, TYPE *dest,           \
                                                                 const TYPE *source, size_t nelems,          \
                                                                 int PE_root, aclrtStream stream);           \
    ACLSHMEM_HOST_API int aclshmemx_##NAME##_fcollect_on_stream(                                             \
        aclshmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems, aclrtStream stream);            \
    ACLSHMEM_HOST_API int aclshmemx_##NAME##_collect_on_stream(                                              \
        aclshmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems, aclrtStream stream);            \
    ACLSHMEM_HOST_API int aclshmemx_##NAME##_alltoall_on_stream(                                             \
        aclshmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems, aclrtStream stream);            \
    ACLSHMEM_HOST_API int aclshmemx_##NAME##_alltoalls_on_stream(                                            \
        aclshmem_team_t team, TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems,   \
        aclrtStream stream)

/* Reductions of nreduce elements; sum, prod, min, max of all types, and, or, xor of integers; blocking, and on a stream. */
#define ACLSHMEM_DECLARE_REDUCE_OP(NAME, TYPE, OP)                                                           \
    ACLSHMEM_HOST_API int aclshmem_##NAME##_##OP##_reduce(aclshmem_team_t team, TYPE *dest,                  \
                                                          const TYPE *source, size_t nreduce);               \
    ACLSHMEM_HOST_API int aclshmem_##NAME##_##OP##_reduce_scatter(aclshmem_team_t team, TYPE *dest,          \
                                                                  const TYPE *source, size_t nreduce);       \
    ACLSHMEM_HOST_API int aclshmemx_##NAME##_##OP##_reduce_on_stream(                                        \
        aclshmem_team_t team, TYPE *dest, const TYPE *source, size_t nreduce, aclrtStream stream);           \
    ACLSHMEM_HOST_API int aclshmemx_##NAME##_##OP##_reduce_scatter_on_stream(                                \
        aclshmem_team_t team, TYPE *dest, const TYPE *source, size_t nreduce, aclrtStream stream)
#define ACLSHMEM_DECLARE_REDUCE(NAME, TYPE)                                                                  \
    ACLSHMEM_DECLARE_REDUCE_OP(NAME, TYPE, sum);                                                             \
    ACLSHMEM_DECLARE_REDUCE_OP(NAME, TYPE, prod);                                                            \
    ACLSHMEM_DECLARE_REDUCE_OP(NAME, TYPE, min);                                                             \
    ACLSHMEM_DECLARE_REDUCE_OP(NAME, TYPE, max)
#define ACLSHMEM_DECLARE_REDUCE_BITWISE(NAME, TYPE)                                                          \
    ACLSHMEM_DECLARE_REDUCE_OP(NAME, TYPE, and);                                                             \
    ACLSHMEM_DECLARE_REDUCE_OP(NAME, TYPE, or);                                                              \
    ACLSHMEM_DECLARE_REDUCE_OP(NAME, TYPE, xor)

ACLSHMEM_COLL_TYPE_FUNC(ACLSHMEM_DECLARE_COLL);
ACLSHMEM_COLL_TYPE_FUNC(ACLSHMEM_DECLARE_REDUCE);
ACLSHMEM_COLL_BITWISE_FUNC(ACLSHMEM_DECLARE_REDUCE_BITWISE);

#undef ACLSHMEM_DECLARE_COLL
#undef ACLSHMEM_DECLARE_REDUCE_OP
#undef ACLSHMEM_DECLARE_REDUCE
#undef ACLSHMEM_DECLARE_REDUCE_BITWISE

#ifdef __cplusplus
}
#endif

#endif
