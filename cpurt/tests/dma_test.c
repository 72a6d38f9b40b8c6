/* SPDX-License-Identifier: Apache-2.0 */
/* The DMA engine: copies of every size, order within a queue, notifies behind copies, entries that are wrong. */
#include "support.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "acl/acl_cpu.h"
#include "aicore/aicore.h"

#define MIB ((size_t)1 << 20)

typedef struct queue {
    aclcpuDmaQueue handle;
    aclcpuDmaQueueInfo info;
    uint32_t tail;
} queue_t;

static void create(queue_t *queue)
{
    *queue = (queue_t){0};
    ok(aclcpuDmaQueueCreate(&queue->handle, &queue->info));
}

static void destroy(queue_t *queue)
{
    ok(aclcpuDmaQueueDestroy(queue->handle));
}

static uint32_t head(const queue_t *queue)
{
    return __atomic_load_n(queue->info.head, __ATOMIC_ACQUIRE);
}

/* True when the queue has come that far; false when it has stopped before. */
static bool reaches(const queue_t *queue, uint32_t count)
{
    while ((int32_t)(head(queue) - count) < 0) {
        if (__atomic_load_n(queue->info.error, __ATOMIC_ACQUIRE) != 0)
            return false;
        (void)sched_yield();
    }
    return true;
}

static void fill(queue_t *queue, const aclcpuDmaEntry *entry)
{
    assert_true(reaches(queue, queue->tail + 1 - queue->info.depth)); /* room */
    queue->info.ring[queue->tail % queue->info.depth] = *entry;
    queue->tail++;
}

static void ring(queue_t *queue)
{
    aicore_doorbell_store(queue->info.doorbell, queue->tail);
}

static void post_copy(queue_t *queue, void *to, const void *from, uint64_t bytes)
{
    const aclcpuDmaEntry entry = {.kind = ACLCPU_DMA_COPY,
                                  .task = queue->tail,
                                  .bytes = bytes,
                                  .source = (uintptr_t)from,
                                  .dest = (uintptr_t)to};

    fill(queue, &entry);
    ring(queue);
}

static void pattern(unsigned char *memory, size_t bytes, unsigned int seed)
{
    for (size_t i = 0; i < bytes; i++)
        memory[i] = (unsigned char)(i * 7 + (i >> 8) + seed);
}

/* --- Copies --- */

static void copy_and_compare(queue_t *queue, unsigned char *to, unsigned char *from, size_t bytes,
                             unsigned int seed)
{
    pattern(from, bytes + 1, seed);
    memset(to, 0x5a, bytes + 1);
    post_copy(queue, to, from, bytes);
    assert_true(reaches(queue, queue->tail));
    assert_memory_equal(to, from, bytes);
    assert_int_equal(to[bytes], 0x5a);
}

static void any_size_and_place(void **state)
{
    const size_t sizes[] = {0, 1, 2, 3, 4, 7, 8, 9, 64, 4095, 65536, 256 * 1024 + 1, 700 * 1024 + 5};
    enum { ROOM = MIB };
    unsigned char *device = NULL, *host = NULL, *heap = NULL;
    queue_t queue;

    (void)state;
    create(&queue);
    ok(aclrtMalloc((void **)&device, ROOM, ACL_MEM_MALLOC_HUGE_FIRST));
    ok(aclrtMallocHost((void **)&host, ROOM));
    assert_non_null(heap = malloc(ROOM)); /* memory the runtime knows nothing of */
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (size_t shift = 0; shift < 2; shift++) {
            copy_and_compare(&queue, device, host + shift, sizes[i], (unsigned int)i);
            copy_and_compare(&queue, heap + shift, device, sizes[i], (unsigned int)i + 1);
            copy_and_compare(&queue, host, heap, sizes[i], (unsigned int)i + 2);
        }
    assert_int_equal(head(&queue), queue.tail);
    assert_int_equal(*queue.info.error, 0);
    ok(aclcpuDmaQueueQuery(queue.handle));
    destroy(&queue);
    ok(aclrtFree(device));
    ok(aclrtFreeHost(host));
    free(heap);
}

static void overlapping(void **state)
{
    enum { BYTES = MIB };
    const size_t shifts[] = {1, 100, 300 * 1024};
    unsigned char *memory = NULL, *wanted = NULL;
    queue_t queue;

    (void)state;
    create(&queue);
    ok(aclrtMalloc((void **)&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    assert_non_null(wanted = malloc(BYTES));
    for (size_t i = 0; i < sizeof shifts / sizeof shifts[0]; i++)
        for (int up = 0; up < 2; up++) {
            const size_t bytes = BYTES - shifts[i], to = up ? shifts[i] : 0, from = up ? 0 : shifts[i];

            pattern(memory, BYTES, 1);
            memcpy(wanted, memory, BYTES);
            memmove(wanted + to, wanted + from, bytes);
            post_copy(&queue, memory + to, memory + from, bytes);
            assert_true(reaches(&queue, queue.tail));
            assert_memory_equal(memory, wanted, BYTES);
        }
    destroy(&queue);
    ok(aclrtFree(memory));
    free(wanted);
}

static void mapped_memory(void **state)
{
    const aclrtPhysicalMemProp prop = {.memAttr = ACL_HBM_MEM_NORMAL,
                                       .location = {0, ACL_MEM_LOCATION_TYPE_DEVICE}};
    aclrtDrvMemHandle first = NULL, second = NULL;
    unsigned char *range = NULL;
    queue_t queue;

    (void)state;
    create(&queue);
    ok(aclrtReserveMemAddress((void **)&range, 6 * MIB, 0, NULL, 0));
    ok(aclrtMallocPhysical(&first, 2 * MIB, &prop, 0));
    ok(aclrtMallocPhysical(&second, 2 * MIB, &prop, 0));
    ok(aclrtMapMem(range, 2 * MIB, 0, first, 0));
    ok(aclrtMapMem(range + 2 * MIB, 2 * MIB, 0, second, 0));
    /* Across the border between two mappings, then over the end of both. */
    copy_and_compare(&queue, range + 2 * MIB - 1000, range, 2000, 3);
    post_copy(&queue, range + 4 * MIB - 1000, range, 2000);
    assert_false(reaches(&queue, queue.tail));
    fails(aclcpuDmaQueueQuery(queue.handle), ACL_ERROR_INVALID_PARAM, "nothing is mapped at");
    destroy(&queue);
    ok(aclrtUnmapMem(range));
    ok(aclrtUnmapMem(range + 2 * MIB));
    ok(aclrtFreePhysical(first));
    ok(aclrtFreePhysical(second));
    ok(aclrtReleaseMemAddress(range));
}

/* --- Order --- */

/* A value goes through a row of cells; out of order, or two entries at a time, it would not arrive. */
static void in_order(void **state)
{
    enum { CELLS = 600, ROUNDS = 10 };
    uint64_t *cells = NULL;
    queue_t queue;

    (void)state;
    create(&queue);
    ok(aclrtMalloc((void **)&cells, CELLS * sizeof *cells, ACL_MEM_MALLOC_HUGE_FIRST));
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        cells[0] = round;
        for (uint32_t i = 0; i + 1 < CELLS; i++)
            post_copy(&queue, &cells[i + 1], &cells[i], sizeof *cells);
        assert_true(reaches(&queue, queue.tail));
        for (uint32_t i = 0; i < CELLS; i++)
            assert_int_equal(cells[i], round);
    }
    destroy(&queue);
    ok(aclrtFree(cells));
}

/* The flag that a copy of a word sets is never seen before what was copied ahead of it. */
static void flag_behind_data(void **state)
{
    enum { WORDS = 70000, ROUNDS = 8 };
    uint32_t *from = NULL, *to = NULL;
    uint64_t flag = 0, value = 0;
    queue_t queue;

    (void)state;
    create(&queue);
    ok(aclrtMalloc((void **)&from, WORDS * sizeof *from, ACL_MEM_MALLOC_HUGE_FIRST));
    ok(aclrtMalloc((void **)&to, WORDS * sizeof *to, ACL_MEM_MALLOC_HUGE_FIRST));
    uint64_t *const box = aligned_alloc(64, 128);
    assert_non_null(box);
    memset(box, 0, 128);
    ok(aclrtHostRegister(box, 128, ACL_HOST_REGISTER_MAPPED, &(void *){NULL}));
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        for (uint32_t i = 0; i < WORDS; i++)
            from[i] = round;
        box[0] = value = round;
        post_copy(&queue, to, from, WORDS * sizeof *to);
        post_copy(&queue, &box[8], &box[0], sizeof value);
        while ((flag = __atomic_load_n(&box[8], __ATOMIC_ACQUIRE)) != value)
            (void)sched_yield();
        assert_memory_equal(to, from, WORDS * sizeof *to);
    }
    destroy(&queue);
    ok(aclrtHostUnregister(box));
    free(box);
    ok(aclrtFree(from));
    ok(aclrtFree(to));
}

static void post_notify(queue_t *queue, uint32_t number)
{
    const aclcpuDmaEntry entry = {.kind = ACLCPU_DMA_NOTIFY, .task = queue->tail, .notify = number};

    fill(queue, &entry);
    ring(queue);
}

/* A stream that waits for the notify reads what was copied ahead of it, round after round. */
static void notify_behind_copy(void **state)
{
    enum { BYTES = 700 * 1024, ROUNDS = 30 };
    unsigned char *from = NULL, *to = NULL, *seen = NULL;
    aclrtNotify notify = NULL;
    aclrtStream stream = NULL;
    uint32_t number = 0;
    queue_t queue;

    (void)state;
    create(&queue);
    ok(aclrtCreateStream(&stream));
    ok(aclrtCreateNotify(&notify, 0));
    ok(aclrtGetNotifyId(notify, &number));
    ok(aclrtMalloc((void **)&from, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    ok(aclrtMalloc((void **)&to, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    ok(aclrtMallocHost((void **)&seen, BYTES));
    for (unsigned int round = 1; round <= ROUNDS; round++) {
        const size_t bytes = 1 + round * 7919 % BYTES;

        memset(from, (int)round, bytes);
        ok(aclrtWaitAndResetNotify(notify, stream, 0));
        ok(aclrtMemcpyAsync(seen, BYTES, to, bytes, ACL_MEMCPY_DEVICE_TO_HOST, stream));
        post_copy(&queue, to, from, bytes);
        post_notify(&queue, number);
        ok(aclrtSynchronizeStream(stream));
        assert_int_equal(seen[0], round);
        assert_int_equal(seen[bytes / 2], round);
        assert_int_equal(seen[bytes - 1], round);
    }
    destroy(&queue);
    ok(aclrtDestroyNotify(notify));
    ok(aclrtDestroyStream(stream));
    ok(aclrtFree(from));
    ok(aclrtFree(to));
    ok(aclrtFreeHost(seen));
}

/* --- Many queues, filled by kernels --- */

typedef struct channel {
    aclcpuDmaEntry *ring;
    aicore_doorbell_t *bell;
    volatile uint32_t *head;
    uint32_t depth;
} channel_t;

/* Each core shifts its row of bytes along, a queue of its own doing the work; for some with more entries than the ring
 * holds. */
ACL_KERNEL(shift_rows, const channel_t *, channels, uint8_t *, rows, uint32_t, row_bytes)
{
    const uint32_t me = aicore_block_index(), count = me % 16 == 0 ? row_bytes - 1 : 100;
    const channel_t *const channel = &channels[me];
    uint8_t *const row = rows + (size_t)me * row_bytes;

    for (uint32_t tail = 0; tail < count; tail++) {
        while (tail - __atomic_load_n(channel->head, __ATOMIC_ACQUIRE) >= channel->depth)
            aicore_poll(channel->head, 4);
        const aclcpuDmaEntry entry = {.kind = ACLCPU_DMA_COPY,
                                      .task = tail,
                                      .bytes = 1,
                                      .source = (uintptr_t)&row[tail],
                                      .dest = (uintptr_t)&row[tail + 1]};
        channel->ring[tail % channel->depth] = entry;
        aicore_doorbell_store(channel->bell, tail + 1);
    }
    while (__atomic_load_n(channel->head, __ATOMIC_ACQUIRE) != count)
        aicore_poll(channel->head, 4);
}

static void kernels_fill_all_queues(void **state)
{
    enum { COUNT = ACLCPU_DMA_DEPTH + 100, ROW = COUNT + 1 };
    queue_t queues[ACLCPU_DMA_QUEUES];
    channel_t *channels = NULL;
    uint8_t *rows = NULL;
    aclrtFuncHandle kernel = NULL;
    aclcpuDmaQueue more = NULL;
    aclcpuDmaQueueInfo info;

    (void)state;
    ok(aclrtMalloc((void **)&channels, ACLCPU_DMA_QUEUES * sizeof *channels, ACL_MEM_MALLOC_HUGE_FIRST));
    ok(aclrtMalloc((void **)&rows, (size_t)ACLCPU_DMA_QUEUES * ROW, ACL_MEM_MALLOC_HUGE_FIRST));
    memset(rows, 0, (size_t)ACLCPU_DMA_QUEUES * ROW);
    for (uint32_t i = 0; i < ACLCPU_DMA_QUEUES; i++) {
        create(&queues[i]);
        assert_int_equal(queues[i].info.id, i);
        channels[i] = (channel_t){queues[i].info.ring, queues[i].info.doorbell, queues[i].info.head,
                                  queues[i].info.depth};
        rows[(size_t)i * ROW] = (uint8_t)(i + 1);
    }
    fails(aclcpuDmaQueueCreate(&more, &info), ACL_ERROR_RT_OVER_LIMIT, "all 48");
    const struct shift_rows_args args = {channels, rows, ROW};
    ok(aclrtBinaryGetFunction(NULL, "shift_rows", &kernel));
    ok(aclrtLaunchKernel(kernel, ACLCPU_DMA_QUEUES, &args, sizeof args, NULL));
    ok(aclrtSynchronizeStream(NULL));
    for (uint32_t i = 0; i < ACLCPU_DMA_QUEUES; i++) {
        uint8_t wanted[ROW];

        memset(wanted, (int)(i + 1), sizeof wanted);
        assert_memory_equal(rows + (size_t)i * ROW, wanted, i % 16 == 0 ? ROW : 101);
    }
    for (uint32_t i = 0; i < ACLCPU_DMA_QUEUES; i++)
        destroy(&queues[i]);
    ok(aclrtFree(channels));
    ok(aclrtFree(rows));
}

/* The slow queue starts the fast one itself, by a copy to its doorbell, then goes on with a long copy and a flag. What the
 * fast one finds at the flag tells whether it had to wait. */
static void queues_take_turns(void **state)
{
    enum { BYTES = 2 * MIB };
    unsigned char *from = NULL, *to = NULL;
    uint64_t *cells = NULL; /* the flag, its value, what the fast queue has seen, its tail */
    queue_t slow, fast;

    (void)state;
    create(&slow);
    create(&fast);
    ok(aclrtMalloc((void **)&from, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    ok(aclrtMalloc((void **)&to, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    ok(aclrtMalloc((void **)&cells, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    memset(cells, 0, 64);
    cells[1] = 1;
    cells[2] = 5;
    cells[3] = 1;
    const aclcpuDmaEntry look = {
        .kind = ACLCPU_DMA_COPY, .bytes = 8, .source = (uintptr_t)&cells[0], .dest = (uintptr_t)&cells[2]};
    fill(&fast, &look); /* and no ring */
    const struct {
        void *to, *from;
        uint64_t bytes;
    } parts[] = {{fast.info.doorbell, &cells[3], 4}, {to, from, BYTES}, {&cells[0], &cells[1], 8}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const aclcpuDmaEntry entry = {.kind = ACLCPU_DMA_COPY,
                                      .bytes = parts[i].bytes,
                                      .source = (uintptr_t)parts[i].from,
                                      .dest = (uintptr_t)parts[i].to};
        fill(&slow, &entry);
    }
    ring(&slow);
    assert_true(reaches(&slow, 3));
    assert_true(reaches(&fast, 1));
    assert_int_equal(cells[0], 1);
    assert_int_equal(cells[2], 0);
    destroy(&fast);
    destroy(&slow);
    ok(aclrtFree(from));
    ok(aclrtFree(to));
    ok(aclrtFree(cells));
}

/* --- Wrong entries --- */

static void stops_with(const aclcpuDmaEntry *entry, const char *words)
{
    uint64_t *cells = NULL;
    queue_t queue, other;

    create(&queue);
    create(&other);
    ok(aclrtMalloc((void **)&cells, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    memset(cells, 0, 64);
    cells[0] = 7;
    post_copy(&queue, &cells[1], &cells[0], 8);
    fill(&queue, entry);
    ring(&queue);
    post_copy(&queue, &cells[2], &cells[0], 8); /* behind it: never done */
    assert_false(reaches(&queue, queue.tail));
    assert_int_equal(head(&queue), 1);
    fails(aclcpuDmaQueueQuery(queue.handle), (aclError)*queue.info.error, words);
    fails(aclcpuDmaQueueQuery(queue.handle), (aclError)*queue.info.error, "entry 1 (task 77)");
    post_copy(&other, &cells[3], &cells[0], 8); /* the others go on */
    assert_true(reaches(&other, 1));
    destroy(&other);
    destroy(&queue);
    assert_int_equal(cells[1], 7);
    assert_int_equal(cells[2], 0);
    assert_int_equal(cells[3], 7);
    ok(aclrtFree(cells));
}

static void wrong_entries(void **state)
{
    unsigned char *device = NULL, *range = NULL;
    char local[64];

    (void)state;
    ok(aclrtMalloc((void **)&device, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    ok(aclrtReserveMemAddress((void **)&range, 2 * MIB, 0, NULL, 0));
    unsigned char *const hole = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(hole != MAP_FAILED);
    const aclcpuDmaEntry good = {.kind = ACLCPU_DMA_COPY,
                                 .task = 77,
                                 .bytes = 64,
                                 .source = (uintptr_t)local,
                                 .dest = (uintptr_t)device};
    memset(local, 1, sizeof local);
    aclcpuDmaEntry bad = good;
    bad.source = 0;
    stops_with(&bad, "source");
    bad = good;
    bad.dest = 0;
    stops_with(&bad, "destination");
    bad.dest = UINTPTR_MAX - 10;
    stops_with(&bad, "nothing can be");
    bad.dest = (uintptr_t)range;
    stops_with(&bad, "nothing is mapped");
    bad.dest = (uintptr_t)device + 4096 - 63;
    stops_with(&bad, "device memory ends");
    bad.dest = (uintptr_t)hole;
    stops_with(&bad, "cannot be touched");
    bad = good;
    bad.source = (uintptr_t)hole;
    stops_with(&bad, "cannot be touched");
    bad = good;
    bad.bytes = UINT64_MAX;
    stops_with(&bad, "nothing can be");
    bad = good;
    bad.kind = 3;
    stops_with(&bad, "kind 3");
    bad = (aclcpuDmaEntry){.kind = ACLCPU_DMA_NOTIFY, .task = 77, .notify = 8191};
    stops_with(&bad, "no notify with the number 8191");
    bad.notify = UINT32_MAX;
    stops_with(&bad, "no notify");
    assert_int_equal(munmap(hole, 8192), 0);
    ok(aclrtReleaseMemAddress(range));
    ok(aclrtFree(device));
}

static void wrong_doorbell(void **state)
{
    queue_t queue;

    (void)state;
    create(&queue);
    aicore_doorbell_store(queue.info.doorbell, queue.info.depth + 1);
    assert_false(reaches(&queue, 1));
    fails(aclcpuDmaQueueQuery(queue.handle), ACL_ERROR_INVALID_PARAM, "ahead of a ring");
    destroy(&queue);
    fails(aclcpuDmaQueueDestroy(queue.handle), ACL_ERROR_RT_INVALID_HANDLE, "no queue of the DMA engine");
    fails(aclcpuDmaQueueQuery(queue.handle), ACL_ERROR_RT_INVALID_HANDLE, "no queue of the DMA engine");
    fails(aclcpuDmaQueueCreate(NULL, &queue.info), ACL_ERROR_INVALID_PARAM, "NULL");
    fails(aclcpuDmaQueueCreate(&queue.handle, NULL), ACL_ERROR_INVALID_PARAM, "NULL");
}

/* --- Life --- */

/* A worker that sleeps is woken by a store to any doorbell of its queues. */
static void wakes_up(void **state)
{
    uint64_t *cells = NULL;
    queue_t first, second;

    (void)state;
    create(&first);
    create(&second);
    ok(aclrtMalloc((void **)&cells, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int round = 0; round < 20; round++) {
        queue_t *const queue = round % 2 == 0 ? &first : &second;
        const aicore_doorbell_t *const own = queue->info.doorbell;
        const aicore_doorbell_t *const shared =
            (const aicore_doorbell_t *)(const void *)((const char *)own + own->at);

        while (__atomic_load_n(&shared->sleepers, __ATOMIC_ACQUIRE) == 0)
            (void)sched_yield();
        post_copy(queue, &cells[1], &cells[0], 8);
        assert_true(reaches(queue, queue->tail));
    }
    destroy(&first);
    destroy(&second);
    ok(aclrtFree(cells));
}

static void ends_with_its_device(void **state)
{
    enum { BYTES = 4 * MIB };
    unsigned char *from = NULL, *to = NULL;
    t_holdings_t before, after;
    size_t free_before = 0, free_after = 0, total = 0;
    queue_t queue;

    (void)state;
    ok(aclrtMalloc((void **)&from, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    ok(aclrtMalloc((void **)&to, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    memset(from, 9, BYTES);
    before = t_holdings();
    for (int round = 0; round < 5; round++) {
        memset(to, 0, BYTES);
        ok(aclrtSetDevice(1));
        ok(aclrtGetMemInfo(ACL_HBM_MEM, &free_before, &total));
        create(&queue);
        post_copy(&queue, to, from, BYTES);
        if (round % 2 == 0)
            destroy(&queue);
        ok(aclrtResetDevice(1)); /* waits for what is queued, and takes memory and worker back */
        assert_int_equal(to[BYTES - 1], 9);
        fails(aclcpuDmaQueueQuery(queue.handle), ACL_ERROR_RT_INVALID_HANDLE, "no queue");
        ok(aclrtSetDevice(1));
        ok(aclrtGetMemInfo(ACL_HBM_MEM, &free_after, &total));
        assert_int_equal(free_after, free_before);
        ok(aclrtResetDevice(1));
    }
    /* A joined thread may stand in /proc for a moment longer. */
    const uint64_t deadline = t_now_ms() + 60000;
    while ((after = t_holdings()).threads > before.threads && t_now_ms() < deadline)
        (void)sched_yield();
    assert_true(after.threads <= before.threads);
    assert_int_equal(after.descriptors, before.descriptors);
    ok(aclrtSetDevice(0));
    ok(aclrtResetDevice(0));
    ok(aclrtFree(from));
    ok(aclrtFree(to));
}

static void needs_a_device(void **state)
{
    queue_t queue;

    (void)state;
    ok(aclInit(NULL));
    fails(aclcpuDmaQueueCreate(&queue.handle, &queue.info), ACL_ERROR_RT_CONTEXT_NULL, "aclrtSetDevice");
    ok(aclrtSetDevice(0));
    create(&queue);
    ok(aclFinalize()); /* takes the queue with it */
    ok(aclInit(NULL));
    ok(aclFinalize());
}

/* --- The same in checked mode --- */

static int checked(void *seed)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(any_size_and_place, t_begin, t_end),
        cmocka_unit_test_setup_teardown(overlapping, t_begin, t_end),
        cmocka_unit_test_setup_teardown(in_order, t_begin, t_end),
        cmocka_unit_test_setup_teardown(flag_behind_data, t_begin, t_end),
        cmocka_unit_test_setup_teardown(notify_behind_copy, t_begin, t_end),
        cmocka_unit_test_setup_teardown(wrong_entries, t_begin, t_end),
        cmocka_unit_test_setup_teardown(ends_with_its_device, t_begin, t_end),
    };

    (void)setenv("SHMEM_CPU_CHECK", "1", 1);
    (void)setenv("SHMEM_CPU_CHECK_SEED", seed, 1);
    return cmocka_run_group_tests(tests, NULL, NULL) == 0 ? 0 : 1;
}

static int checked_text(void *argument)
{
    (void)argument;
    (void)setenv("SHMEM_CPU_CHECK", "perhaps", 1);
    return aclInit(NULL) == ACL_ERROR_INVALID_PARAM && strstr(aclGetRecentErrMsg(), "perhaps") != NULL ? 0
                                                                                                       : 1;
}

int main(void)
{
    char seed[] = "4711";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(any_size_and_place, t_begin, t_end),
        cmocka_unit_test_setup_teardown(overlapping, t_begin, t_end),
        cmocka_unit_test_setup_teardown(mapped_memory, t_begin, t_end),
        cmocka_unit_test_setup_teardown(in_order, t_begin, t_end),
        cmocka_unit_test_setup_teardown(flag_behind_data, t_begin, t_end),
        cmocka_unit_test_setup_teardown(notify_behind_copy, t_begin, t_end),
        cmocka_unit_test_setup_teardown(kernels_fill_all_queues, t_begin, t_end),
        cmocka_unit_test_setup_teardown(queues_take_turns, t_begin, t_end),
        cmocka_unit_test_setup_teardown(wrong_entries, t_begin, t_end),
        cmocka_unit_test_setup_teardown(wrong_doorbell, t_begin, t_end),
        cmocka_unit_test_setup_teardown(wakes_up, t_begin, t_end),
        cmocka_unit_test_setup_teardown(ends_with_its_device, t_begin, t_end),
        cmocka_unit_test(needs_a_device),
    };

    if (t_fork(checked, seed) != 0 || t_fork(checked_text, NULL) != 0)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL) == 0 ? 0 : 1;
}
