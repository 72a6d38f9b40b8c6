/* SPDX-License-Identifier: Apache-2.0 */
/* A PE's link to the server: joining, requests and their replies, and what the server pushes. */
#define LOG_MODULE "store"
#include "host/bootstrap/store/client_inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CONNECT_MS     5000
#define ANSWER_ONE_MS  30000 /* with one address nothing is won by hanging up on a busy PE 0 */
#define ANSWER_MANY_MS 10000
#define FLUSH_LOOK_MS  2

/* --- Requests --- */

static void finish_call(aclshmemi_store_call_t *call, int result, const uint8_t *body, size_t size,
                        const char *text)
{
    *call->link = call->next;
    if (call->next)
        call->next->link = call->link;
    call->link = NULL;
    aclshmemi_store_timer_clear(call->client->loop, &call->timer);
    call->done(call, result, body, size, text);
}

static void call_expired(void *owner)
{
    aclshmemi_store_call_t *call = owner;
    aclshmemi_store_client_t *client = call->client;
    char text[ACLSHMEMI_STORE_TEXT_MAX];
    if (!client->link)
        finish_call(call, client->code != 0 ? client->code : ACLSHMEM_SMEM_ERROR, NULL, 0,
                    client->code != 0 ? client->text : "there is no connection to PE 0");
    else {
        snprintf(text, sizeof text, "PE 0 did not answer in time%s%.300s",
                 client->last_report[0] ? "; its last report: " : "", client->last_report);
        finish_call(call, ACLSHMEM_SMEM_ERROR, NULL, 0, text);
    }
}

void aclshmemi_store_client_call(aclshmemi_store_client_t *client, aclshmemi_store_call_t *call, int type,
                                 const void *body, size_t size, aclshmemi_deadline_t deadline)
{
    call->client = client;
    call->type = type;
    call->sequence = ++client->sequence;
    call->timer = (aclshmemi_store_timer_t){.expire = call_expired, .owner = call};
    call->next = client->calls;
    call->link = &client->calls;
    if (call->next)
        call->next->link = &call->next;
    client->calls = call;
    if (client->link)
        aclshmemi_store_link_send(client->link, type, 0, call->sequence, body, size);
    else
        deadline = aclshmemi_clock_ns(); /* answered in the next turn */
    aclshmemi_store_timer_set(client->loop, &call->timer, deadline);
}

void aclshmemi_store_client_table(aclshmemi_store_client_t *client, aclshmemi_store_call_t *call,
                                  const aclshmemi_writer_t *body, aclshmemi_deadline_t deadline)
{
    aclshmemi_store_client_call(client, call, ACLSHMEMI_STORE_TABLE, body->data, body->size, deadline);
}

static void call_with_note(aclshmemi_store_client_t *client, aclshmemi_store_call_t *call, int type,
                           const aclshmemi_store_note_t *note, aclshmemi_deadline_t deadline)
{
    aclshmemi_writer_t body;
    aclshmemi_writer_init(&body, 2 * ACLSHMEMI_STORE_TEXT_MAX);
    aclshmemi_store_note_encode(note, &body);
    aclshmemi_store_client_call(client, call, type, body.data, body.bad ? 0 : body.size, deadline);
    aclshmemi_writer_fini(&body);
}

void aclshmemi_store_client_exit(aclshmemi_store_client_t *client, aclshmemi_store_call_t *call, int status,
                                 aclshmemi_deadline_t deadline)
{
    aclshmemi_store_note_t note = {.pe = client->params.pe, .value = status};
    call_with_note(client, call, ACLSHMEMI_STORE_EXIT, &note, deadline);
}

/* --- Goodbye: the server knows, and what others still need from us is on its way --- */

static void look_at_goodbye(void *owner)
{
    aclshmemi_store_client_t *client = owner;
    if (aclshmemi_store_tree_unsent(client) > 0 && !aclshmemi_deadline_passed(client->goodbye_deadline)) {
        aclshmemi_store_timer_set(client->loop, &client->goodbye_timer,
                                  aclshmemi_deadline_after_ms(FLUSH_LOOK_MS));
        return;
    }
    aclshmemi_store_call_t *call = client->goodbye;
    client->goodbye = NULL;
    call->done(call, 0, NULL, 0, "");
}

static void goodbye_answered(aclshmemi_store_call_t *call, int result, const uint8_t *body, size_t size,
                             const char *text)
{
    (void)result, (void)body, (void)size, (void)text; /* gone is gone */
    look_at_goodbye(call->client);
}

void aclshmemi_store_client_goodbye(aclshmemi_store_client_t *client, aclshmemi_store_call_t *call,
                                    const char *reason, aclshmemi_deadline_t deadline)
{
    aclshmemi_store_note_t note = {.pe = client->params.pe};
    snprintf(note.text, sizeof note.text, "%s", reason);
    client->leaving = true;
    client->goodbye = call;
    client->goodbye_deadline = deadline;
    client->goodbye_timer = (aclshmemi_store_timer_t){.expire = look_at_goodbye, .owner = client};
    client->goodbye_call.done = goodbye_answered;
    call_with_note(client, &client->goodbye_call, ACLSHMEMI_STORE_GOODBYE, &note, deadline);
}

/* --- What comes from the server --- */

void aclshmemi_store_client_condemn(aclshmemi_store_client_t *client, int code, const char *text)
{
    if (client->code == 0) {
        client->code = code;
        snprintf(client->text, sizeof client->text, "%s", text);
    }
    aclshmemi_store_client_fail_collect(client);
}

static void tell_death(aclshmemi_store_client_t *client, int pe, const char *text)
{
    if (client->ops->death)
        client->ops->death(client->owner, pe, text);
    aclshmemi_store_client_condemn(client, ACLSHMEM_SMEM_ERROR, text);
}

static int take_event(aclshmemi_store_client_t *client, const aclshmemi_store_frame_t *frame)
{
    aclshmemi_store_note_t note;
    TRY(aclshmemi_store_note_decode(frame->body, frame->header.length, &note));
    switch (note.kind) {
    case ACLSHMEMI_STORE_EVENT_DEATH:
        if (note.pe < 0 || note.pe >= client->params.n_pes)
            return ACLSHMEMI_STORE_BAD_REQUEST;
        tell_death(client, note.pe, note.text);
        return 0;
    case ACLSHMEMI_STORE_EVENT_FAILED:
        aclshmemi_store_client_condemn(client, note.value < 0 ? note.value : ACLSHMEM_SMEM_ERROR, note.text);
        return 0;
    case ACLSHMEMI_STORE_EVENT_EXIT:
        if (client->ops->exit)
            client->ops->exit(client->owner, note.pe, note.value);
        return 0;
    case ACLSHMEMI_STORE_EVENT_REPORT:
        memcpy(client->last_report, note.text, sizeof note.text);
        log_debug("PE 0 reports: %s", note.text);
        return 0;
    case ACLSHMEMI_STORE_EVENT_LEAVING:
        client->leaving = true;
        aclshmemi_store_client_condemn(client, ACLSHMEM_SMEM_ERROR, "PE 0 has left the job");
        return 0;
    case ACLSHMEMI_STORE_EVENT_ORPHAN:
        aclshmemi_store_tree_orphan(client, note.pe);
        return 0;
    default:
        return ACLSHMEMI_STORE_BAD_REQUEST;
    }
}

/* Replies that can be anything but 0 carry a note with the reason, apart from those of the table. */
static int take_reply(aclshmemi_store_client_t *client, const aclshmemi_store_frame_t *frame)
{
    aclshmemi_store_call_t *call = client->calls;
    while (call && call->sequence != frame->header.sequence)
        call = call->next;
    if (!call)
        return 0; /* it expired here a moment ago */
    if (call->type != frame->header.type)
        return ACLSHMEMI_STORE_BAD_REQUEST;
    aclshmemi_store_note_t note = {0};
    if (frame->header.result != 0 && frame->header.type != ACLSHMEMI_STORE_TABLE)
        TRY(aclshmemi_store_note_decode(frame->body, frame->header.length, &note));
    finish_call(call, frame->header.result, frame->body, frame->header.length, note.text);
    return 0;
}

static int server_frame(void *owner, const aclshmemi_store_frame_t *frame)
{
    aclshmemi_store_client_t *client = owner;
    switch (frame->header.type) {
    case ACLSHMEMI_STORE_EVENT:
        return take_event(client, frame);
    case ACLSHMEMI_STORE_DOWN:
        return aclshmemi_store_tree_down(client, frame);
    case ACLSHMEMI_STORE_HELLO:
    case ACLSHMEMI_STORE_UP:
    case ACLSHMEMI_STORE_LOST:
        return ACLSHMEMI_STORE_BAD_REQUEST;
    default:
        return take_reply(client, frame);
    }
}

static void server_closed(void *owner, int code, const char *why)
{
    aclshmemi_store_client_t *client = owner;
    char text[ACLSHMEMI_STORE_TEXT_MAX];
    (void)code;
    aclshmemi_store_link_destroy(client->link);
    client->link = NULL;
    snprintf(text, sizeof text, "the connection to PE 0 is lost: %s", why);
    if (client->leaving)
        aclshmemi_store_client_condemn(client, ACLSHMEM_SMEM_ERROR, "PE 0 has left the job");
    else
        tell_death(client, 0, text);
    for (aclshmemi_store_call_t *call = client->calls; call; call = call->next)
        aclshmemi_store_timer_set(client->loop, &call->timer, aclshmemi_clock_ns()); /* no answer will come */
}

static const aclshmemi_store_link_ops_t server_ops = {.frame = server_frame, .closed = server_closed};

/* --- Joining --- */

static void answered(void *owner, aclshmemi_store_link_t *link, const aclshmemi_store_welcome_t *welcome)
{
    aclshmemi_store_client_t *client = owner;
    client->link = link;
    client->epoch = welcome->epoch;
    client->fanout = welcome->fanout;
    aclshmemi_store_link_give(link, &server_ops, client, ACLSHMEMI_STORE_BODY_MAX);
    aclshmemi_store_dial_destroy(client->dial);
    client->dial = NULL;
    aclshmemi_store_tree_start(client);
    if (client->ops->joined)
        client->ops->joined(client->owner, 0, "");
}

static void gave_up(void *owner, int code, const char *text)
{
    aclshmemi_store_client_t *client = owner;
    aclshmemi_store_dial_destroy(client->dial);
    client->dial = NULL;
    aclshmemi_store_client_condemn(client, code, text);
    if (client->ops->joined)
        client->ops->joined(client->owner, code, client->text);
}

static const aclshmemi_store_dial_ops_t dial_ops = {.answered = answered, .gave_up = gave_up};

void aclshmemi_store_client_fill_hello(const aclshmemi_store_client_t *client, aclshmemi_store_hello_t *hello)
{
    const aclshmemi_store_client_params_t *params = &client->params;
    *hello = (aclshmemi_store_hello_t){.version = ACLSHMEMI_STORE_VERSION,
                                       .role = ACLSHMEMI_STORE_ROLE_CONTROL,
                                       .magic = params->magic,
                                       .rank = (uint32_t)params->pe,
                                       .n_pes = (uint32_t)params->n_pes,
                                       .pid = (uint32_t)getpid(),
                                       .agree = params->agree};
    memcpy(hello->build, client->build, sizeof hello->build);
    if (gethostname(hello->host, sizeof hello->host) != 0)
        snprintf(hello->host, sizeof hello->host, "unknown");
    hello->host[sizeof hello->host - 1] = 0;
}

int aclshmemi_store_client_create(aclshmemi_store_loop_t *loop, const aclshmemi_store_client_params_t *params,
                                  const aclshmemi_store_client_ops_t *ops, void *owner,
                                  aclshmemi_store_client_t **out)
{
    int fd = params->fd;
    aclshmemi_store_client_t *client = calloc(1, sizeof *client);
    if (!client) {
        aclshmemi_net_close(&fd);
        return fail(ACLSHMEM_MALLOC_FAILED, "no memory for the link to PE 0");
    }
    client->loop = loop;
    client->ops = ops;
    client->owner = owner;
    client->params = *params;
    snprintf(client->build, sizeof client->build, "%s", params->build);
    client->params.build = client->build;
    aclshmemi_store_tree_init(client);
    aclshmemi_store_dial_params_t dial = {.tls = params->tls,
                                          .n_addrs = params->n_addrs,
                                          .fd = fd,
                                          .deadline = params->join_deadline,
                                          .connect_ms = CONNECT_MS,
                                          .answer_ms = params->n_addrs > 1 ? ANSWER_MANY_MS : ANSWER_ONE_MS};
    memcpy(dial.addrs, params->addrs, sizeof dial.addrs);
    aclshmemi_store_client_fill_hello(client, &dial.hello);
    int rc = aclshmemi_store_dial_create(loop, &dial, &dial_ops, client, &client->dial);
    if (rc != 0) {
        free(client);
        return rc;
    }
    *out = client;
    return 0;
}

void aclshmemi_store_client_destroy(aclshmemi_store_client_t *client)
{
    if (!client)
        return;
    aclshmemi_store_tree_stop(client);
    aclshmemi_store_client_drop_collect(client);
    for (aclshmemi_store_call_t *call = client->calls; call; call = call->next)
        aclshmemi_store_timer_clear(client->loop, &call->timer);
    aclshmemi_store_timer_clear(client->loop, &client->goodbye_timer);
    aclshmemi_store_dial_destroy(client->dial);
    aclshmemi_store_link_destroy(client->link);
    free(client);
}
