/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of peer.h in OpenSHMEM 1.4, which Open MPI 4 offers: collectives take active sets and work arrays, and there
 * is no put with signal, so that is a put, a fence and a store. Counts are in elements of 8 bytes.
 */
#ifndef PEER_OSHMEM_H
#define PEER_OSHMEM_H

#include <stdlib.h>

#include <shmem.h>

#define PEER_NAME      "oshmem"
#define PEER_ONE_SIDED 1
#define PEER_ALLTOALL  0 /* of Open MPI 4.1.4 says "Incorrect argument pSync" and ends with a signal */

/* Work arrays are taken in turn, since one may be in use on another PE when the call before returned here. */
enum { PEER_SETS = 8, PEER_WORK = 1 << 20 };
static long *peer_sync;
static double *peer_work;

/* Largest of what any collective asks for. */
#define PEER_SYNC_WORDS (SHMEM_COLLECT_SYNC_SIZE + SHMEM_REDUCE_SYNC_SIZE + SHMEM_ALLTOALL_SYNC_SIZE)

static inline int peer_init(void)
{
    shmem_init();
    peer_sync = shmem_malloc(PEER_SETS * PEER_SYNC_WORDS * sizeof *peer_sync);
    peer_work = shmem_malloc(PEER_SETS * (size_t)PEER_WORK * sizeof *peer_work);
    if (peer_sync == NULL || peer_work == NULL)
        return -1;
    for (int i = 0; i < PEER_SETS * PEER_SYNC_WORDS; i++)
        peer_sync[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    return 0;
}

static inline void peer_fini(void)
{
    shmem_free(peer_work);
    shmem_free(peer_sync);
    shmem_finalize();
}

static inline long *peer_next_sync(void)
{
    static unsigned turn;
    return peer_sync + (size_t)(turn++ % PEER_SETS) * PEER_SYNC_WORDS;
}

static inline double *peer_next_work(void)
{
    static unsigned turn;
    return peer_work + (size_t)(turn++ % PEER_SETS) * PEER_WORK;
}

static inline int peer_me(void)
{
    return shmem_my_pe();
}

static inline int peer_count(void)
{
    return shmem_n_pes();
}

static inline void *peer_alloc(size_t bytes)
{
    return shmem_align(4096, bytes);
}

static inline void peer_free(void *object)
{
    shmem_free(object);
}

static inline void peer_barrier(void)
{
    shmem_barrier_all();
}

static inline void peer_put(void *to, void *from, size_t bytes, int pe)
{
    shmem_putmem(to, from, bytes, pe);
}

static inline void peer_get(void *to, void *from, size_t bytes, int pe)
{
    shmem_getmem(to, from, bytes, pe);
}

static inline void peer_put64_nbi(int64_t *to, int64_t *from, int pe)
{
    shmem_long_put_nbi((long *)to, (long *)from, 1, pe);
}

static inline void peer_get64_nbi(int64_t *to, int64_t *from, int pe)
{
    shmem_long_get_nbi((long *)to, (long *)from, 1, pe);
}

static inline void peer_iput64(int64_t *to, int64_t *from, size_t count, int pe)
{
    shmem_long_iput((long *)to, (long *)from, 2, 2, count, pe);
}

static inline void peer_p64(int64_t *to, int64_t value, int pe)
{
    shmem_long_p((long *)to, value, pe);
}

static inline int64_t peer_g64(int64_t *from, int pe)
{
    return shmem_long_g((long *)from, pe);
}

static inline void peer_quiet(void)
{
    shmem_quiet();
}

static inline void peer_fence(void)
{
    shmem_fence();
}

static inline void peer_wait64(int64_t *word, int64_t value)
{
    shmem_long_wait_until((long *)word, SHMEM_CMP_EQ, value);
}

static inline void peer_wait_signal(int32_t *signal, int32_t value)
{
    shmem_int_wait_until(signal, SHMEM_CMP_EQ, value);
}

static inline void peer_put_signal(void *to, void *from, size_t bytes, int32_t *signal, int32_t value, int pe)
{
    shmem_putmem(to, from, bytes, pe);
    shmem_fence();
    shmem_int_p(signal, value, pe);
}

static inline int64_t peer_fetch_add64(int64_t *object, int64_t value, int pe)
{
    return shmem_long_atomic_fetch_add((long *)object, value, pe);
}

static inline int64_t peer_swap64(int64_t *object, int64_t value, int pe)
{
    return shmem_long_atomic_swap((long *)object, value, pe);
}

static inline int64_t peer_compare_swap64(int64_t *object, int64_t cond, int64_t value, int pe)
{
    return shmem_long_atomic_compare_swap((long *)object, cond, value, pe);
}

static inline int64_t peer_fetch64(int64_t *object, int pe)
{
    return shmem_long_atomic_fetch((long *)object, pe);
}

static inline void peer_inc64(int64_t *object, int pe)
{
    shmem_long_atomic_inc((long *)object, pe);
}

/* dest of the root is not written. */
static inline void peer_broadcast(void *dest, const void *source, size_t bytes, int root)
{
    shmem_broadcast64(dest, source, bytes / 8, root, 0, 0, shmem_n_pes(), peer_next_sync());
}

static inline void peer_fcollect(void *dest, const void *source, size_t bytes)
{
    shmem_fcollect64(dest, source, bytes / 8, 0, 0, shmem_n_pes(), peer_next_sync());
}

static inline void peer_alltoall(void *dest, const void *source, size_t bytes)
{
    shmem_alltoall64(dest, source, bytes / 8, 0, 0, shmem_n_pes(), peer_next_sync());
}

static inline void peer_sum_double(double *dest, const double *source, size_t count)
{
    shmem_double_sum_to_all(dest, source, (int)count, 0, 0, shmem_n_pes(), peer_next_work(),
                            peer_next_sync());
}

static inline void peer_sum_float(float *dest, const float *source, size_t count)
{
    shmem_float_sum_to_all(dest, source, (int)count, 0, 0, shmem_n_pes(), (float *)peer_next_work(),
                           peer_next_sync());
}

#endif
