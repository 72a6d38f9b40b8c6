/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this runtime offers beyond the vendor's interface. A program that must also run on a card looks these names up
 * with dlsym and does without where they are missing.
 */
#ifndef ACL_ACL_CPU_H
#define ACL_ACL_CPU_H

#include "acl_base.h"
#include "acl_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- Addresses for kernels --- */

#define ACLCPU_SLOTS 256u

/* Leaves an address for the kernels of this process under a number below ACLCPU_SLOTS; NULL takes it away. Kernels ask
 * with aicore_slot. Any thread. */
ACL_FUNC_VISIBILITY aclError aclcpuSlotPublish(uint32_t slot, void *address);
/* The slot that launches enqueued from now on start with; 0 at first. Any thread. */
ACL_FUNC_VISIBILITY aclError aclcpuSlotSelect(uint32_t slot);

/* --- The DMA engine --- */

/*
 * A device has one DMA worker and up to ACLCPU_DMA_QUEUES queues. Each queue is a ring of 64-byte entries in device
 * memory that host and kernels can write; whoever fills it writes entries at ring[tail % depth], then the new tail
 * (which counts on, mod 2^32) to the doorbell with aicore_doorbell_store. Entries of one queue are carried out in order,
 * queues side by side; head tells how many entries of the queue are over, and is stored with release behind their
 * effects. A copy of 1, 2, 4 or 8 bytes between addresses aligned to that is one store with release; others may be
 * seen in part before they are over. An entry that cannot be carried out (an address where nothing is, an unknown
 * notify or kind, a tail more than depth ahead) sets error, and its queue carries out no further one. With
 * SHMEM_CPU_CHECK=1 copies start late, in odd pieces and in random order between queues.
 */
#define ACLCPU_DMA_QUEUES 48u
#define ACLCPU_DMA_DEPTH  2048u

typedef enum aclcpuDmaKind {
    ACLCPU_DMA_NOTIFY = 6, /* records the notify with the given id */
    ACLCPU_DMA_COPY = 11   /* bytes from source to dest */
} aclcpuDmaKind;

typedef struct aclcpuDmaEntry {
    uint8_t kind; /* aclcpuDmaKind */
    uint8_t reserved0[3];
    uint32_t task;   /* the filler's number for it, in reports */
    uint32_t notify; /* id, of a notify entry */
    uint32_t reserved1;
    uint64_t bytes; /* of a copy, any number */
    uint64_t source, dest;
    uint8_t reserved2[24];
} aclcpuDmaEntry; /* 64 bytes */

typedef struct aclcpuDmaQueueInfo {
    aclcpuDmaEntry *ring;
    void *doorbell; /* aicore_doorbell_t: value is the tail */
    volatile uint32_t *head;
    volatile uint32_t *error; /* an aclError, 0 while all is well */
    uint32_t depth;
    uint32_t id; /* number of the queue on its device */
} aclcpuDmaQueueInfo;

typedef void *aclcpuDmaQueue;

/* A queue of the current device, empty. Fails when the device has none left. Any thread. */
ACL_FUNC_VISIBILITY aclError aclcpuDmaQueueCreate(aclcpuDmaQueue *queue, aclcpuDmaQueueInfo *info);
/* What the error word holds, with the text for aclGetRecentErrMsg: which entry, and why. Any thread. */
ACL_FUNC_VISIBILITY aclError aclcpuDmaQueueQuery(aclcpuDmaQueue queue);
/* Waits for what is in it. The last reset of the device and aclFinalize do so for all queues. */
ACL_FUNC_VISIBILITY aclError aclcpuDmaQueueDestroy(aclcpuDmaQueue queue);

/* --- The timeline --- */

/*
 * With SHMEM_TRACE=file.json the runtime writes what it does, and when, for chrome://tracing or Perfetto. A program or
 * library adds spans of its own between these two calls, which cost next to nothing when no trace is written. Any thread.
 */

/* What aclcpuTraceEnd wants to be handed; 0 while no trace is written. */
ACL_FUNC_VISIBILITY uint64_t aclcpuTraceBegin(void);
/* A span of the calling thread from then to now. key names the number that is shown with it; NULL: none. */
ACL_FUNC_VISIBILITY void aclcpuTraceEnd(uint64_t begin, const char *category, const char *name,
                                        const char *key, uint64_t value);

#ifdef __cplusplus
}
#endif

#endif
