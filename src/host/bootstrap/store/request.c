/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a thread to the loop and back. A request is held by both sides and copies what it needs, so a thread can give
 * up at its deadline whatever the loop is doing. That deadline lies behind the loop's own, which knows the reason.
 */
#define LOG_MODULE "store"
#include "host/bootstrap/store/store_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLACK_MS   (7 * 1000 + 500) /* behind the client's deadline, which lies up to 5 s behind the server's */
#define REQUEST_MS 120000           /* one round trip of the table */

/* --- Waiting --- */

int aclshmemi_store_wait_create(store_t *store, size_t size, void (*start)(void *owner),
                                void (*destroy)(wait_t *), wait_t **out)
{
    wait_t *wait = calloc(1, size);
    if (!wait)
        return fail(ACLSHMEM_MALLOC_FAILED, "no memory for a request of %zu bytes to PE 0", size);
    wait->store = store;
    wait->start = (aclshmemi_store_task_t){.run = start, .owner = wait};
    wait->refs = 2;
    wait->destroy = destroy;
    *out = wait;
    return 0;
}

void aclshmemi_store_wait_unref(wait_t *wait)
{
    pthread_mutex_lock(&wait->store->lock);
    bool last = --wait->refs == 0;
    pthread_mutex_unlock(&wait->store->lock);
    if (!last)
        return;
    if (wait->destroy)
        wait->destroy(wait);
    free(wait);
}

void aclshmemi_store_wait_finish(wait_t *wait, int result, const char *text)
{
    store_t *store = wait->store;
    pthread_mutex_lock(&store->lock);
    wait->done = true;
    wait->result = result;
    snprintf(wait->text, sizeof wait->text, "%s", text ? text : "");
    pthread_cond_broadcast(&store->changed);
    pthread_mutex_unlock(&store->lock);
    aclshmemi_store_wait_unref(wait);
}

bool aclshmemi_store_wait_run(wait_t *wait, aclshmemi_deadline_t deadline)
{
    store_t *store = wait->store;
    struct timespec at = {.tv_sec = (time_t)(deadline / ACLSHMEMI_NS_PER_S),
                          .tv_nsec = (long)(deadline % ACLSHMEMI_NS_PER_S)};
    aclshmemi_store_loop_post(store->loop, &wait->start);
    int rc = 0;
    pthread_mutex_lock(&store->lock);
    while (!wait->done && rc == 0)
        rc = pthread_cond_timedwait(&store->changed, &store->lock, &at);
    bool done = wait->done;
    wait->abandoned = !done;
    pthread_mutex_unlock(&store->lock);
    return done;
}

/* --- Collectives --- */

typedef struct collective_wait {
    wait_t wait;
    aclshmemi_store_collect_t collect;
    int n_pes;
    uint8_t *recv; /* the caller's, while it waits */
    uint8_t send[];
} collective_wait_t;

static collective_wait_t *of_collect(aclshmemi_store_collect_t *collect)
{
    return (collective_wait_t *)((char *)collect - offsetof(collective_wait_t, collect));
}

static void collective_data(aclshmemi_store_collect_t *collect, size_t offset, size_t size,
                            const uint8_t *data)
{
    collective_wait_t *c = of_collect(collect);
    pthread_mutex_lock(&c->wait.store->lock);
    for (int pe = 0; pe < c->n_pes && !c->wait.abandoned; pe++)
        memcpy(c->recv + (size_t)pe * collect->bytes + offset, data + (size_t)pe * size, size);
    pthread_mutex_unlock(&c->wait.store->lock);
}

static void collective_done(aclshmemi_store_collect_t *collect, int result, const char *text)
{
    aclshmemi_store_wait_finish(&of_collect(collect)->wait, result, text);
}

static void collective_start(void *owner)
{
    collective_wait_t *c = owner;
    c->collect.data = collective_data;
    c->collect.done = collective_done;
    aclshmemi_store_client_collect(c->wait.store->client, &c->collect);
}

static int run_collective(store_t *store, int kind, const aclshmemi_fingerprint_t *fingerprint,
                          const void *send, void *recv, size_t bytes)
{
    wait_t *wait = NULL;
    TRY(aclshmemi_store_wait_create(store, sizeof(collective_wait_t) + bytes, collective_start, NULL, &wait));
    collective_wait_t *c = (collective_wait_t *)wait;
    c->collect.kind = kind;
    c->collect.fingerprint = *fingerprint;
    c->collect.bytes = bytes;
    c->collect.send = c->send;
    c->n_pes = store->bs->n_pes;
    c->recv = recv;
    if (bytes > 0)
        memcpy(c->send, send, bytes);
    /* Every chunk of a large exchange has the time of a whole operation: progress is not punished. */
    size_t each = aclshmemi_store_chunk_bytes(c->n_pes);
    uint64_t chunks = 1 + bytes / each;
    uint64_t limit_ms = 0;
    if (__builtin_mul_overflow(store->operation_timeout_ms + SLACK_MS, chunks, &limit_ms))
        limit_ms = UINT64_MAX;
    bool done = aclshmemi_store_wait_run(wait, aclshmemi_deadline_after_ms(limit_ms));
    int rc = 0;
    if (!done)
        rc = fail(ACLSHMEM_SMEM_ERROR, "%s: the thread of the control plane does not answer",
                  fingerprint->call);
    else if (wait->result != 0)
        rc = fail(wait->result, "%s", wait->text);
    aclshmemi_store_wait_unref(wait);
    return rc;
}

int aclshmemi_store_collective(store_t *store, int kind, const aclshmemi_fingerprint_t *fingerprint,
                               const void *send, void *recv, size_t bytes)
{
    if (atomic_exchange(&store->in_collective, true))
        return fail(ACLSHMEM_INNER_ERROR, "%s while another thread of this PE is in a collective of its own",
                    fingerprint->call);
    int rc = run_collective(store, kind, fingerprint, send, recv, bytes);
    atomic_store(&store->in_collective, false);
    return rc;
}

/* --- The table --- */

typedef struct table_wait {
    wait_t wait;
    aclshmemi_store_call_t call;
    aclshmemi_writer_t body;
    aclshmemi_deadline_t deadline;
    aclshmemi_store_answer_t answer;
} table_wait_t;

static void table_destroy(wait_t *wait)
{
    table_wait_t *t = (table_wait_t *)wait;
    aclshmemi_writer_fini(&t->body);
    free(t->answer.data);
}

static void table_done(aclshmemi_store_call_t *call, int result, const uint8_t *body, size_t size,
                       const char *text)
{
    table_wait_t *t = (table_wait_t *)((char *)call - offsetof(table_wait_t, call));
    aclshmemi_store_message_t message;
    if (result == 0 && (aclshmemi_store_message_decode(body, size, &message) != 0 || message.n_values != 1))
        result = ACLSHMEM_SMEM_ERROR;
    if (result == 0) {
        t->answer.size = message.values[0].size;
        t->answer.data = malloc(t->answer.size + 1);
        if (!t->answer.data)
            result = ACLSHMEM_MALLOC_FAILED;
        else if (t->answer.size > 0)
            memcpy(t->answer.data, message.values[0].data, t->answer.size);
    }
    aclshmemi_store_wait_finish(&t->wait, result, text);
}

static void table_start(void *owner)
{
    table_wait_t *t = owner;
    t->call.done = table_done;
    aclshmemi_store_client_table(t->wait.store->client, &t->call, &t->body, t->deadline);
}

int aclshmemi_store_request(aclshmemi_bootstrap_t *bs, aclshmemi_store_op_t op, const char *key,
                            int64_t wait_ms, const aclshmemi_store_item_t *values, size_t n_values,
                            aclshmemi_store_answer_t *answer)
{
    store_t *store = bs->state;
    wait_t *wait = NULL;
    size_t key_size = strlen(key);
    if (key_size == 0 || key_size > ACLSHMEMI_STORE_KEY_MAX)
        return ACLSHMEMI_STORE_BAD_KEY;
    if (n_values > ACLSHMEMI_STORE_ITEMS_MAX)
        return ACLSHMEMI_STORE_BAD_REQUEST;
    TRY(aclshmemi_store_wait_create(store, sizeof(table_wait_t), table_start, table_destroy, &wait));
    table_wait_t *t = (table_wait_t *)wait;
    uint64_t limit_ms = wait_ms > 0 ? (uint64_t)wait_ms + REQUEST_MS : REQUEST_MS;
    aclshmemi_store_message_t message = {
        .user = wait_ms, .op = (int16_t)op, .n_keys = 1, .keys = {{(const uint8_t *)key, key_size}}};
    message.n_values = n_values;
    for (size_t i = 0; i < n_values; i++)
        message.values[i] = values[i];
    aclshmemi_writer_init(&t->body, ACLSHMEMI_STORE_BODY_MAX);
    aclshmemi_store_message_encode(&message, &t->body);
    t->deadline = aclshmemi_deadline_after_ms(limit_ms);
    int rc = ACLSHMEMI_STORE_BAD_REQUEST;
    if (t->body.bad) {
        wait->refs = 1; /* the loop never sees it */
    } else if (!aclshmemi_store_wait_run(wait, aclshmemi_deadline_after_ms(limit_ms + SLACK_MS))) {
        rc = ACLSHMEM_SMEM_ERROR;
    } else if ((rc = wait->result) == 0) {
        *answer = t->answer;
        t->answer.data = NULL;
    }
    aclshmemi_store_wait_unref(wait);
    return rc;
}

/* --- Ends --- */

typedef struct end_wait {
    wait_t wait;
    aclshmemi_store_call_t call;
    int status;
    aclshmemi_deadline_t deadline;
    char reason[ACLSHMEMI_STORE_TEXT_MAX];
} end_wait_t;

static void end_answered(aclshmemi_store_call_t *call, int result, const uint8_t *body, size_t size,
                         const char *text)
{
    (void)body, (void)size;
    aclshmemi_store_wait_finish(&((end_wait_t *)((char *)call - offsetof(end_wait_t, call)))->wait, result,
                                text);
}

static void goodbye_start(void *owner)
{
    end_wait_t *e = owner;
    e->call.done = end_answered;
    e->wait.store->armed = false; /* who is leaving is not ended by the death of another */
    aclshmemi_store_timer_clear(e->wait.store->loop, &e->wait.store->ending);
    aclshmemi_store_client_goodbye(e->wait.store->client, &e->call, e->reason, e->deadline);
}

static void exit_start(void *owner)
{
    end_wait_t *e = owner;
    e->call.done = end_answered;
    aclshmemi_store_client_exit(e->wait.store->client, &e->call, e->status, e->deadline);
}

static void server_closed(void *owner)
{
    aclshmemi_store_wait_finish(owner, 0, "");
}

static void close_server_start(void *owner)
{
    end_wait_t *e = owner;
    aclshmemi_store_server_close(e->wait.store->server, e->deadline, server_closed, &e->wait);
}

/* These never fail: what cannot be said is left unsaid. */
static void run_end(store_t *store, void (*start)(void *), int status, const char *reason,
                    uint64_t timeout_ms)
{
    wait_t *wait = NULL;
    if (aclshmemi_store_wait_create(store, sizeof(end_wait_t), start, NULL, &wait) != 0)
        return;
    end_wait_t *e = (end_wait_t *)wait;
    e->status = status;
    e->deadline = aclshmemi_deadline_after_ms(timeout_ms);
    snprintf(e->reason, sizeof e->reason, "%s", reason);
    if (!aclshmemi_store_wait_run(wait, aclshmemi_deadline_after_ms(timeout_ms + 1000)))
        log_debug("the thread of the control plane did not answer in time");
    aclshmemi_store_wait_unref(wait);
}

void aclshmemi_store_goodbye(store_t *store, const char *reason, uint64_t timeout_ms)
{
    run_end(store, goodbye_start, 0, reason, timeout_ms);
}

void aclshmemi_store_close_server(store_t *store, uint64_t timeout_ms)
{
    run_end(store, close_server_start, 0, "", timeout_ms);
}

void aclshmemi_store_exit_all(store_t *store, int status, uint64_t timeout_ms)
{
    run_end(store, exit_start, status, "", timeout_ms);
}
