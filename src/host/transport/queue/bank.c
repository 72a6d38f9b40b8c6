/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of an engine's work queues. One block holds what every PE has; rings are made for the PEs that are reached, so
 * a large job costs 192 bytes per PE and no ring for those elsewhere.
 */
#define LOG_MODULE "queue"
#include "host/transport/queue/queue.h"

#include <stdlib.h>
#include <string.h>

enum { RESULTS = 1024 };

/* Where the parts of the block begin. */
typedef struct plan {
    size_t bell, ready, result, queue, bytes;
} plan_t;

static size_t lines(size_t bytes)
{
    return (bytes + ACLSHMEMI_LINE - 1) / ACLSHMEMI_LINE * ACLSHMEMI_LINE;
}

static plan_t make_plan(int n_pes)
{
    plan_t plan = {.bell = lines(sizeof(aclshmemi_bank_t))};
    plan.ready = plan.bell + lines(sizeof(aclshmemi_doorbell_t));
    plan.result = plan.ready + lines(((size_t)n_pes + 63) / 64 * sizeof(uint64_t));
    plan.queue = plan.result + lines(RESULTS * sizeof(aclshmemi_result_t));
    plan.bytes = plan.queue + (size_t)n_pes * sizeof(aclshmemi_queue_t);
    return plan;
}

int aclshmemi_bank_create(aclshmemi_queue_set_t *set)
{
    plan_t plan = make_plan(set->n_pes);
    set->started = calloc((size_t)set->n_pes, sizeof *set->started);
    if (set->started == NULL)
        return fail(ACLSHMEM_MALLOC_FAILED, "out of memory for the queues of %d PEs", set->n_pes);
    TRY(npu_host_alloc(plan.bytes, &set->block));
    memset(set->block, 0, plan.bytes);
    uint64_t start = (uint64_t)(uintptr_t)set->block;
    set->bank = set->block;
    *set->bank = (aclshmemi_bank_t){
        .version = ACLSHMEMI_BANK_VERSION,
        .queues = (uint32_t)set->n_pes,
        .queue = start + plan.queue,
        .ready = start + plan.ready,
        .result = start + plan.result,
        .results = RESULTS,
        .request_bytes_log2 = set->kind->request_bytes_log2,
        .bell = start + plan.bell,
    };
    for (int pe = 0; pe < set->n_pes; pe++)
        aclshmemi_queue_of(set->bank, pe)->pe = pe;
    return 0;
}

int aclshmemi_bank_connect(aclshmemi_queue_set_t *set, int pe)
{
    void *ring = NULL;
    uint32_t depth = set->kind->depth;
    TRY(npu_host_alloc(depth * sizeof(aclshmemi_work_t), &ring));
    memset(ring, 0, depth * sizeof(aclshmemi_work_t));
    for (uint32_t i = 0; i < depth; i++)
        ((aclshmemi_work_t *)ring)[i].turn = i;
    aclshmemi_queue_t *queue = aclshmemi_queue_of(set->bank, pe);
    queue->depth = depth;
    queue->ring = (uint64_t)(uintptr_t)ring;
    return 0;
}

void aclshmemi_bank_destroy(aclshmemi_queue_set_t *set)
{
    if (set->bank != NULL)
        for (int pe = 0; pe < set->n_pes; pe++)
            npu_host_free((void *)(uintptr_t)aclshmemi_queue_of(set->bank, pe)->ring);
    npu_host_free(set->block);
    free(set->started);
    set->block = NULL;
    set->bank = NULL;
    set->started = NULL;
}
