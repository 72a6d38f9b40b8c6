/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event loop of the store: descriptors, timers, and tasks handed over by other threads.
 *
 * Everything but create, start, stop, post and forget is called from inside the loop, or while no thread runs it.
 * Sources, timers and tasks are embedded in their owners, so none of these calls but add can fail for want of memory.
 */
#ifndef ACLSHMEMI_BOOTSTRAP_STORE_LOOP_H
#define ACLSHMEMI_BOOTSTRAP_STORE_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/utils/clock.h"
#include "host/utils/status.h"

#define ACLSHMEMI_STORE_SCRATCH_BYTES 65536

typedef struct aclshmemi_store_loop aclshmemi_store_loop_t;

/* A watched descriptor. Zero it before the first add. */
typedef struct aclshmemi_store_source {
    int fd;
    uint32_t slot; /* place in the loop's table, counted from 1; 0: not added */
    uint32_t events;
    void (*ready)(void *owner, uint32_t events);
    void *owner;
} aclshmemi_store_source_t;

/* A point in time. Zero it before the first set. */
typedef struct aclshmemi_store_timer {
    aclshmemi_deadline_t deadline;
    void (*expire)(void *owner);
    void *owner;
    struct aclshmemi_store_timer *child, *next, *prev; /* pairing heap; prev: left sibling or parent */
    bool set;
} aclshmemi_store_timer_t;

/* Something to run once, inside the loop. Zero it before the first use. */
typedef struct aclshmemi_store_task {
    void (*run)(void *owner);
    void *owner;
    struct aclshmemi_store_task *next;
    bool queued;
} aclshmemi_store_task_t;

int aclshmemi_store_loop_create(aclshmemi_store_loop_t **loop) ACLSHMEMI_MUST_CHECK;
/* Runs what later() still holds, then frees. No thread may run the loop; accepts NULL. */
void aclshmemi_store_loop_destroy(aclshmemi_store_loop_t *loop);
/* A thread with all signals blocked runs the loop until stop. */
int aclshmemi_store_loop_start(aclshmemi_store_loop_t *loop) ACLSHMEMI_MUST_CHECK;
void aclshmemi_store_loop_stop(
    aclshmemi_store_loop_t *loop); /* from outside; joins; accepts a loop never started */
/* One turn without a thread: waits at most max_ms for something to do, and does it. */
void aclshmemi_store_loop_turn(aclshmemi_store_loop_t *loop, int max_ms);
/* Hands a task to the loop, from any thread. The task must stay until it ran. */
void aclshmemi_store_loop_post(aclshmemi_store_loop_t *loop, aclshmemi_store_task_t *task);
/* Runs the task at the end of this turn; a task that is queued already stays where it is. */
void aclshmemi_store_loop_later(aclshmemi_store_loop_t *loop, aclshmemi_store_task_t *task);

int aclshmemi_store_loop_add(aclshmemi_store_loop_t *loop, aclshmemi_store_source_t *source, int fd,
                             uint32_t events) ACLSHMEMI_MUST_CHECK;
void aclshmemi_store_loop_watch(aclshmemi_store_loop_t *loop, aclshmemi_store_source_t *source,
                                uint32_t events);
/* The descriptor stays open. An event of this turn that was not delivered yet is dropped. */
void aclshmemi_store_loop_remove(aclshmemi_store_loop_t *loop, aclshmemi_store_source_t *source);

/* ACLSHMEMI_NEVER clears. */
void aclshmemi_store_timer_set(aclshmemi_store_loop_t *loop, aclshmemi_store_timer_t *timer,
                               aclshmemi_deadline_t deadline);
void aclshmemi_store_timer_clear(aclshmemi_store_loop_t *loop, aclshmemi_store_timer_t *timer);

/* Room for one read, shared by all sources: valid until the callback returns. */
uint8_t *aclshmemi_store_loop_scratch(aclshmemi_store_loop_t *loop);

/* In the child after fork: closes every descriptor of the loop; its memory is left alone, since the thread that was
 * changing it is gone. */
void aclshmemi_store_loop_forget(aclshmemi_store_loop_t *loop);

/* Moves a descriptor away from 0, 1 and 2, where a program that closed its standard streams would write into it.
 * Returns 0, or -1 with the descriptor closed and errno set. */
int aclshmemi_store_fd_keep_high(int *fd) ACLSHMEMI_MUST_CHECK;

#endif
