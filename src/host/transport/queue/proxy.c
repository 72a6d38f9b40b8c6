/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread behind the work queues. It goes through the queues that were marked, starts their requests in order, collects
 * those that the road took along, and when nothing is left sleeps on the bell of the bank.
 */
#define LOG_MODULE "queue"
#include "host/transport/queue/queue.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    YIELDS = 16,          /* looks at the queues before sleep, each giving the core away */
    SLEEP_S = 1,          /* a sleep ends on its own after so long */
    PENDING_SLEEP_US = 20 /* a road that has work on the way is asked again after so long */
};

static void note_failure(const aclshmemi_queue_set_t *set, aclshmemi_queue_t *queue, uint64_t ticket,
                         uint8_t kind, int code)
{
    static const char *const names[] = {"put", "get", "atomic operation"};
    log_error("%s: %s number %llu to PE %d failed: %d %s", set->kind->name,
              kind < ACLSHMEMI_WORK_KINDS ? names[kind] : "request of an unknown kind",
              (unsigned long long)ticket, queue->pe, code, aclshmemi_status_last_text());
    uint32_t none = 0;
    (void)__atomic_compare_exchange_n(&queue->status, &none, (uint32_t)code, false, __ATOMIC_ACQ_REL,
                                      __ATOMIC_RELAXED);
}

/* The oldest request of the queue that was started is over: its place is free, and who waits sees it. */
static void finish(const aclshmemi_queue_set_t *set, int pe, int code)
{
    aclshmemi_queue_t *queue = aclshmemi_queue_of(set->bank, pe);
    uint64_t ticket = queue->done;
    aclshmemi_work_t *work = aclshmemi_queue_slot(queue, ticket);
    if (code != 0)
        note_failure(set, queue, ticket, work->kind, code);
    __atomic_store_n(&work->turn, ticket + queue->depth, __ATOMIC_RELEASE);
    __atomic_store_n(&queue->done, ticket + 1, __ATOMIC_RELEASE);
}

/* Cores of this PE that sleep until something is over are woken, once for all that is. */
static void tell(const aclshmemi_queue_set_t *set)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* what is over is seen before the look at who sleeps */
    aclshmemi_transport_ring(set->transport, set->transport->site->pe);
}

/* One lap of a queue at most, so that a busy one does not keep the others waiting. */
static bool drain(aclshmemi_queue_set_t *set, int pe)
{
    aclshmemi_queue_t *queue = aclshmemi_queue_of(set->bank, pe);
    bool any = false;
    for (uint32_t i = 0; i < queue->depth; i++) {
        uint64_t ticket = set->started[pe];
        aclshmemi_work_t *work = aclshmemi_queue_slot(queue, ticket);
        if (__atomic_load_n(&work->turn, __ATOMIC_ACQUIRE) != ticket + 1)
            return any;
        bool pending = false;
        set->started[pe] = ticket + 1;
        int code = set->kind->road->post(set->road, pe, work, &pending);
        if (!pending)
            finish(set, pe, code);
        any = true;
    }
    (void)aclshmemi_bank_mark(set->bank, pe);
    return any;
}

static bool drain_marked(aclshmemi_queue_set_t *set)
{
    uint64_t *ready = (uint64_t *)(uintptr_t)set->bank->ready;
    bool any = false;
    for (int word = 0; word * 64 < set->n_pes; word++) {
        if (__atomic_load_n(&ready[word], __ATOMIC_SEQ_CST) == 0)
            continue;
        uint64_t bits = __atomic_exchange_n(&ready[word], 0, __ATOMIC_SEQ_CST);
        for (; bits != 0; bits &= bits - 1)
            any = drain(set, word * 64 + __builtin_ctzll(bits)) || any;
    }
    return any;
}

static bool reap(aclshmemi_queue_set_t *set)
{
    int pe = 0, code = 0;
    bool any = false;
    if (set->kind->road->reap == NULL)
        return false;
    while (set->kind->road->reap(set->road, &pe, &code)) {
        finish(set, pe, code);
        any = true;
    }
    return any;
}

static bool anything_pending(const aclshmemi_queue_set_t *set)
{
    if (set->kind->road->reap != NULL)
        for (int pe = 0; pe < set->n_pes; pe++)
            if (set->started[pe] != aclshmemi_queue_of(set->bank, pe)->done)
                return true;
    return false;
}

static bool anything_marked(const aclshmemi_queue_set_t *set)
{
    const uint64_t *ready = (const uint64_t *)(uintptr_t)set->bank->ready;
    for (int word = 0; word * 64 < set->n_pes; word++)
        if (__atomic_load_n(&ready[word], __ATOMIC_SEQ_CST) != 0)
            return true;
    return false;
}

/* Who posts marks its queue, then looks for sleepers; here it is the other way round, so one of the two sees the other. */
static void sleep_on_bell(aclshmemi_queue_set_t *set)
{
    aclshmemi_doorbell_t *bell = (aclshmemi_doorbell_t *)(uintptr_t)set->bank->bell;
    uint32_t rings = __atomic_load_n(&bell->rings, __ATOMIC_ACQUIRE);
    __atomic_store_n(&bell->sleepers, 1, __ATOMIC_SEQ_CST);
    if (!anything_marked(set) && !atomic_load(&set->stop)) {
        struct timespec limit = {.tv_sec = SLEEP_S};
        if (anything_pending(set))
            limit = (struct timespec){.tv_nsec = PENDING_SLEEP_US * 1000L};
        /* Any return is a reason to look again: a ring, the time-out, an interruption. */
        syscall(SYS_futex, &bell->rings, FUTEX_WAIT, rings, &limit, NULL, 0);
    }
    __atomic_store_n(&bell->sleepers, 0, __ATOMIC_SEQ_CST);
}

static void *run(void *context)
{
    aclshmemi_queue_set_t *set = context;
    int idle = 0;
    while (!atomic_load(&set->stop)) {
        bool worked = drain_marked(set);
        if (reap(set) || worked) {
            tell(set);
            idle = 0;
        } else if (idle++ < YIELDS)
            sched_yield();
        else
            sleep_on_bell(set);
    }
    return NULL;
}

void aclshmemi_proxy_wake(const aclshmemi_queue_set_t *set)
{
    aclshmemi_doorbell_t *bell = (aclshmemi_doorbell_t *)(uintptr_t)set->bank->bell;
    if (__atomic_exchange_n(&bell->sleepers, 0, __ATOMIC_SEQ_CST) == 0)
        return;
    __atomic_fetch_add(&bell->rings, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &bell->rings, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

int aclshmemi_proxy_start(aclshmemi_queue_set_t *set)
{
    sigset_t all, before;
    sigfillset(&all);
    atomic_store(&set->stop, false);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* the application's handlers never run in our thread */
    int error = pthread_create(&set->thread, NULL, run, set);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0) {
        errno = error;
        return fail(ACLSHMEM_INNER_ERROR, "cannot start the proxy thread of engine %s: %m", set->kind->name);
    }
    char name[16];
    snprintf(name, sizeof name, "shmem-%s", set->kind->name);
    pthread_setname_np(set->thread, name);
    set->running = true;
    return 0;
}

void aclshmemi_proxy_stop(aclshmemi_queue_set_t *set)
{
    if (!set->running)
        return;
    atomic_store(&set->stop, true);
    aclshmemi_proxy_wake(set);
    pthread_join(set->thread, NULL);
    set->running = false;
}
