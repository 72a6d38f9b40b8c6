/* SPDX-License-Identifier: Apache-2.0 */
/* The door of the store: callers wait in a list, oldest first, until they have shown who they are. */
#define LOG_MODULE "store"
#include "host/bootstrap/store/accept.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define ACCEPTS_PER_TURN 64   /* leaves room for the callers who are in already */
#define EVICT_IDLE_MS    1000 /* a caller that moved within this time is never evicted */
#define PAUSE_MS         50   /* without room or descriptors */
#define REFUSE_MS        1000 /* to read our reason and hang up */
#define REPORT_FIRST_MS  10000

struct aclshmemi_store_caller {
    aclshmemi_store_door_t *door;
    aclshmemi_store_caller_t *older, *younger;
    aclshmemi_store_source_t peek; /* until the first bytes were judged */
    int fd;                        /* as long as there is no link */
    aclshmemi_store_link_t *link;
    aclshmemi_store_timer_t deadline;
    uint64_t since_ns;
    bool wrong_door; /* speaks plain where TLS is demanded: told so, then dropped */
    bool told;       /* was counted, or is nobody to be counted: its end is no news */
    char from[ACLSHMEMI_ADDR_TEXT_LEN];
};

struct aclshmemi_store_door {
    aclshmemi_store_loop_t *loop;
    aclshmemi_tls_context_t *tls;
    const aclshmemi_store_door_ops_t *ops;
    void *owner;
    aclshmemi_store_source_t listener;
    int listen_fd;
    aclshmemi_store_timer_t resume;
    aclshmemi_store_caller_t *oldest, *youngest;
    uint32_t waiting, waiting_max;
    /* strangers */
    uint64_t strangers, unsaid;
    uint64_t report_ms;
    aclshmemi_store_timer_t report;
    char last_from[ACLSHMEMI_ADDR_TEXT_LEN];
    char last_why[ACLSHMEMI_STORE_TEXT_MAX];
};

/* --- Strangers: the first is told at once, the others in sums, at growing intervals --- */

static void say_strangers(void *owner)
{
    aclshmemi_store_door_t *door = owner;
    if (door->unsaid == 0)
        return;
    log_warn("dropped %" PRIu64 " connections that are no PEs of this job (%" PRIu64
             " in all), last from %s: %s",
             door->unsaid, door->strangers, door->last_from, door->last_why);
    door->unsaid = 0;
    door->report_ms *= 2;
    aclshmemi_store_timer_set(door->loop, &door->report, aclshmemi_deadline_after_ms(door->report_ms));
}

void aclshmemi_store_caller_count(aclshmemi_store_caller_t *caller, const char *why)
{
    aclshmemi_store_door_t *door = caller->door;
    snprintf(door->last_from, sizeof door->last_from, "%s", caller->from);
    snprintf(door->last_why, sizeof door->last_why, "%s", why);
    if (door->strangers++ == 0) {
        log_warn("dropped a connection from %s that is no PE of this job: %s", caller->from, why);
        aclshmemi_store_timer_set(door->loop, &door->report, aclshmemi_deadline_after_ms(door->report_ms));
        return;
    }
    door->unsaid++;
    if (!door->report.set)
        aclshmemi_store_timer_set(door->loop, &door->report, aclshmemi_deadline_after_ms(door->report_ms));
}

/* --- Callers --- */

static void unlink_caller(aclshmemi_store_caller_t *caller)
{
    aclshmemi_store_door_t *door = caller->door;
    if (caller->older)
        caller->older->younger = caller->younger;
    else
        door->oldest = caller->younger;
    if (caller->younger)
        caller->younger->older = caller->older;
    else
        door->youngest = caller->older;
    door->waiting--;
}

static void free_caller(aclshmemi_store_caller_t *caller)
{
    aclshmemi_store_loop_t *loop = caller->door->loop;
    unlink_caller(caller);
    aclshmemi_store_timer_clear(loop, &caller->deadline);
    aclshmemi_store_loop_remove(loop, &caller->peek);
    if (caller->fd >= 0)
        close(caller->fd);
    aclshmemi_store_link_destroy(caller->link);
    free(caller);
}

void aclshmemi_store_caller_drop(aclshmemi_store_caller_t *caller, const char *why)
{
    if (!caller->told)
        aclshmemi_store_caller_count(caller, why);
    free_caller(caller);
}

aclshmemi_store_link_t *aclshmemi_store_caller_take(aclshmemi_store_caller_t *caller)
{
    aclshmemi_store_link_t *link = caller->link;
    caller->link = NULL;
    free_caller(caller);
    return link;
}

const char *aclshmemi_store_caller_from(const aclshmemi_store_caller_t *caller)
{
    return caller->from;
}

void aclshmemi_store_caller_refuse(aclshmemi_store_caller_t *caller, uint32_t sequence, int code,
                                   const char *text)
{
    aclshmemi_store_welcome_t welcome = {0};
    aclshmemi_writer_t body;
    snprintf(welcome.text, sizeof welcome.text, "%s", text);
    aclshmemi_writer_init(&body, 2 * ACLSHMEMI_STORE_TEXT_MAX);
    aclshmemi_store_welcome_encode(&welcome, &body);
    if (!body.bad)
        aclshmemi_store_link_send(caller->link, ACLSHMEMI_STORE_HELLO, code, sequence, body.data, body.size);
    aclshmemi_writer_fini(&body);
    aclshmemi_store_link_finish(caller->link);
    caller->told = true;
    aclshmemi_store_timer_set(caller->door->loop, &caller->deadline, aclshmemi_deadline_after_ms(REFUSE_MS));
}

static void caller_expired(void *owner)
{
    aclshmemi_store_caller_t *caller = owner;
    aclshmemi_store_caller_drop(caller, caller->link ? "did not finish its handshake in time"
                                                     : "sent nothing that could be judged in time");
}

static int caller_frame(void *owner, const aclshmemi_store_frame_t *frame)
{
    aclshmemi_store_caller_t *caller = owner;
    aclshmemi_store_hello_t hello;
    if (frame->header.type != ACLSHMEMI_STORE_HELLO || frame->header.epoch != 0)
        return ACLSHMEMI_STORE_BAD_REQUEST;
    TRY(aclshmemi_store_hello_decode(frame->body, frame->header.length, &hello));
    if (caller->wrong_door) {
        const char *why = "it speaks plain TCP, this job uses TLS (aclshmemx_set_conf_store_tls and "
                          "SHMEM_CONF_STORE_TLS must be the same on all PEs)";
        aclshmemi_store_caller_count(caller, why);
        aclshmemi_store_caller_refuse(caller, frame->header.sequence, ACLSHMEM_INNER_ERROR,
                                      "this PE speaks plain TCP, but PE 0 uses TLS; set both the same way");
        return 0;
    }
    caller->door->ops->hello(caller->door->owner, caller, &hello, frame->header.sequence);
    return 0;
}

static void caller_closed(void *owner, int code, const char *why)
{
    (void)code;
    aclshmemi_store_caller_drop(owner, why);
}

static const aclshmemi_store_link_ops_t caller_ops = {.frame = caller_frame, .closed = caller_closed};

static bool make_link(aclshmemi_store_caller_t *caller, aclshmemi_tls_context_t *tls)
{
    int fd = caller->fd;
    caller->fd = -1; /* the link takes it over, also when it fails */
    if (aclshmemi_store_link_create(caller->door->loop, tls, fd, true, &caller_ops, caller, &caller->link) ==
        0)
        return true;
    aclshmemi_store_caller_drop(caller, aclshmemi_status_last_text());
    return false;
}

/* TLS knocks at a plain door: an answer in plain bytes is what tells its TLS library that we do not speak it. */
static void turn_away_tls(aclshmemi_store_caller_t *caller)
{
    aclshmemi_store_caller_count(caller, "it speaks TLS, but TLS is switched off here");
    caller->told = true;
    if (make_link(caller, NULL))
        aclshmemi_store_caller_refuse(caller, 0, ACLSHMEM_INNER_ERROR, "TLS is switched off on PE 0");
}

static void judge(aclshmemi_store_caller_t *caller, const uint8_t *bytes, size_t size)
{
    bool tls = caller->door->tls != NULL;
    switch (aclshmemi_store_opening_judge(bytes, size)) {
    case ACLSHMEMI_STORE_OPENING_TLS:
        if (tls)
            (void)make_link(caller, caller->door->tls);
        else
            turn_away_tls(caller);
        return;
    case ACLSHMEMI_STORE_OPENING_FRAME:
        caller->wrong_door = tls;
        (void)make_link(caller, NULL);
        return;
    case ACLSHMEMI_STORE_OPENING_UNCLEAR:
        aclshmemi_store_caller_drop(caller, size == 0 ? "it closed without a word"
                                                      : "it sent a few bytes and closed");
        return;
    case ACLSHMEMI_STORE_OPENING_NOISE:
        aclshmemi_store_caller_drop(caller, "it speaks another protocol");
        return;
    }
}

/* The low-water mark makes the socket readable only when there is enough to judge, or no more will come. */
static void caller_speaks(void *owner, uint32_t events)
{
    aclshmemi_store_caller_t *caller = owner;
    uint8_t bytes[ACLSHMEMI_STORE_OPENING_BYTES];
    (void)events;
    ssize_t got = recv(caller->fd, bytes, sizeof bytes, MSG_PEEK | MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    int one = 1;
    (void)setsockopt(caller->fd, SOL_SOCKET, SO_RCVLOWAT, &one, sizeof one);
    aclshmemi_store_loop_remove(caller->door->loop, &caller->peek);
    judge(caller, bytes, got > 0 ? (size_t)got : 0);
}

static aclshmemi_store_caller_t *add_caller(aclshmemi_store_door_t *door, int fd)
{
    aclshmemi_store_caller_t *caller = calloc(1, sizeof *caller);
    if (!caller) {
        close(fd);
        return NULL;
    }
    caller->door = door;
    caller->fd = fd;
    caller->since_ns = aclshmemi_clock_ns();
    caller->peek = (aclshmemi_store_source_t){.ready = caller_speaks, .owner = caller};
    caller->deadline = (aclshmemi_store_timer_t){.expire = caller_expired, .owner = caller};
    caller->older = door->youngest;
    if (door->youngest)
        door->youngest->younger = caller;
    else
        door->oldest = caller;
    door->youngest = caller;
    door->waiting++;
    aclshmemi_store_timer_set(door->loop, &caller->deadline,
                              aclshmemi_deadline_after_ms(ACLSHMEMI_STORE_HELLO_MS));
    return caller;
}

int aclshmemi_store_door_admit(aclshmemi_store_door_t *door, int fd)
{
    aclshmemi_store_caller_t *caller = add_caller(door, fd);
    if (!caller)
        return fail(ACLSHMEM_MALLOC_FAILED, "no memory for a connection");
    snprintf(caller->from, sizeof caller->from, "this process");
    caller->told = true;
    caller->fd = -1;
    int rc = aclshmemi_store_link_create(door->loop, NULL, fd, true, &caller_ops, caller, &caller->link);
    if (rc != 0) {
        free_caller(caller);
        return fail(rc, "cannot connect PE 0 with itself: %s", aclshmemi_status_last_text());
    }
    return 0;
}

/* --- Listening --- */

static void pause_listening(aclshmemi_store_door_t *door)
{
    aclshmemi_store_loop_watch(door->loop, &door->listener, 0);
    aclshmemi_store_timer_set(door->loop, &door->resume, aclshmemi_deadline_after_ms(PAUSE_MS));
}

static void resume_listening(void *owner)
{
    aclshmemi_store_door_t *door = owner;
    aclshmemi_store_loop_watch(door->loop, &door->listener, EPOLLIN);
}

/* Room for one more: the caller that has waited longest goes, unless it moved a moment ago. */
static bool make_room(aclshmemi_store_door_t *door)
{
    if (door->waiting < door->waiting_max)
        return true;
    uint64_t now = aclshmemi_clock_ns();
    for (aclshmemi_store_caller_t *c = door->oldest; c; c = c->younger) {
        /* The analyzer does not see that a dropped caller left the list. NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
        uint64_t moved = c->link ? aclshmemi_store_link_heard_ns(c->link) : c->since_ns;
        if (now - moved < EVICT_IDLE_MS * ACLSHMEMI_NS_PER_MS)
            continue;
        aclshmemi_store_caller_drop(c, "it was silent while others waited");
        return true;
    }
    return false;
}

static void accept_failed(aclshmemi_store_door_t *door)
{
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        struct rlimit limit = {0};
        int why = errno;
        (void)getrlimit(RLIMIT_NOFILE, &limit);
        errno = why;
        log_sparse(ACLSHMEMI_LOG_ERROR,
                   "cannot accept a PE: %m (the limit of open files is %llu, see ulimit -n)",
                   (unsigned long long)limit.rlim_cur);
    }
    pause_listening(door);
}

static bool gone_already(int error)
{
    return error == EINTR || error == ECONNABORTED || error == EPROTO || error == EPERM ||
           error == ENETDOWN || error == ENETUNREACH || error == EHOSTUNREACH || error == EHOSTDOWN ||
           error == ENOPROTOOPT;
}

static void door_knocked(void *owner, uint32_t events)
{
    aclshmemi_store_door_t *door = owner;
    (void)events;
    for (int i = 0; i < ACCEPTS_PER_TURN; i++) {
        if (!make_room(door)) {
            pause_listening(door);
            return;
        }
        aclshmemi_addr_t addr = {.length = sizeof addr.v6};
        int fd = accept4(door->listen_fd, &addr.any, &addr.length, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0 && gone_already(errno))
            continue;
        if (fd < 0 && errno != EAGAIN && errno != EWOULDBLOCK)
            accept_failed(door);
        if (fd < 0 || aclshmemi_store_fd_keep_high(&fd) != 0)
            return;
        aclshmemi_net_tune(fd);
        aclshmemi_store_caller_t *caller = add_caller(door, fd);
        if (!caller)
            return;
        aclshmemi_addr_print(&addr, caller->from);
        int enough = ACLSHMEMI_STORE_OPENING_BYTES;
        (void)setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &enough, sizeof enough);
        if (aclshmemi_store_loop_add(door->loop, &caller->peek, fd, EPOLLIN) != 0)
            aclshmemi_store_caller_drop(caller, aclshmemi_status_last_text());
    }
}

int aclshmemi_store_door_create(aclshmemi_store_loop_t *loop, aclshmemi_tls_context_t *tls, int listen_fd,
                                uint32_t waiting_max, const aclshmemi_store_door_ops_t *ops, void *owner,
                                aclshmemi_store_door_t **out)
{
    aclshmemi_store_door_t *door = calloc(1, sizeof *door);
    if (!door) {
        if (listen_fd >= 0)
            close(listen_fd);
        return fail(ACLSHMEM_MALLOC_FAILED, "no memory for a listener");
    }
    door->loop = loop;
    door->tls = tls;
    door->ops = ops;
    door->owner = owner;
    door->listen_fd = listen_fd;
    door->waiting_max = waiting_max;
    door->report_ms = REPORT_FIRST_MS;
    door->listener = (aclshmemi_store_source_t){.ready = door_knocked, .owner = door};
    door->resume = (aclshmemi_store_timer_t){.expire = resume_listening, .owner = door};
    door->report = (aclshmemi_store_timer_t){.expire = say_strangers, .owner = door};
    if (listen_fd >= 0 && aclshmemi_store_loop_add(loop, &door->listener, listen_fd, EPOLLIN) != 0) {
        close(listen_fd);
        free(door);
        return fail(ACLSHMEM_INNER_ERROR, "cannot listen for PEs: %s", aclshmemi_status_last_text());
    }
    *out = door;
    return 0;
}

void aclshmemi_store_door_shut(aclshmemi_store_door_t *door)
{
    aclshmemi_store_timer_clear(door->loop, &door->resume);
    aclshmemi_store_loop_remove(door->loop, &door->listener);
    if (door->listen_fd >= 0)
        close(door->listen_fd);
    door->listen_fd = -1;
    for (aclshmemi_store_caller_t *caller = door->oldest, *next; caller; caller = next) {
        next = caller->younger;
        free_caller(caller);
    }
}

void aclshmemi_store_door_destroy(aclshmemi_store_door_t *door)
{
    if (!door)
        return;
    aclshmemi_store_door_shut(door);
    say_strangers(door);
    aclshmemi_store_timer_clear(door->loop, &door->report);
    free(door);
}
