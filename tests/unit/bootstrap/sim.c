/* SPDX-License-Identifier: Apache-2.0 */
/* Many PEs in one process. */
#define LOG_MODULE "test"
#include "sim.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAGIC 4242

void sim_start(sim_t *sim, int n_pes, uint32_t tree_above, uint32_t fanout)
{
    aclshmemi_addr_t loopback = {.length = sizeof loopback.v4};
    int fd = -1;
    *sim = (sim_t){.n_pes = n_pes, .timeout_ms = 60000};
    sim->agree = aclshmemi_fingerprint("init", "size", 1, (uint64_t[]){1});
    sim->pe = calloc((size_t)n_pes, sizeof *sim->pe);
    t_check(sim->pe);
    for (int pe = 0; pe < n_pes; pe++)
        sim->pe[pe] = (sim_pe_t){.sim = sim, .pe = pe, .last_death = -1};
    t_check_int(aclshmemi_env_init(&sim->env), 0);
    t_check_int(aclshmemi_tls_context_create(&sim->env, NULL, &sim->tls), 0);
    loopback.v4.sin_family = AF_INET;
    loopback.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    t_check_int(aclshmemi_net_bind(&loopback, &fd), 0);
    t_check_int(aclshmemi_net_listen(fd, 4096), 0);
    t_check_int(aclshmemi_net_local(fd, &sim->addr), 0);
    t_check_int(aclshmemi_store_loop_create(&sim->server_loop), 0);
    t_check_int(aclshmemi_store_loop_create(&sim->loop), 0);
    aclshmemi_store_server_params_t params = {.n_pes = n_pes,
                                              .magic = MAGIC,
                                              .agree = sim->agree,
                                              .build = "one",
                                              .tree_above = tree_above,
                                              .fanout = fanout,
                                              .waiting_max = ACLSHMEMI_STORE_WAITING_MAX,
                                              .tls = sim->tls,
                                              .listen_fd = fd};
    t_check_int(aclshmemi_store_server_create(sim->server_loop, &params, &sim->server), 0);
    t_check_int(aclshmemi_store_loop_start(sim->server_loop), 0);
}

static void joined(void *owner, int code, const char *text)
{
    sim_pe_t *pe = owner;
    t_check_that(code == 0, "PE %d cannot join: %d, %s", pe->pe, code, text);
    pe->sim->pending--;
}

static void death(void *owner, int dead, const char *text)
{
    sim_pe_t *pe = owner;
    t_check(text[0] != 0);
    pe->deaths++;
    pe->last_death = dead;
}

static const aclshmemi_store_client_ops_t client_ops = {.joined = joined, .death = death};

void sim_add(sim_t *sim, int pe)
{
    aclshmemi_store_client_params_t params = {.pe = pe,
                                              .n_pes = sim->n_pes,
                                              .magic = MAGIC,
                                              .agree = sim->agree,
                                              .build = "one",
                                              .tls = sim->tls,
                                              .addrs = {sim->addr},
                                              .n_addrs = 1,
                                              .fd = -1,
                                              .join_deadline = aclshmemi_deadline_after_ms(sim->timeout_ms),
                                              .operation_timeout_ms = sim->timeout_ms};
    sim->pending++;
    t_check_int(
        aclshmemi_store_client_create(sim->loop, &params, &client_ops, &sim->pe[pe], &sim->pe[pe].client), 0);
}

void sim_wait(sim_t *sim, int deadline_ms)
{
    uint64_t end = t_now_ms() + (uint64_t)deadline_ms;
    while (sim->pending > 0) {
        t_check_that(t_now_ms() < end, "%d answers did not come", sim->pending);
        aclshmemi_store_loop_turn(sim->loop, 100);
    }
}

static uint8_t byte_of(int pe, size_t at)
{
    return (uint8_t)((size_t)pe * 37 + at * 5 + 1);
}

/* Checked as it comes, so that thousands of PEs need no room for their results. */
static void data(aclshmemi_store_collect_t *collect, size_t offset, size_t size, const uint8_t *bytes)
{
    sim_pe_t *pe = (sim_pe_t *)((char *)collect - offsetof(sim_pe_t, collect));
    t_check_uint(offset, pe->next);
    for (int from = 0; from < pe->sim->n_pes; from++) {
        for (size_t i = 0; i < size; i++) {
            if (bytes[(size_t)from * size + i] != byte_of(from, offset + i))
                t_fail("PE %d: byte %zu of PE %d is wrong", pe->pe, offset + i, from);
        }
    }
    pe->next += size;
}

static void done(aclshmemi_store_collect_t *collect, int result, const char *text)
{
    sim_pe_t *pe = (sim_pe_t *)((char *)collect - offsetof(sim_pe_t, collect));
    pe->result = result;
    memcpy(pe->text, text, strnlen(text, sizeof pe->text - 1) + 1);
    pe->sim->pending--;
    pe->sim->failed += result != 0;
    t_check(result != 0 || pe->next == collect->bytes);
    free(pe->send);
    pe->send = NULL;
}

static void collect(sim_pe_t *pe, int kind, const char *call, size_t bytes)
{
    uint64_t args[] = {bytes};
    pe->collect = (aclshmemi_store_collect_t){.kind = kind,
                                              .fingerprint = aclshmemi_fingerprint(call, "bytes", 1, args),
                                              .bytes = bytes,
                                              .data = data,
                                              .done = done};
    pe->send = malloc(bytes + 1);
    t_check(pe->send);
    for (size_t i = 0; i < bytes; i++)
        pe->send[i] = byte_of(pe->pe, i);
    pe->collect.send = pe->send;
    pe->next = 0;
    pe->sim->pending++;
    aclshmemi_store_client_collect(pe->client, &pe->collect);
}

void sim_barrier(sim_t *sim, int pe)
{
    collect(&sim->pe[pe], ACLSHMEMI_STORE_BARRIER, "barrier", 0);
}

void sim_allgather(sim_t *sim, int pe, size_t bytes)
{
    collect(&sim->pe[pe], ACLSHMEMI_STORE_ALLGATHER, "allgather", bytes);
}

static void left(aclshmemi_store_call_t *call, int result, const uint8_t *body, size_t size, const char *text)
{
    sim_pe_t *pe = (sim_pe_t *)((char *)call - offsetof(sim_pe_t, call));
    (void)result, (void)body, (void)size, (void)text;
    pe->sim->pending--;
}

void sim_goodbye(sim_t *sim, int pe)
{
    sim->pending++;
    sim->pe[pe].call = (aclshmemi_store_call_t){.done = left};
    aclshmemi_store_client_goodbye(sim->pe[pe].client, &sim->pe[pe].call, "",
                                   aclshmemi_deadline_after_ms(sim->timeout_ms));
}

void sim_stop(sim_t *sim)
{
    for (int pe = 0; pe < sim->n_pes; pe++) {
        aclshmemi_store_client_destroy(sim->pe[pe].client);
        free(sim->pe[pe].send);
    }
    aclshmemi_store_loop_destroy(sim->loop);
    aclshmemi_store_loop_stop(sim->server_loop);
    aclshmemi_store_server_destroy(sim->server);
    aclshmemi_store_loop_destroy(sim->server_loop);
    aclshmemi_tls_context_destroy(sim->tls);
    aclshmemi_env_fini(&sim->env);
    free(sim->pe);
}
