/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs without a launcher: a test starts its own PEs, which meet by address or by unique id. A PE is a function in a
 * forked process; it fails by a failed check. Scenario ids in square brackets, as in [I-02], feed tests/scenarios.md.
 */
#ifndef JOB_H
#define JOB_H

#include "acl/acl.h"
#include "shmem.h"
#include "support/support.h"

typedef struct job {
    int n_pes;
    char ip_port[ACLSHMEM_MAX_IP_PORT_LEN];
    uint64_t heap_bytes;
    uint32_t init_timeout_s;
    uint32_t control_timeout_s;
    void *arg; /* of the test */
    t_child_t pe[64];
} job_t;

typedef void job_body_t(job_t *job, int pe);

/* A loopback address with a free port, 2 MiB of heap, 30 s for everything. */
void job_init(job_t *job, int n_pes);
/* Starts one PE: a copy of this process that has a device, runs body and ends. */
void job_start(job_t *job, int pe, job_body_t *body);
/* Waits for it and expects this exit code (128 + n for signal n). */
void job_expect(job_t *job, int pe, int exit_code);
/* All PEs, all must end with 0. */
void job_run(job_t *job, job_body_t *body);

/* Inside a PE: attributes of DEFAULT mode, init that must succeed, finalize that must succeed. */
aclshmemx_init_attr_t job_attr(const job_t *job, int pe);
void job_enter(const job_t *job, int pe);
void job_leave(void);
void job_device(void); /* a current device for this thread */

/* The last error has this code, and its text contains part. */
#define job_check_error(code, part) job_check_error_at(__FILE__, __LINE__, (code), (part))
void job_check_error_at(const char *file, int line, int code, const char *part);

/* Set by a PE that somebody ends in the middle of its work: what its connections hold at that moment is no leak. */
extern bool job_ends_suddenly;

#endif
