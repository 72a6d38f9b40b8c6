/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a work queue is filled, by kernels and by host threads alike. None of these waits: the caller has its own way to, and
 * may be ended in it.
 */
#ifndef ACLSHMEMI_HOST_DEVICE_POST_H
#define ACLSHMEMI_HOST_DEVICE_POST_H

#include "host_device/engine.h"

static inline aclshmemi_queue_t *aclshmemi_queue_of(const aclshmemi_bank_t *bank, int pe)
{
    return (aclshmemi_queue_t *)(uintptr_t)bank->queue + pe;
}

static inline aclshmemi_work_t *aclshmemi_queue_slot(const aclshmemi_queue_t *queue, uint64_t ticket)
{
    return (aclshmemi_work_t *)(uintptr_t)queue->ring + (ticket & (queue->depth - 1));
}

/* The word a full queue is waited on, for reports. */
static inline const uint64_t *aclshmemi_queue_next_turn(const aclshmemi_queue_t *queue)
{
    return &aclshmemi_queue_slot(queue, __atomic_load_n(&queue->tail, __ATOMIC_RELAXED))->turn;
}

/* Puts a copy of the request into the queue; false when it is full. *ticket: done has to pass it. */
static inline bool aclshmemi_queue_try_post(aclshmemi_queue_t *queue, const aclshmemi_work_t *work,
                                            uint64_t *ticket)
{
    uint64_t at = __atomic_load_n(&queue->tail, __ATOMIC_RELAXED);
    for (;;) {
        aclshmemi_work_t *slot = aclshmemi_queue_slot(queue, at);
        uint64_t turn = __atomic_load_n(&slot->turn, __ATOMIC_ACQUIRE);
        if (turn == at) {
            if (!__atomic_compare_exchange_n(&queue->tail, &at, at + 1, true, __ATOMIC_RELAXED,
                                             __ATOMIC_RELAXED))
                continue;
            __builtin_memcpy((char *)slot + sizeof slot->turn, (const char *)work + sizeof work->turn,
                             sizeof *work - sizeof work->turn);
            __atomic_store_n(&slot->turn, at + 1, __ATOMIC_RELEASE);
            *ticket = at;
            return true;
        }
        uint64_t seen = at;
        at = __atomic_load_n(&queue->tail, __ATOMIC_RELAXED);
        if (at == seen && turn != at)
            return false;
    }
}

/* After a post: marks the queue for the proxy. True when somebody has to ring the bell of the bank. */
static inline bool aclshmemi_bank_mark(const aclshmemi_bank_t *bank, int pe)
{
    uint64_t *ready = (uint64_t *)(uintptr_t)bank->ready + pe / 64;
    (void)__atomic_fetch_or(ready, UINT64_C(1) << (pe % 64), __ATOMIC_SEQ_CST);
    const aclshmemi_doorbell_t *bell = (const aclshmemi_doorbell_t *)(uintptr_t)bank->bell;
    return __atomic_load_n(&bell->sleepers, __ATOMIC_SEQ_CST) != 0;
}

static inline bool aclshmemi_queue_is_done(const aclshmemi_queue_t *queue, uint64_t ticket)
{
    return __atomic_load_n(&queue->done, __ATOMIC_ACQUIRE) > ticket;
}

/* Everything posted so far. */
static inline uint64_t aclshmemi_queue_tail(const aclshmemi_queue_t *queue)
{
    return __atomic_load_n(&queue->tail, __ATOMIC_ACQUIRE);
}

/* The failure that nobody has taken notice of, 0: none. Whoever asks has. */
static inline int aclshmemi_queue_take_status(aclshmemi_queue_t *queue)
{
    if (__atomic_load_n(&queue->status, __ATOMIC_RELAXED) == 0)
        return 0;
    return (int)__atomic_exchange_n(&queue->status, 0, __ATOMIC_ACQ_REL);
}

/* --- Cells for old values --- */

/* A free cell, the search starting at `hint`; NULL when all are taken. */
static inline aclshmemi_result_t *aclshmemi_bank_take_result(const aclshmemi_bank_t *bank, uint32_t hint)
{
    aclshmemi_result_t *cell = (aclshmemi_result_t *)(uintptr_t)bank->result;
    for (uint32_t i = 0; i < bank->results; i++) {
        aclshmemi_result_t *one = &cell[(hint + i) % bank->results];
        uint32_t no = 0;
        if (__atomic_load_n(&one->taken, __ATOMIC_RELAXED) == 0 &&
            __atomic_compare_exchange_n(&one->taken, &no, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return one;
    }
    return NULL;
}

static inline uint64_t aclshmemi_result_give_back(aclshmemi_result_t *cell)
{
    uint64_t value = cell->value;
    __atomic_store_n(&cell->taken, 0, __ATOMIC_RELEASE);
    return value;
}

#endif
