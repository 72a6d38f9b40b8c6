/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program of MPI, built against a stock MPICH that knows nothing of us: run_mpich PES [abort CODE | leave].
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BIG = 1 << 18 };

static int ring(int rank, int size)
{
    static int mine[BIG], theirs[BIG];
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int i = 0; i < BIG; i++)
        mine[i] = rank * 1000003 + i;
    MPI_Sendrecv(mine, BIG, MPI_INT, right, 7, theirs, BIG, MPI_INT, left, 7, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < BIG; i++)
        if (theirs[i] != left * 1000003 + i)
            return 1;
    return 0;
}

int main(int argc, char **argv)
{
    int rank, size, sum, *appnum, flag;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &appnum, &flag);
    if (argc < 2 || size != atoi(argv[1]) || sum != size * (size - 1) / 2 || ring(rank, size))
        return 1;
    printf("rank %d of %d, program %d\n", rank, size, flag ? *appnum : -1);
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    if (argc > 3 && strcmp(argv[2], "abort") == 0 && rank == size - 1)
        MPI_Abort(MPI_COMM_WORLD, atoi(argv[3]));
    if (argc > 2 && strcmp(argv[2], "leave") == 0 && rank == 0)
        _Exit(0);
    return MPI_Finalize() == MPI_SUCCESS ? 0 : 1;
}
