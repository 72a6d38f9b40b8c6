/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the PEs print, by whole lines. Each PE's pipe has a buffer for one line of up to LINE_BYTES; each destination
 * has a queue of QUEUE_BYTES. A full queue stops the reading, so a fast PE waits in its own write() and our memory
 * stays as it is. The destinations themselves are in sink.c.
 *
 * A line longer than the buffer goes out in pieces; its writer then owns the destination until the line ends, it
 * pauses, or others have waited for too much of it. On a terminal an unfinished line (a prompt) is shown after a short
 * pause as well. Either way the next writer first completes it with a newline.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "run.h"
#include "sink.h"

enum {
    LINE_BYTES = 64 << 10,
    ENOUGH_BYTES = 2 * LINE_BYTES,
    TAG_BYTES = 256,
    PAUSE_MS = 200,
    OWNED_BYTES = 16 << 20
};

struct output {
    sink_t *out, *err; /* our own standard output and error; one and the same when they are the same file */
    bool draining;
    int next; /* PE whose streams are served first, for fairness */
};

static sink_t *own_voice; /* where say() writes while the job runs; NULL: straight to descriptor 2 */

static bool may_take(stream_t *stream)
{
    for (int i = 0; i < stream->n_sinks; i++) {
        sink_t *sink = stream->sinks[i];
        const stream_t *owner = sink->owner;
        if (!sink->dead && owner && owner != stream && !sink->owner_soft &&
            now_ms() - owner->last_ms < PAUSE_MS && sink->owner_bytes <= OWNED_BYTES)
            return false;
    }
    return true;
}

static size_t room(const stream_t *stream)
{
    size_t least = SIZE_MAX;
    for (int i = 0; i < stream->n_sinks; i++)
        if (sink_room(stream->sinks[i]) < least)
            least = sink_room(stream->sinks[i]);
    return least;
}

static bool on_terminal(const stream_t *stream)
{
    for (int i = 0; i < stream->n_sinks; i++)
        if (stream->sinks[i]->terminal && !stream->sinks[i]->dead)
            return true;
    return false;
}

static bool paused(const stream_t *stream)
{
    return now_ms() - stream->last_ms >= PAUSE_MS;
}

/* How many of the waiting bytes go next; 0: none yet. *soft: an unfinished line anybody may complete. */
static size_t next_piece(const stream_t *stream, const char *tag, bool *soft)
{
    size_t length = stream->end - stream->start, space = room(stream);
    const char *data = stream->buffer + stream->start, *newline;
    *soft = false;
    if (space <= TAG_BYTES + 1)
        return 0;
    space -= TAG_BYTES + 1;
    if (tag) {
        newline = memchr(data, '\n', length);
        if (newline)
            return (size_t)(newline + 1 - data) <= space ? (size_t)(newline + 1 - data) : 0;
    } else {
        newline = memrchr(data, '\n', length < space ? length : space);
        if (newline)
            return (size_t)(newline + 1 - data);
    }
    if (length > space || !length)
        return 0;
    *soft = stream->eof || length < LINE_BYTES;
    if (stream->eof || length == LINE_BYTES || (on_terminal(stream) && paused(stream)))
        return length;
    return 0;
}

static void finish_foreign_line(sink_t *sink, const stream_t *stream)
{
    if (sink->owner && sink->owner == stream)
        return;
    if (sink->owner)
        sink->owner->mid_line = false;
    if (sink->mid_line)
        sink_add(sink, "\n", 1);
    sink->owner = NULL;
    sink->owner_bytes = 0;
}

static void remember_words(stream_t *stream, const char *data, size_t length)
{
    while (length && (data[length - 1] == '\n' || data[length - 1] == '\r' || data[length - 1] == ' '))
        length--;
    if (!length)
        return;
    const char *newline = memrchr(data, '\n', length);
    if (newline) {
        length -= (size_t)(newline + 1 - data);
        data = newline + 1;
    }
    char *out = stream->pe->last_words;
    size_t size = sizeof(stream->pe->last_words) - 1;
    if (length > size)
        length = size;
    for (size_t i = 0; i < length; i++)
        out[i] = (unsigned char)data[i] < 32 || data[i] == 127 ? '?' : data[i];
    out[length] = 0;
}

static void pass_on(stream_t *stream, size_t length, const char *tag, bool soft)
{
    const char *data = stream->buffer + stream->start;
    bool ends = data[length - 1] == '\n';
    for (int i = 0; i < stream->n_sinks; i++) {
        sink_t *sink = stream->sinks[i];
        finish_foreign_line(sink, stream);
        if (tag && !stream->mid_line)
            sink_add(sink, tag, strlen(tag));
        sink_add(sink, data, length);
        sink->owner = ends || stream->eof ? NULL : stream;
        sink->owner_soft = soft;
        sink->owner_bytes = sink->owner ? sink->owner_bytes + length : 0;
    }
    if (stream->is_error)
        remember_words(stream, data, length);
    stream->mid_line = !ends;
    stream->start += length;
    if (stream->start == stream->end)
        stream->start = stream->end = 0;
}

static void put_time(char *out, size_t size)
{
    struct timespec now;
    struct tm parts;
    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &parts);
    snprintf(out, size, "%02d:%02d:%02d.%03ld", parts.tm_hour, parts.tm_min, parts.tm_sec,
             now.tv_nsec / 1000000);
}

/* The prefix of a line, NULL without --tag. */
static const char *make_tag(const stream_t *stream)
{
    static char tag[TAG_BYTES];
    const job_t *job = stream->pe->job;
    const char *format = job->options->tag;
    if (!format)
        return NULL;
    if (!*format)
        format = "%p: ";
    size_t at = 0;
    for (const char *c = format; *c && at < sizeof(tag) - 1; c++) {
        char piece[128] = {*c, 0};
        if (*c == '%' && c[1]) {
            c++;
            if (*c == 'p')
                snprintf(piece, sizeof(piece), "%d", stream->pe->rank);
            else if (*c == 'h')
                snprintf(piece, sizeof(piece), "%s", job->host);
            else if (*c == 't')
                put_time(piece, sizeof(piece));
            else if (*c == 's')
                snprintf(piece, sizeof(piece), "%s", stream->is_error ? "stderr" : "stdout");
            else
                snprintf(piece, sizeof(piece), "%s%c", *c == '%' ? "" : "%", *c);
        }
        at += (size_t)snprintf(tag + at, sizeof(tag) - at, "%s", piece);
    }
    return tag;
}

static bool all_dead(const stream_t *stream)
{
    for (int i = 0; i < stream->n_sinks; i++)
        if (!stream->sinks[i]->dead)
            return false;
    return true;
}

/* Fills the queues and empties them as far as the readers go along; true when that made progress. */
static bool serve_once(stream_t *stream)
{
    bool soft, moved = false;
    stream->waiting = false;
    while (stream->start < stream->end) {
        if (!may_take(stream)) {
            stream->waiting = true;
            break;
        }
        const char *tag = make_tag(stream);
        size_t length = next_piece(stream, tag, &soft);
        stream->starved = !length && room(stream) < ENOUGH_BYTES;
        if (!length)
            break;
        pass_on(stream, length, tag, soft);
        moved = true;
    }
    for (int i = 0; i < stream->n_sinks; i++)
        sink_flush(stream->sinks[i]);
    return moved && stream->start < stream->end;
}

/* Passes on what can be passed on, and sets what we wait for next. */
static void serve(stream_t *stream)
{
    if (!stream->buffer)
        return;
    if (all_dead(stream)) { /* nobody reads: the PE shall see the same as with a pipe of its own */
        stream->start = stream->end = 0;
        watch_close(&stream->watch);
        stream->eof = true;
        return;
    }
    while (serve_once(stream))
        ;
    if (stream->eof && stream->start == stream->end)
        for (int i = 0; i < stream->n_sinks; i++)
            if (stream->sinks[i]->owner == stream)
                stream->sinks[i]->owner = NULL; /* mid_line stays: the next writer completes it */
    if (stream->eof)
        return;
    bool full = stream->end - stream->start == LINE_BYTES;
    (void)watch_set(&stream->watch, full ? 0 : EPOLLIN);
}

static void stream_ready(watch_t *watch, uint32_t events)
{
    stream_t *stream = watch->owner;
    (void)events;
    if (!stream->buffer && !(stream->buffer = malloc(LINE_BYTES)))
        return; /* it is asked for again at the next event */
    if (stream->start) {
        memmove(stream->buffer, stream->buffer + stream->start, stream->end - stream->start);
        stream->end -= stream->start;
        stream->start = 0;
    }
    if (stream->end < LINE_BYTES) {
        ssize_t got = read(watch->fd, stream->buffer + stream->end, LINE_BYTES - stream->end);
        if (got > 0) {
            stream->end += (size_t)got;
            stream->last_ms = now_ms();
        } else if (got == 0 || (errno != EAGAIN && errno != EINTR) ||
                   (errno == EAGAIN && stream->pe->job->output->draining)) {
            watch_close(watch);
            stream->eof = true;
        }
    }
    serve(stream);
}

void output_watch(stream_t *stream, int fd)
{
    stream->watch = (watch_t){.fd = fd, .ready = stream_ready, .owner = stream};
    stream->start = stream->end = 0;
    stream->mid_line = stream->waiting = stream->starved = false;
    stream->eof = fd < 0;
    stream->last_ms = now_ms();
    if (watch_set(&stream->watch, EPOLLIN))
        say("cannot wait for output of PE %d: %s", stream->pe->rank, strerror(errno));
}

/* ms until this stream should be served though nothing comes from its PE; -1: no need. */
static int stream_timeout(const stream_t *stream)
{
    if (stream->start == stream->end)
        return -1;
    if (stream->starved && room(stream) >= ENOUGH_BYTES)
        return 0;
    if (stream->waiting)
        return PAUSE_MS / 4;
    uint64_t age = now_ms() - stream->last_ms;
    if (on_terminal(stream))
        return age >= PAUSE_MS ? 0 : (int)(PAUSE_MS - age);
    return -1;
}

int output_timeout(job_t *job)
{
    int least = -1;
    for (int i = 0; i < 2 * job->n_pes; i++) {
        int wanted = stream_timeout(i % 2 ? &job->pes[i / 2].err : &job->pes[i / 2].out);
        if (wanted >= 0 && (least < 0 || wanted < least))
            least = wanted;
    }
    return least;
}

/* Serves those who were held back, beginning with another PE each time. */
void output_tick(job_t *job)
{
    job->output->next = (job->output->next + 1) % job->n_pes;
    for (int i = 0; i < 2 * job->n_pes; i++) {
        pe_t *pe = &job->pes[(job->output->next + i / 2) % job->n_pes];
        stream_t *stream = i % 2 ? &pe->err : &pe->out;
        if (stream->waiting || stream_timeout(stream) == 0)
            serve(stream);
    }
}

int output_open(job_t *job)
{
    struct output *output = calloc(1, sizeof(*output));
    if (!output)
        return -1;
    job->output = output;
    output->out = sink_of_fd(STDOUT_FILENO);
    output->err = sink_of_fd(STDERR_FILENO);
    if (!output->out || !output->err)
        return -1;
    own_voice = output->err;
    return 0;
}

/* Fills in %p %h %j. */
static void file_name(const pe_t *pe, const char *pattern, char *out, size_t size)
{
    size_t at = 0;
    for (const char *c = pattern; *c && at < size - 1; c++) {
        if (*c != '%' || !c[1] || !strchr("phj%", c[1])) {
            out[at++] = *c;
            continue;
        }
        c++;
        int more = *c == 'p'   ? snprintf(out + at, size - at, "%d", pe->rank)
                   : *c == 'h' ? snprintf(out + at, size - at, "%s", pe->job->host)
                   : *c == 'j' ? snprintf(out + at, size - at, "%s", pe->job->id)
                               : snprintf(out + at, size - at, "%%");
        at += (size_t)more;
    }
    out[at < size ? at : size - 1] = 0;
}

static int attach(job_t *job, stream_t *stream, const char *pattern, sink_t *own)
{
    char name[4096];
    stream->n_sinks = 0;
    if (pattern) {
        file_name(stream->pe, pattern, name, sizeof(name));
        sink_t *file = sink_of_file(name);
        if (!file) {
            say("cannot write %s: %s", name, strerror(errno));
            return -1;
        }
        stream->sinks[stream->n_sinks++] = file;
    }
    if (!pattern || job->options->tee)
        stream->sinks[stream->n_sinks++] = own;
    return 0;
}

int output_attach(job_t *job, pe_t *pe)
{
    pe->out.pe = pe->err.pe = pe;
    pe->err.is_error = true;
    if (attach(job, &pe->out, job->options->output, job->output->out))
        return -1;
    return attach(job, &pe->err, job->options->error, job->output->err);
}

void output_drain(job_t *job)
{
    job->output->draining = true;
    for (int i = 0; i < 2 * job->n_pes; i++) {
        stream_t *stream = i % 2 ? &job->pes[i / 2].err : &job->pes[i / 2].out;
        if (stream->watch.fd >= 0)
            stream_ready(&stream->watch, EPOLLIN);
        else
            serve(stream);
    }
    sinks_flush();
}

bool output_idle(job_t *job)
{
    for (int i = 0; i < job->n_pes; i++) {
        const stream_t *out = &job->pes[i].out, *err = &job->pes[i].err;
        if (!out->eof || !err->eof || out->start < out->end || err->start < err->end)
            return false;
    }
    return sinks_empty();
}

void output_close(job_t *job)
{
    own_voice = NULL;
    for (int i = 0; i < job->n_pes; i++) {
        stream_t *streams[] = {&job->pes[i].out, &job->pes[i].err};
        for (int k = 0; k < 2; k++) {
            if (streams[k]->pe)
                watch_close(&streams[k]->watch);
            free(streams[k]->buffer);
            streams[k]->buffer = NULL;
        }
    }
    sinks_close();
    free(job->output);
    job->output = NULL;
}

void say(const char *format, ...)
{
    char line[1024];
    va_list args;
    int at = snprintf(line, sizeof(line), "aclshmemrun: ");
    va_start(args, format);
    at += vsnprintf(line + at, sizeof(line) - (size_t)at, format, args);
    va_end(args);
    if (at > (int)sizeof(line) - 2)
        at = (int)sizeof(line) - 2;
    line[at++] = '\n';
    if (own_voice) {
        finish_foreign_line(own_voice, NULL);
        sink_add(own_voice, line, (size_t)at);
        sink_flush(own_voice);
        return;
    }
    ssize_t done = write(STDERR_FILENO, line, (size_t)at);
    (void)done; /* nobody left to tell */
}
