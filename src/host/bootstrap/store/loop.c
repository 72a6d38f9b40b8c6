/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event loop of the store, over epoll.
 *
 * Sources live in a table of slots that never moves: an event names slot and generation, so one that belongs to a
 * source removed earlier in the same turn is recognised and dropped, and a child after fork finds all descriptors
 * without a lock.
 */
#define LOG_MODULE "store"
#include "host/bootstrap/store/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define SLOTS_PER_BLOCK 1024
#define BLOCKS_MAX      256 /* 262144 descriptors, far above any limit a system sets */
#define EVENTS_PER_TURN 256
#define TURN_MS_MAX     60000

typedef struct slot {
    aclshmemi_store_source_t *source;
    uint32_t generation;
    uint32_t next_free; /* counted from 1 */
    _Atomic int fd;     /* for a child after fork; -1: none */
} slot_t;

struct aclshmemi_store_loop {
    int epoll_fd;
    int wake_fd;
    slot_t *blocks[BLOCKS_MAX];
    uint32_t slots;
    uint32_t first_free;
    aclshmemi_store_timer_t *timers; /* root of the heap */
    aclshmemi_store_task_t *later, **later_end;
    pthread_mutex_t lock; /* guards the posted tasks */
    aclshmemi_store_task_t *posted, **posted_end;
    pthread_t thread;
    bool started;
    _Atomic bool stop;
    uint8_t scratch[ACLSHMEMI_STORE_SCRATCH_BYTES];
};

int aclshmemi_store_fd_keep_high(int *fd)
{
    if (*fd > STDERR_FILENO)
        return 0;
    int high = fcntl(*fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    int saved = errno;
    close(*fd);
    *fd = high;
    errno = saved;
    return high < 0 ? -1 : 0;
}

/* --- Timers: a pairing heap, whose nodes need no memory besides themselves --- */

static aclshmemi_store_timer_t *meld(aclshmemi_store_timer_t *a, aclshmemi_store_timer_t *b)
{
    if (!a || !b)
        return a ? a : b;
    if (b->deadline < a->deadline) {
        aclshmemi_store_timer_t *swap = a;
        a = b;
        b = swap;
    }
    b->prev = a;
    b->next = a->child;
    if (a->child)
        a->child->prev = b;
    a->child = b;
    return a;
}

/* Pairs from left to right, then melds the pairs from right to left: this order is what keeps the heap flat. */
static aclshmemi_store_timer_t *meld_siblings(aclshmemi_store_timer_t *first)
{
    aclshmemi_store_timer_t *pairs = NULL;
    while (first) {
        aclshmemi_store_timer_t *a = first, *b = first->next;
        first = b ? b->next : NULL;
        a->next = a->prev = NULL;
        if (b)
            b->next = b->prev = NULL;
        a = meld(a, b);
        a->next = pairs;
        pairs = a;
    }
    aclshmemi_store_timer_t *root = NULL;
    while (pairs) {
        aclshmemi_store_timer_t *next = pairs->next;
        pairs->next = NULL;
        root = meld(root, pairs);
        pairs = next;
    }
    return root;
}

void aclshmemi_store_timer_clear(aclshmemi_store_loop_t *loop, aclshmemi_store_timer_t *timer)
{
    if (!timer->set)
        return;
    aclshmemi_store_timer_t *orphans = meld_siblings(timer->child);
    if (timer == loop->timers) {
        loop->timers = orphans;
    } else {
        if (timer->prev->child == timer)
            timer->prev->child = timer->next;
        else
            timer->prev->next = timer->next;
        if (timer->next)
            timer->next->prev = timer->prev;
        loop->timers = meld(loop->timers, orphans);
    }
    timer->child = timer->next = timer->prev = NULL;
    timer->set = false;
}

void aclshmemi_store_timer_set(aclshmemi_store_loop_t *loop, aclshmemi_store_timer_t *timer,
                               aclshmemi_deadline_t deadline)
{
    aclshmemi_store_timer_clear(loop, timer);
    if (deadline == ACLSHMEMI_NEVER)
        return;
    timer->deadline = deadline;
    timer->set = true;
    loop->timers = meld(loop->timers, timer);
}

static void run_timers(aclshmemi_store_loop_t *loop)
{
    if (!loop->timers)
        return;
    uint64_t now = aclshmemi_clock_ns(); /* taken once: a timer set to "now" runs in the next turn */
    while (loop->timers && loop->timers->deadline <= now) {
        aclshmemi_store_timer_t *timer = loop->timers;
        aclshmemi_store_timer_clear(loop, timer);
        timer->expire(timer->owner);
    }
}

/* --- Sources --- */

static slot_t *slot_at(aclshmemi_store_loop_t *loop, uint32_t number)
{
    return &loop->blocks[(number - 1) / SLOTS_PER_BLOCK][(number - 1) % SLOTS_PER_BLOCK];
}

static int add_block(aclshmemi_store_loop_t *loop)
{
    uint32_t block = loop->slots / SLOTS_PER_BLOCK;
    if (block == BLOCKS_MAX)
        return fail_quietly(ACLSHMEM_INNER_ERROR, "more than %d descriptors", BLOCKS_MAX * SLOTS_PER_BLOCK);
    slot_t *slots = calloc(SLOTS_PER_BLOCK, sizeof *slots);
    if (!slots)
        return fail_quietly(ACLSHMEM_MALLOC_FAILED, "no memory for a table of descriptors");
    for (uint32_t i = SLOTS_PER_BLOCK; i-- > 0;) {
        atomic_init(&slots[i].fd, -1);
        slots[i].next_free = loop->first_free;
        loop->first_free = loop->slots + i + 1;
    }
    loop->blocks[block] = slots;
    loop->slots += SLOTS_PER_BLOCK;
    return 0;
}

static uint64_t event_key(uint32_t number, const slot_t *slot)
{
    return (uint64_t)slot->generation << 32 | number;
}

int aclshmemi_store_loop_add(aclshmemi_store_loop_t *loop, aclshmemi_store_source_t *source, int fd,
                             uint32_t events)
{
    if (loop->first_free == 0)
        TRY(add_block(loop));
    uint32_t number = loop->first_free;
    slot_t *slot = slot_at(loop, number);
    struct epoll_event event = {.events = events, .data.u64 = event_key(number, slot)};
    if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0)
        return fail_quietly(ACLSHMEM_INNER_ERROR, "cannot watch a descriptor: %m");
    loop->first_free = slot->next_free;
    slot->source = source;
    atomic_store(&slot->fd, fd);
    source->fd = fd;
    source->slot = number;
    source->events = events;
    return 0;
}

void aclshmemi_store_loop_watch(aclshmemi_store_loop_t *loop, aclshmemi_store_source_t *source,
                                uint32_t events)
{
    if (source->slot == 0 || source->events == events)
        return;
    struct epoll_event event = {.events = events,
                                .data.u64 = event_key(source->slot, slot_at(loop, source->slot))};
    if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_MOD, source->fd, &event) != 0)
        log_error("cannot change what is watched of descriptor %d: %m", source->fd);
    source->events = events;
}

void aclshmemi_store_loop_remove(aclshmemi_store_loop_t *loop, aclshmemi_store_source_t *source)
{
    if (source->slot == 0)
        return;
    slot_t *slot = slot_at(loop, source->slot);
    atomic_store(&slot->fd, -1); /* before the owner closes it, so that a child never closes a stranger's */
    epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, source->fd, NULL);
    slot->source = NULL;
    slot->generation++;
    slot->next_free = loop->first_free;
    loop->first_free = source->slot;
    source->slot = 0;
}

/* --- Tasks --- */

void aclshmemi_store_loop_post(aclshmemi_store_loop_t *loop, aclshmemi_store_task_t *task)
{
    pthread_mutex_lock(&loop->lock);
    bool first = loop->posted == NULL;
    task->next = NULL;
    *loop->posted_end = task;
    loop->posted_end = &task->next;
    pthread_mutex_unlock(&loop->lock);
    if (first) {
        uint64_t one = 1;
        while (write(loop->wake_fd, &one, sizeof one) < 0 && errno == EINTR)
            ;
    }
}

static void run_posted(aclshmemi_store_loop_t *loop)
{
    uint64_t count = 0;
    while (read(loop->wake_fd, &count, sizeof count) < 0 && errno == EINTR)
        ;
    pthread_mutex_lock(&loop->lock);
    aclshmemi_store_task_t *task = loop->posted;
    loop->posted = NULL;
    loop->posted_end = &loop->posted;
    pthread_mutex_unlock(&loop->lock);
    while (task) {
        aclshmemi_store_task_t *next = task->next; /* running it may free it */
        task->run(task->owner);
        task = next;
    }
}

void aclshmemi_store_loop_later(aclshmemi_store_loop_t *loop, aclshmemi_store_task_t *task)
{
    if (task->queued)
        return;
    task->queued = true;
    task->next = NULL;
    *loop->later_end = task;
    loop->later_end = &task->next;
}

/* Tasks queued meanwhile wait for the next turn, so that one that queues itself starves nobody. */
static void run_later(aclshmemi_store_loop_t *loop)
{
    aclshmemi_store_task_t *task = loop->later;
    loop->later = NULL;
    loop->later_end = &loop->later;
    while (task) {
        aclshmemi_store_task_t *next = task->next;
        task->queued = false;
        task->run(task->owner);
        task = next;
    }
}

/* --- Turns --- */

static int turn_wait_ms(const aclshmemi_store_loop_t *loop, int max_ms)
{
    if (loop->later)
        return 0;
    return loop->timers ? aclshmemi_deadline_left_ms(loop->timers->deadline, max_ms) : max_ms;
}

void aclshmemi_store_loop_turn(aclshmemi_store_loop_t *loop, int max_ms)
{
    struct epoll_event events[EVENTS_PER_TURN];
    int count = epoll_wait(loop->epoll_fd, events, EVENTS_PER_TURN, turn_wait_ms(loop, max_ms));
    for (int i = 0; i < count; i++) { /* count -1 is an interrupted wait: the next turn resumes it */
        uint32_t number = (uint32_t)events[i].data.u64;
        if (number == 0) {
            run_posted(loop);
            continue;
        }
        slot_t *slot = slot_at(loop, number);
        if (slot->source && slot->generation == (uint32_t)(events[i].data.u64 >> 32))
            slot->source->ready(slot->source->owner, events[i].events);
    }
    run_timers(loop);
    run_later(loop);
}

static void *run(void *context)
{
    aclshmemi_store_loop_t *loop = context;
    while (!atomic_load(&loop->stop))
        aclshmemi_store_loop_turn(loop, TURN_MS_MAX);
    return NULL;
}

int aclshmemi_store_loop_start(aclshmemi_store_loop_t *loop)
{
    sigset_t all, before;
    sigfillset(&all);
    atomic_store(&loop->stop, false);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* the application's handlers never run in our thread */
    int error = pthread_create(&loop->thread, NULL, run, loop);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0) {
        errno = error;
        return fail(ACLSHMEM_INNER_ERROR, "cannot start the thread of the control plane: %m");
    }
    pthread_setname_np(loop->thread, "shmem-control");
    loop->started = true;
    return 0;
}

static void nothing(void *owner)
{
    (void)owner;
}

void aclshmemi_store_loop_stop(aclshmemi_store_loop_t *loop)
{
    if (!loop || !loop->started)
        return;
    aclshmemi_store_task_t wake = {.run = nothing};
    atomic_store(&loop->stop, true);
    aclshmemi_store_loop_post(loop, &wake);
    pthread_join(loop->thread, NULL);
    loop->started = false;
    run_posted(loop); /* what came after the last turn, our own wake included, which ends with this call */
}

/* --- Life --- */

static int open_descriptors(aclshmemi_store_loop_t *loop)
{
    loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (loop->epoll_fd < 0 || aclshmemi_store_fd_keep_high(&loop->epoll_fd) != 0)
        return fail(ACLSHMEM_INNER_ERROR, "cannot create an epoll descriptor: %m");
    loop->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (loop->wake_fd < 0 || aclshmemi_store_fd_keep_high(&loop->wake_fd) != 0)
        return fail(ACLSHMEM_INNER_ERROR, "cannot create an event descriptor: %m");
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = 0};
    if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, loop->wake_fd, &event) != 0)
        return fail(ACLSHMEM_INNER_ERROR, "cannot watch the event descriptor: %m");
    return 0;
}

static void free_loop(aclshmemi_store_loop_t *loop)
{
    if (loop->epoll_fd >= 0)
        close(loop->epoll_fd);
    if (loop->wake_fd >= 0)
        close(loop->wake_fd);
    for (int i = 0; i < BLOCKS_MAX; i++)
        free(loop->blocks[i]);
    pthread_mutex_destroy(&loop->lock);
    free(loop);
}

int aclshmemi_store_loop_create(aclshmemi_store_loop_t **out)
{
    aclshmemi_store_loop_t *loop = calloc(1, sizeof *loop);
    if (!loop)
        return fail(ACLSHMEM_MALLOC_FAILED, "no memory for the loop of the control plane");
    loop->epoll_fd = loop->wake_fd = -1;
    loop->later_end = &loop->later;
    loop->posted_end = &loop->posted;
    pthread_mutex_init(&loop->lock, NULL);
    int rc = open_descriptors(loop);
    if (rc != 0) {
        free_loop(loop);
        return rc;
    }
    *out = loop;
    return 0;
}

void aclshmemi_store_loop_destroy(aclshmemi_store_loop_t *loop)
{
    if (!loop)
        return;
    while (loop->later)
        run_later(loop);
    free_loop(loop);
}

uint8_t *aclshmemi_store_loop_scratch(aclshmemi_store_loop_t *loop)
{
    return loop->scratch;
}

void aclshmemi_store_loop_forget(aclshmemi_store_loop_t *loop)
{
    close(loop->epoll_fd);
    close(loop->wake_fd);
    for (int i = 0; i < BLOCKS_MAX && loop->blocks[i]; i++) {
        for (int j = 0; j < SLOTS_PER_BLOCK; j++) {
            int fd = atomic_load(&loop->blocks[i][j].fd);
            if (fd >= 0)
                close(fd);
        }
    }
}
