/* SPDX-License-Identifier: Apache-2.0 */
/* The table of instances, the current one, and what becomes of them in a forked child. */
#define LOG_MODULE "init"
#include "host/instance.h"

static aclshmemi_instance_t none = {
    .pe = -1,
    .n_pes = 0,
    .bootstrap = {.pe = -1, .failed_pe = -1},
};

_Atomic(aclshmemi_instance_t *) aclshmemi_instance_current = &none;

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static aclshmemi_instance_t *table[ACLSHMEM_MAX_INSTANCES];
static bool forked;

void aclshmemi_instance_lock(void)
{
    pthread_mutex_lock(&table_lock);
}

void aclshmemi_instance_unlock(void)
{
    pthread_mutex_unlock(&table_lock);
}

aclshmemi_instance_t *aclshmemi_instance_find(uint64_t id)
{
    return id < ACLSHMEM_MAX_INSTANCES ? table[id] : NULL;
}

/* The child shares our connections; it must not speak on them, nor keep them open when we die. */
static void forget_all(void)
{
    for (int i = 0; i < ACLSHMEM_MAX_INSTANCES; i++) {
        if (table[i] == NULL)
            continue;
        forked = true;
        aclshmemi_bootstrap_forget(&table[i]->bootstrap);
        if (table[i]->met_by_launcher)
            aclshmemi_launch_forget();
        table[i] = NULL; /* its memory stays as it was at the fork; nothing of it may be torn down here */
    }
    atomic_store_explicit(&aclshmemi_instance_current, &none, memory_order_release);
    pthread_mutex_unlock(&table_lock);
}

static void watch_fork(void)
{
    if (pthread_atfork(aclshmemi_instance_lock, aclshmemi_instance_unlock, forget_all) != 0)
        log_warn("no room for a fork handler: a child process made by fork must not call this library");
}

void aclshmemi_instance_enter(aclshmemi_instance_t *instance)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_fork);
    table[instance->ctx.id] = instance;
}

void aclshmemi_instance_select(aclshmemi_instance_t *instance)
{
    aclshmemi_instance_t *chosen = instance != NULL ? instance : &none;
    atomic_store_explicit(&aclshmemi_instance_current, chosen, memory_order_release);
    npu_state_select((uint32_t)chosen->ctx.id);
    aclshmemi_log_set_pe(chosen->pe);
}

void aclshmemi_instance_remove(aclshmemi_instance_t *instance)
{
    table[instance->ctx.id] = NULL;
    aclshmemi_instance_select(table[0]);
}

static int count(void)
{
    int found = 0;
    for (int i = 0; i < ACLSHMEM_MAX_INSTANCES; i++)
        found += table[i] != NULL;
    return found;
}

bool aclshmemi_instance_any(void)
{
    return count() > 0;
}

bool aclshmemi_instance_several(void)
{
    return count() > 1;
}

void aclshmemi_instance_abandon(aclshmemi_instance_t *instance)
{
    static aclshmemi_instance_t *abandoned; /* so that they can be found, by leak checkers too */
    instance->next_abandoned = abandoned;
    abandoned = instance;
}

bool aclshmemi_instance_forked(void)
{
    return forked;
}

int aclshmemi_instance_missing(const char *call)
{
    if (forked)
        return fail(ACLSHMEM_NOT_INITED,
                    "%s: this process was made by fork() after the job was initialized and is no PE; only "
                    "its parent is",
                    call);
    return fail(ACLSHMEM_NOT_INITED,
                "%s: not initialized; call aclshmemx_init_attr first, and nothing after finalize", call);
}
