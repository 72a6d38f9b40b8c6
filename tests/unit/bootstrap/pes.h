/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job of several processes around the store bootstrap, for tests. Each PE is a forked copy of the test program that
 * runs one function; checks inside end it with 1, and what it logs is kept as its standard error.
 *
 * A test program takes one argument: "tls" or "plain".
 */
#ifndef ACLSHMEM_TEST_PES_H
#define ACLSHMEM_TEST_PES_H

#include "support/unit.h"

#undef fail /* cmocka's; the library's is what its headers want */
#include "host/bootstrap/bootstrap.h"

#define PES_MAX 80

/* Words all processes of a test see; zero at pes_init. */
typedef struct pes_shared {
    _Atomic int word[16];
    _Atomic int reached[PES_MAX];
    uint8_t bytes[4096]; /* written before a step is reached, read after */
} pes_shared_t;

typedef struct pes pes_t;

typedef struct pe {
    pes_t *job;
    int pe;
    aclshmemi_env_t env;
    aclshmemi_bootstrap_params_t params; /* may be changed before pe_open */
    aclshmemi_bootstrap_t bs;
} pe_t;

struct pes {
    int n_pes;
    char ip_port[ACLSHMEM_MAX_IP_PORT_LEN];
    uint16_t port;
    uint64_t init_timeout_ms, operation_timeout_ms; /* 20 s unless changed */
    void (*run)(pe_t *pe);
    const void *arg;
    pes_shared_t *shared;
    pe_t pe[PES_MAX];
    t_child_t child[PES_MAX];
};

void pes_setup(int argc, char **argv); /* first thing in main: mode, clean settings, a secret of our own */
bool pes_tls(void);

void pes_init(pes_t *job, int n_pes, void (*run)(pe_t *pe)); /* on a free port of the loopback address */
void pes_fini(pes_t *job);
void pes_start(pes_t *job, int pe);
void pes_start_all(pes_t *job);
void pes_finish(pes_t *job, int deadline_ms);                    /* all that were started */
void pes_expect(pes_t *job, int exit_code);                      /* of every PE that was started */
void pes_run(int n_pes, void (*run)(pe_t *pe), const void *arg); /* all of it, expecting 0 */

/* Inside a PE. */
int pe_open(pe_t *pe); /* quietly gives the code */
void pe_open_ok(pe_t *pe);
int pe_barrier(pe_t *pe);
/* Opens, and passes a barrier if that worked; closes when either failed. Where a job fails, some PEs hear of it in one
 * and some in the other. */
int pe_meet(pe_t *pe);
void pe_check_allgather(pe_t *pe, size_t bytes); /* with contents, checked byte for byte */
void pe_reach(pe_t *pe, int step);               /* tells the others */
void pe_await(pe_t *pe, int other, int step);    /* until the other one has; bounded */
void pes_await(pes_t *job, int pe, int step);

#endif
