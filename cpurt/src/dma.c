/* SPDX-License-Identifier: Apache-2.0 */
/* Queues of the DMA engine as programs see them: making, asking, ending. */
#include "dma.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"

#define MAX_DEVICES 4096

pthread_mutex_t cpurt_dma_lock = PTHREAD_MUTEX_INITIALIZER;
static cpurt_dma_engine_t *engines[MAX_DEVICES]; /* of the devices that have queues */

static aclError create_engine(int device, cpurt_dma_engine_t **out)
{
    cpurt_dma_engine_t *const engine = calloc(1, sizeof *engine);

    if (engine == NULL)
        return cpurt_fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "out of memory for a DMA engine");
    engine->device = device;
    engine->random = cpurt_config()->check_seed;
    const aclError error = cpurt_thread_start(&engine->worker, "acl-dma", 0, cpurt_dma_work, engine);
    if (error != ACL_SUCCESS)
        free(engine);
    else
        *out = engine;
    return error;
}

/* Called with the lock of all engines held, as the next one is. */
static void leave_engine(cpurt_dma_engine_t *engine)
{
    if (--engine->count > 0)
        return;
    engines[engine->device] = NULL;
    atomic_store(&engine->stop, true);
    aicore_doorbell_ring(&engine->bell);
    (void)pthread_join(engine->worker, NULL);
    free(engine);
}

static void name_row(const cpurt_dma_queue_t *queue)
{
    char name[64];

    if (cpurt_tracing()) {
        (void)snprintf(name, sizeof name, "DMA queue %u of device %d", queue->id, queue->engine->device);
        cpurt_trace_name_lane(cpurt_dma_lane(queue), name);
    }
}

static aclError enter_engine(cpurt_dma_queue_t *queue, int device)
{
    cpurt_dma_engine_t *engine = engines[device];
    uint32_t id = 0;

    if (engine == NULL) {
        TRY(create_engine(device, &engine));
        engines[device] = engine;
    }
    while (id < ACLCPU_DMA_QUEUES && atomic_load_explicit(&engine->queues[id], memory_order_acquire) != NULL)
        id++;
    if (id == ACLCPU_DMA_QUEUES)
        return cpurt_fail(ACL_ERROR_RT_OVER_LIMIT, "all %u DMA queues of device %d are in use",
                          ACLCPU_DMA_QUEUES, device);
    engine->count++;
    queue->engine = engine;
    queue->id = id;
    name_row(queue);
    queue->memory->bell.at = (char *)&engine->bell - (char *)&queue->memory->bell;
    atomic_store(&engine->queues[id], queue);
    return ACL_SUCCESS;
}

static void destroy(cpurt_object_t *object)
{
    cpurt_dma_queue_t *const queue = (cpurt_dma_queue_t *)(void *)object;

    (void)aclrtFree(queue->memory);
    (void)pthread_cond_destroy(&queue->changed);
    (void)pthread_mutex_destroy(&queue->lock);
    free(queue);
}

static aclError new_queue(cpurt_dma_queue_t **out)
{
    cpurt_dma_queue_t *const queue = calloc(1, sizeof *queue);
    void *memory = NULL;

    if (queue == NULL || cpurt_cond_init(&queue->changed) != 0) {
        free(queue);
        return cpurt_fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "out of memory for a DMA queue");
    }
    const aclError error = aclrtMalloc(&memory, sizeof *queue->memory, ACL_MEM_MALLOC_NORMAL_ONLY);
    if (error != ACL_SUCCESS) {
        (void)pthread_cond_destroy(&queue->changed);
        free(queue);
        return error;
    }
    (void)pthread_mutex_init(&queue->lock, NULL);
    memset(memory, 0, sizeof *queue->memory);
    queue->memory = memory;
    cpurt_object_init(&queue->object, CPURT_DMA_QUEUE, destroy);
    *out = queue;
    return ACL_SUCCESS;
}

/* Lets the worker run the queue out, and gives its place back. */
static void close_queue(cpurt_dma_queue_t *queue)
{
    cpurt_dma_engine_t *const engine = queue->engine;

    atomic_store(&queue->closing, true);
    aicore_doorbell_ring(&engine->bell);
    (void)pthread_mutex_lock(&queue->lock);
    while (!queue->gone)
        (void)cpurt_cond_wait(&queue->changed, &queue->lock, CPURT_FOREVER);
    /* Programs that never ask should not fail in silence. */
    if (queue->failure != ACL_SUCCESS && !queue->fetched)
        (void)fprintf(stderr, "acl: a DMA queue ended with a failure nobody asked for: %s\n", queue->text);
    (void)pthread_mutex_unlock(&queue->lock);
    (void)pthread_mutex_lock(&cpurt_dma_lock);
    leave_engine(engine);
    (void)pthread_mutex_unlock(&cpurt_dma_lock);
    cpurt_object_put(&queue->object);
}

aclError aclcpuDmaQueueCreate(aclcpuDmaQueue *queue, aclcpuDmaQueueInfo *info)
{
    cpurt_dma_queue_t *made = NULL;
    int device = 0;

    TRY(cpurt_enter());
    if (queue == NULL || info == NULL)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclcpuDmaQueueCreate: a pointer is NULL");
    TRY(cpurt_device_current(&device));
    TRY(new_queue(&made));
    (void)pthread_mutex_lock(&cpurt_dma_lock);
    aclError error = enter_engine(made, device);
    (void)pthread_mutex_unlock(&cpurt_dma_lock);
    if (error != ACL_SUCCESS) {
        cpurt_object_put(&made->object);
        return error;
    }
    cpurt_dma_memory_t *const memory = made->memory;
    const aclcpuDmaQueueInfo what = {memory->ring,   &memory->bell,    &memory->head,
                                     &memory->error, ACLCPU_DMA_DEPTH, made->id};
    error = cpurt_handle_create(&made->object);
    if (error != ACL_SUCCESS) {
        close_queue(made);
        return error;
    }
    *info = what;
    *queue = made->object.handle;
    return ACL_SUCCESS;
}

aclError aclcpuDmaQueueQuery(aclcpuDmaQueue queue)
{
    cpurt_object_t *object = NULL;

    TRY(cpurt_enter());
    TRY(cpurt_handle_get(queue, CPURT_DMA_QUEUE, &object));
    cpurt_dma_queue_t *const found = (cpurt_dma_queue_t *)(void *)object;
    (void)pthread_mutex_lock(&found->lock);
    const aclError failure = found->failure;
    if (failure != ACL_SUCCESS) {
        cpurt_error_set(found->text);
        found->fetched = true;
    }
    (void)pthread_mutex_unlock(&found->lock);
    cpurt_object_put(object);
    return failure;
}

aclError aclcpuDmaQueueDestroy(aclcpuDmaQueue queue)
{
    cpurt_object_t *object = NULL;

    TRY(cpurt_enter());
    TRY(cpurt_handle_take(queue, CPURT_DMA_QUEUE, &object));
    close_queue((cpurt_dma_queue_t *)(void *)object);
    return ACL_SUCCESS;
}

static bool of_device(const cpurt_object_t *object, const void *device)
{
    const int wanted = *(const int *)device;

    return wanted < 0 || ((const cpurt_dma_queue_t *)(const void *)object)->engine->device == wanted;
}

void cpurt_dma_end(int device)
{
    for (cpurt_object_t *object;
         (object = cpurt_handle_take_any(CPURT_DMA_QUEUE, of_device, &device)) != NULL;)
        close_queue((cpurt_dma_queue_t *)(void *)object);
}
