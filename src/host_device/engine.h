/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What transports publish for kernels: work queues that a proxy thread of the PE drains (RDMA and UDMA), and the channels of the
 * device's DMA engine (SDMA). The addresses of these records stand in the state block.
 *
 * A work queue belongs to one target PE, so its order is the order towards that PE. Any number of cores and host threads
 * fill it side by side: a place is taken by moving the tail on, filled, and handed over by its turn; nobody waits between
 * the two, so a producer that is ended while it waits leaves no hole. What is posted is complete, with everything before
 * it, when `done` has passed it.
 */
#ifndef ACLSHMEMI_HOST_DEVICE_ENGINE_H
#define ACLSHMEMI_HOST_DEVICE_ENGINE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host_device/amo.h"
#include "host_device/sync.h"

/* --- Work queues --- */

typedef enum aclshmemi_work_kind {
    ACLSHMEMI_WORK_PUT, /* bytes from `here`; then the signal, when `signal` says so */
    ACLSHMEMI_WORK_GET, /* bytes to `here` */
    ACLSHMEMI_WORK_AMO, /* op on the object, its old value to `result` unless that is 0 */
    ACLSHMEMI_WORK_KINDS
} aclshmemi_work_kind_t;

/* A place in the symmetric memory of the target. */
typedef struct aclshmemi_work_place {
    uint64_t offset;
    uint32_t heap; /* 0: device heap, 1: host heap */
    uint32_t reserved;
} aclshmemi_work_place_t;

/* One request, two lines. */
typedef struct aclshmemi_work {
    uint64_t
        turn; /* ticket: free for it; ticket + 1: filled; ticket + depth: carried out, free for the next lap */
    uint8_t kind;
    uint8_t op;     /* aclshmemi_amo_op_t, of an AMO and of the signal behind a put */
    uint8_t type;   /* aclshmemi_amo_type_t */
    uint8_t signal; /* of a put: an AMO on `word` follows */
    int32_t via;    /* PE whose port relays it, -1: straight */
    uint64_t here;  /* address at the PE that asks */
    uint64_t bytes;
    aclshmemi_work_place_t there;
    aclshmemi_work_place_t word;
    uint64_t value, condition;
    uint64_t result; /* address of an aclshmemi_result_t */
    uint64_t reserved[5];
} aclshmemi_work_t;

/* Where an old value comes back to. Taken by who asks, from the cells of the bank. */
typedef struct aclshmemi_result {
    uint32_t taken;
    uint32_t reserved;
    uint64_t value;
} aclshmemi_result_t;

typedef struct aclshmemi_queue {
    uint64_t ring;  /* address of `depth` aclshmemi_work_t; 0: this PE is not reached */
    uint32_t depth; /* a power of two */
    int32_t pe;
    uint64_t reserved0[6];
    uint64_t tail; /* moved by producers: the next ticket */
    uint64_t reserved1[7];
    uint64_t done;   /* moved by the proxy: all tickets below it are over */
    uint32_t status; /* code of the first failure that nobody has taken notice of, 0: none */
    uint32_t reserved2[13];
} aclshmemi_queue_t;

/*
 * Queues of an engine, by target. UDMA calls them jetties; its table leaves room for one per relay, all of which are the same
 * queue here since requests name the relay they take.
 */
typedef struct aclshmemi_bank {
    uint32_t version;
    uint32_t queues; /* PEs of the job */
    uint64_t queue;  /* address of that many aclshmemi_queue_t */
    uint64_t ready;  /* address of a bit for each: something was posted since the proxy looked last */
    uint64_t result; /* address of the cells for old values */
    uint32_t results;
    uint32_t request_bytes_log2; /* a request moves at most so many bytes; callers split */
    uint64_t bell;               /* address of an aclshmemi_doorbell_t: the proxy sleeps there */
    uint64_t reserved[2];
} aclshmemi_bank_t;

#define ACLSHMEMI_BANK_VERSION 1u

/* --- Channels of the DMA engine --- */

#define ACLSHMEMI_DMA_CHANNELS       48u
#define ACLSHMEMI_DMA_PIECE          (1u << 20) /* bytes that an entry moves at most */
#define ACLSHMEMI_DMA_BULK           4096u      /* bytes from which the engine is worth its latency */
#define ACLSHMEMI_DMA_WORKSPACE      16384u     /* bytes */
#define ACLSHMEMI_DMA_ENTRY          64u
#define ACLSHMEMI_DMA_ENTRY_NOTIFY   6u
#define ACLSHMEMI_DMA_ENTRY_COPY     11u
#define ACLSHMEMI_DMA_NOTIFIES_START 14336u

/* An entry of a ring, as the device runtime reads it. */
typedef struct aclshmemi_dma_entry {
    uint8_t kind;
    uint8_t reserved0[3];
    uint32_t task;
    uint32_t notify;
    uint32_t reserved1;
    uint64_t bytes;
    uint64_t source, dest;
    uint8_t reserved2[24];
} aclshmemi_dma_entry_t;

/* One ring. `lock` is held for the few stores that fill entries and never across a wait. */
typedef struct aclshmemi_dma_channel {
    uint32_t lock;
    uint32_t tail; /* entries filled, mod 2^32 */
    uint64_t ring; /* address */
    uint64_t doorbell;
    uint32_t depth;
    uint32_t id;
    uint64_t head;  /* address of a uint32_t: entries that are over, mod 2^32 */
    uint64_t error; /* address of a uint32_t: the runtime's code, 0 while all is well */
    uint64_t reserved[2];
} aclshmemi_dma_channel_t;

/* Vector core v uses channel v mod channels and notify v mod 48. */
typedef struct aclshmemi_dma_workspace {
    uint32_t version;
    uint32_t channels;
    uint64_t reserved0[7];
    aclshmemi_dma_channel_t channel[ACLSHMEMI_DMA_CHANNELS];
    uint8_t reserved1[ACLSHMEMI_DMA_NOTIFIES_START - 64 - 64 * ACLSHMEMI_DMA_CHANNELS];
    uint32_t notify[ACLSHMEMI_DMA_CHANNELS]; /* ids */
    uint8_t reserved2[ACLSHMEMI_DMA_WORKSPACE - ACLSHMEMI_DMA_NOTIFIES_START - 4 * ACLSHMEMI_DMA_CHANNELS];
} aclshmemi_dma_workspace_t;

static_assert(sizeof(aclshmemi_work_t) == 128, "two lines");
static_assert(offsetof(aclshmemi_queue_t, tail) == 64 && offsetof(aclshmemi_queue_t, done) == 128 &&
                  sizeof(aclshmemi_queue_t) == 192,
              "producers and proxy write different lines");
static_assert(sizeof(aclshmemi_bank_t) == 64 && sizeof(aclshmemi_result_t) == 16, "part of the bridge");
static_assert(sizeof(aclshmemi_dma_entry_t) == ACLSHMEMI_DMA_ENTRY && sizeof(aclshmemi_dma_channel_t) == 64,
              "one line each");
static_assert(sizeof(aclshmemi_dma_workspace_t) == ACLSHMEMI_DMA_WORKSPACE &&
                  offsetof(aclshmemi_dma_workspace_t, notify) == ACLSHMEMI_DMA_NOTIFIES_START,
              "the documented layout");

#endif
