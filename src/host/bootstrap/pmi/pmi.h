/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client of PMI-1, the text protocol by which mpiexec, Slurm and our own launcher tell processes about each other.
 *
 * One connection, used by one thread at a time. Every call ends by its deadline. A request that was cut off leaves
 * the stream out of step, so the connection refuses to work afterwards; a barrier that was cut off stays pending and
 * is waited for by the next barrier.
 */
#ifndef ACLSHMEMI_BOOTSTRAP_PMI_H
#define ACLSHMEMI_BOOTSTRAP_PMI_H

#include <stdbool.h>
#include <stddef.h>

#include "host/utils/clock.h"
#include "host/utils/status.h"

#define ACLSHMEMI_PMI_LINE_MAX 4096
#define ACLSHMEMI_PMI_NAME_MAX 512

typedef struct aclshmemi_pmi {
    int fd;               /* own duplicate of the launcher's descriptor, or own connection; -1: closed */
    int rank, n_pes;      /* told by the server in the PMI_PORT form, -1 otherwise */
    bool broken;          /* out of step */
    bool barrier_pending; /* barrier_in was sent, barrier_out has not come */
    size_t key_max;       /* characters, terminator included */
    size_t value_max;
    size_t in_used;
    char kvsname[ACLSHMEMI_PMI_NAME_MAX];
    char in[ACLSHMEMI_PMI_LINE_MAX];
} aclshmemi_pmi_t;

/* Takes hold of the connection the launcher offers: fd is the text of PMI_FD; else port and id those of PMI_PORT
 * ("host:port") and PMI_ID. NULL: not set. */
int aclshmemi_pmi_open(aclshmemi_pmi_t *pmi, const char *fd, const char *port, const char *id,
                       aclshmemi_deadline_t deadline) ACLSHMEMI_MUST_CHECK;
/* Says hello and asks for limits and the name of the key space. May be repeated. */
int aclshmemi_pmi_start(aclshmemi_pmi_t *pmi, aclshmemi_deadline_t deadline) ACLSHMEMI_MUST_CHECK;
/* Any bytes under a name; travels as hex, over several keys when the server's values are short. */
int aclshmemi_pmi_put(aclshmemi_pmi_t *pmi, const char *key, const void *data, size_t size,
                      aclshmemi_deadline_t deadline) ACLSHMEMI_MUST_CHECK;
/* Exactly size bytes put under that name; data is written on success only. */
int aclshmemi_pmi_get(aclshmemi_pmi_t *pmi, const char *key, void *data, size_t size,
                      aclshmemi_deadline_t deadline) ACLSHMEMI_MUST_CHECK;
int aclshmemi_pmi_barrier(aclshmemi_pmi_t *pmi, aclshmemi_deadline_t deadline) ACLSHMEMI_MUST_CHECK;
/* Looks, without waiting, whether a pending barrier has ended; true when one did. */
bool aclshmemi_pmi_barrier_settle(aclshmemi_pmi_t *pmi);
/* After this the launcher does not mind our end; most servers then hang up. */
int aclshmemi_pmi_finalize(aclshmemi_pmi_t *pmi, aclshmemi_deadline_t deadline) ACLSHMEMI_MUST_CHECK;
/* Asks the launcher at the other end of fd to end the whole job with this status. From any thread: the line is short
 * enough to go out in one piece beside another thread's. */
void aclshmemi_pmi_abort_job(int fd, int status, aclshmemi_deadline_t deadline);
void aclshmemi_pmi_close(aclshmemi_pmi_t *pmi); /* without a word; accepts a closed one */

#endif
