/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Core threads. A launch must have all its threads at once, so they are counted before it starts: reserved is never
 * more than total. Several launches at a time make the pool grow; beyond one device's cores, idle threads go away.
 */
#include "pool.h"

#include <sched.h>
#include <stdlib.h>

#define STACK_BYTES ((size_t)1 << 20)
#define IDLE_MS     2000 /* how long a thread too many waits for work */
#define SPINS       64
#define YIELDS      32

typedef struct member {
    pthread_t thread;
    struct member *next;
} member_t;

pthread_mutex_t cpurt_pool_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t posted, finished;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static cpurt_gang_t *open_gangs; /* with tickets left, in order */
static member_t *gone;           /* threads to be joined */
static uint32_t total, reserved, idle;
static bool ending;

static void set_up(void)
{
    (void)cpurt_cond_init(&posted);
    (void)cpurt_cond_init(&finished);
}

/* A ticket of the oldest open gang; called with the lock held. */
static cpurt_gang_t *take_ticket(void)
{
    cpurt_gang_t *const gang = open_gangs;

    if (gang != NULL && --gang->tickets == 0)
        open_gangs = gang->next_open;
    return gang;
}

/* False when the thread should go: the pool ends, or it has been one too many for a while. */
static bool wait_for_work(void)
{
    bool in_time = true;

    while (open_gangs == NULL && !ending && in_time) {
        idle++;
        in_time = cpurt_cond_wait(&posted, &cpurt_pool_lock,
                                  total > (uint32_t)cpurt_config()->cores ? cpurt_deadline_ms(IDLE_MS)
                                                                          : CPURT_FOREVER);
        idle--;
    }
    return open_gangs != NULL ||
           (!ending && (in_time || total <= (uint32_t)cpurt_config()->cores || total == reserved));
}

static void *serve(void *argument)
{
    member_t *const self = argument;

    (void)pthread_mutex_lock(&cpurt_pool_lock);
    while (wait_for_work()) {
        cpurt_gang_t *const gang = take_ticket();

        if (gang == NULL)
            continue;
        (void)pthread_mutex_unlock(&cpurt_pool_lock);
        cpurt_gang_work(gang);
        (void)pthread_mutex_lock(&cpurt_pool_lock);
        reserved--;
        /* From here on the gang may be gone: whoever waits for it looks at the count alone. */
        if (atomic_fetch_sub_explicit(&gang->left, 1, memory_order_release) == 1)
            (void)pthread_cond_broadcast(&finished);
    }
    total--;
    self->next = gone;
    gone = self;
    (void)pthread_cond_broadcast(&finished);
    (void)pthread_mutex_unlock(&cpurt_pool_lock);
    cpurt_core_leave();
    return NULL;
}

static aclError add_thread(void)
{
    member_t *const member = calloc(1, sizeof *member);

    if (member == NULL)
        return cpurt_fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "out of memory for a core");
    const aclError error = cpurt_thread_start(&member->thread, "acl-core", STACK_BYTES, serve, member);
    if (error == ACL_SUCCESS)
        total++;
    else
        free(member);
    return error;
}

/* Joins threads that have gone; called with the lock held, which it gives up meanwhile. */
static void bury(void)
{
    while (gone != NULL) {
        member_t *const member = gone;

        gone = member->next;
        (void)pthread_mutex_unlock(&cpurt_pool_lock);
        (void)pthread_join(member->thread, NULL);
        free(member);
        (void)pthread_mutex_lock(&cpurt_pool_lock);
    }
}

static aclError open_gang(cpurt_gang_t *gang, uint32_t helpers)
{
    aclError error = ACL_SUCCESS;

    (void)pthread_once(&once, set_up);
    (void)pthread_mutex_lock(&cpurt_pool_lock);
    if (gone != NULL)
        bury();
    while (total - reserved < helpers && error == ACL_SUCCESS)
        error = add_thread();
    if (error == ACL_SUCCESS) {
        cpurt_gang_t **last = &open_gangs;

        while (*last != NULL)
            last = &(*last)->next_open;
        *last = gang;
        gang->next_open = NULL;
        gang->tickets = helpers;
        atomic_store_explicit(&gang->left, helpers, memory_order_relaxed);
        reserved += helpers;
        if (helpers >= idle)
            (void)pthread_cond_broadcast(&posted);
        else
            for (uint32_t i = 0; i < helpers; i++)
                (void)pthread_cond_signal(&posted);
    }
    (void)pthread_mutex_unlock(&cpurt_pool_lock);
    return error;
}

/* Blocks that have all been started need no more threads: those that have not come yet need not. */
static void withdraw_tickets(cpurt_gang_t *gang)
{
    (void)pthread_mutex_lock(&cpurt_pool_lock);
    if (gang->tickets > 0) {
        cpurt_gang_t **at = &open_gangs;

        while (*at != gang)
            at = &(*at)->next_open;
        *at = gang->next_open;
        reserved -= gang->tickets;
        (void)atomic_fetch_sub_explicit(&gang->left, gang->tickets, memory_order_relaxed);
        gang->tickets = 0;
    }
    (void)pthread_mutex_unlock(&cpurt_pool_lock);
}

static void wait_for_gang(const cpurt_gang_t *gang)
{
    for (int i = 0; i < SPINS + YIELDS; i++) {
        if (atomic_load_explicit(&gang->left, memory_order_acquire) == 0)
            return;
        if (i < SPINS)
            cpurt_relax();
        else
            (void)sched_yield();
    }
    (void)pthread_mutex_lock(&cpurt_pool_lock);
    while (atomic_load_explicit(&gang->left, memory_order_acquire) != 0)
        (void)cpurt_cond_wait(&finished, &cpurt_pool_lock, CPURT_FOREVER);
    (void)pthread_mutex_unlock(&cpurt_pool_lock);
}

aclError cpurt_pool_run(cpurt_gang_t *gang)
{
    const uint32_t helpers = gang->threads - 1;

    if (helpers > 0)
        TRY(open_gang(gang, helpers));
    cpurt_gang_work(gang);
    if (helpers > 0) {
        withdraw_tickets(gang);
        wait_for_gang(gang);
    }
    return ACL_SUCCESS;
}

void cpurt_pool_end(void)
{
    (void)pthread_once(&once, set_up);
    (void)pthread_mutex_lock(&cpurt_pool_lock);
    ending = true;
    (void)pthread_cond_broadcast(&posted);
    while (total > 0)
        (void)cpurt_cond_wait(&finished, &cpurt_pool_lock, CPURT_FOREVER);
    bury();
    ending = false;
    (void)pthread_mutex_unlock(&cpurt_pool_lock);
}
