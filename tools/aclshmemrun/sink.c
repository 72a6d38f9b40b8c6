/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Destinations of output. Terminals and pipes are opened a second time through /proc, so that not blocking is a
 * property of our own description and not of the one we share with the shell; where that is impossible, poll is asked
 * first and no more is written than it promises.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <limits.h>
#include <unistd.h>

#include "sink.h"

enum { QUEUE_BYTES = 256 << 10, RESERVE_BYTES = 64 << 10 }; /* the reserve is for our own lines */

static sink_t *all_sinks;
size_t sink_room(const sink_t *sink)
{
    if (sink->dead)
        return SIZE_MAX;
    return sink->length >= QUEUE_BYTES ? 0 : QUEUE_BYTES - sink->length;
}

void sink_add(sink_t *sink, const char *data, size_t length)
{
    if (!length)
        return;
    sink->mid_line = data[length - 1] != '\n';
    if (sink->dead || sink->length + length > QUEUE_BYTES + RESERVE_BYTES)
        return;
    if (!sink->queue && !(sink->queue = malloc(QUEUE_BYTES + RESERVE_BYTES))) {
        sink->dead = true;
        return;
    }
    if (sink->head + sink->length + length > QUEUE_BYTES + RESERVE_BYTES) {
        memmove(sink->queue, sink->queue + sink->head, sink->length);
        sink->head = 0;
    }
    memcpy(sink->queue + sink->head + sink->length, data, length);
    sink->length += length;
}

static ssize_t write_some(const sink_t *sink)
{
    const char *data = sink->queue + sink->head;
    if (sink->kind == SINK_SOCKET)
        return send(sink->watch.fd, data, sink->length, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sink->kind != SINK_POLLED)
        return write(sink->watch.fd, data, sink->length);
    struct pollfd ready = {.fd = sink->watch.fd, .events = POLLOUT};
    if (poll(&ready, 1, 0) <= 0 || !(ready.revents & (POLLOUT | POLLERR))) {
        errno = EAGAIN;
        return -1;
    }
    return write(sink->watch.fd, data, sink->length < PIPE_BUF ? sink->length : PIPE_BUF);
}

void sink_flush(sink_t *sink)
{
    while (sink->length && !sink->dead) {
        ssize_t done = write_some(sink);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0 && errno == EAGAIN) {
            (void)watch_set(&sink->watch, EPOLLOUT);
            return;
        }
        if (done < 0) {
            int reason = errno;
            sink->dead = true;
            sink->length = 0;
            if (reason != EPIPE && sink->name)
                say("cannot write %s: %s; its output is lost from here on", sink->name, strerror(reason));
            break;
        }
        sink->head += (size_t)done;
        sink->length -= (size_t)done;
    }
    if (!sink->length)
        sink->head = 0;
    (void)watch_set(&sink->watch, 0);
}

static void sink_ready(watch_t *watch, uint32_t events)
{
    sink_t *sink = watch->owner;
    (void)events;
    sink_flush(sink);
}

static sink_t *add_sink(int fd, sink_kind_t kind, const struct stat *info)
{
    sink_t *sink = calloc(1, sizeof(*sink));
    if (!sink)
        return NULL;
    sink->watch = (watch_t){.fd = fd, .ready = sink_ready, .owner = sink};
    sink->kind = kind;
    sink->device = info->st_dev;
    sink->inode = info->st_ino;
    sink->next = all_sinks;
    all_sinks = sink;
    return sink;
}

sink_t *sink_of_fd(int fd)
{
    struct stat info;
    if (fstat(fd, &info))
        return NULL;
    for (sink_t *sink = all_sinks; sink; sink = sink->next)
        if (sink->device == info.st_dev && sink->inode == info.st_ino)
            return sink;
    bool terminal = isatty(fd);
    int own = -1;
    sink_kind_t kind = S_ISSOCK(info.st_mode) ? SINK_SOCKET : SINK_FILE;
    if (S_ISFIFO(info.st_mode) || terminal) {
        char path[64];
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        own = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        kind = own >= 0 ? SINK_OPEN : SINK_POLLED;
    }
    if (own < 0)
        own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (own < 0)
        return NULL;
    sink_t *sink = add_sink(own, kind, &info);
    if (!sink)
        close(own);
    else
        sink->terminal = terminal;
    return sink;
}

static int make_parents(const char *name)
{
    char path[4096];
    if (snprintf(path, sizeof(path), "%s", name) >= (int)sizeof(path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (mkdir(path, 0777) && errno != EEXIST)
            return -1;
        *slash = '/';
    }
    return 0;
}

sink_t *sink_of_file(const char *name)
{
    for (sink_t *sink = all_sinks; sink; sink = sink->next)
        if (sink->name && strcmp(sink->name, name) == 0)
            return sink;
    if (make_parents(name))
        return NULL;
    int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_TRUNC | O_NONBLOCK, 0666);
    struct stat info;
    if (fd < 0 || fstat(fd, &info)) {
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    bool waits = S_ISFIFO(info.st_mode) || isatty(fd);
    sink_t *sink = add_sink(fd, waits ? SINK_OPEN : SINK_FILE, &info);
    if (sink && (sink->name = strdup(name)) != NULL)
        return sink;
    return NULL;
}

void sinks_flush(void)
{
    for (sink_t *sink = all_sinks; sink; sink = sink->next)
        sink_flush(sink);
}

bool sinks_empty(void)
{
    for (const sink_t *sink = all_sinks; sink; sink = sink->next)
        if (sink->length && !sink->dead)
            return false;
    return true;
}

void sinks_close(void)
{
    while (all_sinks) {
        sink_t *sink = all_sinks;
        all_sinks = sink->next;
        watch_close(&sink->watch);
        free(sink->queue);
        free(sink->name);
        free(sink);
    }
}
