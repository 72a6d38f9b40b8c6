/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A meeting through PMIx, the service of Open MPI, PRRTE and some Slurm installations: PE 0 puts the id, a fence, all
 * get it.
 *
 * libpmix is opened at run time. Its calls block for as long as a peer is missing, so they run in a thread that can be
 * left behind when the deadline passes; a meeting left behind that way is the first thing the next one waits for.
 */
#define LOG_MODULE "launch"
#include "host/bootstrap/launch/launch.h"

#ifdef ACLSHMEMI_HAVE_PMIX

#include <dlfcn.h>
#include <pmix.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/bootstrap/pmi/line.h"
#include "host/utils/dl.h"

#define END_MS  5000
#define ID_SIZE sizeof(aclshmemx_uniqueid_t)

static struct {
    pmix_status_t (*init)(pmix_proc_t *, pmix_info_t *, size_t);
    pmix_status_t (*finalize)(const pmix_info_t *, size_t);
    pmix_status_t (*abort)(int, const char *, pmix_proc_t *, size_t);
    pmix_status_t (*put)(pmix_scope_t, const char *, pmix_value_t *);
    pmix_status_t (*commit)(void);
    pmix_status_t (*fence)(const pmix_proc_t *, size_t, const pmix_info_t *, size_t);
    pmix_status_t (*get)(const pmix_proc_t *, const char *, const pmix_info_t *, size_t, pmix_value_t **);
    const char *(*error_string)(pmix_status_t);
} px;

static bool px_found;

static void find_library(void)
{
    const aclshmemi_dl_symbol_t symbols[] = {
        {"PMIx_Init", (void **)&px.init, true},     {"PMIx_Finalize", (void **)&px.finalize, true},
        {"PMIx_Abort", (void **)&px.abort, true},   {"PMIx_Put", (void **)&px.put, true},
        {"PMIx_Commit", (void **)&px.commit, true}, {"PMIx_Fence", (void **)&px.fence, true},
        {"PMIx_Get", (void **)&px.get, true},       {"PMIx_Error_string", (void **)&px.error_string, true},
    };
    void *handle = dlopen("libpmix.so.2", RTLD_NOW | RTLD_LOCAL);
    px_found =
        handle != NULL && aclshmemi_dl_lookup(handle, symbols, sizeof symbols / sizeof symbols[0]) == 0;
    if (!px_found)
        log_debug("libpmix.so.2 is not used: %s", handle == NULL ? dlerror() : aclshmemi_status_last_text());
}

bool aclshmemi_pmix_loadable(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_library);
    return px_found;
}

enum { ASK, MEET, END, ABORT };

/* Something to be done in a thread of its own; freed by whoever lets go last. */
typedef struct task {
    pthread_mutex_t lock; /* guards what follows up to text */
    pthread_cond_t ended;
    int holders;
    bool finished;
    bool fenced; /* MEET: the fence is behind us */
    int rc;
    char text[200]; /* why rc is not 0 */
    int what;       /* the rest is the thread's until finished */
    int pe, n_pes;  /* MEET: in; ASK: n_pes out */
    int local_pe, local_npes;
    int status; /* ABORT */
    char key[32];
    char hex[2 * ID_SIZE + 1]; /* MEET: the id, in on PE 0, out on the others */
} task_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows; never held across a wait */
static bool busy;
static bool started;    /* PMIx_Init without its PMIx_Finalize */
static unsigned fences; /* ended ones */
static task_t *left;    /* a meeting that outlasted its deadline */

static void set_started(bool value)
{
    pthread_mutex_lock(&lock);
    started = value;
    pthread_mutex_unlock(&lock);
}

static bool check(task_t *task, const char *call, pmix_status_t status)
{
    if (status == PMIX_SUCCESS)
        return true;
    task->rc = ACLSHMEM_INNER_ERROR;
    snprintf(task->text, sizeof task->text, "%s of libpmix: %s", call, px.error_string(status));
    return false;
}

static bool get_number(const pmix_proc_t *who, const char *key, int *out)
{
    pmix_value_t *value = NULL;
    if (px.get(who, key, NULL, 0, &value) != PMIX_SUCCESS || value == NULL)
        return false;
    bool known = true;
    if (value->type == PMIX_UINT32)
        *out = (int)value->data.uint32;
    else if (value->type == PMIX_UINT16)
        *out = value->data.uint16;
    else
        known = false;
    free(value);
    return known;
}

static pmix_proc_t everybody(const pmix_proc_t *me, pmix_rank_t rank)
{
    pmix_proc_t all;
    memset(&all, 0, sizeof all);
    memcpy(all.nspace, me->nspace, sizeof all.nspace);
    all.rank = rank;
    return all;
}

static void do_ask(task_t *task)
{
    pmix_proc_t me;
    if (!check(task, "PMIx_Init", px.init(&me, NULL, 0)))
        return;
    pmix_proc_t all = everybody(&me, PMIX_RANK_WILDCARD);
    if (!get_number(&all, PMIX_JOB_SIZE, &task->n_pes)) {
        task->rc = ACLSHMEM_INNER_ERROR;
        snprintf(task->text, sizeof task->text, "libpmix does not tell the size of the job");
    }
    (void)!get_number(&all, PMIX_LOCAL_SIZE, &task->local_npes);
    (void)!get_number(&me, PMIX_LOCAL_RANK, &task->local_pe);
    (void)!check(task, "PMIx_Finalize", px.finalize(NULL, 0));
}

static bool put_id(task_t *task)
{
    pmix_value_t value;
    memset(&value, 0, sizeof value);
    value.type = PMIX_STRING;
    value.data.string = task->hex;
    return check(task, "PMIx_Put", px.put(PMIX_GLOBAL, task->key, &value)) &&
           check(task, "PMIx_Commit", px.commit());
}

static bool get_id(task_t *task, const pmix_proc_t *root)
{
    pmix_value_t *value = NULL;
    if (!check(task, "PMIx_Get", px.get(root, task->key, NULL, 0, &value)))
        return false;
    bool good = value != NULL && value->type == PMIX_STRING && value->data.string != NULL &&
                strlen(value->data.string) == sizeof task->hex - 1;
    if (good)
        memcpy(task->hex, value->data.string, sizeof task->hex);
    if (value != NULL && value->type == PMIX_STRING)
        free(value->data.string);
    free(value);
    if (!good) {
        task->rc = ACLSHMEM_INNER_ERROR;
        snprintf(task->text, sizeof task->text, "libpmix returns PE 0's id changed");
    }
    return good;
}

static void do_meet(task_t *task, bool first)
{
    pmix_proc_t me;
    pmix_info_t collect;
    int n_pes = -1;
    memset(&me, 0, sizeof me);
    /* A repeated init only counts; it is what tells who we are. */
    if (!check(task, "PMIx_Init", px.init(&me, NULL, 0)))
        return;
    if (first)
        set_started(true);
    else
        px.finalize(NULL, 0);
    pmix_proc_t all = everybody(&me, PMIX_RANK_WILDCARD), root = everybody(&me, 0);
    if (get_number(&all, PMIX_JOB_SIZE, &n_pes) && n_pes != task->n_pes) {
        task->rc = ACLSHMEM_INNER_ERROR;
        snprintf(task->text, sizeof task->text, "libpmix says %d PEs, the launcher's variables say %d", n_pes,
                 task->n_pes);
        return;
    }
    memset(&collect, 0, sizeof collect);
    snprintf(collect.key, sizeof collect.key, "%s", PMIX_COLLECT_DATA);
    collect.value.type = PMIX_BOOL;
    collect.value.data.flag = true;
    if (task->pe == 0 && !put_id(task))
        return;
    if (!check(task, "PMIx_Fence", px.fence(&all, 1, &collect, 1)))
        return;
    pthread_mutex_lock(&task->lock);
    task->fenced = true;
    pthread_mutex_unlock(&task->lock);
    if (task->pe != 0)
        (void)!get_id(task, &root);
}

static void let_go(task_t *task)
{
    pthread_mutex_lock(&task->lock);
    bool last = --task->holders == 0;
    pthread_mutex_unlock(&task->lock);
    if (!last)
        return;
    pthread_mutex_destroy(&task->lock);
    pthread_cond_destroy(&task->ended);
    explicit_bzero(task->hex, sizeof task->hex);
    free(task);
}

static void *run(void *argument)
{
    task_t *task = argument;
    pthread_mutex_lock(&lock);
    bool first = !started;
    if (task->what == END)
        started = false;
    pthread_mutex_unlock(&lock);
    switch (task->what) {
    case ASK:
        do_ask(task);
        break;
    case MEET:
        do_meet(task, first);
        break;
    case END:
        (void)!check(task, "PMIx_Finalize", px.finalize(NULL, 0));
        break;
    default:
        (void)!check(task, "PMIx_Abort", px.abort(task->status, "global exit", NULL, 0));
        break;
    }
    pthread_mutex_lock(&task->lock);
    task->finished = true;
    pthread_cond_signal(&task->ended);
    pthread_mutex_unlock(&task->lock);
    let_go(task);
    return NULL;
}

static task_t *new_task(int what)
{
    pthread_condattr_t attributes;
    task_t *task = calloc(1, sizeof *task);
    if (task == NULL)
        return NULL;
    task->what = what;
    task->holders = 1;
    task->n_pes = task->local_pe = task->local_npes = -1;
    pthread_mutex_init(&task->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&task->ended, &attributes);
    pthread_condattr_destroy(&attributes);
    return task;
}

/* The thread takes no signals: handlers of the application run in its own threads. */
static int start(task_t *task)
{
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t all, before;
    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    task->holders = 2;
    pthread_sigmask(SIG_BLOCK, &all, &before);
    int rc = pthread_create(&thread, &attributes, run, task);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (rc == 0)
        return 0;
    task->holders = 1;
    return fail(ACLSHMEM_INNER_ERROR, "no thread for libpmix: %s", strerror(rc));
}

static bool wait_until(task_t *task, aclshmemi_deadline_t deadline)
{
    struct timespec at = {.tv_sec = (time_t)(deadline / ACLSHMEMI_NS_PER_S),
                          .tv_nsec = (long)(deadline % ACLSHMEMI_NS_PER_S)};
    pthread_mutex_lock(&task->lock);
    int rc = 0;
    while (!task->finished && rc == 0)
        rc = pthread_cond_timedwait(&task->ended, &task->lock, &at);
    bool finished = task->finished;
    pthread_mutex_unlock(&task->lock);
    return finished;
}

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
static int perform(task_t *task, aclshmemi_deadline_t deadline)
{
    int rc = start(task);
    if (rc == 0 && !wait_until(task, deadline)) {
        rc = fail(ACLSHMEM_INNER_ERROR, "libpmix did not answer in time");
    } else if (rc == 0 && task->rc != 0) {
        rc = fail(task->rc, "%s; SHMEM_LAUNCHER chooses another way to meet", task->text);
    }
    return rc;
}

int aclshmemi_pmix_ask(aclshmemi_deadline_t deadline, aclshmemi_launch_t *launch)
{
    task_t *task = new_task(ASK);
    if (task == NULL)
        return fail(ACLSHMEM_MALLOC_FAILED, "no memory to ask libpmix");
    int rc = perform(task, deadline);
    if (rc == 0) {
        launch->n_pes = task->n_pes;
        launch->local_npes = launch->local_npes < 0 ? task->local_npes : launch->local_npes;
        launch->local_pe = launch->local_pe < 0 ? task->local_pe : launch->local_pe;
    }
    let_go(task);
    return rc;
}

/* The meeting that was left behind, or a new one with PE 0's id in it. */
static task_t *next_meeting(const aclshmemi_env_t *env, const aclshmemi_launch_t *launch, int *rc)
{
    aclshmemx_uniqueid_t id;
    task_t *task = left;
    *rc = 0;
    if (task != NULL && wait_until(task, aclshmemi_clock_ns())) {
        fences += task->fenced;
        let_go(task);
        left = task = NULL;
    }
    if (task != NULL)
        return task;
    task = new_task(MEET);
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
        *rc = start(task);
    if (*rc == 0)
        return task;
    let_go(task);
    return NULL;
}

static int meet(const aclshmemi_env_t *env, const aclshmemi_launch_t *launch, aclshmemi_deadline_t deadline,
                aclshmemx_uniqueid_t *uid)
{
    int rc = 0;
    task_t *task = next_meeting(env, launch, &rc);
    if (task == NULL)
        return rc;
    if (!wait_until(task, deadline)) {
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
    let_go(task);
    return rc;
}

int aclshmemi_meet_pmix(const aclshmemi_env_t *env, const aclshmemi_launch_t *launch,
                        aclshmemi_deadline_t deadline, aclshmemx_uniqueid_t *uid)
{
    if (!aclshmemi_pmix_loadable())
        return fail(ACLSHMEM_UNDER_API_UNLOAD,
                    "libpmix.so.2 cannot be loaded; install it, or choose ompi on one host by "
                    "SHMEM_LAUNCHER");
    if (!take())
        return fail(ACLSHMEM_INNER_ERROR, "another thread of this process is in init already");
    int rc = meet(env, launch, deadline, uid);
    give_back();
    return rc;
}

static void end_with(int what, int status)
{
    pthread_mutex_lock(&lock);
    bool needed = started;
    pthread_mutex_unlock(&lock);
    task_t *task = needed ? new_task(what) : NULL;
    if (task == NULL)
        return;
    task->status = status;
    if (perform(task, aclshmemi_deadline_after_ms(END_MS)) != 0)
        log_debug("the launcher did not hear of our end");
    let_go(task);
}

void aclshmemi_pmix_done(void)
{
    if (!take())
        return;
    if (left == NULL)
        end_with(END, 0);
    give_back();
}

void aclshmemi_pmix_abort(int status)
{
    end_with(ABORT, status);
}

void aclshmemi_pmix_forget(void)
{
    pthread_mutex_init(&lock, NULL); /* another thread of the parent may have held it */
    busy = started = false;
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
