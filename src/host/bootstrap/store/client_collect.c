/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A collective seen from a PE: its arrival goes straight to the server, which answers when all have arrived; the data
 * of an allgather goes up and down the tree at the same time, chunk by chunk, so that no PE holds more than one.
 */
#define LOG_MODULE "store"
#include "host/bootstrap/store/client_inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The server speaks first when a deadline passes, since it knows who is missing. */
static uint64_t grace_ms(uint64_t timeout_ms)
{
    uint64_t grace = timeout_ms / 10;
    return grace < 500 ? 500 : grace > 5000 ? 5000 : grace;
}

static void finish(aclshmemi_store_collect_t *collect, int result, const char *text)
{
    aclshmemi_store_client_t *client = collect->client;
    aclshmemi_store_timer_clear(client->loop, &collect->timer);
    if (client->collect != collect)
        return;
    client->collect = NULL;
    collect->done(collect, result, text);
}

/* A verdict reached us while the arrival still waits for its answer: the answer, when it comes, finds nobody. */
static void forget_arrival(aclshmemi_store_collect_t *collect)
{
    aclshmemi_store_call_t *call = &collect->arrival;
    if (collect->arrived || !call->link)
        return;
    *call->link = call->next;
    if (call->next)
        call->next->link = call->link;
    aclshmemi_store_timer_clear(collect->client->loop, &call->timer);
    call->link = NULL;
}

void aclshmemi_store_client_fail_collect(aclshmemi_store_client_t *client)
{
    aclshmemi_store_collect_t *collect = client->collect;
    if (!collect)
        return;
    forget_arrival(collect);
    finish(collect, client->code, client->text);
}

void aclshmemi_store_client_drop_collect(aclshmemi_store_client_t *client)
{
    aclshmemi_store_collect_t *collect = client->collect;
    if (!collect)
        return;
    forget_arrival(collect);
    aclshmemi_store_timer_clear(client->loop, &collect->timer);
    client->collect = NULL;
}

static void set_deadline(aclshmemi_store_collect_t *collect)
{
    uint64_t timeout_ms = collect->client->params.operation_timeout_ms;
    aclshmemi_store_timer_set(collect->client->loop, &collect->timer,
                              aclshmemi_deadline_after_ms(timeout_ms + grace_ms(timeout_ms)));
}

static void look(aclshmemi_store_collect_t *collect)
{
    if (collect->arrived && collect->chunk == collect->n_chunks)
        finish(collect, 0, "");
}

static void arrival_answered(aclshmemi_store_call_t *call, int result, const uint8_t *body, size_t size,
                             const char *text)
{
    aclshmemi_store_collect_t *collect =
        (aclshmemi_store_collect_t *)((char *)call - offsetof(aclshmemi_store_collect_t, arrival));
    (void)body, (void)size;
    collect->arrived = true;
    if (result != 0) {
        finish(collect, result, text);
        return;
    }
    set_deadline(collect); /* for the data */
    look(collect);
}

static void data_late(void *owner)
{
    aclshmemi_store_collect_t *collect = owner;
    char text[ACLSHMEMI_STORE_TEXT_MAX];
    snprintf(text, sizeof text,
             "%.*s, number %" PRIu64 ": all PEs are here, but the data did not come from PE %d",
             (int)sizeof collect->fingerprint.call, collect->fingerprint.call, collect->round,
             collect->client->tree.parent_pe);
    if (!collect->arrived)
        return; /* the arrival has its own deadline */
    finish(collect, ACLSHMEM_SMEM_ERROR, text);
}

/* --- Data --- */

static uint32_t chunk_size(const aclshmemi_store_collect_t *collect, uint32_t chunk)
{
    size_t each = aclshmemi_store_chunk_bytes(collect->client->params.n_pes);
    size_t left = collect->bytes - (size_t)chunk * each;
    return (uint32_t)(left < each ? left : each);
}

static void send_chunk(aclshmemi_store_collect_t *collect)
{
    aclshmemi_store_client_t *client = collect->client;
    size_t each = aclshmemi_store_chunk_bytes(client->params.n_pes);
    aclshmemi_store_tree_contribute(client, collect->round, collect->chunk,
                                    collect->send + (size_t)collect->chunk * each,
                                    chunk_size(collect, collect->chunk));
}

void aclshmemi_store_client_down(aclshmemi_store_client_t *client, const aclshmemi_store_piece_t *piece)
{
    aclshmemi_store_collect_t *collect = client->collect;
    if (!collect || collect->round != piece->round || collect->chunk != piece->chunk ||
        collect->chunk >= collect->n_chunks || chunk_size(collect, collect->chunk) != piece->bytes)
        return; /* of a round that is over for us */
    size_t each = aclshmemi_store_chunk_bytes(client->params.n_pes);
    collect->data(collect, (size_t)collect->chunk * each, piece->bytes, piece->data);
    collect->chunk++;
    set_deadline(collect);
    if (collect->chunk < collect->n_chunks)
        send_chunk(collect);
    else
        look(collect);
}

static void fail_at_once(void *owner)
{
    aclshmemi_store_collect_t *collect = owner;
    finish(collect, collect->client->code, collect->client->text);
}

static void arrive(aclshmemi_store_collect_t *collect)
{
    aclshmemi_store_client_t *client = collect->client;
    uint64_t timeout_ms = client->params.operation_timeout_ms;
    aclshmemi_store_arrive_t message = {.round = collect->round,
                                        .kind = (uint8_t)collect->kind,
                                        .timeout_ms = timeout_ms,
                                        .fingerprint = collect->fingerprint};
    aclshmemi_deadline_t deadline = aclshmemi_deadline_after_ms(timeout_ms + grace_ms(timeout_ms));
    aclshmemi_writer_t body;
    aclshmemi_writer_init(&body, ACLSHMEMI_STORE_HELLO_MAX);
    aclshmemi_store_arrive_encode(&message, &body);
    collect->arrival.done = arrival_answered;
    aclshmemi_store_client_call(client, &collect->arrival, ACLSHMEMI_STORE_ARRIVE, body.data, body.size,
                                deadline);
    aclshmemi_writer_fini(&body);
    set_deadline(collect);
}

void aclshmemi_store_client_collect(aclshmemi_store_client_t *client, aclshmemi_store_collect_t *collect)
{
    size_t each = aclshmemi_store_chunk_bytes(client->params.n_pes);
    client->collect = collect;
    collect->client = client;
    collect->round = ++client->round;
    collect->chunk = 0;
    collect->n_chunks = (uint32_t)((collect->bytes + each - 1) / each);
    collect->arrived = false;
    collect->arrival = (aclshmemi_store_call_t){0};
    collect->timer = (aclshmemi_store_timer_t){.expire = data_late, .owner = collect};
    if (client->code != 0) {
        collect->timer.expire = fail_at_once;
        aclshmemi_store_timer_set(client->loop, &collect->timer, aclshmemi_clock_ns());
        return;
    }
    arrive(collect);
    if (collect->n_chunks > 0)
        send_chunk(collect);
}
