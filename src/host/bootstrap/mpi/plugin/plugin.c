/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plug-in for MPI: communicators. Collectives are the nonblocking ones, tested until a deadline, so a lost PE is an
 * error and not a hang, and PEs that share a core let each other run.
 *
 * Locks: `lock` guards the list and is held around each call of MPI, never across a wait: MPI below MPI_THREAD_MULTIPLE
 * takes one thread at a time.
 */
#include "host/bootstrap/mpi/plugin/plugin.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/bootstrap/mpi/plugin/inside.h"
#include "host/shmem_host_def.h"

enum { PIECE = 65536 }; /* bytes of a PE per exchange; the copy of all PEs' pieces stays bounded */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static state_t *states; /* all that are open, and those MPI still writes to */

void mpi_lock(void)
{
    pthread_mutex_lock(&lock);
}

void mpi_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

state_t *mpi_states(void)
{
    return states;
}

static void enter(state_t *state)
{
    mpi_lock();
    state->next = states;
    states = state;
    mpi_unlock();
}

static void leave(state_t *state)
{
    state_t **link = &states;
    while (*link != NULL && *link != state)
        link = &(*link)->next;
    if (*link != NULL)
        *link = state->next;
}

static int check_communicator(MPI_Comm comm, aclshmemi_mpi_words_t *words)
{
    int inter = 0;
    if (comm == MPI_COMM_NULL)
        return mpi_fail(words, ACLSHMEM_INVALID_PARAM, "comm_args points to MPI_COMM_NULL");
    if (MPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS)
        return mpi_fail(words, ACLSHMEM_INVALID_PARAM, "comm_args does not point to a communicator");
    if (inter)
        return mpi_fail(words, ACLSHMEM_INVALID_PARAM,
                        "comm_args points to an intercommunicator; merge it with MPI_Intercomm_merge first");
    return 0;
}

static int locate(void *comm, int *pe, int *n_pes, aclshmemi_mpi_words_t *words)
{
    int rc = mpi_start(comm, words);
    MPI_Comm given = comm != NULL ? *(MPI_Comm *)comm : MPI_COMM_WORLD;
    mpi_lock();
    if (rc == 0)
        rc = check_communicator(given, words);
    if (rc == 0 && (MPI_Comm_rank(given, pe) != MPI_SUCCESS || MPI_Comm_size(given, n_pes) != MPI_SUCCESS))
        rc = mpi_fail(words, ACLSHMEM_INNER_ERROR, "MPI does not tell rank and size");
    mpi_unlock();
    return rc;
}

static int duplicate(MPI_Comm given, state_t *state, uint64_t timeout_ms, aclshmemi_mpi_words_t *words)
{
    MPI_Request request;
    mpi_lock();
    int rc = MPI_Comm_idup(given, &state->comm, &request);
    mpi_unlock();
    if (rc != MPI_SUCCESS)
        return mpi_fail_mpi(words, rc, "duplicating the communicator");
    state->stuck = true; /* until it is there */
    rc = mpi_wait(&request, timeout_ms, "duplicating the communicator", words);
    state->stuck = rc == ACLSHMEM_SMEM_ERROR;
    if (rc != 0)
        return rc;
    mpi_lock();
    MPI_Comm_set_errhandler(state->comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_name(state->comm, "aclshmem");
    rc = MPI_Comm_rank(state->comm, &state->pe);
    if (rc == MPI_SUCCESS)
        rc = MPI_Comm_size(state->comm, &state->n_pes);
    mpi_unlock();
    return rc == MPI_SUCCESS ? 0 : mpi_fail_mpi(words, rc, "asking for rank and size");
}

static int open_communicator(void *comm, uint64_t farewell, uint64_t timeout_ms, void **out,
                             aclshmemi_mpi_words_t *words)
{
    int pe, n_pes, rc = locate(comm, &pe, &n_pes, words);
    if (rc == 0)
        rc = mpi_watch_end(words);
    if (rc != 0)
        return rc;
    state_t *state = calloc(1, sizeof *state);
    if (state == NULL)
        return mpi_fail(words, ACLSHMEM_MALLOC_FAILED, "out of memory for a communicator");
    state->farewell = farewell;
    rc = duplicate(comm != NULL ? *(MPI_Comm *)comm : MPI_COMM_WORLD, state, timeout_ms, words);
    if (rc == 0 || state->stuck)
        enter(state); /* a stuck one is MPI's to write to until the end */
    else
        free(state);
    if (rc == 0)
        *out = state;
    return rc;
}

/* One piece of everybody, through memory of our own: past a deadline MPI may still write there. */
static int exchange(state_t *state, char *own, char *all, int bytes, uint64_t timeout_ms,
                    aclshmemi_mpi_words_t *words)
{
    MPI_Request request;
    mpi_lock();
    int rc = MPI_Iallgather(own, bytes, MPI_BYTE, all, bytes, MPI_BYTE, state->comm, &request);
    mpi_unlock();
    if (rc != MPI_SUCCESS)
        return mpi_fail_mpi(words, rc, "an exchange");
    rc = mpi_wait(&request, timeout_ms, "an exchange", words);
    state->stuck = rc == ACLSHMEM_SMEM_ERROR;
    return rc;
}

static int exchange_all(state_t *state, const char *send, char *recv, uint64_t bytes, uint64_t timeout_ms,
                        char *own, aclshmemi_mpi_words_t *words)
{
    uint64_t most = bytes < PIECE ? bytes : PIECE;
    char *all = own + most;
    int rc = 0;
    for (uint64_t at = 0; rc == 0 && at < bytes; at += most) {
        uint64_t piece = bytes - at < most ? bytes - at : most;
        memcpy(own, send + at, piece);
        rc = exchange(state, own, all, (int)piece, timeout_ms, words);
        for (int pe = 0; rc == 0 && pe < state->n_pes; pe++)
            memcpy(recv + (uint64_t)pe * bytes + at, all + (uint64_t)pe * piece, piece);
    }
    return rc;
}

static int allgather(void *handle, const void *send, void *recv, uint64_t bytes, uint64_t timeout_ms,
                     aclshmemi_mpi_words_t *words)
{
    state_t *state = handle;
    int rc = mpi_may_call(words);
    if (rc != 0)
        return rc;
    if (state->stuck)
        return mpi_fail(
            words, ACLSHMEM_SMEM_ERROR,
            "an earlier collective of this instance was given up, so there cannot be another one");
    uint64_t most = bytes < PIECE ? bytes : PIECE;
    char *own = malloc((most > 0 ? most : 1) * ((uint64_t)state->n_pes + 1));
    if (own == NULL)
        return mpi_fail(words, ACLSHMEM_MALLOC_FAILED, "out of memory for an exchange of %d PEs",
                        state->n_pes);
    rc = exchange_all(state, send, recv, bytes, timeout_ms, own, words);
    if (state->stuck)
        state->lost = own;
    else
        free(own);
    return rc;
}

static bool parted(void *handle)
{
    state_t *state = handle;
    return state->parted;
}

/* The world: MPICH waits for the other PEs when it is to end another communicator, and they may be anywhere. */
static void abort_job(void *handle, int status)
{
    (void)handle;
    if (mpi_is_running())
        MPI_Abort(MPI_COMM_WORLD, status);
}

static void close_communicator(void *handle, aclshmemi_mpi_words_t *words)
{
    state_t *state = handle;
    bool stuck = state->stuck;
    mpi_lock();
    if (!stuck) {
        leave(state);
        if (!state->gone && mpi_is_running())
            MPI_Comm_free(&state->comm);
    }
    mpi_unlock();
    if (!stuck)
        free(state);
    words->text[0] = '\0';
    mpi_end(words);
}

/* Allowed before MPI is started. "Open MPI v4.1.4, package: ..." and "MPICH Version:\t4.0.2\nMPICH Release date..." */
static void describe(char *out, size_t bytes)
{
    char name[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    if (MPI_Get_library_version(name, &length) != MPI_SUCCESS)
        name[0] = '\0';
    name[strcspn(name, ",\n")] = '\0';
    for (char *c = name; *c != '\0'; c++)
        *c = *c == '\t' ? ' ' : *c;
    snprintf(out, bytes, "%s", name);
}

/* Calls nothing of MPI: in a process with another MPI the symbols would be that one's. */
__attribute__((visibility("default"))) int aclshmemi_bootstrap_plugin_init(aclshmemi_mpi_plugin_t *plugin,
                                                                           aclshmemi_mpi_words_t *words)
{
    if (plugin->version != ACLSHMEMI_MPI_PLUGIN_VERSION || plugin->bytes != sizeof *plugin)
        return mpi_fail(words, ACLSHMEM_INNER_ERROR,
                        "it was built for another release of the library (table %d of %zu bytes)",
                        ACLSHMEMI_MPI_PLUGIN_VERSION, sizeof *plugin);
    *plugin = (aclshmemi_mpi_plugin_t){
        .version = ACLSHMEMI_MPI_PLUGIN_VERSION,
        .bytes = sizeof *plugin,
        .kind = MPI_KIND,
        .probe = (const void *)(uintptr_t)&PMPI_Initialized,
        .describe = describe,
        .locate = locate,
        .open = open_communicator,
        .allgather = allgather,
        .parted = parted,
        .abort = abort_job,
        .close = close_communicator,
    };
    return 0;
}
