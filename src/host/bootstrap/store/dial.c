/* SPDX-License-Identifier: Apache-2.0 */
/* One call after the other, with growing pauses, until somebody answers. */
#define LOG_MODULE "store"
#include "host/bootstrap/store/dial.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define PAUSE_FIRST_MS 4
#define PAUSE_MAX_MS   250

struct aclshmemi_store_dial {
    aclshmemi_store_loop_t *loop;
    const aclshmemi_store_dial_ops_t *ops;
    void *owner;
    aclshmemi_store_dial_params_t params;
    size_t next; /* address of the next attempt */
    int fd;      /* while connecting */
    aclshmemi_store_source_t source;
    aclshmemi_store_link_t *link;  /* while shaking hands */
    aclshmemi_store_timer_t timer; /* of the present stage */
    uint64_t pause_ms;
    uint32_t attempts;
    bool begun;
    bool warned;
    char reason[ACLSHMEMI_STORE_TEXT_MAX];
    char to[ACLSHMEMI_ADDR_TEXT_LEN];
};

static void attempt(aclshmemi_store_dial_t *dial);

static void let_go(aclshmemi_store_dial_t *dial)
{
    aclshmemi_store_timer_clear(dial->loop, &dial->timer);
    aclshmemi_store_loop_remove(dial->loop, &dial->source);
    aclshmemi_net_close(&dial->fd);
    aclshmemi_store_link_destroy(dial->link);
    dial->link = NULL;
}

static void give_up(aclshmemi_store_dial_t *dial, int code)
{
    char text[ACLSHMEMI_STORE_TEXT_MAX];
    snprintf(text, sizeof text, "%s", dial->reason); /* the owner may free the dial */
    let_go(dial);
    dial->ops->gave_up(dial->owner, code, text);
}

static void stage(aclshmemi_store_dial_t *dial, void (*expire)(void *), uint64_t ms)
{
    dial->timer.expire = expire;
    dial->timer.owner = dial;
    aclshmemi_store_timer_set(
        dial->loop, &dial->timer,
        aclshmemi_deadline_earlier(dial->params.deadline, aclshmemi_deadline_after_ms(ms)));
}

static void pause_over(void *owner)
{
    aclshmemi_store_dial_t *dial = owner;
    if (aclshmemi_deadline_passed(dial->params.deadline))
        give_up(dial, ACLSHMEM_INNER_ERROR);
    else
        attempt(dial);
}

/* The attempt failed: once more after a pause, which grows when a whole round of addresses failed. */
static void again(aclshmemi_store_dial_t *dial, const char *reason)
{
    snprintf(dial->reason, sizeof dial->reason, "%s", reason);
    log_debug("no answer from %s: %s", dial->to, reason);
    let_go(dial);
    if (dial->params.fd >= 0 || dial->params.n_addrs == 0 ||
        aclshmemi_deadline_passed(dial->params.deadline)) {
        give_up(dial, ACLSHMEM_INNER_ERROR);
        return;
    }
    uint64_t pause_ms = 0;
    if (dial->next == 0) {
        pause_ms = dial->pause_ms;
        dial->pause_ms = dial->pause_ms * 3 / 2 < PAUSE_MAX_MS ? dial->pause_ms * 3 / 2 : PAUSE_MAX_MS;
        pause_ms +=
            dial->params.hello.rank % (pause_ms + 1) / 2; /* thousands of PEs need not knock in step */
    }
    stage(dial, pause_over, pause_ms);
}

/* --- HELLO --- */

static int dial_frame(void *owner, const aclshmemi_store_frame_t *frame)
{
    aclshmemi_store_dial_t *dial = owner;
    aclshmemi_store_welcome_t welcome;
    if (frame->header.type != ACLSHMEMI_STORE_HELLO || frame->header.epoch != 0)
        return ACLSHMEMI_STORE_BAD_REQUEST;
    TRY(aclshmemi_store_welcome_decode(frame->body, frame->header.length, &welcome));
    int result = frame->header.result;
    if (result == ACLSHMEM_BOOTSTRAP_ERROR) { /* not now, says the other side */
        if (!dial->warned)
            log_info("%s answers: %s; trying again until the time to connect is over", dial->to,
                     welcome.text);
        dial->warned = true;
        again(dial, welcome.text);
        return 0;
    }
    if (result != 0) {
        snprintf(dial->reason, sizeof dial->reason, "%s", welcome.text);
        give_up(dial, result);
        return 0;
    }
    if (welcome.epoch == 0)
        return ACLSHMEMI_STORE_BAD_REQUEST;
    aclshmemi_store_link_t *link = dial->link;
    dial->link = NULL;
    let_go(dial);
    aclshmemi_store_link_set_epoch(link, welcome.epoch);
    dial->ops->answered(dial->owner, link, &welcome);
    return 0;
}

static void dial_opened(void *owner)
{
    aclshmemi_store_dial_t *dial = owner;
    aclshmemi_writer_t body;
    aclshmemi_writer_init(&body, ACLSHMEMI_STORE_HELLO_MAX);
    aclshmemi_store_hello_encode(&dial->params.hello, &body);
    if (body.bad)
        again(dial, "out of memory");
    else
        aclshmemi_store_link_send(dial->link, ACLSHMEMI_STORE_HELLO, 0, 1, body.data, body.size);
    aclshmemi_writer_fini(&body);
}

static void dial_closed(void *owner, int code, const char *why)
{
    aclshmemi_store_dial_t *dial = owner;
    char text[ACLSHMEMI_STORE_TEXT_MAX];
    snprintf(text, sizeof text, "%s", why);
    /* A wrong secret or protocol fails in the same way each time: say it before the end. Once may be an earlier job
     * that is just closing. */
    bool twice = code != ACLSHMEMI_CHANNEL_CLOSED && strcmp(dial->reason, why) == 0;
    if (twice && !dial->warned) {
        log_warn("%s does not answer as a PE of this job should: %s; trying again until the time to connect "
                 "is over",
                 dial->to, why);
        dial->warned = true;
    }
    /* A reason that says more than "it closed" is worth keeping for the end. */
    if (code == ACLSHMEMI_CHANNEL_CLOSED && dial->warned)
        snprintf(text, sizeof text, "%s", dial->reason);
    again(dial, text);
}

static const aclshmemi_store_link_ops_t dial_link_ops = {
    .opened = dial_opened, .frame = dial_frame, .closed = dial_closed};

static void answer_late(void *owner)
{
    aclshmemi_store_dial_t *dial = owner;
    again(dial, aclshmemi_store_link_is_open(dial->link)
                    ? "it accepts connections but does not answer"
                    : "it accepts connections but does not finish the handshake");
}

static void make_link(aclshmemi_store_dial_t *dial, int fd, aclshmemi_tls_context_t *tls)
{
    if (aclshmemi_store_link_create(dial->loop, tls, fd, false, &dial_link_ops, dial, &dial->link) != 0) {
        again(dial, aclshmemi_status_last_text());
        return;
    }
    stage(dial, answer_late, dial->params.answer_ms);
}

/* --- Connecting --- */

/* A loopback port nobody listens on can be the very one the system picked for us: then we met ourselves. */
static bool is_own_reflection(int fd)
{
    aclshmemi_addr_t local = {.length = sizeof local.v6}, peer = {.length = sizeof peer.v6};
    return getsockname(fd, &local.any, &local.length) == 0 && getpeername(fd, &peer.any, &peer.length) == 0 &&
           local.length == peer.length && memcmp(&local.any, &peer.any, local.length) == 0;
}

static void failed_to_connect(aclshmemi_store_dial_t *dial, int error)
{
    char text[ACLSHMEMI_STORE_TEXT_MAX];
    errno = error;
    snprintf(text, sizeof text, "%m");
    if (dial->warned)
        snprintf(text, sizeof text, "%s", dial->reason);
    again(dial, text);
}

static void connected(void *owner, uint32_t events)
{
    aclshmemi_store_dial_t *dial = owner;
    int error = 0;
    socklen_t length = sizeof error;
    (void)events;
    if (getsockopt(dial->fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0)
        error = errno;
    if (error == 0 && is_own_reflection(dial->fd))
        error = ECONNREFUSED;
    if (error != 0) {
        failed_to_connect(dial, error);
        return;
    }
    int fd = dial->fd;
    dial->fd = -1;
    aclshmemi_store_loop_remove(dial->loop, &dial->source);
    aclshmemi_net_tune(fd);
    make_link(dial, fd, dial->params.tls);
}

static void connect_late(void *owner)
{
    failed_to_connect(owner, ETIMEDOUT);
}

static void attempt(aclshmemi_store_dial_t *dial)
{
    const aclshmemi_addr_t *addr = &dial->params.addrs[dial->next];
    dial->next = (dial->next + 1) % dial->params.n_addrs;
    dial->attempts++;
    aclshmemi_addr_print(addr, dial->to);
    dial->fd = socket(addr->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (dial->fd < 0 || aclshmemi_store_fd_keep_high(&dial->fd) != 0) {
        failed_to_connect(dial, errno);
        return;
    }
    if (connect(dial->fd, &addr->any, addr->length) != 0 && errno != EINPROGRESS && errno != EINTR) {
        failed_to_connect(dial, errno);
        return;
    }
    if (aclshmemi_store_loop_add(dial->loop, &dial->source, dial->fd, EPOLLOUT) != 0) {
        again(dial, aclshmemi_status_last_text());
        return;
    }
    stage(dial, connect_late, dial->params.connect_ms);
}

static void begin(void *owner)
{
    aclshmemi_store_dial_t *dial = owner;
    dial->begun = true;
    if (dial->params.fd < 0) {
        attempt(dial);
        return;
    }
    int fd = dial->params.fd;
    snprintf(dial->to, sizeof dial->to, "this process");
    make_link(dial, fd, NULL);
}

/* --- Life --- */

int aclshmemi_store_dial_create(aclshmemi_store_loop_t *loop, const aclshmemi_store_dial_params_t *params,
                                const aclshmemi_store_dial_ops_t *ops, void *owner,
                                aclshmemi_store_dial_t **out)
{
    aclshmemi_store_dial_t *dial = calloc(1, sizeof *dial);
    if (!dial) {
        int fd = params->fd;
        aclshmemi_net_close(&fd);
        return fail(ACLSHMEM_MALLOC_FAILED, "no memory for a connection");
    }
    dial->loop = loop;
    dial->ops = ops;
    dial->owner = owner;
    dial->params = *params;
    dial->fd = -1;
    dial->pause_ms = PAUSE_FIRST_MS;
    dial->source = (aclshmemi_store_source_t){.ready = connected, .owner = dial};
    snprintf(dial->reason, sizeof dial->reason, "no attempt was made");
    stage(dial, begin, 0);
    *out = dial;
    return 0;
}

void aclshmemi_store_dial_destroy(aclshmemi_store_dial_t *dial)
{
    if (!dial)
        return;
    let_go(dial);
    if (!dial->begun)
        aclshmemi_net_close(&dial->params.fd);
    free(dial);
}
