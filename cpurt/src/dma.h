/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The DMA engine of a device: a thread that takes entries from rings in device memory. It lives from the device's first
 * queue to its last one. dma.c has what programs call, dma_work.c the thread.
 */
#ifndef CPURT_DMA_H
#define CPURT_DMA_H

#include "acl/acl_cpu.h"
#include "doorbell.h"
#include "handle.h"
#include "trace.h"

/* What a queue has in device memory. One cache line for each word that somebody else writes or waits for. */
typedef struct cpurt_dma_memory {
    _Alignas(64) uint32_t head;
    _Alignas(64) uint32_t error;
    _Alignas(64) aicore_doorbell_t bell;
    _Alignas(64) aclcpuDmaEntry ring[ACLCPU_DMA_DEPTH];
} cpurt_dma_memory_t;
_Static_assert(sizeof(aclcpuDmaEntry) == 64, "an entry is a cache line");

typedef struct cpurt_dma_engine cpurt_dma_engine_t;

typedef struct cpurt_dma_queue {
    cpurt_object_t object;
    cpurt_dma_engine_t *engine;
    uint32_t id;
    cpurt_dma_memory_t *memory;
    atomic_bool closing; /* the worker runs it out, takes it off the list and sets gone */

    pthread_mutex_t lock; /* guards the next four */
    pthread_cond_t changed;
    bool gone;
    aclError failure;
    bool fetched; /* whether somebody was told */
    char text[CPURT_TEXT_LEN];

    /* The worker's. Its own copies of what is in the ring: others may write there at any time. */
    uint32_t head;
    bool stopped; /* by a failure */
    bool begun;   /* entry is the one at head, and done bytes of it are over */
    bool foreign; /* not all of its memory is known, so the system checks the addresses */
    bool downwards;
    uint64_t done;
    uint64_t begin_ns; /* for the timeline */
    aclcpuDmaEntry entry;
    uint32_t hold; /* checked mode: visits to let pass before the next entry */
} cpurt_dma_queue_t;

struct cpurt_dma_engine {
    int device;
    uint32_t count;         /* queues; guarded by cpurt_dma_lock */
    aicore_doorbell_t bell; /* what the worker sleeps on, for all queues */
    atomic_bool stop;
    pthread_t worker;
    _Atomic(cpurt_dma_queue_t *)
        queues[ACLCPU_DMA_QUEUES]; /* set by whoever creates, cleared by the worker */
    uint64_t random;               /* the worker's, in checked mode */
};

static inline uint64_t cpurt_dma_lane(const cpurt_dma_queue_t *queue)
{
    return CPURT_TRACE_LANE_DMA + (uint64_t)queue->engine->device * ACLCPU_DMA_QUEUES + queue->id;
}
void *cpurt_dma_work(void *engine);
/* Ends all queues of a device, waiting for what is in them; -1: of all devices. */
void cpurt_dma_end(int device);

#endif
