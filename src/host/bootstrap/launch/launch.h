/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of launch/ share: the environment seen through a getter, and the ways to meet. Inside launch/. */
#ifndef ACLSHMEMI_BOOTSTRAP_LAUNCH_H
#define ACLSHMEMI_BOOTSTRAP_LAUNCH_H

#include "host/bootstrap/bootstrap.h"
#include "host/utils/clock.h"

/* Where variables come from: the environment in the library, a set of pairs in tests. NULL or "": not set. */
typedef struct aclshmemi_source {
    const char *(*get)(void *context, const char *name);
    void *context;
    bool has_pmix;      /* libpmix can be loaded */
    const char *forced; /* value of SHMEM_LAUNCHER: "auto", "none" or a row's name */
} aclshmemi_source_t;

/* What the environment does not tell and somebody must be asked for. */
typedef enum aclshmemi_ask { ACLSHMEMI_ASK_NOBODY, ACLSHMEMI_ASK_PMI, ACLSHMEMI_ASK_PMIX } aclshmemi_ask_t;

typedef struct aclshmemi_sighting {
    aclshmemi_launch_t launch;
    aclshmemi_ask_t ask; /* who knows pe (PMI) and n_pes */
    char warning[400];   /* "" or one sentence for PE 0 to say */
} aclshmemi_sighting_t;

const char *aclshmemi_source_get(const aclshmemi_source_t *source,
                                 const char *name); /* NULL when empty too */
aclshmemi_source_t aclshmemi_source_of_process(const aclshmemi_env_t *env);
/* The table of launchers applied to a source; a pure function. */
int aclshmemi_launch_look(const aclshmemi_source_t *source,
                          aclshmemi_sighting_t *sighting) ACLSHMEMI_MUST_CHECK;

/* First host of a Slurm node list such as "node[01-04,7],big3". */
int aclshmemi_slurm_first_host(const char *list, char *out, size_t size) ACLSHMEMI_MUST_CHECK;
/* Number of tasks on a node by "2(x3),1": the entry of that node. */
int aclshmemi_slurm_tasks_of(const char *list, int64_t node, int *tasks) ACLSHMEMI_MUST_CHECK;

/* Where PEs without a meeting service meet. */
typedef struct aclshmemi_job {
    bool local;         /* one host: a socket in the abstract namespace */
    uint8_t digest[32]; /* of what tells this job from others */
    char host[254];     /* several hosts: where PE 0 is */
    uint16_t port;      /* and its first port */
    char label[120];    /* for messages: "MASTER_ADDR node1, ports 29501..29509" */
} aclshmemi_job_t;

int aclshmemi_launch_job(const aclshmemi_source_t *source, const aclshmemi_launch_t *launch,
                         int64_t port_offset, int64_t restart_count,
                         aclshmemi_job_t *job) ACLSHMEMI_MUST_CHECK;

/* The ways to meet; round counts the meetings of this process and is advanced by each that succeeds. */
int aclshmemi_meet_pmi(const aclshmemi_source_t *source, const aclshmemi_env_t *env,
                       const aclshmemi_launch_t *launch, aclshmemi_deadline_t deadline,
                       aclshmemx_uniqueid_t *uid) ACLSHMEMI_MUST_CHECK;
int aclshmemi_meet_pmix(const aclshmemi_env_t *env, const aclshmemi_launch_t *launch,
                        aclshmemi_deadline_t deadline, aclshmemx_uniqueid_t *uid) ACLSHMEMI_MUST_CHECK;
int aclshmemi_meet_socket(const aclshmemi_job_t *job, const aclshmemi_env_t *env,
                          const aclshmemi_launch_t *launch, aclshmemi_deadline_t deadline,
                          aclshmemx_uniqueid_t *uid) ACLSHMEMI_MUST_CHECK;

/* Rank and size as the launcher tells them. */
int aclshmemi_pmi_ask(const aclshmemi_source_t *source, aclshmemi_deadline_t deadline, int *pe,
                      int *n_pes) ACLSHMEMI_MUST_CHECK;
int aclshmemi_pmix_ask(aclshmemi_deadline_t deadline, aclshmemi_launch_t *launch) ACLSHMEMI_MUST_CHECK;
bool aclshmemi_pmix_loadable(void);

void aclshmemi_pmi_done(void);
void aclshmemi_pmi_abort(int status);
void aclshmemi_pmi_forget(void);
void aclshmemi_pmix_done(void);
void aclshmemi_pmix_abort(int status);
void aclshmemi_pmix_forget(void);

#endif
