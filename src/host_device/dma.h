/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a channel of the DMA engine is filled, by kernels and by host threads alike. A channel is shared by cores, streams and
 * threads, so a lock orders those who fill it. It is held for a few stores, during which nobody can be ended, and
 * taken with a try: the caller has its own way to wait.
 */
#ifndef ACLSHMEMI_HOST_DEVICE_DMA_H
#define ACLSHMEMI_HOST_DEVICE_DMA_H

#include "host_device/engine.h"

typedef enum aclshmemi_dma_try {
    ACLSHMEMI_DMA_POSTED,
    ACLSHMEMI_DMA_BUSY,  /* somebody else fills it now, or it is full */
    ACLSHMEMI_DMA_BROKEN /* an entry failed: the channel carries nothing any more */
} aclshmemi_dma_try_t;

/* Stores the new tail and wakes the engine. */
typedef void aclshmemi_dma_ring_t(void *doorbell, uint32_t tail);

static inline uint32_t aclshmemi_dma_error(const aclshmemi_dma_channel_t *channel)
{
    return __atomic_load_n((const uint32_t *)(uintptr_t)channel->error, __ATOMIC_ACQUIRE);
}

static inline uint32_t aclshmemi_dma_tail(const aclshmemi_dma_channel_t *channel)
{
    return __atomic_load_n(&channel->tail, __ATOMIC_ACQUIRE);
}

/* Entries below the tail are over when this is true. */
static inline bool aclshmemi_dma_passed(const aclshmemi_dma_channel_t *channel, uint32_t tail)
{
    uint32_t head = __atomic_load_n((const uint32_t *)(uintptr_t)channel->head, __ATOMIC_ACQUIRE);
    return (int32_t)(head - tail) >= 0;
}

/* Puts one entry into the ring; its task number is filled in. */
static inline aclshmemi_dma_try_t aclshmemi_dma_try_post(aclshmemi_dma_channel_t *channel,
                                                         const aclshmemi_dma_entry_t *entry,
                                                         aclshmemi_dma_ring_t *ring)
{
    uint32_t no = 0;
    if (aclshmemi_dma_error(channel) != 0)
        return ACLSHMEMI_DMA_BROKEN;
    if (!__atomic_compare_exchange_n(&channel->lock, &no, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return ACLSHMEMI_DMA_BUSY;
    uint32_t tail = channel->tail;
    uint32_t head = __atomic_load_n((const uint32_t *)(uintptr_t)channel->head, __ATOMIC_ACQUIRE);
    bool fits = tail - head < channel->depth;
    if (fits) {
        aclshmemi_dma_entry_t *slot =
            (aclshmemi_dma_entry_t *)(uintptr_t)channel->ring + tail % channel->depth;
        __builtin_memcpy(slot, entry, sizeof *slot);
        slot->task = tail;
        __atomic_store_n(&channel->tail, tail + 1, __ATOMIC_RELEASE);
        ring((void *)(uintptr_t)channel->doorbell, tail + 1);
    }
    __atomic_store_n(&channel->lock, 0, __ATOMIC_RELEASE);
    return fits ? ACLSHMEMI_DMA_POSTED : ACLSHMEMI_DMA_BUSY;
}

#endif
