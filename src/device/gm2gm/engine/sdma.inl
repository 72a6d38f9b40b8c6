/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SDMA: entries in a ring that the device's DMA engine carries out in order, beside the core. Core v uses channel v mod the
 * number of channels; who shares a channel - cores, launches on other streams, host threads - takes its lock for the few
 * stores of an entry. A core waits for everything that is in its channel, so what it started is over then.
 */
#ifndef ACLSHMEMI_DEVICE_SDMA_INL
#define ACLSHMEMI_DEVICE_SDMA_INL

#include "device/engine.inl"
#include "device/gm2gm/engine/mte.inl"
#include "device/wait.inl"
#include "host_device/dma.h"

#include <string.h>

ACLSHMEM_DEVICE aclshmemi_dma_workspace_t *aclshmemi_sdma_workspace(const aclshmemi_state_t *state,
                                                                    const char *call)
{
    if (__builtin_expect(state->seen.sdma_workspace_addr == 0, 0))
        aclshmemi_port_trap("%s: engine SDMA is not open; ask for it in data_op_engine_type at init", call);
    return (aclshmemi_dma_workspace_t *)(uintptr_t)state->seen.sdma_workspace_addr;
}

ACLSHMEM_DEVICE aclshmemi_dma_channel_t *aclshmemi_sdma_channel(const aclshmemi_state_t *state,
                                                                const char *call)
{
    aclshmemi_dma_workspace_t *space = aclshmemi_sdma_workspace(state, call);
    return &space->channel[aclshmemi_port_block() % space->channels];
}

typedef struct aclshmemi_sdma_wait {
    const char *call, *what;
    uint32_t queue;
} aclshmemi_sdma_wait_t;

ACLSHMEM_DEVICE void aclshmemi_sdma_describe(const aicore_wait_t *wait, char *out, size_t size)
{
    const aclshmemi_sdma_wait_t *about = (const aclshmemi_sdma_wait_t *)wait->subject;
    snprintf(out, size, "%s: %s of DMA queue %u", about->call, about->what, about->queue);
}

/* The engine rings no PE's doorbell, so the wait sleeps by the clock. */
ACLSHMEM_DEVICE void aclshmemi_sdma_wait_start(const aclshmemi_state_t *state, aicore_wait_t *wait,
                                               const aclshmemi_sdma_wait_t *about)
{
    aclshmemi_wait_start(state, wait, aclshmemi_sdma_describe, about);
    wait->bell = NULL;
}

ACLSHMEM_DEVICE void aclshmemi_sdma_check(const aclshmemi_dma_channel_t *channel, const char *call)
{
    uint32_t error = aclshmemi_dma_error(channel);
    if (__builtin_expect(error != 0, 0))
        aclshmemi_port_trap("%s: DMA queue %u stopped with code %u", call, channel->id, error);
}

ACLSHMEM_DEVICE void aclshmemi_sdma_ring(void *doorbell, uint32_t tail)
{
    aclshmemi_port_doorbell((aicore_doorbell_t *)doorbell, tail);
}

/* Waits for room before it holds anything. */
ACLSHMEM_DEVICE void aclshmemi_sdma_post(const aclshmemi_state_t *state, const char *call,
                                         const aclshmemi_dma_entry_t *entry)
{
    aclshmemi_dma_channel_t *channel = aclshmemi_sdma_channel(state, call);
    aclshmemi_dma_try_t did = aclshmemi_dma_try_post(channel, entry, aclshmemi_sdma_ring);
    if (__builtin_expect(did == ACLSHMEMI_DMA_BUSY, 0)) {
        aclshmemi_sdma_wait_t about;
        aicore_wait_t wait;
        about.call = call;
        about.what = "room";
        about.queue = channel->id;
        aclshmemi_sdma_wait_start(state, &wait, &about);
        do
            aclshmemi_port_wait_step(&wait, (const volatile void *)(uintptr_t)channel->head,
                                     sizeof(uint32_t));
        while ((did = aclshmemi_dma_try_post(channel, entry, aclshmemi_sdma_ring)) == ACLSHMEMI_DMA_BUSY);
    }
    aclshmemi_sdma_check(channel, call);
    aclshmemi_core()->used |= ACLSHMEM_TRANSPORT_SDMA;
}

/* In pieces of 1 MiB. What the scalar unit stored is written back first: the engine may read it. */
ACLSHMEM_DEVICE void aclshmemi_sdma_copy(const aclshmemi_state_t *state, const char *call, __gm__ char *to,
                                         __gm__ const char *from, uint64_t bytes)
{
    aclshmemi_port_cache_all();
    for (uint64_t at = 0; at < bytes; at += ACLSHMEMI_DMA_PIECE) {
        aclshmemi_dma_entry_t entry;
        memset(&entry, 0, sizeof entry);
        entry.kind = ACLSHMEMI_DMA_ENTRY_COPY;
        entry.bytes = bytes - at < ACLSHMEMI_DMA_PIECE ? bytes - at : ACLSHMEMI_DMA_PIECE;
        entry.source = (uint64_t)(uintptr_t)(from + at);
        entry.dest = (uint64_t)(uintptr_t)(to + at);
        aclshmemi_sdma_post(state, call, &entry);
    }
}

ACLSHMEM_DEVICE __gm__ char *aclshmemi_sdma_place(const aclshmemi_state_t *state, const char *call,
                                                  const volatile void *there, uint64_t bytes, int pe)
{
    __gm__ char *place = aclshmemi_mapped(state, there, bytes, pe);
    if (__builtin_expect(place == NULL, 0))
        aclshmemi_port_trap("%s: memory of PE %d at %p is not within reach of SDMA", call, pe,
                            (const void *)(uintptr_t)there);
    return place;
}

/* By the engine, whatever the size. */
ACLSHMEM_DEVICE void aclshmemi_sdma_start_put(const aclshmemi_state_t *state, const char *call,
                                              __gm__ void *there, __gm__ const void *here, uint64_t bytes,
                                              int pe)
{
    aclshmemi_sdma_copy(state, call, aclshmemi_sdma_place(state, call, there, bytes, pe),
                        (__gm__ const char *)here, bytes);
    aclshmemi_mte_wake_later(pe);
}

ACLSHMEM_DEVICE void aclshmemi_sdma_start_get(const aclshmemi_state_t *state, const char *call,
                                              __gm__ void *here, __gm__ const void *there, uint64_t bytes,
                                              int pe)
{
    aclshmemi_sdma_copy(state, call, (__gm__ char *)here, aclshmemi_sdma_place(state, call, there, bytes, pe),
                        bytes);
}

/* For the dispatch: what is no bulk data the core copies itself before the engine would have heard of it. */
ACLSHMEM_DEVICE void aclshmemi_sdma_put(const aclshmemi_state_t *state, const char *call, __gm__ void *there,
                                        __gm__ const void *here, uint64_t bytes, int pe)
{
    if (bytes >= ACLSHMEMI_DMA_BULK) {
        aclshmemi_sdma_start_put(state, call, there, here, bytes, pe);
        return;
    }
    aclshmemi_core()->used |= ACLSHMEM_TRANSPORT_MTE;
    aclshmemi_mte_put(state, call, there, here, bytes, pe);
}

ACLSHMEM_DEVICE void aclshmemi_sdma_get(const aclshmemi_state_t *state, const char *call, __gm__ void *here,
                                        __gm__ const void *there, uint64_t bytes, int pe)
{
    if (bytes >= ACLSHMEMI_DMA_BULK) {
        aclshmemi_sdma_start_get(state, call, here, there, bytes, pe);
        return;
    }
    aclshmemi_core()->used |= ACLSHMEM_TRANSPORT_MTE;
    aclshmemi_mte_get(state, call, here, there, bytes, pe);
}

ACLSHMEM_DEVICE void aclshmemi_sdma_drain(const aclshmemi_state_t *state, const char *call)
{
    aclshmemi_dma_channel_t *channel = aclshmemi_sdma_channel(state, call);
    aclshmemi_core_t *core = aclshmemi_core();
    uint32_t tail = aclshmemi_dma_tail(channel);
    aclshmemi_sdma_wait_t about;
    aicore_wait_t wait;
    about.call = call;
    about.what = "completion";
    about.queue = channel->id;
    aclshmemi_sdma_wait_start(state, &wait, &about);
    while (!aclshmemi_dma_passed(channel, tail)) {
        aclshmemi_sdma_check(channel, call);
        aclshmemi_port_wait_step(&wait, (const volatile void *)(uintptr_t)channel->head, sizeof(uint32_t));
    }
    aclshmemi_sdma_check(channel, call);
    aclshmemi_port_cache_all();
    /* Sleepers know; the range stays, for MTE may have copies of its own on the way. */
    for (int pe = core->bell_first; pe != 0 && pe <= core->bell_last; pe++)
        aclshmemi_notify(state, pe - 1);
    core->used &= ~(uint32_t)ACLSHMEM_TRANSPORT_SDMA;
}

/* For the dispatch: its small copies too. */
ACLSHMEM_DEVICE void aclshmemi_sdma_quiet(const aclshmemi_state_t *state, const char *call)
{
    aclshmemi_sdma_drain(state, call);
    if (!aclshmemi_port_copies_directly())
        aclshmemi_mte_quiet(state, call);
}

ACLSHMEM_DEVICE void aclshmemi_sdma_fence(const aclshmemi_state_t *state, const char *call)
{
    aclshmemi_sdma_quiet(state, call);
}

#endif
