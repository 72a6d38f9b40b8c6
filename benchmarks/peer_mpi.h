/* SPDX-License-Identifier: Apache-2.0 */
/* The barrier and the collectives of peer.h in MPI. */
#ifndef PEER_MPI_H
#define PEER_MPI_H

#include <stdlib.h>

#include <mpi.h>

#define PEER_NAME      "mpi"
#define PEER_ONE_SIDED 0
#define PEER_ALLTOALL  1

static inline int peer_init(void)
{
    return MPI_Init(NULL, NULL);
}

static inline void peer_fini(void)
{
    MPI_Finalize();
}

static inline int peer_me(void)
{
    int me;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    return me;
}

static inline int peer_count(void)
{
    int count;
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    return count;
}

static inline void *peer_alloc(size_t bytes)
{
    return aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
}

static inline void peer_free(void *object)
{
    free(object);
}

static inline void peer_barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

/* One buffer, as MPI has it: dest of everybody but the root. */
static inline void peer_broadcast(void *dest, const void *source, size_t bytes, int root)
{
    (void)source;
    MPI_Bcast(dest, (int)bytes, MPI_BYTE, root, MPI_COMM_WORLD);
}

static inline void peer_fcollect(void *dest, const void *source, size_t bytes)
{
    MPI_Allgather(source, (int)bytes, MPI_BYTE, dest, (int)bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static inline void peer_alltoall(void *dest, const void *source, size_t bytes)
{
    MPI_Alltoall(source, (int)bytes, MPI_BYTE, dest, (int)bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static inline void peer_sum_double(double *dest, const double *source, size_t count)
{
    MPI_Allreduce(source, dest, (int)count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static inline void peer_sum_float(float *dest, const float *source, size_t count)
{
    MPI_Allreduce(source, dest, (int)count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

#endif
