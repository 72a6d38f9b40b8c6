/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one place the keeper waits: an epoll set whose members know what to do when they are ready.
 */
#include <errno.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "run.h"

static int set_fd = -1; /* the keeper has one thread and one set */

int loop_open(void)
{
    set_fd = epoll_create1(EPOLL_CLOEXEC);
    return set_fd < 0 ? -1 : 0;
}

void loop_close(void)
{
    if (set_fd >= 0)
        close(set_fd);
    set_fd = -1;
}

uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Without events the descriptor leaves the set, since epoll reports a hang-up even when nothing is asked for. */
int watch_set(watch_t *watch, uint32_t events)
{
    if (watch->fd < 0 || watch->events == events)
        return 0;
    int operation = !watch->events ? EPOLL_CTL_ADD : events ? EPOLL_CTL_MOD : EPOLL_CTL_DEL;
    struct epoll_event event = {.events = events, .data.ptr = watch};
    if (epoll_ctl(set_fd, operation, watch->fd, &event))
        return -1;
    watch->events = events;
    return 0;
}

void watch_close(watch_t *watch)
{
    if (watch->fd < 0)
        return;
    (void)watch_set(watch, 0);
    close(watch->fd);
    watch->fd = -1;
    watch->events = 0;
}

void loop_once(int timeout_ms)
{
    struct epoll_event events[64];
    int count = epoll_wait(set_fd, events, 64, timeout_ms);
    for (int i = 0; i < count; i++) {
        watch_t *watch = events[i].data.ptr;
        /* an earlier one of this batch may have closed or muted it */
        if (watch->fd >= 0 && watch->events)
            watch->ready(watch, events[i].events);
    }
}
