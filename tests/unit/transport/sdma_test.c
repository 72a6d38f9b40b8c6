/* SPDX-License-Identifier: Apache-2.0 */
/* The transport over DMA queues: bytes in pieces, many threads on one channel, notifies, and what kernels are told. */
#define LOG_MODULE "test"
#include "road.h"

#include <stdlib.h>
#include <string.h>

#include "host_device/dma.h"

enum { BYTES = (3 << 20) + 5, THREADS = 6 };

static char here[BYTES], back[BYTES];

static void moves(void **unused)
{
    (void)unused;
    road_t road;
    aclshmemi_transport_t t;
    road_open(&road);
    road_transport_open(&road, &t, &aclshmemi_transport_sdma);
    const aclshmemi_dma_workspace_t *space = (const aclshmemi_dma_workspace_t *)(uintptr_t)t.ops.describe(&t);
    t_check(space->channels >= 1 && space->channels <= ACLSHMEMI_DMA_CHANNELS);
    for (size_t i = 0; i < BYTES; i++)
        here[i] = (char)(i * 7 + i / 300);
    uint32_t tail = aclshmemi_dma_tail(&space->channel[0]);
    t_check_int(t.ops.put(&t, road_at(1, 3), here, BYTES), 0);
    t_check_uint(aclshmemi_dma_tail(&space->channel[0]) - tail, 4); /* pieces of 1 MiB */
    t_check_memory(road.heap[1] + 3, here, BYTES);
    t_check_int(t.ops.get(&t, back, road_at(1, 3), BYTES), 0);
    t_check_memory(back, here, BYTES);
    t_check_int(t.ops.quiet(&t), 0);
    t_check(t.ops.notify(&t, 0) != NULL && t.ops.notify(&t, 0) != t.ops.notify(&t, 47));
    t_check(t.ops.notify(&t, 1) == t.ops.notify(&t, 49));
    aclshmemi_remote_t nowhere = {1, ACLSHMEMI_NPU_ON_HOST, 0};
    t_log_expect_clean();
    t_check_int(t.ops.put(&t, nowhere, here, 4), ACLSHMEM_NOT_SUPPORTED);
    t.ops.close(&t);
    road_close(&road);
}

static aclshmemi_transport_t shared;

static void *put_many(void *context)
{
    uint64_t number = (uint64_t)(uintptr_t)context;
    for (uint64_t i = 0; i < 2000; i++) {
        uint64_t value[ACLSHMEMI_DMA_BULK / 8], seen[ACLSHMEMI_DMA_BULK / 8] = {0};
        for (uint64_t k = 0; k < ACLSHMEMI_DMA_BULK / 8; k++)
            value[k] = number << 32 | (i + k);
        t_check_int(shared.ops.put(&shared, road_at(1, sizeof value * number), value, sizeof value), 0);
        if (i % 100 == 0) {
            t_check_int(shared.ops.get(&shared, seen, road_at(1, sizeof seen * number), sizeof seen), 0);
            t_check_memory(seen, value, sizeof value);
        }
    }
    return NULL;
}

/* More entries than the ring has places, from many threads. */
static void many_put(void **unused)
{
    (void)unused;
    road_t road;
    pthread_t thread[THREADS];
    road_open(&road);
    road_transport_open(&road, &shared, &aclshmemi_transport_sdma);
    for (uintptr_t i = 0; i < THREADS; i++)
        t_check_int(pthread_create(&thread[i], NULL, put_many, (void *)i), 0);
    for (int i = 0; i < THREADS; i++)
        t_check_int(pthread_join(thread[i], NULL), 0);
    t_log_expect_clean();
    shared.ops.close(&shared);
    road_close(&road);
}

int main(void)
{
    t_clean_environment();
    const struct CMUnitTest tests[] = {cmocka_unit_test(moves), cmocka_unit_test(many_put)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
