/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A launch as the cores see it. The gang is all vector cores of one launch; each is a thread while it runs a block,
 * and all of them run at once, since kernels wait for each other between blocks.
 */
#ifndef CPURT_CORE_H
#define CPURT_CORE_H

#include "aicore/aicore.h"
#include "runtime.h"

typedef struct cpurt_gang {
    const aicore_kernel_t *kernel;
    const void *args;
    uint32_t blocks;
    uint32_t slot;     /* cores start with */
    uint32_t launch;   /* its number */
    uint32_t contexts; /* vector cores the launch asks for: blocks times cores per block */
    uint32_t threads;  /* of them at once: fewer only when the device has fewer cores */
    uint64_t timeout_ns;

    atomic_uint next;    /* context to run next */
    atomic_bool stop;    /* somebody has failed; the others leave at their next look */
    atomic_uint arrived; /* at aicore_sync_all */
    atomic_uint round;

    pthread_mutex_t lock; /* guards the failure */
    aclError failure;     /* the first one */
    char text[CPURT_TEXT_LEN];

    struct cpurt_gang *next_open; /* the pool's */
    uint32_t tickets;             /* threads still to come */
    atomic_uint left;             /* threads still in it */
} cpurt_gang_t;

void cpurt_gang_init(cpurt_gang_t *gang, const aicore_kernel_t *kernel, const void *args, uint32_t blocks,
                     uint32_t slot, uint64_t timeout_ns);
void cpurt_gang_fini(cpurt_gang_t *gang);
/* The calling thread takes part until there is nothing left to start. */
void cpurt_gang_work(cpurt_gang_t *gang);
/* Gives back the unified buffer of the calling thread; last thing a thread that ran kernels does. */
void cpurt_core_leave(void);

#endif
