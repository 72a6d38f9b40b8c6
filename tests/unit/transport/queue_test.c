/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work queues, the proxy behind them and the host's operations on them: bytes and atomics, order, many who post, full rings,
 * failures, sleep and wake, requests that stay on the way, splitting.
 */
#define LOG_MODULE "test"
#include "road.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "host/utils/clock.h"

static const aclshmemi_transport_ops_t *const engines[] = {&aclshmemi_transport_rdma,
                                                           &aclshmemi_transport_udma};

static unsigned char pattern(size_t i)
{
    return (unsigned char)(i * 131 + i / 251);
}

static void bytes_move(aclshmemi_transport_t *t, road_t *road)
{
    static unsigned char here[1 << 20], back[1 << 20];
    for (size_t i = 0; i < sizeof here; i++)
        here[i] = pattern(i);
    static const size_t sizes[] = {1, 2, 3, 4, 7, 8, 9, 63, 64, 65, 4097, 1 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (size_t shift = 0; shift < 3; shift++) {
            size_t size = sizes[i] - (sizes[i] == sizeof here ? shift : 0);
            memset(road->heap[1], 0xee, size + 64);
            t_check_int(t->ops.put(t, road_at(1, 8 + shift), here + shift, size), 0);
            t_check_memory(road->heap[1] + 8 + shift, here + shift, size);
            t_check(road->heap[1][8 + shift + size] == (char)0xee && road->heap[1][7 + shift] == (char)0xee);
            memset(back, 0, sizeof back);
            t_check_int(t->ops.get(t, back, road_at(1, 8 + shift), size), 0);
            t_check_memory(back, here + shift, size);
        }
    t_check_int(t->ops.put(t, road_at(1, 0), NULL, 0), 0);
    aclshmemi_remote_t host = {0, ACLSHMEMI_NPU_ON_HOST, 16};
    t_check_int(t->ops.put(t, host, here, 100), 0);
    t_check_memory(road->host_base[0] + 16, here, 100);
}

static void atomics_work(aclshmemi_transport_t *t, road_t *road)
{
    uint64_t *word = (uint64_t *)(void *)(road->heap[1] + 64), old = 0;
    *word = 5;
    aclshmemi_amo_request_t add = {ACLSHMEMI_AMO_PLUS, ACLSHMEMI_AMO_64, 7, 0, true};
    t_check_int(t->ops.amo(t, road_at(1, 64), &add, &old), 0);
    t_check_uint(old, 5);
    t_check_uint(*word, 12);
    add.wanted = false;
    t_check_int(t->ops.amo(t, road_at(1, 64), &add, NULL), 0);
    t_check_int(t->ops.quiet(t), 0);
    t_check_uint(*word, 19);
    aclshmemi_amo_request_t swap = {ACLSHMEMI_AMO_COMPARE_SWAP, ACLSHMEMI_AMO_64, 100, 18, true};
    t_check_int(t->ops.amo(t, road_at(1, 64), &swap, &old), 0);
    t_check_uint(old, 19);
    t_check_uint(*word, 19);
    swap.condition = 19;
    t_check_int(t->ops.amo(t, road_at(1, 64), &swap, &old), 0);
    t_check_uint(*word, 100);
    float number = 1.5f;
    aclshmemi_amo_request_t plus = {ACLSHMEMI_AMO_PLUS, ACLSHMEMI_AMO_FLOAT, 0, 0, true};
    memcpy(&plus.value, &number, sizeof number);
    memcpy(road->heap[1] + 128, &number, sizeof number);
    t_check_int(t->ops.amo(t, road_at(1, 128), &plus, &old), 0);
    number = 3.0f;
    t_check_memory(road->heap[1] + 128, &number, sizeof number);
}

static void moves(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < 2; i++) {
        road_t road;
        aclshmemi_transport_t t;
        road_open(&road);
        road_transport_open(&road, &t, engines[i]);
        bytes_move(&t, &road);
        atomics_work(&t, &road);
        t_log_expect_clean();
        t.ops.close(&t);
        road_close(&road);
    }
}

/* A request that fails is told to who waits next, once; those behind it are carried out. */
static void failures(void **unused)
{
    (void)unused;
    road_t road;
    aclshmemi_transport_t t;
    int32_t word = 3;
    road_open(&road);
    road_transport_open(&road, &t, engines[0]);
    aclshmemi_remote_t nowhere = {1, ACLSHMEMI_NPU_ON_HOST, 0};
    t_check_int(t.ops.put(&t, nowhere, &word, sizeof word), ACLSHMEM_NOT_SUPPORTED);
    t_log_expect("not mapped");
    t_check_int(t.ops.put(&t, road_at(1, 0), &word, sizeof word), 0);
    t_check_int(t.ops.start_put(&t, nowhere, &word, sizeof word), 0);
    t_check_int(t.ops.start_put(&t, road_at(1, 4), &word, sizeof word), 0);
    t_check_int(t.ops.quiet(&t), ACLSHMEM_NOT_SUPPORTED);
    t_check_memory(road.heap[1] + 4, &word, sizeof word);
    t_check_int(t.ops.quiet(&t), 0);
    t.ops.close(&t);
    road_close(&road);
}

/* --- Many who post --- */

enum { THREADS = 8, ROUNDS = 1000 };

typedef struct crowd {
    aclshmemi_transport_t *t;
    int number;
} crowd_t;

static void *post_many(void *context)
{
    const crowd_t *me = context;
    uint64_t old = 0, before = 0;
    for (int i = 0; i < ROUNDS; i++) {
        aclshmemi_amo_request_t add = {ACLSHMEMI_AMO_PLUS, ACLSHMEMI_AMO_64, 1, 0, i % 50 == 0};
        t_check_int(me->t->ops.amo(me->t, road_at(1, 0), &add, &old), 0);
        t_check(!add.wanted || old >= before); /* old values of one thread only grow */
        before = add.wanted ? old + 1 : before + 1;
        uint32_t value = (uint32_t)i;
        if (i % 100 == 0)
            t_check_int(me->t->ops.put(me->t, road_at(1, 64 + 4 * (uint64_t)me->number), &value, 4), 0);
    }
    return NULL;
}

static void many_post(void **unused)
{
    (void)unused;
    road_t road;
    aclshmemi_transport_t t;
    pthread_t thread[THREADS];
    crowd_t crowd[THREADS];
    road_open(&road);
    road_transport_open(&road, &t, engines[1]);
    for (int i = 0; i < THREADS; i++) {
        crowd[i] = (crowd_t){&t, i};
        t_check_int(pthread_create(&thread[i], NULL, post_many, &crowd[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        t_check_int(pthread_join(thread[i], NULL), 0);
    t_check_int(t.ops.quiet(&t), 0);
    t_check_uint(*(uint64_t *)(void *)road.heap[1], THREADS * ROUNDS);
    for (int i = 0; i < THREADS; i++)
        t_check_uint(((uint32_t *)(void *)(road.heap[1] + 64))[i], ROUNDS - 100);
    t_log_expect_clean();
    t.ops.close(&t);
    road_close(&road);
}

/* The proxy sleeps when there is nothing to do, and a post wakes it; who sleeps on the memory that was written is woken. */
static void sleep_and_wake(void **unused)
{
    (void)unused;
    road_t road;
    aclshmemi_transport_t t;
    road_open(&road);
    road_transport_open(&road, &t, engines[0]);
    const aclshmemi_bank_t *bank = (const aclshmemi_bank_t *)(uintptr_t)t.ops.describe(&t);
    const aclshmemi_doorbell_t *bell = (const aclshmemi_doorbell_t *)(uintptr_t)bank->bell;
    aclshmemi_doorbell_t *target = &((aclshmemi_control_t *)(void *)(road.heap[1] + ROAD_HEAP_BYTES))->bell;
    aclshmemi_deadline_t deadline = aclshmemi_deadline_after_ms(ROAD_DEADLINE_MS);
    for (uint32_t i = 1; i <= 20; i++) {
        while (__atomic_load_n(&bell->sleepers, __ATOMIC_ACQUIRE) == 0)
            t_check(!aclshmemi_deadline_passed(deadline) && sched_yield() == 0);
        __atomic_store_n(&target->sleepers, 1, __ATOMIC_RELEASE);
        t_check_int(t.ops.put(&t, road_at(1, 0), &i, sizeof i), 0);
        t_check_uint(__atomic_load_n(&target->rings, __ATOMIC_ACQUIRE), i);
        t_check_uint(__atomic_load_n(&target->sleepers, __ATOMIC_ACQUIRE), 0);
    }
    t.ops.close(&t);
    road_close(&road);
}

/* --- A road on which requests stay for a while, as on a network --- */

enum { ON_THE_WAY = 300 };

static struct slow_road {
    int posted, reaped;
    uint64_t largest;
    int pe[ON_THE_WAY];
    aclshmemi_work_t work[ON_THE_WAY];
    _Atomic int hold; /* requests that may arrive */
} slow;

static int slow_open(aclshmemi_transport_t *t, void **state)
{
    *state = t;
    return 0;
}

static int slow_import(void *state, int pe, const void *blob, size_t bytes, bool *reached)
{
    return aclshmemi_road_loop.import_blob(state, pe, blob, bytes, reached);
}

static int slow_post(void *state, int pe, const aclshmemi_work_t *work, bool *pending)
{
    (void)state;
    t_check(slow.posted < ON_THE_WAY);
    slow.pe[slow.posted] = pe;
    slow.work[slow.posted++] = *work;
    if (work->bytes > slow.largest)
        slow.largest = work->bytes;
    *pending = true;
    return 0;
}

/* Arrivals of different PEs may change places; here the second PE is served first. */
static bool slow_reap(void *state, int *pe, int *code)
{
    bool pending = false;
    if (slow.reaped >= atomic_load(&slow.hold) || slow.reaped == slow.posted)
        return false;
    *pe = slow.pe[slow.reaped];
    *code = slow.reaped == 2 ? ACLSHMEM_SMEM_ERROR
                             : aclshmemi_road_loop.post(state, *pe, &slow.work[slow.reaped], &pending);
    slow.reaped++;
    return true;
}

static const aclshmemi_road_ops_t slow_road = {
    .name = "slow", .open = slow_open, .import_blob = slow_import, .post = slow_post, .reap = slow_reap};
static const aclshmemi_queue_kind_t slow_kind = {
    .name = "slow", .depth = 4, .request_bytes_log2 = 12, .road = &slow_road};

static int slow_transport_open(aclshmemi_transport_t *t)
{
    return aclshmemi_queue_open(t, &slow_kind);
}

static void *release_slowly(void *unused)
{
    (void)unused;
    for (int i = 0; i < ON_THE_WAY; i++) {
        atomic_fetch_add(&slow.hold, 1);
        sched_yield();
    }
    return NULL;
}

static void on_the_way(void **unused)
{
    (void)unused;
    road_t road;
    aclshmemi_transport_t t;
    pthread_t thread;
    static char here[ROAD_HEAP_BYTES / 8];
    aclshmemi_transport_ops_t ops = aclshmemi_transport_rdma;
    ops.open = slow_transport_open;
    for (size_t i = 0; i < sizeof here; i++)
        here[i] = (char)pattern(i);
    road_open(&road);
    road.env.wait_timeout_ms = ROAD_DEADLINE_MS;
    road_transport_open(&road, &t, &ops);
    t_check_int(t.ops.start_put(&t, road_at(1, 0), here, 4 * 4096), 0); /* just fills the ring */
    const aclshmemi_queue_t *queue =
        aclshmemi_queue_of((const aclshmemi_bank_t *)(uintptr_t)t.ops.describe(&t), 1);
    t_check(!aclshmemi_queue_is_done(queue, 0));
    road.env.wait_timeout_ms = 20;
    t_check_int(t.ops.quiet(&t), ACLSHMEM_TIMEOUT_ERROR);
    t_check_int(t.ops.start_put(&t, road_at(1, 0), here, 1), ACLSHMEM_TIMEOUT_ERROR);
    t_log_expect("a free place");
    road.env.wait_timeout_ms = ROAD_DEADLINE_MS;
    t_check_int(pthread_create(&thread, NULL, release_slowly, NULL), 0);
    t_check_int(t.ops.quiet(&t), ACLSHMEM_SMEM_ERROR); /* the third request */
    t_check_int(t.ops.put(&t, road_at(1, 0), here, sizeof here), 0);
    t_check_memory(road.heap[1], here, sizeof here);
    t_check_uint(slow.largest, 4096);
    t_check_int(pthread_join(thread, NULL), 0);
    t.ops.close(&t);
    road_close(&road);
}

/* --- Which engines are there, and which may be taken --- */

static void choosing(void **unused)
{
    (void)unused;
    road_t road;
    aclshmemi_transport_set_t set;
    uint32_t found = 99;
    road_open(&road);
    t_check_int(aclshmemi_transport_parse("Roce,mte", &found), 0);
    t_check_uint(found, ACLSHMEM_DATA_OP_ROCE | ACLSHMEM_DATA_OP_MTE);
    t_check_int(aclshmemi_transport_parse("mte+roce", &found), ACLSHMEM_INVALID_VALUE);
    t_check_int(aclshmemi_transport_parse(",", &found), ACLSHMEM_INVALID_VALUE);
    t_check_int(aclshmemi_transport_parse("", &found), ACLSHMEM_INVALID_VALUE);
    t_check_int(aclshmemi_transport_open(&set, &road.site, ACLSHMEM_DATA_OP_ROCE | ACLSHMEM_DATA_OP_UDMA), 0);
    char *blobs = calloc(1, aclshmemi_transport_blob_bytes(&set));
    t_check(blobs != NULL);
    t_check_int(aclshmemi_transport_export(&set, blobs), 0);
    for (int pe = 0; pe < ROAD_PES; pe++)
        t_check_int(aclshmemi_transport_import(&set, pe, blobs), 0);
    t_check_uint(set.reach[1], ACLSHMEM_TRANSPORT_ROCE | ACLSHMEM_TRANSPORT_UDMA);
    t_check_text(set.by_pe[1]->ops.name, "rdma");
    t_check_int(aclshmemi_transport_allow(&set, ACLSHMEM_DATA_OP_UDMA), 0);
    t_check_text(set.by_pe[1]->ops.name, "udma");
    t_check_int(aclshmemi_transport_allow(&set, ACLSHMEM_DATA_OP_SDMA), ACLSHMEM_NOT_SUPPORTED);
    t_check_text(set.by_pe[1]->ops.name, "udma"); /* nothing has changed */
    t_check_int(aclshmemi_transport_allow(&set, ACLSHMEM_DATA_OP_MTE | ACLSHMEM_DATA_OP_ROCE), 0);
    t_check_text(set.by_pe[1]->ops.name, "mte");
    t_check_uint(set.reach[0], ACLSHMEM_TRANSPORT_ROCE | ACLSHMEM_TRANSPORT_MTE);
    free(blobs);
    aclshmemi_transport_close(&set);
    road_close(&road);
}

int main(void)
{
    t_clean_environment();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moves),          cmocka_unit_test(failures),   cmocka_unit_test(many_post),
        cmocka_unit_test(sleep_and_wake), cmocka_unit_test(on_the_way), cmocka_unit_test(choosing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
