/* SPDX-License-Identifier: Apache-2.0 */
/* Many PEs of a store in one process: a server with a thread of its own, and clients in one loop the test drives. */
#ifndef ACLSHMEM_TEST_SIM_H
#define ACLSHMEM_TEST_SIM_H

#include "pes.h"

#include "host/bootstrap/store/client.h"
#include "host/bootstrap/store/server.h"

typedef struct sim sim_t;

typedef struct sim_pe {
    sim_t *sim;
    int pe;
    aclshmemi_store_client_t *client;
    aclshmemi_store_collect_t collect;
    aclshmemi_store_call_t call;
    uint8_t *send;
    size_t next; /* byte of the result that is expected next */
    int deaths, last_death;
    int result; /* of the last collective */
    char text[ACLSHMEMI_STORE_TEXT_MAX];
} sim_pe_t;

struct sim {
    int n_pes;
    uint64_t timeout_ms;
    aclshmemi_store_loop_t *server_loop, *loop;
    aclshmemi_store_server_t *server;
    aclshmemi_tls_context_t *tls;
    aclshmemi_env_t env;
    aclshmemi_addr_t addr;
    aclshmemi_fingerprint_t agree;
    sim_pe_t *pe;
    int pending; /* answers that are to come */
    int failed;
};

void sim_start(sim_t *sim, int n_pes, uint32_t tree_above, uint32_t fanout); /* the server; no client yet */
void sim_add(sim_t *sim, int pe);           /* starts to join; counts as pending */
void sim_wait(sim_t *sim, int deadline_ms); /* until nothing is pending, or the test fails */
void sim_barrier(sim_t *sim, int pe);
void sim_allgather(sim_t *sim, int pe, size_t bytes); /* what arrives is checked byte for byte */
void sim_goodbye(sim_t *sim, int pe);
void sim_stop(sim_t *sim);

#endif
