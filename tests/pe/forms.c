/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The forms of put and get: by type, by width, by bytes, each also as _nbi; over offsets and lengths with guards, on both
 * heaps, to the own PE, with nothing to move, from several threads, and with every mistake.
 * [D-01] [D-02] [D-03] [D-04] [D-14] [D-15] [D-16] [D-17] [D-20] [D-21] [D-22] [D-23] [D-28]
 * [R-12] [R-14] [R-22]
 */
#include <pthread.h>
#include <string.h>

#include "pe.h"

enum { COUNT = 128, THREADS = 4 };

static int me, n, next, previous;

/* --- Every type and width: the count is in elements --- */

#define TEST_TYPE(NAME, TYPE)                                                                                \
    do {                                                                                                     \
        for (size_t count = 8; count <= COUNT; count *= 2) {                                                 \
            TYPE *there = aclshmem_calloc(COUNT + 1, sizeof(TYPE)), here[COUNT], back[COUNT + 1];            \
            CHECK(there != NULL);                                                                            \
            for (size_t i = 0; i < COUNT; i++)                                                               \
                here[i] = (TYPE)((size_t)me * 3 + i);                                                        \
            memset(back, 0x11, sizeof back);                                                                 \
            aclshmem_##NAME##_put_nbi(there, here, count, next);                                             \
            aclshmem_quiet();                                                                                \
            aclshmem_barrier_all();                                                                          \
            for (size_t i = 0; i < count; i++)                                                               \
                CHECK(there[i] == (TYPE)((size_t)previous * 3 + i));                                         \
            CHECK(there[count] == 0);                                                                        \
            aclshmem_##NAME##_get_nbi(back, there, count, next);                                             \
            aclshmem_quiet();                                                                                \
            CHECK(memcmp(back, here, count * sizeof(TYPE)) == 0);                                            \
            CHECK(((unsigned char *)&back[count])[0] == 0x11);                                               \
            aclshmem_free(there);                                                                            \
        }                                                                                                    \
    } while (0)

typedef void sized_t(void *, void *, uint32_t, int32_t);

/* put and get are given counts of elements that are `width` bytes wide. */
static void sized(sized_t *put, sized_t *get, size_t width)
{
    unsigned char *there = aclshmem_calloc(COUNT + 1, width), here[COUNT * 16], back[(COUNT + 1) * 16];
    CHECK(there != NULL);
    for (size_t i = 0; i < COUNT * width; i++)
        here[i] = (unsigned char)(i * 7 + (size_t)me * 31 + 1);
    memset(back, 0x22, sizeof back);
    put(there, here, COUNT, next);
    aclshmem_barrier_all();
    for (size_t i = 0; i < COUNT * width; i++)
        CHECK_INT(there[i], (unsigned char)(i * 7 + (size_t)previous * 31 + 1));
    CHECK(there[COUNT * width] == 0);
    get(back, there, COUNT, next);
    aclshmem_quiet();
    CHECK(memcmp(back, here, COUNT * width) == 0 && back[COUNT * width] == 0x22);
    aclshmem_free(there);
}

#define TEST_SIZE(BITS)                                                                                      \
    do {                                                                                                     \
        sized(aclshmem_put##BITS, aclshmem_get##BITS, (BITS) / 8);                                           \
        sized(aclshmem_put##BITS##_nbi, aclshmem_get##BITS##_nbi, (BITS) / 8);                               \
    } while (0)

/* --- Random places and lengths, against a model of the target's memory --- */

static uint32_t seed;

static size_t draw(size_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

static void random_ranges(aclshmem_mem_type_t type)
{
    enum { ROOM = 40000, STEPS = 300 };
    unsigned char *there = aclshmemx_malloc(ROOM, type), *model = malloc(ROOM), *here = malloc(ROOM);
    CHECK(there != NULL && model != NULL && here != NULL);
    memset(there, 0, ROOM);
    memset(model, 0, ROOM);
    aclshmem_barrier_all();
    seed = 7; /* the same on all PEs: each models what its neighbour writes here */
    for (int step = 0; step < STEPS; step++) {
        size_t at = draw(ROOM), from = draw(64), longest = ROOM - (at > from ? at : from);
        size_t bytes = draw(3) == 0 ? draw(70) : draw(longest);
        bytes = bytes > longest ? longest : bytes;
        for (size_t i = 0; i < bytes; i++)
            here[from + i] = (unsigned char)(me + step + (int)i);
        if (step % 2 == 0)
            aclshmem_putmem(there + at, here + from, bytes, next);
        else
            aclshmem_putmem_nbi(there + at, here + from, bytes, next);
        for (size_t i = 0; i < bytes; i++)
            model[at + i] = (unsigned char)(previous + step + (int)i);
    }
    aclshmem_barrier_all();
    CHECK(memcmp(there, model, ROOM) == 0);
    for (int step = 0; step < STEPS; step++) {
        size_t at = draw(ROOM), to = draw(64), longest = ROOM - (at > to ? at : to), bytes = draw(longest);
        memset(here, 0x5a, ROOM);
        if (step % 2 == 0)
            aclshmem_getmem(here + to, there + at, bytes, me);
        else
            aclshmem_getmem_nbi(here + to, there + at, bytes, me);
        aclshmem_quiet();
        CHECK(memcmp(here + to, model + at, bytes) == 0);
        CHECK((to == 0 || here[to - 1] == 0x5a) && here[to + bytes] == 0x5a);
    }
    free(here);
    free(model);
    aclshmemx_free(there, type);
}

/* --- Several threads of a PE at once --- */

typedef struct worker {
    int64_t *part;
    int64_t first;
} worker_t;

static void *put_part(void *argument)
{
    const worker_t *w = argument;
    for (int64_t i = 0; i < 2000; i++) {
        int64_t value = w->first + i;
        aclshmem_int64_put_nbi(&w->part[i], &value, 1, next);
        aclshmem_quiet();
        CHECK(aclshmem_int64_g(&w->part[i], next) == value);
    }
    return NULL;
}

static void threads(void)
{
    int64_t *block = aclshmem_calloc((size_t)THREADS * 2000, sizeof *block);
    pthread_t thread[THREADS];
    worker_t worker[THREADS];
    CHECK(block != NULL);
    for (int i = 0; i < THREADS; i++) {
        worker[i] = (worker_t){block + (size_t)i * 2000, me * 1000000 + i * 10000};
        CHECK(pthread_create(&thread[i], NULL, put_part, &worker[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(thread[i], NULL) == 0);
    aclshmem_barrier_all();
    for (int i = 0; i < THREADS; i++)
        for (int64_t k = 0; k < 2000; k++)
            CHECK_INT(block[i * 2000 + k], previous * 1000000 + i * 10000 + k);
    aclshmem_free(block);
}

/* --- Mistakes --- */

/* One call of every form with these operands. */
#define EACH_FORM(CALL, there, here, count, pe)                                                              \
    CALL(aclshmem_putmem_nbi(there, here, count, pe));                                                       \
    CALL(aclshmem_getmem_nbi(here, there, count, pe));                                                       \
    CALL(aclshmem_put8(there, here, count, pe));                                                             \
    CALL(aclshmem_put16(there, here, count, pe));                                                            \
    CALL(aclshmem_put32(there, here, count, pe));                                                            \
    CALL(aclshmem_put64(there, here, count, pe));                                                            \
    CALL(aclshmem_put128(there, here, count, pe));                                                           \
    CALL(aclshmem_get8(here, there, count, pe));                                                             \
    CALL(aclshmem_get16(here, there, count, pe));                                                            \
    CALL(aclshmem_get32(here, there, count, pe));                                                            \
    CALL(aclshmem_get64(here, there, count, pe));                                                            \
    CALL(aclshmem_get128(here, there, count, pe));                                                           \
    CALL(aclshmem_put8_nbi(there, here, count, pe));                                                         \
    CALL(aclshmem_put128_nbi(there, here, count, pe));                                                       \
    CALL(aclshmem_get8_nbi(here, there, count, pe));                                                         \
    CALL(aclshmem_get128_nbi(here, there, count, pe));                                                       \
    CALL(aclshmem_int8_put_nbi(there, here, count, pe));                                                     \
    CALL(aclshmem_double_put_nbi(there, here, count, pe));                                                   \
    CALL(aclshmem_int8_get_nbi(here, there, count, pe));                                                     \
    CALL(aclshmem_double_get_nbi(here, there, count, pe))

#define REFUSED(statement)    CHECK_ERROR(statement, ACLSHMEM_INVALID_PARAM)
#define NOT_INITED(statement) CHECK_ERROR(statement, ACLSHMEM_NOT_INITED)
#define ACCEPTED(statement)                                                                                  \
    aclshmemx_clear_error();                                                                                 \
    statement;                                                                                               \
    CHECK(aclshmemx_last_error(NULL)[0] == '\0')

static void mistakes(void)
{
    static const int strangers[] = {-1, INT32_MIN, 100000, INT32_MAX};
    void *there = aclshmem_calloc(1, 64);
    char here[64] = "untouched", *base = aclshmemx_get_heap_base(DEVICE_SIDE);
    aclshmemx_heap_info_t info;
    CHECK(there != NULL);
    CHECK_INT(aclshmemx_heap_info(DEVICE_SIDE, &info), 0);
    void *end = base + info.size - 1, *nowhere = NULL;
    aclshmemx_set_extern_logger(pe_swallow);
    for (size_t i = 0; i < sizeof strangers / sizeof strangers[0]; i++) {
        EACH_FORM(REFUSED, there, (void *)here, 2, strangers[i]);
        EACH_FORM(REFUSED, there, (void *)here, 0, strangers[i]);
    }
    EACH_FORM(REFUSED, there, (void *)here, 2, n);
    EACH_FORM(REFUSED, (void *)here, (void *)here, 2, next);
    EACH_FORM(REFUSED, end, (void *)here, 2, next);
    EACH_FORM(REFUSED, there, nowhere, 2, next);
    CHECK_ERROR(aclshmem_double_put_nbi(there, (double *)(void *)here, SIZE_MAX / 4, next),
                ACLSHMEM_INVALID_PARAM);
    EACH_FORM(ACCEPTED, nowhere, nowhere, 0, next);
    EACH_FORM(ACCEPTED, there, nowhere, 0, me);
    CHECK_ERROR(aclshmemx_pe_quiet(-1), ACLSHMEM_INVALID_PARAM);
    CHECK_ERROR(aclshmemx_pe_quiet(n), ACLSHMEM_INVALID_PARAM);
    ACCEPTED(aclshmemx_pe_quiet(next));
    aclshmemx_set_extern_logger(NULL);
    aclshmem_barrier_all();
    CHECK(memcmp(there, &(char[64]){0}, 64) == 0 && strcmp(here, "untouched") == 0);
    aclshmem_free(there);
}

static void without_instance(void)
{
    char word[64] = "untouched";
    aclshmemx_set_extern_logger(pe_swallow);
    EACH_FORM(NOT_INITED, (void *)word, (void *)word, 2, 0);
    EACH_FORM(NOT_INITED, (void *)word, (void *)word, 0, 0);
    CHECK_ERROR(aclshmemx_pe_quiet(0), ACLSHMEM_NOT_INITED);
    aclshmemx_set_extern_logger(NULL);
    CHECK(strcmp(word, "untouched") == 0);
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
    ACLSHMEM_SIZE_FUNC(TEST_SIZE);
    random_ranges(DEVICE_SIDE);
    random_ranges(HOST_SIDE);
    threads();
    mistakes();
    pe_finalize();
    without_instance();
    return 0;
}
