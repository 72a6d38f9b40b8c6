/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A meeting through PMIx, the service of Open MPI, PRRTE and some Slurm installations: PE 0 puts the id, a fence, all
 * get it. A meeting that outlasted its deadline goes on in its thread and is the first thing the next one waits for.
 */
#define LOG_MODULE "launch"
#include "host/bootstrap/launch/launch.h"

#ifdef ACLSHMEMI_HAVE_PMIX

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/bootstrap/launch/pmix_task.h"
#include "host/bootstrap/pmi/line.h"

#define END_MS 5000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards busy only; never held across a wait */
static bool busy;

/* Belongs to whoever holds busy. */
static unsigned fences;             /* ended ones, which all PEs count alike */
static aclshmemi_pmix_task_t *left; /* a meeting that outlasted its deadline */
static pid_t owner;                 /* the process that met here */
static bool may_end;                /* the last instance that met here is gone */

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

/* Runs a task to its end, or leaves it behind. */
static int perform(aclshmemi_pmix_task_t *task, aclshmemi_deadline_t deadline)
{
    int rc = aclshmemi_pmix_task_start(task);
    if (rc == 0 && !aclshmemi_pmix_task_wait(task, deadline)) {
        rc = fail(ACLSHMEM_INNER_ERROR, "libpmix did not answer in time");
    } else if (rc == 0 && task->rc != 0) {
        rc = fail(task->rc, "%s; SHMEM_LAUNCHER chooses another way to meet", task->text);
    }
    return rc;
}

int aclshmemi_pmix_ask(aclshmemi_deadline_t deadline, aclshmemi_launch_t *launch)
{
    aclshmemi_pmix_task_t *task = aclshmemi_pmix_task_create(ACLSHMEMI_PMIX_ASK);
    if (task == NULL)
        return fail(ACLSHMEM_MALLOC_FAILED, "no memory to ask libpmix");
    int rc = perform(task, deadline);
    if (rc == 0) {
        launch->n_pes = task->n_pes;
        launch->local_npes = launch->local_npes < 0 ? task->local_npes : launch->local_npes;
        launch->local_pe = launch->local_pe < 0 ? task->local_pe : launch->local_pe;
    }
    aclshmemi_pmix_task_let_go(task);
    return rc;
}

/* The meeting that was left behind, or a new one with PE 0's id in it. */
static aclshmemi_pmix_task_t *next_meeting(const aclshmemi_env_t *env, const aclshmemi_launch_t *launch,
                                           int *rc)
{
    aclshmemx_uniqueid_t id;
    aclshmemi_pmix_task_t *task = left;
    *rc = 0;
    if (task != NULL && aclshmemi_pmix_task_wait(task, aclshmemi_clock_ns())) {
        fences += task->fenced;
        aclshmemi_pmix_task_let_go(task);
        left = task = NULL;
    }
    if (task != NULL)
        return task;
    task = aclshmemi_pmix_task_create(ACLSHMEMI_PMIX_MEET);
    if (task == NULL) {
        *rc = fail(ACLSHMEM_MALLOC_FAILED, "no memory for a meeting");
        return NULL;
    }
    task->pe = launch->pe;
    task->n_pes = launch->n_pes;
    snprintf(task->key, sizeof task->key, "aclshmem-%u", fences);
    if (launch->pe == 0) {
        *rc = aclshmemi_uid_create(env, launch->single_host, &id);
        if (*rc == 0)
            aclshmemi_pmi_hex_print(&id, sizeof id, task->hex);
        explicit_bzero(&id, sizeof id);
    }
    if (*rc == 0)
        *rc = aclshmemi_pmix_task_start(task);
    if (*rc == 0)
        return task;
    aclshmemi_pmix_task_let_go(task);
    return NULL;
}

static int meet(const aclshmemi_env_t *env, const aclshmemi_launch_t *launch, aclshmemi_deadline_t deadline,
                aclshmemx_uniqueid_t *uid)
{
    int rc = 0;
    aclshmemi_pmix_task_t *task = next_meeting(env, launch, &rc);
    if (task == NULL)
        return rc;
    if (!aclshmemi_pmix_task_wait(task, deadline)) {
        left = task;
        return fail(ACLSHMEM_INNER_ERROR,
                    "some PE of this job did not come to the meeting at the launcher in time; it "
                    "did not call init, or died before it");
    }
    left = NULL;
    fences += task->fenced;
    if (task->rc != 0)
        rc = fail(task->rc, "%s; SHMEM_LAUNCHER chooses another way to meet", task->text);
    else if (!aclshmemi_pmi_hex_parse(task->hex, uid, sizeof *uid))
        rc = fail(ACLSHMEM_INNER_ERROR, "libpmix returns PE 0's id changed");
    aclshmemi_pmix_task_let_go(task);
    return rc;
}

static void end_with(int what, int status)
{
    aclshmemi_pmix_task_t *task = aclshmemi_pmix_is_started() ? aclshmemi_pmix_task_create(what) : NULL;
    if (task == NULL)
        return;
    task->status = status;
    if (perform(task, aclshmemi_deadline_after_ms(END_MS)) != 0)
        log_debug("the launcher did not hear of our end");
    aclshmemi_pmix_task_let_go(task);
}

/* At exit of the process, not of the last instance: a PE that is quick may be back in a fence while a slow one still
 * says goodbye, and the fence fails then. */
static void at_exit(void)
{
    if (!take())
        return; /* a thread is in the middle of a meeting: that is no orderly end */
    if (owner == getpid() && may_end && left == NULL)
        end_with(ACLSHMEMI_PMIX_END, 0);
    give_back();
}

static void register_exit(void)
{
    if (atexit(at_exit) != 0)
        log_warn(
            "the launcher may take the end of this program for a failure: no memory for an exit handler");
}

int aclshmemi_meet_pmix(const aclshmemi_env_t *env, const aclshmemi_launch_t *launch,
                        aclshmemi_deadline_t deadline, aclshmemx_uniqueid_t *uid)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (!aclshmemi_pmix_loadable())
        return fail(ACLSHMEM_UNDER_API_UNLOAD,
                    "libpmix.so.2 cannot be loaded; install it, or choose ompi on one host by "
                    "SHMEM_LAUNCHER");
    if (!take())
        return fail(ACLSHMEM_INNER_ERROR, "another thread of this process is in init already");
    pthread_once(&once, register_exit);
    owner = getpid();
    may_end = false;
    int rc = meet(env, launch, deadline, uid);
    give_back();
    return rc;
}

void aclshmemi_pmix_done(void)
{
    if (!take())
        return;
    may_end = true;
    give_back();
}

void aclshmemi_pmix_abort(int status)
{
    end_with(ACLSHMEMI_PMIX_ABORT, status);
}

void aclshmemi_pmix_forget(void)
{
    pthread_mutex_init(&lock, NULL); /* another thread of the parent may have held it */
    busy = false;
    aclshmemi_pmix_task_forget();
    left = NULL;
}

#else

bool aclshmemi_pmix_loadable(void)
{
    return false;
}

static int not_built(void)
{
    return fail(ACLSHMEM_NOT_SUPPORTED,
                "this library was built without PMIx; choose ompi on one host by SHMEM_LAUNCHER");
}

int aclshmemi_pmix_ask(aclshmemi_deadline_t deadline, aclshmemi_launch_t *launch)
{
    (void)deadline;
    (void)launch;
    return not_built();
}

int aclshmemi_meet_pmix(const aclshmemi_env_t *env, const aclshmemi_launch_t *launch,
                        aclshmemi_deadline_t deadline, aclshmemx_uniqueid_t *uid)
{
    (void)env;
    (void)launch;
    (void)deadline;
    (void)uid;
    return not_built();
}

void aclshmemi_pmix_done(void) {}

void aclshmemi_pmix_abort(int status)
{
    (void)status;
}

void aclshmemi_pmix_forget(void) {}

#endif
