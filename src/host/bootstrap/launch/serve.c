/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PE 0's side of a meeting.
 *
 * One loop over all connections: a caller that is silent or speaks something else costs a slot among a bounded number
 * of unknown ones for a few seconds, and delays nobody. Known callers wait until all are here, so that either everybody
 * gets the id or everybody hears why not.
 */
#define LOG_MODULE "launch"
#include "host/bootstrap/launch/serve.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "host/utils/fd.h"

#define UNKNOWN_MAX  128  /* callers that have not said who they are */
#define UNKNOWN_MS   5000 /* and how long they may take for it */
#define SEND_MS      5000
#define VERDICT_MS   2000 /* for those who come while a meeting is being called off */
#define LIST_TEXT    160
#define VERDICT_TEXT 400

typedef struct caller {
    aclshmemi_channel_t *channel;
    uint32_t pe; /* 0: unknown yet */
    bool shaken; /* handshake done */
    uint32_t events;
    aclshmemi_deadline_t due;
    aclshmemi_meet_frame_t frame;
} caller_t;

typedef struct server {
    const aclshmemi_meeting_t *meeting;
    int listener;
    int epoll;
    uint32_t n_here;                /* known callers */
    caller_t **here;                /* by PE */
    caller_t *unknown[UNKNOWN_MAX]; /* oldest first */
    size_t n_unknown;
    unsigned strangers;
    char verdict[VERDICT_TEXT]; /* why the meeting is off; "" while it is on */
    uint32_t n_told;            /* PEs that heard the verdict */
} server_t;

static void destroy_caller(caller_t *caller)
{
    aclshmemi_channel_destroy(caller->channel, false);
    explicit_bzero(&caller->frame, sizeof caller->frame);
    free(caller);
}

static void remove_unknown(server_t *server, const caller_t *caller)
{
    for (size_t i = 0; i < server->n_unknown; i++) {
        if (server->unknown[i] == caller) {
            server->n_unknown--;
            memmove(&server->unknown[i], &server->unknown[i + 1],
                    (server->n_unknown - i) * sizeof server->unknown[0]);
            return;
        }
    }
}

/* Closing the descriptor takes it out of epoll as well. */
static void drop(server_t *server, caller_t *caller)
{
    if (caller->pe == 0) {
        remove_unknown(server, caller);
        server->strangers++;
    } else {
        server->here[caller->pe] = NULL;
        server->n_here--;
    }
    destroy_caller(caller);
}

static bool watch(const server_t *server, caller_t *caller, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = caller};
    int operation = caller->events == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
    if (caller->events == events)
        return true;
    caller->events = events;
    return epoll_ctl(server->epoll, operation, aclshmemi_channel_fd(caller->channel), &event) == 0;
}

static void admit(server_t *server, int fd)
{
    long peer = -1;
    if (server->meeting->job->local && !aclshmemi_peer_is_ours(fd, &peer)) {
        server->strangers++;
        aclshmemi_net_close(&fd);
        return;
    }
    if (server->n_unknown == UNKNOWN_MAX)
        drop(server, server->unknown[0]);
    caller_t *caller = calloc(1, sizeof *caller);
    if (caller == NULL) {
        aclshmemi_net_close(&fd);
        return;
    }
    aclshmemi_net_tune(fd);
    if (aclshmemi_channel_create(server->meeting->tls, fd, true, &caller->channel) != 0) {
        free(caller);
        return;
    }
    caller->due = aclshmemi_deadline_after_ms(UNKNOWN_MS);
    server->unknown[server->n_unknown++] = caller;
    if (!watch(server, caller, EPOLLIN | EPOLLRDHUP))
        drop(server, caller);
}

/* Out of descriptors: unknown callers give theirs back first. Without any the limit is too low for the job. */
static void make_room(server_t *server)
{
    if (server->n_unknown > 0) {
        drop(server, server->unknown[0]);
        return;
    }
    long limit = sysconf(_SC_OPEN_MAX);
    snprintf(server->verdict, sizeof server->verdict,
             "PE 0 may open %ld descriptors, which is too few for %d PEs; raise its limit (ulimit -n)", limit,
             server->meeting->n_pes);
}

static void accept_all(server_t *server)
{
    for (;;) {
        int fd =
            aclshmemi_fd_above_stdio(accept4(server->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC));
        if (fd >= 0) {
            admit(server, fd);
            continue;
        }
        if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
            make_room(server);
        else if (errno == EINTR || errno == ECONNABORTED)
            continue;
        return;
    }
}

/* A last word for somebody who is not let in, then the end of it. */
static void turn_away(server_t *server, caller_t *caller, int kind, const char *text)
{
    (void)!aclshmemi_meet_send(caller->channel, kind, text, strlen(text), aclshmemi_clock_ns());
    drop(server, caller);
}

static void welcome(server_t *server, caller_t *caller, const aclshmemi_meet_hello_t *hello)
{
    char text[120];
    const aclshmemi_meeting_t *meeting = server->meeting;
    if (memcmp(hello->digest, meeting->job->digest, sizeof hello->digest) != 0) {
        turn_away(server, caller, ACLSHMEMI_MEET_OTHER, "another job meets here");
        return;
    }
    if (server->verdict[0] != '\0') {
        server->n_told++;
        turn_away(server, caller, ACLSHMEMI_MEET_FAILED, server->verdict);
        return;
    }
    if (hello->n_pes != (uint32_t)meeting->n_pes) {
        snprintf(server->verdict, sizeof server->verdict,
                 "PE %u was started as one of %u PEs, PE 0 as one of %d", hello->pe, hello->n_pes,
                 meeting->n_pes);
        server->n_told++;
        turn_away(server, caller, ACLSHMEMI_MEET_FAILED, server->verdict);
        return;
    }
    if (hello->pe == 0 || hello->pe >= hello->n_pes) {
        snprintf(server->verdict, sizeof server->verdict, "a process came as PE %u of %u to PE 0", hello->pe,
                 hello->n_pes);
        turn_away(server, caller, ACLSHMEMI_MEET_FAILED, server->verdict);
        return;
    }
    if (server->here[hello->pe] != NULL) {
        snprintf(text, sizeof text, "PE %u is already here; two processes have the same number", hello->pe);
        turn_away(server, caller, ACLSHMEMI_MEET_LATER, text);
        return;
    }
    if (hello->round != meeting->round)
        log_info("PE %u has %u meetings behind it, PE 0 has %u", hello->pe, hello->round, meeting->round);
    remove_unknown(server, caller);
    caller->pe = hello->pe;
    server->here[hello->pe] = caller;
    server->n_here++;
    caller->frame.got = 0;
    if (aclshmemi_meet_send(caller->channel, ACLSHMEMI_MEET_WELCOME, NULL, 0,
                            aclshmemi_deadline_after_ms(SEND_MS)) != ACLSHMEMI_MEET_DONE ||
        !watch(server, caller, EPOLLIN | EPOLLRDHUP))
        drop(server, caller);
}

static uint32_t events_for(aclshmemi_meet_io_t io)
{
    return (io == ACLSHMEMI_MEET_WANT_WRITE ? EPOLLOUT : EPOLLIN) | EPOLLRDHUP;
}

static void advance(server_t *server, caller_t *caller)
{
    int kind = 0;
    size_t length = 0;
    aclshmemi_meet_io_t io = ACLSHMEMI_MEET_DONE;
    aclshmemi_meet_hello_t hello;
    if (!caller->shaken) {
        int rc = aclshmemi_channel_handshake(caller->channel);
        io = rc == 0                              ? ACLSHMEMI_MEET_DONE
             : rc == ACLSHMEMI_CHANNEL_WANT_READ  ? ACLSHMEMI_MEET_WANT_READ
             : rc == ACLSHMEMI_CHANNEL_WANT_WRITE ? ACLSHMEMI_MEET_WANT_WRITE
                                                  : ACLSHMEMI_MEET_GONE;
        caller->shaken = io == ACLSHMEMI_MEET_DONE;
    }
    if (io == ACLSHMEMI_MEET_DONE)
        io = aclshmemi_meet_pull(caller->channel, &caller->frame, &kind, &length);
    if (io == ACLSHMEMI_MEET_WANT_READ || io == ACLSHMEMI_MEET_WANT_WRITE) {
        if (!watch(server, caller, events_for(io)))
            drop(server, caller);
        return;
    }
    /* A known caller has nothing to say before it gets the id. */
    if (io != ACLSHMEMI_MEET_DONE || caller->pe != 0 || kind != ACLSHMEMI_MEET_HELLO ||
        !aclshmemi_meet_parse_hello(aclshmemi_meet_payload(&caller->frame), length, &hello)) {
        drop(server, caller);
        return;
    }
    welcome(server, caller, &hello);
}

static void list_missing(const server_t *server, char *out, size_t size)
{
    size_t used = 0;
    unsigned left = 0;
    out[0] = '\0';
    for (int pe = 1; pe < server->meeting->n_pes; pe++) {
        if (server->here[pe] != NULL)
            continue;
        if (used + sizeof " 16383 and 16383 more" > size) {
            left++;
            continue;
        }
        used += (size_t)snprintf(out + used, size - used, " %d", pe);
    }
    if (left > 0)
        snprintf(out + used, size - used, " and %u more", left);
}

/* One event, and the end of those who took too long to say who they are. False when nothing came by then. */
static bool handle_one(server_t *server, aclshmemi_deadline_t due)
{
    /* One at a time: handling one may destroy another of the same batch. */
    struct epoll_event event;
    if (server->n_unknown > 0)
        due = aclshmemi_deadline_earlier(due, server->unknown[0]->due);
    int n = epoll_wait(server->epoll, &event, 1, aclshmemi_deadline_left_ms(due, 60000));
    if (n > 0 && event.data.ptr == NULL)
        accept_all(server);
    else if (n > 0)
        advance(server, event.data.ptr);
    while (server->n_unknown > 0 && aclshmemi_deadline_passed(server->unknown[0]->due))
        drop(server, server->unknown[0]);
    return n > 0;
}

/* Everything until all are here, the time is up, or somebody fits nowhere. */
static void gather(server_t *server)
{
    aclshmemi_deadline_t deadline = server->meeting->deadline;
    uint64_t report_ms = server->meeting->env->wait_report_ms;
    aclshmemi_deadline_t report = report_ms == 0 ? ACLSHMEMI_NEVER : aclshmemi_deadline_after_ms(report_ms);
    char missing[LIST_TEXT];
    while (server->n_here + 1 < (uint32_t)server->meeting->n_pes && server->verdict[0] == '\0') {
        bool idle = !handle_one(server, aclshmemi_deadline_earlier(deadline, report));
        if (aclshmemi_deadline_passed(report)) {
            list_missing(server, missing, sizeof missing);
            log_info("init waits for PEs%s to come to the meeting", missing);
            report_ms *= 2;
            report = aclshmemi_deadline_after_ms(report_ms);
        }
        if (idle && aclshmemi_deadline_passed(deadline)) {
            list_missing(server, missing, sizeof missing);
            snprintf(server->verdict, sizeof server->verdict,
                     "PEs%s did not come to the meeting in time; they did not call init, died before it, or "
                     "see other "
                     "variables of the launcher",
                     missing);
        }
    }
}

/* The meeting is off: those who are here hear it now, those on their way when they come, or they would look for PE 0
 * until their own time is up. */
static void cancel(server_t *server)
{
    uint32_t others = (uint32_t)server->meeting->n_pes - 1;
    aclshmemi_deadline_t due =
        aclshmemi_deadline_earlier(server->meeting->deadline, aclshmemi_deadline_after_ms(VERDICT_MS));
    for (int pe = 1; pe < server->meeting->n_pes; pe++) {
        if (server->here[pe] == NULL)
            continue;
        server->n_told++;
        turn_away(server, server->here[pe], ACLSHMEMI_MEET_FAILED, server->verdict);
    }
    while (server->n_told < others && !aclshmemi_deadline_passed(due))
        (void)handle_one(server, due);
}

/* All are here: first everybody gets the id, then everybody says so. */
static int hand_out(server_t *server, const aclshmemx_uniqueid_t *id)
{
    uint8_t payload[4 + sizeof *id];
    uint32_t round = server->meeting->round;
    int rc = 0;
    for (int i = 0; i < 4; i++)
        payload[i] = (uint8_t)(round >> (8 * i));
    memcpy(payload + 4, id, sizeof *id);
    aclshmemi_deadline_t due = aclshmemi_deadline_after_ms(SEND_MS);
    for (int pe = 1; pe < server->meeting->n_pes && rc == 0; pe++) {
        if (aclshmemi_meet_send(server->here[pe]->channel, ACLSHMEMI_MEET_ID, payload, sizeof payload, due) !=
            ACLSHMEMI_MEET_DONE)
            rc = fail(ACLSHMEM_INNER_ERROR, "PE %d went away during the meeting", pe);
    }
    for (int pe = 1; pe < server->meeting->n_pes && rc == 0; pe++) {
        caller_t *caller = server->here[pe];
        int kind = 0;
        size_t length = 0;
        if (aclshmemi_meet_receive(caller->channel, &caller->frame, &kind, &length, due) !=
                ACLSHMEMI_MEET_DONE ||
            kind != ACLSHMEMI_MEET_THANKS)
            rc = fail(ACLSHMEM_INNER_ERROR, "PE %d went away during the meeting", pe);
    }
    explicit_bzero(payload, sizeof payload);
    return rc;
}

static int open_server(server_t *server, const aclshmemi_meeting_t *meeting, int listener)
{
    struct epoll_event event = {.events = EPOLLIN};
    memset(server, 0, sizeof *server);
    server->meeting = meeting;
    server->listener = listener;
    server->here = calloc((size_t)meeting->n_pes, sizeof(caller_t *));
    if (server->here == NULL)
        return fail(ACLSHMEM_MALLOC_FAILED, "no memory for a meeting of %d PEs", meeting->n_pes);
    server->epoll = aclshmemi_fd_above_stdio(epoll_create1(EPOLL_CLOEXEC));
    if (server->epoll < 0 || epoll_ctl(server->epoll, EPOLL_CTL_ADD, listener, &event) != 0) {
        int rc = fail(ACLSHMEM_INNER_ERROR, "PE 0 cannot watch its sockets: %m");
        aclshmemi_net_close(&server->epoll);
        free(server->here);
        return rc;
    }
    return 0;
}

static void close_server(server_t *server)
{
    for (int pe = 1; pe < server->meeting->n_pes; pe++) {
        if (server->here[pe] != NULL)
            destroy_caller(server->here[pe]);
    }
    for (size_t i = 0; i < server->n_unknown; i++)
        destroy_caller(server->unknown[i]);
    aclshmemi_net_close(&server->epoll);
    free(server->here);
    if (server->strangers > 0)
        log_info("%u callers that are not of this job were dropped", server->strangers);
}

int aclshmemi_meeting_serve(const aclshmemi_meeting_t *meeting, int listener, const aclshmemx_uniqueid_t *id)
{
    server_t server;
    TRY(open_server(&server, meeting, listener));
    gather(&server);
    int rc;
    if (server.verdict[0] != '\0') {
        cancel(&server);
        rc = fail(ACLSHMEM_INNER_ERROR, "%s", server.verdict);
    } else {
        rc = hand_out(&server, id);
    }
    close_server(&server);
    return rc;
}
