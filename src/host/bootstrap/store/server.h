/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store's server on PE 0: it knows who is there, completes collectives, holds the table, and tells everybody of
 * deaths and of the end. Lives in a loop; nothing of it is called from another thread while the loop runs.
 */
#ifndef ACLSHMEMI_BOOTSTRAP_STORE_SERVER_H
#define ACLSHMEMI_BOOTSTRAP_STORE_SERVER_H

#include "host/bootstrap/store/accept.h"

typedef struct aclshmemi_store_server aclshmemi_store_server_t;

typedef struct aclshmemi_store_server_params {
    int n_pes;
    uint64_t magic;
    aclshmemi_fingerprint_t agree;
    const char *build;            /* copied */
    uint32_t tree_above;          /* with more PEs than this, payloads go along a tree */
    uint32_t fanout;              /* of the tree */
    uint64_t wait_report_ms;      /* 0: never */
    uint32_t waiting_max;         /* callers at the door */
    aclshmemi_tls_context_t *tls; /* borrowed */
    int listen_fd;                /* taken over, also on failure; -1: callers come by admit only */
} aclshmemi_store_server_params_t;

int aclshmemi_store_server_create(aclshmemi_store_loop_t *loop, const aclshmemi_store_server_params_t *params,
                                  aclshmemi_store_server_t **server) ACLSHMEMI_MUST_CHECK;
int aclshmemi_store_server_admit(aclshmemi_store_server_t *server,
                                 int fd) ACLSHMEMI_MUST_CHECK; /* takes fd over */
/* Waits until every PE has said goodbye or broke, at most until the deadline; tells those that are left that this is
 * no death; then calls done. */
void aclshmemi_store_server_close(aclshmemi_store_server_t *server, aclshmemi_deadline_t deadline,
                                  void (*done)(void *owner), void *owner);
void aclshmemi_store_server_destroy(aclshmemi_store_server_t *server); /* accepts NULL */

/* For tests and reports. */
size_t aclshmemi_store_server_joined(const aclshmemi_store_server_t *server);
size_t aclshmemi_store_server_keys(const aclshmemi_store_server_t *server);

#endif
