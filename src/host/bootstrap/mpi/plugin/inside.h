/* SPDX-License-Identifier: Apache-2.0 */
/* Between the files of the plug-in: who started MPI and who ends it, waiting, words. */
#ifndef ACLSHMEMI_MPI_INSIDE_H
#define ACLSHMEMI_MPI_INSIDE_H

#include <mpi.h>

#include "host/bootstrap/mpi/plugin/plugin.h"

/* MPICH and those that keep its binary interface (Intel MPI, MVAPICH, Cray) against Open MPI. */
#ifdef OPEN_MPI
#define MPI_KIND "openmpi"
#else
#define MPI_KIND "mpich"
#endif

typedef struct state {
    struct state *next;
    MPI_Comm comm;
    int pe, n_pes;
    uint64_t farewell;   /* what the last barrier sends */
    uint64_t *said;      /* what the others sent, while MPI ends */
    MPI_Request request; /* likewise */
    bool stuck;          /* a collective was given up; MPI may still write to its memory */
    bool gone;           /* the program has ended MPI, and the communicator with it */
    bool parted;         /* and all PEs had said farewell */
    void *lost;          /* the memory of the collective that was given up */
} state_t;

/* The one lock, and what it guards. */
void mpi_lock(void);
void mpi_unlock(void);
state_t *mpi_states(void);

/* Starts MPI unless it runs; comm as in locate(). */
int mpi_start(const void *comm, aclshmemi_mpi_words_t *words);
bool mpi_is_running(void);
/* Is told when the program ends MPI, so that the duplicates part in time. */
int mpi_watch_end(aclshmemi_mpi_words_t *words);
/* May this thread call MPI at this time? */
int mpi_may_call(aclshmemi_mpi_words_t *words);
/* Ends MPI when we started it and nothing of ours is open; words only when that was not possible. */
void mpi_end(aclshmemi_mpi_words_t *words);

/* Tests until it is done; past the deadline SMEM_ERROR, and only then the request is still alive. */
int mpi_wait(MPI_Request *request, uint64_t timeout_ms, const char *what, aclshmemi_mpi_words_t *words);

int mpi_fail(aclshmemi_mpi_words_t *words, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));
/* INNER_ERROR with MPI's own text for an error of its. */
int mpi_fail_mpi(aclshmemi_mpi_words_t *words, int mpi_code, const char *what) __attribute__((cold));

#endif
