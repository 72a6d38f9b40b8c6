/* SPDX-License-Identifier: Apache-2.0 */
/* Put, get, p, g: every type, odd sizes and addresses with guards, both heaps, the own PE, and every mistake. */
/* Scenarios: [D-01] [D-03] [D-09] [D-14] [D-15] [D-16] [D-17] [D-20] [D-21] [D-22] [D-23] [D-30]
 * [A-03] [A-04] [A-05] */
#include <pthread.h>
#include <string.h>

#include "pe.h"

enum { COUNT = 100, ROOM = (1 << 20) + 4096 };

static int me, n, next, previous;

#define TEST_TYPE(NAME, TYPE)                                                                                \
    do {                                                                                                     \
        TYPE *there = aclshmem_calloc(COUNT, sizeof(TYPE)), here[COUNT], back[COUNT];                        \
        CHECK(there != NULL);                                                                                \
        for (int i = 0; i < COUNT; i++)                                                                      \
            here[i] = (TYPE)(me * 7 + i);                                                                    \
        aclshmem_##NAME##_put(there, here, COUNT - 1, next);                                                 \
        memset(here, 0x55, sizeof here); /* the source is ours again */                                      \
        aclshmem_barrier_all();                                                                              \
        for (int i = 0; i < COUNT - 1; i++)                                                                  \
            CHECK(there[i] == (TYPE)(previous * 7 + i));                                                     \
        CHECK(there[COUNT - 1] == 0); /* counts are elements, not one more */                                \
        aclshmem_##NAME##_get(back, there, COUNT - 1, next);                                                 \
        for (int i = 0; i < COUNT - 1; i++)                                                                  \
            CHECK(back[i] == (TYPE)(me * 7 + i));                                                            \
        aclshmem_barrier_all();                                                                              \
        aclshmem_##NAME##_p(&there[COUNT - 1], (TYPE)(me + 3), next);                                        \
        CHECK(aclshmem_##NAME##_g(&there[COUNT - 1], next) == (TYPE)(me + 3));                               \
        aclshmem_barrier_all();                                                                              \
        CHECK(there[COUNT - 1] == (TYPE)(previous + 3));                                                     \
        aclshmem_free(there);                                                                                \
    } while (0)

static unsigned char pattern(int pe, size_t i)
{
    return (unsigned char)(i * 131 + (size_t)pe * 17 + 1);
}

/* One transfer in the middle of guard bytes, both ways, between every alignment. */
static void odd_transfer(unsigned char *there, unsigned char *here, size_t bytes, size_t to, size_t from)
{
    memset(there, 0xee, bytes + 128);
    aclshmem_barrier_all();
    for (size_t i = 0; i < bytes; i++)
        here[from + i] = pattern(me, i);
    aclshmem_putmem(there + to, here + from, bytes, next);
    aclshmem_barrier_all();
    for (size_t i = 0; i < to; i++)
        CHECK(there[i] == 0xee);
    for (size_t i = 0; i < bytes; i++)
        CHECK(there[to + i] == pattern(previous, i));
    for (size_t i = to + bytes; i < bytes + 128; i++)
        CHECK(there[i] == 0xee);
    memset(here, 0xdd, bytes + 128);
    aclshmem_getmem(here + from, there + to, bytes, next);
    CHECK(from == 0 || here[from - 1] == 0xdd);
    for (size_t i = 0; i < bytes; i++)
        CHECK(here[from + i] == pattern(me, i));
    CHECK(here[from + bytes] == 0xdd);
    aclshmem_barrier_all();
}

static void odd_transfers(aclshmem_mem_type_t type)
{
    static const size_t sizes[] = {1,  2,  3,    7,    31,    32,    33,    63,
                                   64, 65, 4095, 4097, 16383, 16384, 16385, (1 << 20) + 1};
    unsigned char *there = aclshmemx_malloc(ROOM, type), *here = malloc(ROOM);
    CHECK(there != NULL && here != NULL);
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (size_t k = 0; k<64; k += sizes[s]> 4096 ? 21 : 5)
            odd_transfer(there, here, sizes[s], k, 63 - k);
    free(here);
    aclshmemx_free(there, type);
}

static void own_pe(void)
{
    char *block = aclshmem_malloc(64);
    CHECK(block != NULL);
    CHECK(aclshmem_ptr(block, me) == block);
    memcpy(block, "0123456789", 11);
    aclshmem_putmem(block + 2, block, 8, me); /* overlap with oneself behaves like memmove */
    CHECK(memcmp(block, "0101234567", 10) == 0);
    aclshmem_putmem(block, block, 8, me);
    CHECK(memcmp(block, "0101234567", 10) == 0);
    aclshmem_free(block);
}

static void addresses(void)
{
    int *block = aclshmem_malloc(8 * sizeof *block);
    char *base = aclshmemx_get_heap_base(DEVICE_SIDE), *stranger = (char *)&block;
    CHECK(block != NULL && base != NULL);
    CHECK(aclshmem_ptr(block, -1) == NULL && aclshmem_ptr(block, n) == NULL);
    CHECK(aclshmem_ptr(NULL, 0) == NULL && aclshmem_ptr(stranger, 0) == NULL &&
          aclshmem_ptr(base - 1, 0) == NULL);
    for (int pe = 0; pe < n; pe++) {
        int *other = aclshmem_ptr(block, pe);
        CHECK(other != NULL && (other == block) == (pe == me));
        CHECK((int *)aclshmem_ptr(block + 1, pe) - other == 1);
    }
    *(int *)aclshmem_ptr(&block[me % 8], next) =
        40 + me % 8; /* a plain store through the translated address */
    aclshmem_barrier_all();
    CHECK_INT(block[previous % 8], 40 + previous % 8);
    aclshmem_free(block);
}

static void nothing_moves(int32_t *word, int32_t value)
{
    aclshmem_barrier_all();
    CHECK_INT(*word, value);
    aclshmem_barrier_all();
}

static void mistakes(void)
{
    int32_t *word = aclshmem_calloc(1, sizeof *word), local = 5;
    char *base = aclshmemx_get_heap_base(DEVICE_SIDE);
    aclshmemx_heap_info_t info;
    CHECK(word != NULL);
    CHECK_INT(aclshmemx_heap_info(DEVICE_SIDE, &info), 0);
    aclshmemx_set_extern_logger(pe_swallow);
    static const int bad_pes[] = {-1, -2147483647 - 1, 100000, 2147483647};
    for (size_t i = 0; i < sizeof bad_pes / sizeof bad_pes[0]; i++) {
        CHECK_ERROR(aclshmem_int32_p(word, 9, bad_pes[i]), ACLSHMEM_INVALID_PARAM);
        CHECK_ERROR(aclshmem_putmem(word, &local, 4, bad_pes[i]), ACLSHMEM_INVALID_PARAM);
        CHECK_ERROR(aclshmem_putmem(word, &local, 0, bad_pes[i]), ACLSHMEM_INVALID_PARAM);
        CHECK_ERROR(CHECK_INT(aclshmem_int32_g(word, bad_pes[i]), 0), ACLSHMEM_INVALID_PARAM);
    }
    CHECK_ERROR(aclshmem_int32_p(word, 9, n), ACLSHMEM_INVALID_PARAM);
    CHECK_ERROR(aclshmem_putmem(&local, word, 4, next), ACLSHMEM_INVALID_PARAM);
    CHECK_ERROR(aclshmem_putmem(base + info.size - 3, &local, 4, next), ACLSHMEM_INVALID_PARAM);
    CHECK_ERROR(aclshmem_putmem(base, &local, SIZE_MAX, next), ACLSHMEM_INVALID_PARAM);
    CHECK_ERROR(aclshmem_int64_put((int64_t *)(void *)base, (int64_t *)(void *)base, SIZE_MAX / 4, next),
                ACLSHMEM_INVALID_PARAM);
    CHECK_ERROR(aclshmem_putmem(word, NULL, 4, next), ACLSHMEM_INVALID_PARAM);
    CHECK_ERROR(aclshmem_getmem(NULL, word, 4, next), ACLSHMEM_INVALID_PARAM);
    aclshmemx_clear_error();
    aclshmem_putmem(NULL, NULL, 0, next); /* nothing to move: pointers are not looked at */
    aclshmem_getmem(NULL, NULL, 0, next);
    aclshmem_double_put(NULL, NULL, 0, next);
    CHECK(aclshmemx_last_error(NULL)[0] == '\0');
    aclshmemx_set_extern_logger(NULL);
    nothing_moves(word, 0);
    aclshmem_free(word);
}

static void without_instance(void)
{
    int32_t word = 3;
    aclshmemx_set_extern_logger(pe_swallow);
    CHECK_ERROR(aclshmem_int32_p(&word, 9, 0), ACLSHMEM_NOT_INITED);
    CHECK_ERROR(CHECK_INT(aclshmem_int32_g(&word, 0), 0), ACLSHMEM_NOT_INITED);
    CHECK_ERROR(aclshmem_putmem(&word, &word, 4, 0), ACLSHMEM_NOT_INITED);
    CHECK_ERROR(aclshmem_putmem(&word, &word, 0, 0), ACLSHMEM_NOT_INITED);
    CHECK_ERROR(aclshmem_quiet(), ACLSHMEM_NOT_INITED);
    CHECK_ERROR(aclshmem_fence(), ACLSHMEM_NOT_INITED);
    CHECK_ERROR(aclshmem_barrier_all(), ACLSHMEM_NOT_INITED);
    CHECK(aclshmem_ptr(&word, 0) == NULL);
    CHECK_INT(word, 3);
    aclshmemx_set_extern_logger(NULL);
}

/* [D-31] Everybody writes its part of every PE's block at once. */
static void disjoint_parts(void)
{
    int64_t *block = aclshmem_calloc((size_t)n * 1000, sizeof *block), mine[1000];
    CHECK(block != NULL);
    for (int i = 0; i < 1000; i++)
        mine[i] = (int64_t)me * 1000000 + i;
    for (int pe = 0; pe < n; pe++)
        aclshmem_int64_put(block + (size_t)me * 1000, mine, 1000, pe);
    aclshmem_barrier_all();
    for (int pe = 0; pe < n; pe++)
        for (int i = 0; i < 1000; i++)
            CHECK(block[pe * 1000 + i] == (int64_t)pe * 1000000 + i);
    aclshmem_free(block);
}

/* Where things are does not change between init and finalize, for any thread. */
static void *ask(void *block)
{
    void *there = aclshmem_ptr(block, next), *base = aclshmemx_get_heap_base(DEVICE_SIDE);
    CHECK(there != NULL && base != NULL);
    for (int i = 0; i < 20000; i++)
        CHECK(aclshmem_my_pe() == me && aclshmem_n_pes() == n && aclshmem_ptr(block, next) == there &&
              aclshmem_ptr(block, me) == block && aclshmemx_get_heap_base(DEVICE_SIDE) == base);
    return NULL;
}

static void many_threads_ask(void)
{
    pthread_t thread[4];
    void *block = aclshmem_malloc(64);
    for (int i = 0; i < 4; i++)
        CHECK_INT(pthread_create(&thread[i], NULL, ask, block), 0);
    for (int i = 0; i < 4; i++)
        CHECK_INT(pthread_join(thread[i], NULL), 0);
    aclshmem_free(block);
}

int main(void)
{
    without_instance();
    pe_init(UINT64_C(8) << 20);
    me = aclshmem_my_pe();
    n = aclshmem_n_pes();
    next = (me + 1) % n;
    previous = (me + n - 1) % n;
    ACLSHMEM_TYPE_FUNC(TEST_TYPE);
    odd_transfers(DEVICE_SIDE);
    odd_transfers(HOST_SIDE);
    own_pe();
    addresses();
    mistakes();
    disjoint_parts();
    many_threads_ask();
    pe_finalize();
    without_instance();
    return 0;
}
