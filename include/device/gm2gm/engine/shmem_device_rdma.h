/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ROCE by name: requests in the queue of the target PE, which a proxy thread of this PE carries out in order. Any core of any
 * launch may post to any PE, the own one included. Open it with ACLSHMEM_DATA_OP_ROCE at init.
 *
 * buf is a place in the unified buffer of 128 bytes and sync_id a flag number, 0 to 7: what a card needs to hand requests
 * over. They are checked here and not used; the forms without them go by the configured scratch. A wrong argument, a request
 * that failed and a wait past the limit end the launch.
 *
 * In C the names below also take the vendor's arguments: aclshmemx_roce_put_nbi(dst, src, buf, nelems, pe) and with a sync_id
 * behind them, aclshmemx_roce_get_nbi alike; the meetings with or without (buf, sync_id) at the end.
 */
#ifndef ACLSHMEM_DEVICE_RDMA_H
#define ACLSHMEM_DEVICE_RDMA_H

#include "device/gm2gm/shmem_device_amo.h"
#include "device/shmem_def.h"
#include "host_device/shmem_state_types.h"

/**
 * nelems elements of element_bytes; dst of a put and src of a get are symmetric. They only start: complete after
 * aclshmemx_roce_quiet for that PE or aclshmem_quiet. Requests to one PE take effect in order. Any length; 0 does nothing.
 */
ACLSHMEM_DEVICE void aclshmemx_roce_putmem_nbi(__gm__ void *dst, __gm__ void *src,
                                               ACLSHMEM_UB_POINTER(void) buf, size_t element_bytes,
                                               size_t nelems, int pe);
ACLSHMEM_DEVICE void aclshmemx_roce_getmem_nbi(__gm__ void *dst, __gm__ void *src,
                                               ACLSHMEM_UB_POINTER(void) buf, size_t element_bytes,
                                               size_t nelems, int pe);
ACLSHMEM_DEVICE void aclshmemx_roce_putmem_nbi_id(__gm__ void *dst, __gm__ void *src,
                                                  ACLSHMEM_UB_POINTER(void) buf, size_t element_bytes,
                                                  size_t nelems, int pe, uint32_t sync_id);
ACLSHMEM_DEVICE void aclshmemx_roce_getmem_nbi_id(__gm__ void *dst, __gm__ void *src,
                                                  ACLSHMEM_UB_POINTER(void) buf, size_t element_bytes,
                                                  size_t nelems, int pe, uint32_t sync_id);

/** Everything that was posted to pe, by any core of this PE, is complete. */
ACLSHMEM_DEVICE void aclshmemx_roce_quiet(uint32_t pe, ACLSHMEM_UB_POINTER(void) buf, uint32_t sync_id);

/**
 * The members of a team meet, by atomic additions over ROCE; one core of each PE calls. Teams of any size. sync makes no
 * promise about data; barrier first completes what this PE posted to every member. The record of a team is what the
 * state block holds; the forms ending in _team take the handle.
 * @return 0, also when this PE is no member, without effect then; -1 when team is NULL or no team of this PE.
 */
ACLSHMEM_DEVICE int aclshmemx_roce_team_sync(aclshmemx_team_t *team);
ACLSHMEM_DEVICE int aclshmemx_roce_team_sync_buf(aclshmemx_team_t *team, ACLSHMEM_UB_POINTER(void) buf,
                                                 uint32_t sync_id);
ACLSHMEM_DEVICE int aclshmemx_roce_sync_team(aclshmem_team_t team);
ACLSHMEM_DEVICE int aclshmemx_roce_barrier(aclshmemx_team_t *team);
ACLSHMEM_DEVICE int aclshmemx_roce_barrier_buf(aclshmemx_team_t *team, ACLSHMEM_UB_POINTER(void) buf,
                                               uint32_t sync_id);
ACLSHMEM_DEVICE int aclshmemx_roce_barrier_team(aclshmem_team_t team);
/** The same for all PEs. */
ACLSHMEM_DEVICE void aclshmemx_roce_sync_all(void);
ACLSHMEM_DEVICE void aclshmemx_roce_sync_all_buf(ACLSHMEM_UB_POINTER(void) buf, uint32_t sync_id);
ACLSHMEM_DEVICE void aclshmemx_roce_barrier_all(void);
ACLSHMEM_DEVICE void aclshmemx_roce_barrier_all_buf(ACLSHMEM_UB_POINTER(void) buf, uint32_t sync_id);

/*
 * Atomics: aclshmemx_roce_NAME_atomic_OP, NAME in int32 int64 uint32 uint64, OP in add, inc, set, and, or, xor (started;
 * complete after the quiet) and fetch, swap, compare_swap, fetch_add, fetch_inc, fetch_and, fetch_or, fetch_xor (complete on
 * return). In C aclshmemx_roce_atomic_OP picks by the type of the object.
 */
#define ACLSHMEM_DECLARE_ROCE_AMO(NAME, TYPE)                                                                \
    ACLSHMEM_DEVICE void aclshmemx_roce_##NAME##_atomic_add(__gm__ TYPE *dst, TYPE value, int32_t pe);       \
    ACLSHMEM_DEVICE void aclshmemx_roce_##NAME##_atomic_inc(__gm__ TYPE *dst, int32_t pe);                   \
    ACLSHMEM_DEVICE void aclshmemx_roce_##NAME##_atomic_set(__gm__ TYPE *dest, TYPE value, int32_t pe);      \
    ACLSHMEM_DEVICE void aclshmemx_roce_##NAME##_atomic_and(__gm__ TYPE *dest, TYPE value, int32_t pe);      \
    ACLSHMEM_DEVICE void aclshmemx_roce_##NAME##_atomic_or(__gm__ TYPE *dest, TYPE value, int32_t pe);       \
    ACLSHMEM_DEVICE void aclshmemx_roce_##NAME##_atomic_xor(__gm__ TYPE *dest, TYPE value, int32_t pe);      \
    ACLSHMEM_DEVICE TYPE aclshmemx_roce_##NAME##_atomic_fetch(__gm__ const TYPE *source, int32_t pe);        \
    ACLSHMEM_DEVICE TYPE aclshmemx_roce_##NAME##_atomic_swap(__gm__ TYPE *dest, TYPE value, int32_t pe);     \
    ACLSHMEM_DEVICE TYPE aclshmemx_roce_##NAME##_atomic_compare_swap(__gm__ TYPE *dest, TYPE cond,           \
                                                                     TYPE value, int32_t pe);                \
    ACLSHMEM_DEVICE TYPE aclshmemx_roce_##NAME##_atomic_fetch_add(__gm__ TYPE *dest, TYPE value,             \
                                                                  int32_t pe);                               \
    ACLSHMEM_DEVICE TYPE aclshmemx_roce_##NAME##_atomic_fetch_inc(__gm__ TYPE *dest, int32_t pe);            \
    ACLSHMEM_DEVICE TYPE aclshmemx_roce_##NAME##_atomic_fetch_and(__gm__ TYPE *dest, TYPE value,             \
                                                                  int32_t pe);                               \
    ACLSHMEM_DEVICE TYPE aclshmemx_roce_##NAME##_atomic_fetch_or(__gm__ TYPE *dest, TYPE value, int32_t pe); \
    ACLSHMEM_DEVICE TYPE aclshmemx_roce_##NAME##_atomic_fetch_xor(__gm__ TYPE *dest, TYPE value, int32_t pe);
ACLSHMEM_TYPES_AMO_INTEGER(ACLSHMEM_DECLARE_ROCE_AMO)
#undef ACLSHMEM_DECLARE_ROCE_AMO

#include "device/gm2gm/engine/rdma_api.inl"

#ifndef __cplusplus

#define ACLSHMEMI_ROCE_PICK(a, b, c, d, e, f, form, ...) form
#define ACLSHMEMI_ROCE_5(verb, dst, src, buf, n, pe)                                                         \
    aclshmemx_roce_##verb##mem_nbi(dst, src, buf, sizeof *(dst), n, pe)
#define ACLSHMEMI_ROCE_6(verb, dst, src, buf, n, pe, id)                                                     \
    aclshmemx_roce_##verb##mem_nbi_id(dst, src, buf, sizeof *(dst), n, pe, id)
#define ACLSHMEMI_ROCE_CALL(verb, ...)                                                                       \
    ACLSHMEMI_ROCE_PICK(__VA_ARGS__, ACLSHMEMI_ROCE_6, ACLSHMEMI_ROCE_5, ACLSHMEMI_ROCE_TAKES_5_OR_6,        \
                        ACLSHMEMI_ROCE_TAKES_5_OR_6, ACLSHMEMI_ROCE_TAKES_5_OR_6,                            \
                        ACLSHMEMI_ROCE_TAKES_5_OR_6, )                                                       \
    (verb, __VA_ARGS__)
#define aclshmemx_roce_put_nbi(...) ACLSHMEMI_ROCE_CALL(put, __VA_ARGS__)
#define aclshmemx_roce_get_nbi(...) ACLSHMEMI_ROCE_CALL(get, __VA_ARGS__)

/* The other name of a sync. */
#define aclshmemx_roce_sync aclshmemx_roce_team_sync

/* One argument, or two more behind it; none, or two. */
#define ACLSHMEMI_ROCE_MEETING(a, b, c, form, ...) form
#define ACLSHMEMI_ROCE_ALL(a, b, form, ...)        form
#define aclshmemx_roce_team_sync(...)                                                                        \
    ACLSHMEMI_ROCE_MEETING(__VA_ARGS__, aclshmemx_roce_team_sync_buf, , aclshmemx_roce_team_sync, )          \
    (__VA_ARGS__)
#define aclshmemx_roce_barrier(...)                                                                          \
    ACLSHMEMI_ROCE_MEETING(__VA_ARGS__, aclshmemx_roce_barrier_buf, , aclshmemx_roce_barrier, )(__VA_ARGS__)
#define aclshmemx_roce_sync_all(...)                                                                         \
    ACLSHMEMI_ROCE_ALL(__VA_ARGS__, aclshmemx_roce_sync_all_buf, aclshmemx_roce_sync_all, )(__VA_ARGS__)
#define aclshmemx_roce_barrier_all(...)                                                                      \
    ACLSHMEMI_ROCE_ALL(__VA_ARGS__, aclshmemx_roce_barrier_all_buf, aclshmemx_roce_barrier_all, )(__VA_ARGS__)

#define ACLSHMEMI_ROCE_AMO(object, OP)                                                                       \
    _Generic(*(object), int32_t                                                                              \
             : aclshmemx_roce_int32_atomic_##OP, int64_t                                                     \
             : aclshmemx_roce_int64_atomic_##OP, uint32_t                                                    \
             : aclshmemx_roce_uint32_atomic_##OP, uint64_t                                                   \
             : aclshmemx_roce_uint64_atomic_##OP)
#define aclshmemx_roce_atomic_fetch(src, pe)            ACLSHMEMI_ROCE_AMO(src, fetch)(src, pe)
#define aclshmemx_roce_atomic_set(dst, value, pe)       ACLSHMEMI_ROCE_AMO(dst, set)(dst, value, pe)
#define aclshmemx_roce_atomic_swap(dst, value, pe)      ACLSHMEMI_ROCE_AMO(dst, swap)(dst, value, pe)
#define aclshmemx_roce_atomic_inc(dst, pe)              ACLSHMEMI_ROCE_AMO(dst, inc)(dst, pe)
#define aclshmemx_roce_atomic_add(dst, value, pe)       ACLSHMEMI_ROCE_AMO(dst, add)(dst, value, pe)
#define aclshmemx_roce_atomic_and(dst, value, pe)       ACLSHMEMI_ROCE_AMO(dst, and)(dst, value, pe)
#define aclshmemx_roce_atomic_or(dst, value, pe)        ACLSHMEMI_ROCE_AMO(dst, or)(dst, value, pe)
#define aclshmemx_roce_atomic_xor(dst, value, pe)       ACLSHMEMI_ROCE_AMO(dst, xor)(dst, value, pe)
#define aclshmemx_roce_atomic_fetch_inc(dst, pe)        ACLSHMEMI_ROCE_AMO(dst, fetch_inc)(dst, pe)
#define aclshmemx_roce_atomic_fetch_add(dst, value, pe) ACLSHMEMI_ROCE_AMO(dst, fetch_add)(dst, value, pe)
#define aclshmemx_roce_atomic_fetch_and(dst, value, pe) ACLSHMEMI_ROCE_AMO(dst, fetch_and)(dst, value, pe)
#define aclshmemx_roce_atomic_fetch_or(dst, value, pe)  ACLSHMEMI_ROCE_AMO(dst, fetch_or)(dst, value, pe)
#define aclshmemx_roce_atomic_fetch_xor(dst, value, pe) ACLSHMEMI_ROCE_AMO(dst, fetch_xor)(dst, value, pe)
#define aclshmemx_roce_atomic_compare_swap(dst, cond, value, pe)                                             \
    ACLSHMEMI_ROCE_AMO(dst, compare_swap)(dst, cond, value, pe)

#endif

#endif
