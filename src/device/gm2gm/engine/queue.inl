/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What ROCE and UDMA share: work queues, one per PE, that a proxy thread of this PE drains (host_device/engine.h). Any core
 * of any launch posts to any queue. A core waits in three places: for room in a queue, for a cell that takes an old value,
 * and for completion; all before it holds anything that others need, or when it holds a cell only.
 */
#ifndef ACLSHMEMI_DEVICE_QUEUE_INL
#define ACLSHMEMI_DEVICE_QUEUE_INL

#include "device/engine.inl"
#include "device/wait.inl"
#include "host_device/post.h"

#include <string.h>

/* An engine at work. */
typedef struct aclshmemi_port {
    const aclshmemi_state_t *state;
    const char *call;
    aclshmemi_engine_index_t engine;
    const aclshmemi_bank_t *bank;
} aclshmemi_queue_port_t;

ACLSHMEM_DEVICE const char *aclshmemi_queue_name(aclshmemi_engine_index_t engine)
{
    return engine == ACLSHMEMI_ENGINE_ROCE ? "ROCE" : "UDMA";
}

ACLSHMEM_DEVICE aclshmemi_queue_port_t aclshmemi_queue_port(const aclshmemi_state_t *state, const char *call,
                                                            aclshmemi_engine_index_t engine)
{
    aclshmemi_queue_port_t port;
    uint64_t info = engine == ACLSHMEMI_ENGINE_ROCE ? state->seen.qp_info : state->udma_info;
    if (__builtin_expect(info == 0, 0))
        aclshmemi_port_trap("%s: engine %s is not open; ask for it in data_op_engine_type at init", call,
                            aclshmemi_queue_name(engine));
    port.state = state;
    port.call = call;
    port.engine = engine;
    port.bank = (const aclshmemi_bank_t *)(uintptr_t)info;
    return port;
}

/* --- Waiting --- */

typedef struct aclshmemi_queue_wait {
    const aclshmemi_queue_port_t *port;
    const char *what;
    int pe;
} aclshmemi_queue_wait_t;

ACLSHMEM_DEVICE void aclshmemi_queue_describe(const aicore_wait_t *wait, char *out, size_t size)
{
    const aclshmemi_queue_wait_t *about = (const aclshmemi_queue_wait_t *)wait->subject;
    snprintf(out, size, "%s: %s of the %s queue to PE %d", about->port->call, about->what,
             aclshmemi_queue_name(about->port->engine), about->pe);
}

/* Everything below the ticket is over; a failure ends the launch. */
ACLSHMEM_DEVICE void aclshmemi_queue_wait_for(const aclshmemi_queue_port_t *port, int pe, uint64_t ticket)
{
    aclshmemi_queue_t *queue = aclshmemi_queue_of(port->bank, pe);
    aclshmemi_queue_wait_t about;
    aicore_wait_t wait;
    about.port = port;
    about.what = "completion";
    about.pe = pe;
    aclshmemi_wait_start(port->state, &wait, aclshmemi_queue_describe, &about);
    while (!aclshmemi_queue_is_done(queue, ticket))
        aclshmemi_port_wait_step(&wait, &queue->done, sizeof queue->done);
    int code = aclshmemi_queue_take_status(queue);
    if (__builtin_expect(code != 0, 0))
        aclshmemi_port_trap("%s: engine %s failed with code %d on a request to PE %d; the log has the reason",
                            port->call, aclshmemi_queue_name(port->engine), code, pe);
}

/* --- Posting --- */

/* Remembers the PEs that this core has posted to, as a range. */
ACLSHMEM_DEVICE void aclshmemi_queue_remember(const aclshmemi_queue_port_t *port, int pe)
{
    aclshmemi_core_t *core = aclshmemi_core();
    uint64_t *range = core->engine_word[port->engine], number = (uint64_t)pe + 1;
    if (range[0] == 0 || number < range[0])
        range[0] = number;
    if (number > range[1])
        range[1] = number;
    core->used |= 1u << port->engine;
}

/* Returns the ticket. What the core's scalar unit has stored is written back first: the proxy may read it. */
ACLSHMEM_DEVICE uint64_t aclshmemi_queue_post(const aclshmemi_queue_port_t *port, int pe,
                                              const aclshmemi_work_t *work)
{
    aclshmemi_queue_t *queue = aclshmemi_queue_of(port->bank, pe);
    uint64_t ticket = 0;
    if (__builtin_expect(queue->ring == 0, 0))
        aclshmemi_port_trap("%s: engine %s does not reach PE %d", port->call,
                            aclshmemi_queue_name(port->engine), pe);
    aclshmemi_port_cache_all();
    if (__builtin_expect(!aclshmemi_queue_try_post(queue, work, &ticket), 0)) {
        aclshmemi_queue_wait_t about;
        aicore_wait_t wait;
        about.port = port;
        about.what = "room";
        about.pe = pe;
        aclshmemi_wait_start(port->state, &wait, aclshmemi_queue_describe, &about);
        do
            aclshmemi_port_wait_step(&wait, aclshmemi_queue_next_turn(queue), sizeof(uint64_t));
        while (!aclshmemi_queue_try_post(queue, work, &ticket));
    }
    aclshmemi_queue_remember(port, pe);
    if (aclshmemi_bank_mark(port->bank, pe))
        aclshmemi_port_ring((aicore_doorbell_t *)(uintptr_t)port->bank->bell);
    return ticket;
}

ACLSHMEM_DEVICE aclshmemi_work_place_t aclshmemi_queue_place(const aclshmemi_queue_port_t *port,
                                                             const volatile void *there)
{
    aclshmemi_work_place_t place;
    uint64_t offset = 0;
    place.heap = (uint32_t)aclshmemi_heap_of(port->state, there, 1, &offset);
    place.offset = offset;
    place.reserved = 0;
    return place;
}

ACLSHMEM_DEVICE aclshmemi_work_t aclshmemi_queue_work(aclshmemi_work_kind_t kind)
{
    aclshmemi_work_t work;
    memset(&work, 0, sizeof work);
    work.kind = (uint8_t)kind;
    work.via = -1;
    return work;
}

/* A move, and what goes with it. */
typedef struct aclshmemi_queue_move {
    aclshmemi_work_kind_t kind;
    __gm__ void *there;
    __gm__ void *here;
    uint64_t bytes;
    int pe;
    int via;
    __gm__ uint64_t *word; /* set behind the data to value; NULL: none */
    uint64_t value;
} aclshmemi_queue_move_t;

/* In requests as large as the engine takes; the last one carries the word. */
ACLSHMEM_DEVICE void aclshmemi_queue_start(const aclshmemi_queue_port_t *port,
                                           const aclshmemi_queue_move_t *move)
{
    uint64_t most = UINT64_C(1) << port->bank->request_bytes_log2, from = 0;
    do {
        uint64_t left = move->bytes - from;
        aclshmemi_work_t work = aclshmemi_queue_work(move->kind);
        work.via = move->via;
        work.here = (uint64_t)(uintptr_t)move->here + from;
        work.bytes = left < most ? left : most;
        work.there = aclshmemi_queue_place(port, move->there);
        work.there.offset += from;
        if (move->word != NULL && left <= most) {
            work.signal = 1;
            work.word = aclshmemi_queue_place(port, move->word);
            work.op = ACLSHMEMI_AMO_STORE;
            work.type = ACLSHMEMI_AMO_64;
            work.value = move->value;
        }
        (void)aclshmemi_queue_post(port, move->pe, &work);
        from += work.bytes;
    } while (from < move->bytes);
}

ACLSHMEM_DEVICE aclshmemi_queue_move_t aclshmemi_queue_plain(aclshmemi_work_kind_t kind, __gm__ void *there,
                                                             __gm__ void *here, uint64_t bytes, int pe)
{
    aclshmemi_queue_move_t move;
    move.kind = kind;
    move.there = there;
    move.here = here;
    move.bytes = bytes;
    move.pe = pe;
    move.via = -1;
    move.word = NULL;
    move.value = 0;
    return move;
}

/* --- Atomics --- */

ACLSHMEM_DEVICE aclshmemi_result_t *aclshmemi_queue_cell(const aclshmemi_queue_port_t *port, int pe)
{
    uint32_t hint = aclshmemi_port_block() * 17;
    aclshmemi_result_t *cell = aclshmemi_bank_take_result(port->bank, hint);
    if (__builtin_expect(cell == NULL, 0)) {
        aclshmemi_queue_wait_t about;
        aicore_wait_t wait;
        about.port = port;
        about.what = "a cell for an old value";
        about.pe = pe;
        aclshmemi_wait_start(port->state, &wait, aclshmemi_queue_describe, &about);
        do
            aclshmemi_port_wait_step(&wait, NULL, 0);
        while ((cell = aclshmemi_bank_take_result(port->bank, hint)) == NULL);
    }
    return cell;
}

/* A core that is ended while it waits leaves its cell taken, since the proxy may still write there; there are many. */
ACLSHMEM_DEVICE uint64_t aclshmemi_queue_amo(const aclshmemi_queue_port_t *port, aclshmemi_amo_op_t op,
                                             aclshmemi_amo_type_t type, __gm__ void *there, uint64_t value,
                                             uint64_t condition, int pe, bool wanted, uint64_t *ticket)
{
    aclshmemi_work_t work = aclshmemi_queue_work(ACLSHMEMI_WORK_AMO);
    work.op = (uint8_t)op;
    work.type = (uint8_t)type;
    work.there = aclshmemi_queue_place(port, there);
    work.value = value;
    work.condition = condition;
    if (!wanted) {
        *ticket = aclshmemi_queue_post(port, pe, &work);
        return 0;
    }
    aclshmemi_result_t *cell = aclshmemi_queue_cell(port, pe);
    work.result = (uint64_t)(uintptr_t)cell;
    *ticket = aclshmemi_queue_post(port, pe, &work);
    aclshmemi_queue_wait_for(port, pe, *ticket);
    return aclshmemi_result_give_back(cell);
}

/* --- What the engines answer --- */

ACLSHMEM_DEVICE void aclshmemi_queue_signal(const aclshmemi_queue_port_t *port, __gm__ int32_t *word,
                                            int32_t value, int op, int pe)
{
    uint64_t ticket;
    (void)aclshmemi_queue_amo(port, op == ACLSHMEM_SIGNAL_SET ? ACLSHMEMI_AMO_STORE : ACLSHMEMI_AMO_PLUS,
                              ACLSHMEMI_AMO_32, (__gm__ void *)word, (uint32_t)value, 0, pe, false, &ticket);
}

/* Everything that was posted to the PE so far, by whom ever. */
ACLSHMEM_DEVICE void aclshmemi_queue_quiet_pe(const aclshmemi_queue_port_t *port, int pe)
{
    uint64_t tail = aclshmemi_queue_tail(aclshmemi_queue_of(port->bank, pe));
    if (tail != 0)
        aclshmemi_queue_wait_for(port, pe, tail - 1);
}

ACLSHMEM_DEVICE void aclshmemi_queue_quiet(const aclshmemi_state_t *state, const char *call,
                                           aclshmemi_engine_index_t engine)
{
    aclshmemi_core_t *core = aclshmemi_core();
    uint64_t *range = core->engine_word[engine];
    if (range[0] != 0) {
        aclshmemi_queue_port_t port = aclshmemi_queue_port(state, call, engine);
        for (uint64_t number = range[0]; number <= range[1]; number++)
            aclshmemi_queue_quiet_pe(&port, (int)number - 1);
        range[0] = range[1] = 0;
    }
    core->used &= ~(1u << engine);
    aclshmemi_port_cache_all();
}

#endif
