/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of libpmix in a thread of their own: they block for as long as a peer is missing, so the caller must be able to
 * leave them behind. Inside launch/.
 */
#ifndef ACLSHMEMI_BOOTSTRAP_LAUNCH_PMIX_TASK_H
#define ACLSHMEMI_BOOTSTRAP_LAUNCH_PMIX_TASK_H

#include <pthread.h>

#include "host/bootstrap/launch/launch.h"

enum { ACLSHMEMI_PMIX_ASK, ACLSHMEMI_PMIX_MEET, ACLSHMEMI_PMIX_END, ACLSHMEMI_PMIX_ABORT };

/* Something to be done in a thread of its own; freed by whoever lets go last. */
typedef struct aclshmemi_pmix_task {
    pthread_mutex_t lock; /* guards what follows up to text */
    pthread_cond_t ended;
    int holders;
    bool finished;
    bool fenced; /* MEET: the fence is behind us */
    int rc;
    char text[200]; /* why rc is not 0 */
    int what;       /* the rest is the thread's until finished */
    int pe, n_pes;  /* MEET: in; ASK: n_pes out */
    int local_pe, local_npes;
    int status; /* ABORT */
    char key[32];
    char hex[2 * sizeof(aclshmemx_uniqueid_t) + 1]; /* MEET: the id, in on PE 0, out on the others */
} aclshmemi_pmix_task_t;

aclshmemi_pmix_task_t *aclshmemi_pmix_task_create(int what); /* NULL: no memory */
int aclshmemi_pmix_task_start(aclshmemi_pmix_task_t *task) ACLSHMEMI_MUST_CHECK;
bool aclshmemi_pmix_task_wait(aclshmemi_pmix_task_t *task,
                              aclshmemi_deadline_t deadline); /* finished by then? */
void aclshmemi_pmix_task_let_go(aclshmemi_pmix_task_t *task); /* the last holder frees */
/* A meeting has begun and no END came: the launcher counts on a goodbye. */
bool aclshmemi_pmix_is_started(void);
void aclshmemi_pmix_task_forget(void); /* in a child of fork */

#endif
