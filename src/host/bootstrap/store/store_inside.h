/* SPDX-License-Identifier: Apache-2.0 */
/* The store bootstrap of a process: its loop, its client, on PE 0 the server, and how threads wait for them. */
#ifndef ACLSHMEMI_BOOTSTRAP_STORE_INSIDE_H
#define ACLSHMEMI_BOOTSTRAP_STORE_INSIDE_H

#include <pthread.h>

#include "host/bootstrap/store/client.h"
#include "host/bootstrap/store/listen.h"
#include "host/bootstrap/store/server.h"
#include "host/bootstrap/store/store.h"

typedef struct store {
    aclshmemi_bootstrap_t *bs;
    aclshmemi_store_loop_t *loop;
    aclshmemi_tls_context_t *tls;
    aclshmemi_store_server_t *server; /* PE 0 */
    aclshmemi_store_client_t *client;
    aclshmemi_store_listener_t listener;
    uint64_t init_timeout_ms, operation_timeout_ms;
    bool stop_on_death;
    _Atomic bool in_collective; /* some thread is */
    aclshmemi_store_task_t arm;
    _Atomic bool arm_asked;
    aclshmemi_store_timer_t expiry; /* looks at certificates */
    /* guarded by lock; the loop never waits while it holds it */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* on the monotonic clock */
    bool joined;
    int join_code;
    char join_text[ACLSHMEMI_STORE_TEXT_MAX];
    /* of the loop alone */
    bool armed;
    char death[ACLSHMEMI_STORE_TEXT_MAX]; /* the first one, "" none */
    aclshmemi_store_timer_t ending;
} store_t;

/* A request on its way through the loop, held by two: the thread that waits and the loop. */
typedef struct wait wait_t;
struct wait {
    store_t *store;
    aclshmemi_store_task_t start;
    int refs; /* these three under the store's lock */
    bool done, abandoned;
    int result;
    char text[ACLSHMEMI_STORE_TEXT_MAX];
    void (*destroy)(wait_t *wait);
};

/* request.c */
int aclshmemi_store_wait_create(store_t *store, size_t size, void (*start)(void *owner),
                                void (*destroy)(wait_t *),
                                wait_t **wait) ACLSHMEMI_MUST_CHECK; /* zeroed, size bytes in all */
/* Posts it and waits. Afterwards the caller reads the result and unrefs. False: nothing came by the deadline. */
bool aclshmemi_store_wait_run(wait_t *wait, aclshmemi_deadline_t deadline);
void aclshmemi_store_wait_unref(wait_t *wait);
void aclshmemi_store_wait_finish(wait_t *wait, int result, const char *text); /* the loop's side; unrefs */
int aclshmemi_store_collective(store_t *store, int kind, const aclshmemi_fingerprint_t *fingerprint,
                               const void *send, void *recv, size_t bytes) ACLSHMEMI_MUST_CHECK;
void aclshmemi_store_goodbye(store_t *store, const char *reason, uint64_t timeout_ms);
void aclshmemi_store_close_server(store_t *store, uint64_t timeout_ms);
void aclshmemi_store_exit_all(store_t *store, int status, uint64_t timeout_ms);

#endif
