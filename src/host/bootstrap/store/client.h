/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A PE's side of the store: joins, takes part in collectives, asks the table, hears of deaths and of the end.
 *
 * Everything here is called inside the loop the client lives in, or while nothing runs it; many clients may share a
 * loop, which is how thousands are simulated in one process. Requests are embedded in their callers and answered by
 * one call of done, never inside the call that starts them.
 */
#ifndef ACLSHMEMI_BOOTSTRAP_STORE_CLIENT_H
#define ACLSHMEMI_BOOTSTRAP_STORE_CLIENT_H

#include "host/bootstrap/store/dial.h"

typedef struct aclshmemi_store_client aclshmemi_store_client_t;

/* What happens without having been asked for. Any of these may be NULL. */
typedef struct aclshmemi_store_client_ops {
    /* Once: 0, or why this PE cannot be part of the job. */
    void (*joined)(void *owner, int code, const char *text);
    /* A PE died, PE 0 included; text is a sentence. */
    void (*death)(void *owner, int pe, const char *text);
    /* pe ends the job: this process is to end with status. */
    void (*exit)(void *owner, int pe, int status);
} aclshmemi_store_client_ops_t;

typedef struct aclshmemi_store_client_params {
    int pe;
    int n_pes;
    uint64_t magic;
    aclshmemi_fingerprint_t agree;
    const char *build;            /* copied */
    aclshmemi_tls_context_t *tls; /* borrowed */
    aclshmemi_addr_t addrs[ACLSHMEMI_STORE_ADDRS_MAX];
    size_t n_addrs;
    int fd; /* connected to the server in this process, taken over; -1: use the addresses */
    aclshmemi_deadline_t join_deadline;
    uint64_t operation_timeout_ms;
} aclshmemi_store_client_params_t;

int aclshmemi_store_client_create(aclshmemi_store_loop_t *loop, const aclshmemi_store_client_params_t *params,
                                  const aclshmemi_store_client_ops_t *ops, void *owner,
                                  aclshmemi_store_client_t **client) ACLSHMEMI_MUST_CHECK;
/* Requests under way are dropped without an answer. Accepts NULL. */
void aclshmemi_store_client_destroy(aclshmemi_store_client_t *client);

/* --- Requests --- */

typedef struct aclshmemi_store_call {
    /* result: 0, a code of the library, or a table result. body: of the reply, borrowed; text: why, for a failure. */
    void (*done)(struct aclshmemi_store_call *call, int result, const uint8_t *body, size_t size,
                 const char *text);
    struct aclshmemi_store_call *next, **link;
    aclshmemi_store_client_t *client;
    aclshmemi_store_timer_t timer;
    uint32_t sequence;
    int type;
} aclshmemi_store_call_t;

/* A request of the table, body already encoded. */
void aclshmemi_store_client_table(aclshmemi_store_client_t *client, aclshmemi_store_call_t *call,
                                  const aclshmemi_writer_t *body, aclshmemi_deadline_t deadline);
/* Ends the job with status; done when the word is out, or can never be. */
void aclshmemi_store_client_exit(aclshmemi_store_client_t *client, aclshmemi_store_call_t *call, int status,
                                 aclshmemi_deadline_t deadline);
/* Says goodbye and sends what is still queued; done when the server knows, or at the deadline. */
void aclshmemi_store_client_goodbye(aclshmemi_store_client_t *client, aclshmemi_store_call_t *call,
                                    const char *reason, aclshmemi_deadline_t deadline);

/* A collective. One at a time. */
typedef struct aclshmemi_store_collect {
    int kind; /* aclshmemi_store_kind_t */
    aclshmemi_fingerprint_t fingerprint;
    const uint8_t *send; /* of an allgather; borrowed until done */
    size_t bytes;
    /* count PEs' bytes [offset, offset + size) each, in PE order, packed. */
    void (*data)(struct aclshmemi_store_collect *collect, size_t offset, size_t size, const uint8_t *data);
    void (*done)(struct aclshmemi_store_collect *collect, int result, const char *text);
    /* inside */
    aclshmemi_store_call_t arrival;
    aclshmemi_store_client_t *client;
    uint64_t round;
    uint32_t chunk, n_chunks;
    bool arrived;
    aclshmemi_store_timer_t timer;
} aclshmemi_store_collect_t;

void aclshmemi_store_client_collect(aclshmemi_store_client_t *client, aclshmemi_store_collect_t *collect);

#endif
