/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of the key-value table: always answered, whatever is wrong with them. */
#define LOG_MODULE "store"
#include "host/bootstrap/store/server_inside.h"

#include <stdlib.h>

struct request {
    aclshmemi_store_waiter_t waiter; /* first: found again from it */
    request_t *next, **link;
    peer_t *peer;
    uint32_t sequence;
    int16_t op;
};

static void reply(peer_t *peer, int op, int result, uint32_t sequence, const aclshmemi_store_item_t *value)
{
    aclshmemi_store_message_t message = {.op = (int16_t)op};
    if (result == 0 && value) {
        message.n_values = 1;
        message.values[0] = *value;
    }
    aclshmemi_writer_t body;
    aclshmemi_writer_init(&body, ACLSHMEMI_STORE_BODY_MAX);
    aclshmemi_store_message_encode(&message, &body);
    if (body.bad)
        aclshmemi_store_link_send(peer->link, ACLSHMEMI_STORE_TABLE, ACLSHMEMI_STORE_BAD_REQUEST, sequence,
                                  NULL, 0);
    else
        aclshmemi_store_link_send(peer->link, ACLSHMEMI_STORE_TABLE, result, sequence, body.data, body.size);
    aclshmemi_writer_fini(&body);
}

static void drop(request_t *request)
{
    *request->link = request->next;
    if (request->next)
        request->next->link = request->link;
    free(request);
}

static void waited(aclshmemi_store_waiter_t *waiter, int result, const aclshmemi_store_item_t *value)
{
    request_t *request = (request_t *)waiter;
    reply(request->peer, request->op, result, request->sequence, value);
    drop(request);
}

/* The key is not there: the answer comes when it is, or when the time given is over. */
static int wait_for_key(peer_t *peer, const aclshmemi_store_message_t *m, uint32_t sequence)
{
    request_t *request = calloc(1, sizeof *request);
    if (!request)
        return ACLSHMEMI_STORE_BAD_REQUEST;
    request->waiter.done = waited;
    request->peer = peer;
    request->sequence = sequence;
    request->op = m->op;
    aclshmemi_deadline_t deadline =
        m->user < 0 ? ACLSHMEMI_NEVER : aclshmemi_deadline_after_ms((uint64_t)m->user);
    int result = aclshmemi_store_table_wait(peer->server->table, &m->keys[0], deadline, &request->waiter);
    if (result != 0) {
        free(request);
        return result;
    }
    request->next = peer->requests;
    request->link = &peer->requests;
    if (request->next)
        request->next->link = &request->next;
    peer->requests = request;
    return 0;
}

int aclshmemi_store_server_table(peer_t *peer, const aclshmemi_store_frame_t *frame)
{
    aclshmemi_store_message_t message = {0};
    aclshmemi_store_item_t value = {0};
    uint32_t sequence = frame->header.sequence;
    int result = aclshmemi_store_message_decode(frame->body, frame->header.length, &message);
    if (result == 0)
        result = aclshmemi_store_table_apply(peer->server->table, &message, &value);
    if (result == ACLSHMEMI_STORE_NO_KEY && message.op == ACLSHMEMI_STORE_GET && message.user != 0) {
        result = wait_for_key(peer, &message, sequence);
        if (result == 0)
            return 0;
    }
    reply(peer, message.op, result, sequence, &value);
    return 0;
}

void aclshmemi_store_server_drop_requests(peer_t *peer)
{
    for (request_t *request = peer->requests, *next; request; request = next) {
        next = request->next;
        aclshmemi_store_table_cancel(&request->waiter);
        drop(request);
    }
}
