/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The road that stays inside the host: the proxy copies between heaps that are mapped here. Every request is over when post
 * returns, so there is nothing to reap. It needs memory that host code can touch.
 */
#define LOG_MODULE "queue"
#include "host/transport/queue/queue.h"

#include <string.h>

#include "host_device/amo_apply.h"

static int loop_open(aclshmemi_transport_t *t, void **state)
{
    if (!npu_host_can_touch())
        return fail(ACLSHMEM_NOT_SUPPORTED,
                    "on this device runtime host code cannot touch device memory, and this build has no "
                    "network behind engine %s",
                    t->ops.name);
    *state = t;
    return 0;
}

static int loop_import(void *state, int pe, const void *blob, size_t bytes, bool *reached)
{
    const aclshmemi_transport_t *t = state;
    (void)blob;
    (void)bytes;
    *reached = t->site->device_base[pe] != NULL;
    return 0;
}

static char *address_of(const aclshmemi_transport_t *t, int pe, aclshmemi_work_place_t place)
{
    aclshmemi_remote_t at = {pe, place.heap == 0 ? ACLSHMEMI_NPU_ON_DEVICE : ACLSHMEMI_NPU_ON_HOST,
                             place.offset};
    return aclshmemi_transport_mapped_address(t, at);
}

static uint64_t apply(char *object, const aclshmemi_work_t *work, bool wanted)
{
    return aclshmemi_amo_apply(object, (aclshmemi_amo_op_t)work->op, (aclshmemi_amo_type_t)work->type,
                               work->value, work->condition, wanted);
}

static int loop_put(const aclshmemi_transport_t *t, int pe, const aclshmemi_work_t *work)
{
    char *there = address_of(t, pe, work->there), *word = work->signal ? address_of(t, pe, work->word) : NULL;
    if (there == NULL || (work->signal && word == NULL))
        return fail(ACLSHMEM_NOT_SUPPORTED, "the memory of PE %d is not mapped here", pe);
    if (work->bytes != 0)
        aclshmemi_transport_move(there, (const char *)(uintptr_t)work->here, work->bytes);
    if (word != NULL)
        (void)apply(word, work, false);
    aclshmemi_transport_ring(t, pe);
    return 0;
}

static int loop_amo(const aclshmemi_transport_t *t, int pe, const aclshmemi_work_t *work)
{
    char *object = address_of(t, pe, work->there);
    if (object == NULL)
        return fail(ACLSHMEM_NOT_SUPPORTED, "the memory of PE %d is not mapped here", pe);
    if (work->op >= ACLSHMEMI_AMO_OPS || work->type >= ACLSHMEMI_AMO_TYPES)
        return fail(ACLSHMEM_INNER_ERROR, "there is no atomic operation %u on type %u", work->op, work->type);
    uint64_t old = apply(object, work, work->result != 0);
    if (work->result != 0)
        ((aclshmemi_result_t *)(uintptr_t)work->result)->value = old;
    aclshmemi_transport_ring(t, pe);
    return 0;
}

static int loop_post(void *state, int pe, const aclshmemi_work_t *work, bool *pending)
{
    const aclshmemi_transport_t *t = state;
    *pending = false;
    switch (work->kind) {
    case ACLSHMEMI_WORK_PUT:
        return loop_put(t, pe, work);
    case ACLSHMEMI_WORK_AMO:
        return loop_amo(t, pe, work);
    case ACLSHMEMI_WORK_GET: {
        const char *there = address_of(t, pe, work->there);
        if (there == NULL)
            return fail(ACLSHMEM_NOT_SUPPORTED, "the memory of PE %d is not mapped here", pe);
        aclshmemi_transport_move((char *)(uintptr_t)work->here, there, work->bytes);
        return 0;
    }
    default:
        return fail(ACLSHMEM_INNER_ERROR, "kind %u of a request is unknown", work->kind);
    }
}

const aclshmemi_road_ops_t aclshmemi_road_loop = {
    .name = "loop",
    .open = loop_open,
    .import_blob = loop_import,
    .post = loop_post,
};
