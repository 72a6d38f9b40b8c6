/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libpmix itself: opened at run time, called in threads that take no signals. Structures are filled by hand because the
 * macros of its headers call functions of the library.
 */
#define LOG_MODULE "launch"
#include "host/bootstrap/launch/pmix_task.h"

#ifdef ACLSHMEMI_HAVE_PMIX

#include <dlfcn.h>
#include <pmix.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/utils/dl.h"

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

static _Atomic bool started; /* PMIx_Init without its PMIx_Finalize */

bool aclshmemi_pmix_is_started(void)
{
    return atomic_load(&started);
}

void aclshmemi_pmix_task_forget(void)
{
    atomic_store(&started, false);
}

static bool check(aclshmemi_pmix_task_t *task, const char *call, pmix_status_t status)
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

static void do_ask(aclshmemi_pmix_task_t *task)
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

static bool put_id(aclshmemi_pmix_task_t *task)
{
    pmix_value_t value;
    memset(&value, 0, sizeof value);
    value.type = PMIX_STRING;
    value.data.string = task->hex;
    return check(task, "PMIx_Put", px.put(PMIX_GLOBAL, task->key, &value)) &&
           check(task, "PMIx_Commit", px.commit());
}

static bool get_id(aclshmemi_pmix_task_t *task, const pmix_proc_t *root)
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

static void do_meet(aclshmemi_pmix_task_t *task)
{
    pmix_proc_t me;
    pmix_info_t collect;
    int n_pes = -1;
    memset(&me, 0, sizeof me);
    /* A repeated init only counts, and must be taken back; it is what tells who we are. */
    if (!check(task, "PMIx_Init", px.init(&me, NULL, 0)))
        return;
    if (atomic_exchange(&started, true))
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

void aclshmemi_pmix_task_let_go(aclshmemi_pmix_task_t *task)
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
    aclshmemi_pmix_task_t *task = argument;
    switch (task->what) {
    case ACLSHMEMI_PMIX_ASK:
        do_ask(task);
        break;
    case ACLSHMEMI_PMIX_MEET:
        do_meet(task);
        break;
    case ACLSHMEMI_PMIX_END:
        atomic_store(&started, false);
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
    aclshmemi_pmix_task_let_go(task);
    return NULL;
}

aclshmemi_pmix_task_t *aclshmemi_pmix_task_create(int what)
{
    pthread_condattr_t attributes;
    aclshmemi_pmix_task_t *task = calloc(1, sizeof *task);
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
int aclshmemi_pmix_task_start(aclshmemi_pmix_task_t *task)
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

bool aclshmemi_pmix_task_wait(aclshmemi_pmix_task_t *task, aclshmemi_deadline_t deadline)
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

#endif
