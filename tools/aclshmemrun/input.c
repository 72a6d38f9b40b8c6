/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our standard input and who reads it. One reader simply inherits it, so that nothing is read ahead of him; only a
 * terminal (the PEs are not in its foreground) and several readers need us to copy. The buffer is filled again when
 * the slowest reader has taken all of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "run.h"

enum { BUFFER_BYTES = 64 << 10, LOOK_AGAIN_MS = 500 };

struct input {
    watch_t watch; /* our standard input; fd -1: nothing to copy (any more) */
    bool direct;   /* the only reader inherits it */
    bool terminal;
    bool away;   /* a terminal we are in the background of */
    bool polled; /* a file: always ready, and unknown to epoll */
    size_t length;
    char buffer[BUFFER_BYTES];
};

static bool reads(const job_t *job, const pe_t *pe)
{
    return job->options->input_pe == INPUT_ALL || job->options->input_pe == pe->rank;
}

static void ask(struct input *input, uint32_t events)
{
    if (watch_set(&input->watch, events) && errno == EPERM)
        input->polled = true;
}

/* Hands on what there is; asks for more when all have taken it. */
static void pass_on(job_t *job)
{
    struct input *input = job->input;
    bool all_done = true, any = false;
    for (int i = 0; i < job->n_pes; i++) {
        pe_t *pe = &job->pes[i];
        while (pe->input.fd >= 0 && pe->input_done < input->length) {
            ssize_t done =
                write(pe->input.fd, input->buffer + pe->input_done, input->length - pe->input_done);
            if (done > 0)
                pe->input_done += (size_t)done;
            else if (errno == EAGAIN)
                break;
            else if (errno != EINTR)
                watch_close(&pe->input); /* it does not read any more, which is its right */
        }
        if (pe->input.fd < 0)
            continue;
        any = true;
        all_done = all_done && pe->input_done == input->length;
        (void)watch_set(&pe->input, pe->input_done < input->length ? EPOLLOUT : 0);
    }
    if (!any) {
        watch_close(&input->watch);
        return;
    }
    if (!all_done)
        return;
    input->length = 0;
    for (int i = 0; i < job->n_pes; i++) {
        job->pes[i].input_done = 0;
        if (input->watch.fd < 0)
            watch_close(&job->pes[i].input);
    }
    if (!input->away)
        ask(input, EPOLLIN);
}

static void reader_ready(watch_t *watch, uint32_t events)
{
    (void)events;
    pass_on(((pe_t *)watch->owner)->job);
}

/* Of a terminal that is gone or belongs to another session we are not in the background: reading tells. */
static bool in_background(int fd)
{
    pid_t group = tcgetpgrp(fd);
    return group >= 0 && group != getpgrp();
}

static void input_ready(watch_t *watch, uint32_t events)
{
    job_t *job = watch->owner;
    struct input *input = job->input;
    (void)events;
    if (input->terminal && in_background(watch->fd)) { /* it is not our turn to read */
        input->away = true;
        (void)watch_set(watch, 0);
        return;
    }
    ssize_t got = read(watch->fd, input->buffer, BUFFER_BYTES);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got > 0)
        input->length = (size_t)got;
    else
        watch_close(watch);
    if (watch->fd >= 0)
        (void)watch_set(watch, 0);
    pass_on(job);
}

int input_open(job_t *job)
{
    struct input *input = calloc(1, sizeof(*input));
    if (!input)
        return -1;
    job->input = input;
    input->watch = (watch_t){.fd = -1, .ready = input_ready, .owner = job};
    input->terminal = isatty(STDIN_FILENO);
    input->direct = job->options->input_pe != INPUT_ALL && (!input->terminal || job->terminal);
    return 0;
}

int input_for(job_t *job, pe_t *pe, int *child_fd)
{
    int pair[2];
    pe->input = (watch_t){.fd = -1, .ready = reader_ready, .owner = pe};
    pe->input_done = 0;
    if (!reads(job, pe)) {
        *child_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
        return *child_fd < 0 ? -1 : 0;
    }
    if (job->input->direct) {
        *child_fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
        return *child_fd < 0 ? -1 : 0;
    }
    if (pipe2(pair, O_CLOEXEC))
        return -1;
    if (fcntl(pair[1], F_SETFL, O_NONBLOCK)) {
        close(pair[0]);
        close(pair[1]);
        return -1;
    }
    pe->input.fd = pair[1];
    *child_fd = pair[0];
    return 0;
}

void input_start(job_t *job)
{
    struct input *input = job->input;
    input->length = 0;
    if (input->direct || job->options->input_pe == INPUT_NONE || input->watch.fd >= 0)
        return;
    input->watch.fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    pass_on(job);
}

int input_timeout(job_t *job)
{
    const struct input *input = job->input;
    if (!input || input->watch.fd < 0)
        return -1;
    return input->away ? LOOK_AGAIN_MS : input->polled && !input->length ? 0 : -1;
}

void input_tick(job_t *job)
{
    struct input *input = job->input;
    if (!input || input->watch.fd < 0)
        return;
    if (input->away && !in_background(input->watch.fd)) {
        input->away = false;
        ask(input, EPOLLIN);
    } else if (input->polled && !input->length) {
        input_ready(&input->watch, EPOLLIN);
    }
}

void input_close(job_t *job)
{
    if (!job->input)
        return;
    for (int i = 0; i < job->n_pes; i++)
        if (job->pes[i].input.owner)
            watch_close(&job->pes[i].input);
    watch_close(&job->input->watch);
    free(job->input);
    job->input = NULL;
}
