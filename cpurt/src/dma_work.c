/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread of a DMA engine. It goes round its queues and does a bounded piece of each, so that a long copy holds up
 * no other queue. What it finds in a ring is anybody's, so addresses are checked, and those of memory the runtime does
 * not know are left to the system, which says when nothing is there.
 */
#include "dma.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "memory.h"
#include "notify.h"
#include "trace.h"
#include "vmm.h"

#define PIECE       (UINT64_C(256) << 10) /* bytes of a queue before the next one has its turn */
#define BATCH       32u                   /* entries */
#define IDLE_SPINS  64
#define IDLE_YIELDS 16
#define LONG_SLEEP  UINT64_C(1000000000) /* in case somebody stores to a doorbell past the call */
#define HOLD_MAX    16u                  /* checked mode: visits a queue may be passed over */
#define ODD_PIECE   UINT64_C(65536)

/* --- Failures --- */

static void stop(cpurt_dma_queue_t *queue, aclError error)
{
    const char *const reason = cpurt_error_text();

    queue->stopped = true;
    (void)pthread_mutex_lock(&queue->lock);
    queue->failure = error;
    (void)snprintf(queue->text, sizeof queue->text, "DMA queue %u of device %d, entry %u (task %u): %.400s",
                   queue->id, queue->engine->device, queue->head, queue->entry.task, reason);
    (void)pthread_mutex_unlock(&queue->lock);
    __atomic_store_n(&queue->memory->error, (uint32_t)error, __ATOMIC_RELEASE);
}

/* --- Copies --- */

static aclError check_side(const char *side, uint64_t address, uint64_t bytes, bool *known)
{
    const void *const at = (const void *)(uintptr_t)address;

    if (address == 0 || bytes > UINT64_MAX - address)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM,
                          "a copy whose %s is %" PRIu64 " bytes at %#" PRIx64 ", where nothing can be", side,
                          bytes, address);
    TRY(cpurt_memory_look(at, bytes, side, known));
    return *known ? ACL_SUCCESS : cpurt_vmm_check(at, bytes, side, known);
}

static aclError begin_copy(cpurt_dma_queue_t *queue)
{
    const aclcpuDmaEntry *const entry = &queue->entry;
    bool from_known = false, to_known = false;

    if (entry->bytes == 0)
        return ACL_SUCCESS;
    TRY(check_side("source", entry->source, entry->bytes, &from_known));
    TRY(check_side("destination", entry->dest, entry->bytes, &to_known));
    queue->foreign = !from_known || !to_known;
    /* Pieces of overlapping ranges go in the order in which none overwrites what is still to be read. */
    queue->downwards = entry->dest > entry->source && entry->dest - entry->source < entry->bytes;
    return ACL_SUCCESS;
}

/* A word that somebody may be polling: whole, and behind everything that was copied before. */
static bool copy_word(void *to, const void *from, uint64_t bytes)
{
    if (((uintptr_t)to | (uintptr_t)from) % bytes != 0)
        return false;
    switch (bytes) {
    case 1:
        __atomic_store_n((uint8_t *)to, __atomic_load_n((const uint8_t *)from, __ATOMIC_ACQUIRE),
                         __ATOMIC_RELEASE);
        return true;
    case 2:
        __atomic_store_n((uint16_t *)to, __atomic_load_n((const uint16_t *)from, __ATOMIC_ACQUIRE),
                         __ATOMIC_RELEASE);
        return true;
    case 4:
        __atomic_store_n((uint32_t *)to, __atomic_load_n((const uint32_t *)from, __ATOMIC_ACQUIRE),
                         __ATOMIC_RELEASE);
        return true;
    case 8:
        __atomic_store_n((uint64_t *)to, __atomic_load_n((const uint64_t *)from, __ATOMIC_ACQUIRE),
                         __ATOMIC_RELEASE);
        return true;
    default:
        return false;
    }
}

/* Through the system, which answers with an error where a plain copy would be a fault. */
static aclError copy_foreign(void *to, void *from, uint64_t bytes)
{
    uint64_t done = 0;

    while (done < bytes) {
        const struct iovec source = {(char *)from + done, bytes - done};
        const struct iovec dest = {(char *)to + done, bytes - done};
        const ssize_t got = process_vm_writev(getpid(), &source, 1, &dest, 1, 0);

        if (got > 0) {
            done += (uint64_t)got;
        } else if (got < 0 && errno != EFAULT && errno != EINTR) {
            memmove((char *)to + done, (char *)from + done, bytes - done); /* a system without the call */
            done = bytes;
        } else if (got == 0 || errno == EFAULT) {
            return cpurt_fail(ACL_ERROR_INVALID_PARAM,
                              "a copy from %p to %p, one of which cannot be touched (%" PRIu64
                              " bytes of the piece are copied)",
                              (char *)from + done, (void *)((char *)to + done), done);
        }
    }
    return ACL_SUCCESS;
}

static aclError copy_piece(cpurt_dma_queue_t *queue, uint64_t bytes)
{
    const aclcpuDmaEntry *const entry = &queue->entry;
    const uint64_t offset = queue->downwards ? entry->bytes - queue->done - bytes : queue->done;
    void *const to = (void *)(uintptr_t)(entry->dest + offset);
    void *const from = (void *)(uintptr_t)(entry->source + offset);

    if (queue->foreign)
        TRY(copy_foreign(to, from, bytes));
    else if (bytes != entry->bytes || !copy_word(to, from, bytes))
        memmove(to, from, bytes);
    queue->done += bytes;
    return ACL_SUCCESS;
}

/* --- Entries --- */

static aclError record_notify(const aclcpuDmaEntry *entry)
{
    cpurt_notify_t *notify = NULL;

    TRY(cpurt_notify_by_number(entry->notify, &notify));
    cpurt_notify_post(notify);
    cpurt_notify_put(notify);
    return ACL_SUCCESS;
}

static aclError begin_entry(cpurt_dma_queue_t *queue)
{
    queue->entry = queue->memory->ring[queue->head % ACLCPU_DMA_DEPTH];
    queue->begun = true;
    queue->done = 0;
    queue->begin_ns = cpurt_trace_begin();
    switch (queue->entry.kind) {
    case ACLCPU_DMA_COPY:
        return begin_copy(queue);
    case ACLCPU_DMA_NOTIFY:
        queue->entry.bytes = 0;
        return record_notify(&queue->entry);
    default:
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "kind %u; known are %d, a notify, and %d, a copy",
                          queue->entry.kind, ACLCPU_DMA_NOTIFY, ACLCPU_DMA_COPY);
    }
}

static void trace_entry(const cpurt_dma_queue_t *queue)
{
    const bool is_copy = queue->entry.kind == ACLCPU_DMA_COPY;

    cpurt_trace_span(queue->begin_ns,
                     &(cpurt_span_t){.category = "dma",
                                     .name = is_copy ? "copy" : "notify record",
                                     .key = is_copy ? "bytes" : "notify",
                                     .value = is_copy ? queue->entry.bytes : queue->entry.notify,
                                     .lane = cpurt_dma_lane(queue)});
}

static aclError advance(cpurt_dma_queue_t *queue, uint64_t *room)
{
    if (!queue->begun)
        TRY(begin_entry(queue));
    const uint64_t left = queue->entry.bytes - queue->done;
    const uint64_t bytes = left < *room ? left : *room;
    if (bytes > 0)
        TRY(copy_piece(queue, bytes));
    *room -= bytes;
    if (queue->done == queue->entry.bytes) {
        queue->begun = false;
        queue->head++;
        __atomic_store_n(&queue->memory->head, queue->head, __ATOMIC_RELEASE);
        if (queue->begin_ns != 0)
            trace_entry(queue);
    }
    return ACL_SUCCESS;
}

static uint64_t draw(cpurt_dma_engine_t *engine)
{
    uint64_t value = engine->random += UINT64_C(0x9e3779b97f4a7c15);

    value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
    return value ^ (value >> 31);
}

/* Checked mode: whether the queue is passed over this time, and how much of it is done if not. */
static bool held(cpurt_dma_queue_t *queue, uint64_t *room, uint32_t *entries)
{
    cpurt_dma_engine_t *const engine = queue->engine;

    if (queue->hold > 0) {
        queue->hold--;
        return true;
    }
    queue->hold = (uint32_t)(draw(engine) % HOLD_MAX);
    *room = 1 + draw(engine) % ODD_PIECE;
    *entries = 1 + (uint32_t)(draw(engine) % 2);
    return false;
}

/* One turn of a queue; false when it has nothing to do. */
static bool visit(cpurt_dma_queue_t *queue)
{
    uint64_t room = PIECE;
    uint32_t entries = BATCH;

    if (queue->stopped)
        return false;
    const uint32_t tail = __atomic_load_n(&queue->memory->bell.value, __ATOMIC_SEQ_CST);
    if (tail == queue->head)
        return false;
    if (tail - queue->head > ACLCPU_DMA_DEPTH) {
        queue->entry.task = 0;
        stop(queue, cpurt_fail(ACL_ERROR_INVALID_PARAM,
                               "the doorbell says %u, which is %u entries ahead of a ring of %u", tail,
                               tail - queue->head, ACLCPU_DMA_DEPTH));
        return true;
    }
    if (cpurt_config()->check && held(queue, &room, &entries)) {
        (void)sched_yield();
        return true;
    }
    while (queue->head != tail && room > 0 && entries-- > 0) {
        const aclError error = advance(queue, &room);

        if (error != ACL_SUCCESS) {
            stop(queue, error);
            break;
        }
    }
    return true;
}

/* --- The thread --- */

static void let_go(cpurt_dma_engine_t *engine, cpurt_dma_queue_t *queue)
{
    atomic_store_explicit(&engine->queues[queue->id], NULL, memory_order_release);
    (void)pthread_mutex_lock(&queue->lock);
    queue->gone = true;
    (void)pthread_cond_broadcast(&queue->changed);
    (void)pthread_mutex_unlock(&queue->lock);
}

/* Once round all queues; false when none has anything to do. What others set before they look for a sleeper is read
 * in the one order of all such operations, so that the look before the sleep misses nothing. */
static bool go_round(cpurt_dma_engine_t *engine)
{
    const uint32_t first = cpurt_config()->check ? (uint32_t)(draw(engine) % ACLCPU_DMA_QUEUES) : 0;
    bool worked = false;

    for (uint32_t i = 0; i < ACLCPU_DMA_QUEUES; i++) {
        cpurt_dma_queue_t *const queue = atomic_load(&engine->queues[(first + i) % ACLCPU_DMA_QUEUES]);

        if (queue == NULL)
            continue;
        /* Asked first: what was in the ring before somebody closed it is in it now. */
        const bool closing = atomic_load(&queue->closing);
        const bool busy = visit(queue);
        if (closing && !busy)
            let_go(engine, queue);
        worked = worked || busy || closing;
    }
    return worked;
}

static void idle(cpurt_dma_engine_t *engine)
{
    for (int i = 0; i < IDLE_SPINS + IDLE_YIELDS; i++) {
        if (go_round(engine) || atomic_load(&engine->stop))
            return;
        if (i < IDLE_SPINS)
            cpurt_relax();
        else
            (void)sched_yield();
    }
    const uint32_t seen = cpurt_doorbell_announce(&engine->bell);
    if (go_round(engine) || atomic_load(&engine->stop))
        cpurt_doorbell_withdraw(&engine->bell);
    else
        cpurt_doorbell_sleep(&engine->bell, seen, LONG_SLEEP);
}

void *cpurt_dma_work(void *argument)
{
    cpurt_dma_engine_t *const engine = argument;

    while (!atomic_load(&engine->stop))
        if (!go_round(engine))
            idle(engine);
    return NULL;
}
