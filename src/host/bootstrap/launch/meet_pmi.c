/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A meeting through PMI-1: PE 0 puts the id under a fresh key, a barrier, everybody gets it.
 *
 * One connection per process, since the launcher gives one. Keys are numbered by the barriers that have ended, which
 * all PEs count alike, also when a meeting failed: a barrier that was given up stays pending, and the next meeting
 * waits for it with the id that was put before it.
 *
 * A launcher takes a process that said hello and ends without goodbye for a failure, and Hydra hangs up at the
 * goodbye. So only our own launcher, which takes another hello, gets the goodbye when the last instance is gone; the
 * others get it when the process exits.
 */
#define LOG_MODULE "launch"
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/bootstrap/launch/launch.h"
#include "host/bootstrap/pmi/pmi.h"

#define GOODBYE_MS 1000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards busy only; never held across a wait */
static bool busy;

static _Atomic int abort_fd =
    -1; /* the connection, for a thread that ends the job while another one uses it */

/* Belongs to whoever holds busy. */
static struct {
    aclshmemi_pmi_t pmi;
    pid_t owner; /* the process that opened it; 0: closed */
    bool started;
    bool ours;         /* aclshmemrun: goodbye and hello again are fine */
    bool may_end;      /* the last instance that met here is gone */
    unsigned barriers; /* ended ones */
    bool kept;         /* PE 0 put this id and its barrier is still pending */
    aclshmemx_uniqueid_t id;
} state = {.pmi = {.fd = -1}, .may_end = true};

static bool take(void)
{
    pthread_mutex_lock(&lock);
    bool taken = !busy;
    busy = true;
    pthread_mutex_unlock(&lock);
    return taken;
}

static void give_back(void)
{
    pthread_mutex_lock(&lock);
    busy = false;
    pthread_mutex_unlock(&lock);
}

static void close_connection(void)
{
    atomic_store(&abort_fd, -1);
    aclshmemi_pmi_close(&state.pmi);
    state.owner = 0;
    state.started = false;
    state.may_end = true; /* whoever only asked who it is may end at once */
    state.kept = false;
    explicit_bzero(&state.id, sizeof state.id);
}

/* An MPI library that shares the launcher with us says goodbye itself. */
static bool mpi_says_goodbye(void)
{
    int started = 0;
    int (*initialized)(int *) = NULL;
    *(void **)&initialized = dlsym(RTLD_DEFAULT, "MPI_Initialized");
    return initialized != NULL && initialized(&started) == 0 && started != 0;
}

static void say_goodbye(void)
{
    bool usable = !state.pmi.broken && !state.pmi.barrier_pending;
    if (usable && !mpi_says_goodbye() &&
        aclshmemi_pmi_finalize(&state.pmi, aclshmemi_deadline_after_ms(GOODBYE_MS)) != 0)
        log_debug("the launcher did not hear our goodbye");
    close_connection();
}

/* At exit of the process, not of the library's instances: see above. */
static void at_exit(void)
{
    if (!take())
        return; /* a thread is in the middle of a meeting: that is no orderly end */
    if (state.owner == getpid() && state.may_end)
        say_goodbye();
    give_back();
}

static void register_exit(void)
{
    if (atexit(at_exit) != 0)
        log_warn(
            "the launcher may take the end of this program for a failure: no memory for an exit handler");
}

static int connect_once(const aclshmemi_source_t *source, aclshmemi_deadline_t deadline)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (state.owner != 0 && state.owner != getpid())
        close_connection(); /* a child of fork; the connection is the parent's */
    if (state.owner != 0 && !state.pmi.broken)
        return 0;
    close_connection();
    TRY(aclshmemi_pmi_open(&state.pmi, aclshmemi_source_get(source, "PMI_FD"),
                           aclshmemi_source_get(source, "PMI_PORT"), aclshmemi_source_get(source, "PMI_ID"),
                           deadline));
    state.owner = getpid();
    atomic_store(&abort_fd, state.pmi.fd);
    pthread_once(&once, register_exit);
    return 0;
}

static int meet(const aclshmemi_env_t *env, const aclshmemi_launch_t *launch, aclshmemi_deadline_t deadline,
                aclshmemx_uniqueid_t *uid)
{
    char key[32];
    aclshmemi_pmi_t *pmi = &state.pmi;
    if (pmi->n_pes >= 0 && (pmi->n_pes != launch->n_pes || pmi->rank != launch->pe))
        return fail(ACLSHMEM_INNER_ERROR,
                    "the launcher's pmi server says PE %d of %d, its variables say PE %d of %d", pmi->rank,
                    pmi->n_pes, launch->pe, launch->n_pes);
    if (!state.started)
        TRY(aclshmemi_pmi_start(pmi, deadline));
    state.started = true;
    state.may_end = false;
    if (aclshmemi_pmi_barrier_settle(pmi)) {
        state.barriers++;
        state.kept = false;
    }
    snprintf(key, sizeof key, "aclshmem-%u", state.barriers);
    if (launch->pe == 0 && !(state.kept && pmi->barrier_pending)) {
        TRY(aclshmemi_uid_create(env, launch->single_host, &state.id));
        TRY(aclshmemi_pmi_put(pmi, key, &state.id, sizeof state.id, deadline));
        state.kept = true;
    }
    TRY(aclshmemi_pmi_barrier(pmi, deadline));
    state.barriers++;
    state.kept = false;
    if (launch->pe != 0)
        return aclshmemi_pmi_get(pmi, key, uid, sizeof *uid, deadline);
    *uid = state.id;
    explicit_bzero(&state.id, sizeof state.id);
    return 0;
}

int aclshmemi_meet_pmi(const aclshmemi_source_t *source, const aclshmemi_env_t *env,
                       const aclshmemi_launch_t *launch, aclshmemi_deadline_t deadline,
                       aclshmemx_uniqueid_t *uid)
{
    if (!take())
        return fail(ACLSHMEM_INNER_ERROR, "another thread of this process is in init already");
    state.ours = strcmp(launch->name, "aclshmemrun") == 0;
    int rc = connect_once(source, deadline);
    if (rc == 0)
        rc = meet(env, launch, deadline, uid);
    give_back();
    return rc;
}

int aclshmemi_pmi_ask(const aclshmemi_source_t *source, aclshmemi_deadline_t deadline, int *pe, int *n_pes)
{
    if (!take())
        return fail(ACLSHMEM_INNER_ERROR, "another thread of this process is in init already");
    int rc = connect_once(source, deadline);
    if (rc == 0 && state.pmi.n_pes < 0)
        rc = fail(ACLSHMEM_INNER_ERROR, "the launcher's pmi server did not tell rank and size");
    if (rc == 0) {
        *pe = state.pmi.rank;
        *n_pes = state.pmi.n_pes;
    }
    give_back();
    return rc;
}

void aclshmemi_pmi_done(void)
{
    if (!take())
        return;
    state.may_end = true;
    if (state.owner == getpid() && state.ours)
        say_goodbye();
    give_back();
}

void aclshmemi_pmi_abort(int status)
{
    aclshmemi_pmi_abort_job(atomic_load(&abort_fd), status, aclshmemi_deadline_after_ms(GOODBYE_MS));
}

void aclshmemi_pmi_forget(void)
{
    pthread_mutex_init(&lock, NULL); /* another thread of the parent may have held it */
    busy = false;
    close_connection();
}
