/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of peer.h in this library. */
#ifndef PEER_ACLSHMEM_H
#define PEER_ACLSHMEM_H

#include "shmem.h"

#define PEER_NAME      "aclshmem"
#define PEER_ONE_SIDED 1
#define PEER_ALLTOALL  1

static inline int peer_init(void)
{
    return aclshmemx_init();
}

static inline void peer_fini(void)
{
    (void)aclshmem_finalize();
}

static inline int peer_me(void)
{
    return aclshmem_my_pe();
}

static inline int peer_count(void)
{
    return aclshmem_n_pes();
}

static inline void *peer_alloc(size_t bytes)
{
    return aclshmem_align(4096, bytes);
}

static inline void peer_free(void *object)
{
    aclshmem_free(object);
}

static inline void peer_barrier(void)
{
    aclshmem_barrier_all();
}

static inline void peer_put(void *to, void *from, size_t bytes, int pe)
{
    aclshmem_putmem(to, from, bytes, pe);
}

static inline void peer_get(void *to, void *from, size_t bytes, int pe)
{
    aclshmem_getmem(to, from, bytes, pe);
}

static inline void peer_put64_nbi(int64_t *to, int64_t *from, int pe)
{
    aclshmem_int64_put_nbi(to, from, 1, pe);
}

static inline void peer_get64_nbi(int64_t *to, int64_t *from, int pe)
{
    aclshmem_int64_get_nbi(to, from, 1, pe);
}

static inline void peer_iput64(int64_t *to, int64_t *from, size_t count, int pe)
{
    aclshmem_int64_iput(to, from, 2, 2, count, pe);
}

static inline void peer_p64(int64_t *to, int64_t value, int pe)
{
    aclshmem_int64_p(to, value, pe);
}

static inline int64_t peer_g64(int64_t *from, int pe)
{
    return aclshmem_int64_g(from, pe);
}

static inline void peer_quiet(void)
{
    aclshmem_quiet();
}

static inline void peer_fence(void)
{
    aclshmem_fence();
}

static inline void peer_wait64(int64_t *word, int64_t value)
{
    aclshmem_int64_wait_until(word, ACLSHMEM_CMP_EQ, value);
}

static inline void peer_wait_signal(int32_t *signal, int32_t value)
{
    aclshmem_signal_wait_until(signal, ACLSHMEM_CMP_EQ, value);
}

static inline void peer_put_signal(void *to, void *from, size_t bytes, int32_t *signal, int32_t value, int pe)
{
    aclshmemx_putmem_signal(to, from, bytes, signal, value, ACLSHMEM_SIGNAL_SET, pe);
}

static inline int64_t peer_fetch_add64(int64_t *object, int64_t value, int pe)
{
    return aclshmem_int64_atomic_fetch_add(object, value, pe);
}

static inline int64_t peer_swap64(int64_t *object, int64_t value, int pe)
{
    return aclshmem_int64_atomic_swap(object, value, pe);
}

static inline int64_t peer_compare_swap64(int64_t *object, int64_t cond, int64_t value, int pe)
{
    return aclshmem_int64_atomic_compare_swap(object, cond, value, pe);
}

static inline int64_t peer_fetch64(int64_t *object, int pe)
{
    return aclshmem_int64_atomic_fetch(object, pe);
}

static inline void peer_inc64(int64_t *object, int pe)
{
    aclshmem_int64_atomic_inc(object, pe);
}

/* dest of the root is written too. */
static inline void peer_broadcast(void *dest, const void *source, size_t bytes, int root)
{
    (void)!aclshmem_broadcastmem(ACLSHMEM_TEAM_WORLD, dest, source, bytes, root);
}

static inline void peer_fcollect(void *dest, const void *source, size_t bytes)
{
    (void)!aclshmem_fcollectmem(ACLSHMEM_TEAM_WORLD, dest, source, bytes);
}

/* bytes for every member */
static inline void peer_alltoall(void *dest, const void *source, size_t bytes)
{
    (void)!aclshmem_alltoallmem(ACLSHMEM_TEAM_WORLD, dest, source, bytes);
}

static inline void peer_sum_double(double *dest, const double *source, size_t count)
{
    (void)!aclshmem_double_sum_reduce(ACLSHMEM_TEAM_WORLD, dest, source, count);
}

static inline void peer_sum_float(float *dest, const float *source, size_t count)
{
    (void)!aclshmem_float_sum_reduce(ACLSHMEM_TEAM_WORLD, dest, source, count);
}

#endif
