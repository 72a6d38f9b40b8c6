/* SPDX-License-Identifier: Apache-2.0 */
/* The host's half of a transport made of work queues: it posts like a kernel does, and waits. */
#define LOG_MODULE "queue"
#include "host/transport/queue/queue.h"

#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "host/utils/clock.h"

/* --- Waiting for the proxy --- */

typedef struct pause_state {
    aclshmemi_deadline_t deadline;
    uint32_t turns;
} pause_state_t;

enum { PAUSE_YIELDS = 200, PAUSE_MAX_US = 500 };

static pause_state_t pause_begin(const aclshmemi_queue_set_t *set)
{
    return (pause_state_t){.deadline =
                               aclshmemi_deadline_after_ms(set->transport->site->env->wait_timeout_ms)};
}

/* One step of waiting; false when the deadline has passed. */
static bool pause_step(pause_state_t *state)
{
    uint32_t turn = state->turns++;
    if (turn < PAUSE_YIELDS) {
        sched_yield();
        return true;
    }
    uint32_t us = turn - PAUSE_YIELDS < PAUSE_MAX_US ? turn - PAUSE_YIELDS + 1 : PAUSE_MAX_US;
    nanosleep(&(struct timespec){.tv_nsec = (long)us * 1000}, NULL);
    return !aclshmemi_deadline_passed(state->deadline);
}

static int too_late(const aclshmemi_queue_set_t *set, int pe, const char *what)
{
    return fail(ACLSHMEM_TIMEOUT_ERROR,
                "engine %s: %s of the queue to PE %d did not come within %llu ms (SHMEM_WAIT_TIMEOUT)",
                set->kind->name, what, pe, (unsigned long long)set->transport->site->env->wait_timeout_ms);
}

static int post(aclshmemi_queue_set_t *set, int pe, const aclshmemi_work_t *work, uint64_t *ticket)
{
    aclshmemi_queue_t *queue = aclshmemi_queue_of(set->bank, pe);
    if (queue->ring == 0)
        return fail(ACLSHMEM_NOT_SUPPORTED, "engine %s does not reach PE %d", set->kind->name, pe);
    pause_state_t pause = pause_begin(set);
    while (!aclshmemi_queue_try_post(queue, work, ticket))
        if (!pause_step(&pause))
            return too_late(set, pe, "a free place");
    if (aclshmemi_bank_mark(set->bank, pe))
        aclshmemi_proxy_wake(set);
    return 0;
}

static int wait_done(aclshmemi_queue_set_t *set, int pe, uint64_t ticket)
{
    aclshmemi_queue_t *queue = aclshmemi_queue_of(set->bank, pe);
    pause_state_t pause = pause_begin(set);
    while (!aclshmemi_queue_is_done(queue, ticket))
        if (!pause_step(&pause))
            return too_late(set, pe, "completion");
    int code = aclshmemi_queue_take_status(queue);
    if (code != 0)
        return fail(code, "engine %s: a request to PE %d failed", set->kind->name, pe);
    return 0;
}

/* --- The operations --- */

static aclshmemi_work_place_t place_of(aclshmemi_remote_t at)
{
    return (aclshmemi_work_place_t){.offset = at.offset, .heap = at.place == ACLSHMEMI_NPU_ON_HOST};
}

/* In pieces as large as a request may be. *ticket: of the last one. */
static int start(aclshmemi_queue_set_t *set, aclshmemi_work_kind_t kind, aclshmemi_remote_t there,
                 uint64_t here, size_t bytes, uint64_t *ticket)
{
    uint64_t most = UINT64_C(1) << set->bank->request_bytes_log2;
    for (uint64_t from = 0; from < bytes; from += most) {
        aclshmemi_work_t work = {
            .kind = (uint8_t)kind,
            .via = -1,
            .here = here + from,
            .bytes = bytes - from < most ? bytes - from : most,
            .there = place_of(there),
        };
        work.there.offset += from;
        TRY(post(set, there.pe, &work, ticket));
    }
    return 0;
}

static int transfer(aclshmemi_transport_t *t, aclshmemi_work_kind_t kind, aclshmemi_remote_t there,
                    uint64_t here, size_t bytes)
{
    uint64_t ticket = 0;
    if (bytes == 0)
        return 0;
    TRY(start(t->state, kind, there, here, bytes, &ticket));
    return wait_done(t->state, there.pe, ticket);
}

int aclshmemi_queue_start_put(aclshmemi_transport_t *t, aclshmemi_remote_t to, const void *from, size_t bytes)
{
    uint64_t ticket;
    return start(t->state, ACLSHMEMI_WORK_PUT, to, (uint64_t)(uintptr_t)from, bytes, &ticket);
}

int aclshmemi_queue_start_get(aclshmemi_transport_t *t, void *to, aclshmemi_remote_t from, size_t bytes)
{
    uint64_t ticket;
    return start(t->state, ACLSHMEMI_WORK_GET, from, (uint64_t)(uintptr_t)to, bytes, &ticket);
}

int aclshmemi_queue_put(aclshmemi_transport_t *t, aclshmemi_remote_t to, const void *from, size_t bytes)
{
    return transfer(t, ACLSHMEMI_WORK_PUT, to, (uint64_t)(uintptr_t)from, bytes);
}

int aclshmemi_queue_get(aclshmemi_transport_t *t, void *to, aclshmemi_remote_t from, size_t bytes)
{
    return transfer(t, ACLSHMEMI_WORK_GET, from, (uint64_t)(uintptr_t)to, bytes);
}

static int take_cell(aclshmemi_queue_set_t *set, int pe, aclshmemi_result_t **cell)
{
    pause_state_t pause = pause_begin(set);
    while ((*cell = aclshmemi_bank_take_result(set->bank, (uint32_t)pe * 7)) == NULL)
        if (!pause_step(&pause))
            return too_late(set, pe, "a cell for the old value");
    return 0;
}

int aclshmemi_queue_amo(aclshmemi_transport_t *t, aclshmemi_remote_t to,
                        const aclshmemi_amo_request_t *request, uint64_t *old)
{
    aclshmemi_queue_set_t *set = t->state;
    aclshmemi_result_t *cell = NULL;
    uint64_t ticket = 0;
    aclshmemi_work_t work = {
        .kind = ACLSHMEMI_WORK_AMO,
        .op = (uint8_t)request->op,
        .type = (uint8_t)request->type,
        .via = -1,
        .there = place_of(to),
        .value = request->value,
        .condition = request->condition,
    };
    if (!request->wanted)
        return post(set, to.pe, &work, &ticket);
    TRY(take_cell(set, to.pe, &cell));
    work.result = (uint64_t)(uintptr_t)cell;
    int rc = post(set, to.pe, &work, &ticket);
    if (rc != 0) {
        (void)aclshmemi_result_give_back(cell);
        return rc;
    }
    /* After a time-out the cell stays taken: the proxy may still write to it. */
    rc = wait_done(set, to.pe, ticket);
    if (aclshmemi_queue_is_done(aclshmemi_queue_of(set->bank, to.pe), ticket)) {
        uint64_t found = aclshmemi_result_give_back(cell);
        if (rc == 0)
            *old = found;
    }
    return rc;
}

/* Whatever was posted, by whom ever. */
int aclshmemi_queue_quiet(aclshmemi_transport_t *t)
{
    aclshmemi_queue_set_t *set = t->state;
    int rc = 0;
    for (int pe = 0; pe < set->n_pes; pe++) {
        aclshmemi_queue_t *queue = aclshmemi_queue_of(set->bank, pe);
        uint64_t tail = aclshmemi_queue_tail(queue);
        int one = tail == 0 ? 0 : wait_done(set, pe, tail - 1);
        if (rc == 0)
            rc = one;
    }
    return rc;
}

/* --- Life --- */

int aclshmemi_queue_open(aclshmemi_transport_t *t, const aclshmemi_queue_kind_t *kind)
{
    aclshmemi_queue_set_t *set = calloc(1, sizeof *set);
    if (set == NULL)
        return fail(ACLSHMEM_MALLOC_FAILED, "out of memory for engine %s", kind->name);
    set->kind = kind;
    set->transport = t;
    set->n_pes = t->site->n_pes;
    t->state = set;
    int rc = kind->road->open(t, &set->road);
    if (rc != 0)
        goto free_set;
    rc = aclshmemi_bank_create(set);
    if (rc != 0)
        goto destroy_bank;
    rc = aclshmemi_proxy_start(set);
    if (rc == 0)
        return 0;
destroy_bank:
    aclshmemi_bank_destroy(set);
    if (kind->road->close != NULL)
        kind->road->close(set->road);
free_set:
    free(set);
    t->state = NULL;
    return rc;
}

void aclshmemi_queue_close(aclshmemi_transport_t *t)
{
    aclshmemi_queue_set_t *set = t->state;
    if (set == NULL)
        return;
    aclshmemi_proxy_stop(set);
    if (set->kind->road->close != NULL)
        set->kind->road->close(set->road);
    aclshmemi_bank_destroy(set);
    free(set);
    t->state = NULL;
}

int aclshmemi_queue_export(aclshmemi_transport_t *t, void *blob, size_t *bytes)
{
    const aclshmemi_queue_set_t *set = t->state;
    *bytes = 0;
    return set->kind->road->export_blob == NULL ? 0 : set->kind->road->export_blob(set->road, blob, bytes);
}

int aclshmemi_queue_import(aclshmemi_transport_t *t, int pe, const void *blob, size_t bytes, bool *reached)
{
    aclshmemi_queue_set_t *set = t->state;
    bool found = false;
    TRY(set->kind->road->import_blob(set->road, pe, blob, bytes, &found));
    if (found)
        TRY(aclshmemi_bank_connect(set, pe));
    *reached = found;
    return 0;
}

uint64_t aclshmemi_queue_describe(aclshmemi_transport_t *t)
{
    const aclshmemi_queue_set_t *set = t->state;
    return (uint64_t)(uintptr_t)set->bank;
}
