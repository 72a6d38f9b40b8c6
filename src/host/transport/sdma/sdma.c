/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The DMA engine of the device. The transport takes as many queues as the device still has, up to one per vector core,
 * and describes them to kernels as channels; host threads share channel 0 with core 0. A queue copies between any two mapped
 * addresses, so it reaches what mte reaches. What is no copy is done on the mapping, and so are copies that are over sooner
 * than the engine hears of them.
 */
#define LOG_MODULE "sdma"
#include "host/transport/transport.h"

#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "host/utils/clock.h"
#include "host_device/dma.h"

typedef struct sdma {
    aclshmemi_npu_dma_queue_t queue[ACLSHMEMI_DMA_CHANNELS];
    aclshmemi_npu_notify_t notify[ACLSHMEMI_DMA_CHANNELS];
    aclshmemi_dma_workspace_t *workspace; /* kernels reach it */
} sdma_t;

static void sdma_close(aclshmemi_transport_t *t)
{
    sdma_t *sdma = t->state;
    if (sdma == NULL)
        return;
    for (uint32_t i = 0; i < ACLSHMEMI_DMA_CHANNELS; i++) {
        npu_dma_queue_destroy(sdma->queue[i]);
        npu_notify_destroy(sdma->notify[i]);
    }
    npu_host_free(sdma->workspace);
    free(sdma);
    t->state = NULL;
}

static int take_queues(sdma_t *sdma)
{
    aclshmemi_dma_workspace_t *space = sdma->workspace;
    for (uint32_t i = 0; i < ACLSHMEMI_DMA_CHANNELS; i++) {
        aclshmemi_npu_dma_info_t info;
        int rc = npu_dma_queue_create(&sdma->queue[i], &info);
        if (rc != 0 && i == 0)
            return rc;
        if (rc != 0) {
            log_info("%u of %u channels: %s", i, ACLSHMEMI_DMA_CHANNELS, aclshmemi_status_last_text());
            aclshmemi_status_clear();
            break;
        }
        space->channel[i] = (aclshmemi_dma_channel_t){
            .tail = *info.head,
            .ring = (uint64_t)(uintptr_t)info.ring,
            .doorbell = (uint64_t)(uintptr_t)info.doorbell,
            .depth = info.depth,
            .id = info.id,
            .head = (uint64_t)(uintptr_t)info.head,
            .error = (uint64_t)(uintptr_t)info.error,
        };
        space->channels = i + 1;
    }
    return 0;
}

static int open_parts(sdma_t *sdma)
{
    void *memory = NULL;
    TRY(npu_host_alloc(sizeof *sdma->workspace, &memory));
    sdma->workspace = memory;
    memset(memory, 0, sizeof *sdma->workspace);
    sdma->workspace->version = 1;
    TRY(take_queues(sdma));
    for (uint32_t i = 0; i < ACLSHMEMI_DMA_CHANNELS; i++)
        TRY(npu_notify_create(&sdma->notify[i], &sdma->workspace->notify[i]));
    return 0;
}

static int sdma_open(aclshmemi_transport_t *t)
{
    sdma_t *sdma = calloc(1, sizeof *sdma);
    if (sdma == NULL)
        return fail(ACLSHMEM_MALLOC_FAILED, "out of memory for engine sdma");
    t->state = sdma;
    int rc = open_parts(sdma);
    if (rc != 0)
        sdma_close(t);
    return rc;
}

static int sdma_import(aclshmemi_transport_t *t, int pe, const void *blob, size_t bytes, bool *reached)
{
    (void)blob;
    (void)bytes;
    *reached = t->site->device_base[pe] != NULL;
    return 0;
}

/* --- Copies --- */

/* A doorbell of the device runtime, aicore_doorbell_t there: several have one sleeper, to whose doorbell `at` leads. */
typedef struct engine_bell {
    uint32_t value;
    uint32_t sleepers;
    int64_t at; /* bytes from here, 0: this one */
} engine_bell_t;

static void ring_engine(void *doorbell, uint32_t tail)
{
    engine_bell_t *bell = doorbell;
    engine_bell_t *slept_on = (engine_bell_t *)(void *)((char *)doorbell + bell->at);
    __atomic_store_n(&bell->value, tail, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&slept_on->sleepers, __ATOMIC_SEQ_CST) == 0 ||
        __atomic_exchange_n(&slept_on->sleepers, 0, __ATOMIC_SEQ_CST) == 0)
        return;
    if (slept_on != bell)
        (void)__atomic_fetch_add(&slept_on->value, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &slept_on->value, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

enum { YIELDS = 200, NAP_US = 100 };

typedef struct patience {
    aclshmemi_deadline_t deadline;
    int turns;
} patience_t;

/* One step of waiting; fails when the deadline has passed. */
static int wait_a_little(const aclshmemi_transport_t *t, patience_t *patience)
{
    if (patience->turns++ < YIELDS) {
        sched_yield();
        return 0;
    }
    nanosleep(&(struct timespec){.tv_nsec = NAP_US * 1000L}, NULL);
    if (!aclshmemi_deadline_passed(patience->deadline))
        return 0;
    return fail(ACLSHMEM_TIMEOUT_ERROR,
                "engine sdma did not get on with channel 0 within %llu ms (SHMEM_WAIT_TIMEOUT)",
                (unsigned long long)t->site->env->wait_timeout_ms);
}

static patience_t patience(const aclshmemi_transport_t *t)
{
    return (patience_t){.deadline = aclshmemi_deadline_after_ms(t->site->env->wait_timeout_ms)};
}

static int broken(const aclshmemi_dma_channel_t *channel)
{
    return fail(ACLSHMEM_INNER_ERROR, "engine sdma: DMA queue %u stopped with code %u", channel->id,
                aclshmemi_dma_error(channel));
}

static int wait_passed(const aclshmemi_transport_t *t, const aclshmemi_dma_channel_t *channel, uint32_t tail)
{
    patience_t left = patience(t);
    while (!aclshmemi_dma_passed(channel, tail)) {
        if (aclshmemi_dma_error(channel) != 0)
            return broken(channel);
        TRY(wait_a_little(t, &left));
    }
    return 0;
}

/* Done on return. One element moves as one access, so nobody sees half of it. */
static int copy(aclshmemi_transport_t *t, char *dest, const char *source, size_t bytes)
{
    sdma_t *sdma = t->state;
    aclshmemi_dma_channel_t *channel = &sdma->workspace->channel[0];
    if (bytes < ACLSHMEMI_DMA_BULK && npu_host_can_touch()) {
        aclshmemi_transport_move(dest, source, bytes);
        return 0;
    }
    for (size_t from = 0; from < bytes; from += ACLSHMEMI_DMA_PIECE) {
        aclshmemi_dma_entry_t entry = {
            .kind = ACLSHMEMI_DMA_ENTRY_COPY,
            .bytes = bytes - from < ACLSHMEMI_DMA_PIECE ? bytes - from : ACLSHMEMI_DMA_PIECE,
            .source = (uint64_t)(uintptr_t)(source + from),
            .dest = (uint64_t)(uintptr_t)(dest + from),
        };
        patience_t left = patience(t);
        aclshmemi_dma_try_t did;
        while ((did = aclshmemi_dma_try_post(channel, &entry, ring_engine)) == ACLSHMEMI_DMA_BUSY)
            TRY(wait_a_little(t, &left));
        if (did == ACLSHMEMI_DMA_BROKEN)
            return broken(channel);
    }
    return wait_passed(t, channel, aclshmemi_dma_tail(channel));
}

static int sdma_put(aclshmemi_transport_t *t, aclshmemi_remote_t to, const void *from, size_t bytes)
{
    char *address = aclshmemi_transport_mapped_address(t, to);
    if (address == NULL)
        return fail(ACLSHMEM_NOT_SUPPORTED, "engine sdma: this heap of PE %d is not mapped here", to.pe);
    TRY(copy(t, address, from, bytes));
    aclshmemi_transport_ring(t, to.pe);
    return 0;
}

static int sdma_get(aclshmemi_transport_t *t, void *to, aclshmemi_remote_t from, size_t bytes)
{
    const char *address = aclshmemi_transport_mapped_address(t, from);
    if (address == NULL)
        return fail(ACLSHMEM_NOT_SUPPORTED, "engine sdma: this heap of PE %d is not mapped here", from.pe);
    return copy(t, to, address, bytes);
}

/* Puts of the host are done on return; this waits for those of kernels. */
static int sdma_quiet(aclshmemi_transport_t *t)
{
    const sdma_t *sdma = t->state;
    int rc = 0;
    for (uint32_t i = 0; i < sdma->workspace->channels; i++) {
        const aclshmemi_dma_channel_t *channel = &sdma->workspace->channel[i];
        int one = wait_passed(t, channel, aclshmemi_dma_tail(channel));
        if (rc == 0)
            rc = one;
    }
    return rc;
}

static uint64_t sdma_describe(aclshmemi_transport_t *t)
{
    const sdma_t *sdma = t->state;
    return (uint64_t)(uintptr_t)sdma->workspace;
}

static void *sdma_notify(aclshmemi_transport_t *t, uint32_t core)
{
    const sdma_t *sdma = t->state;
    return sdma->notify[core % ACLSHMEMI_DMA_CHANNELS];
}

const aclshmemi_transport_ops_t aclshmemi_transport_sdma = {
    .name = "sdma",
    .bit = ACLSHMEM_TRANSPORT_SDMA,
    .open = sdma_open,
    .close = sdma_close,
    .import_blob = sdma_import,
    .put = sdma_put,
    .get = sdma_get,
    .amo = aclshmemi_transport_mapped_amo,
    .quiet = sdma_quiet,
    .describe = sdma_describe,
    .notify = sdma_notify,
};
