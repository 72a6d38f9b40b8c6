/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strided put and get against a model: every type and width, random strides, lengths and places, gaps that stay as they
 * were, overlap on the own PE, every mistake.
 * [D-05] [D-06] [D-07] [D-08] [D-14] [D-15] [D-16] [D-17] [D-19] [D-20]
 * [R-11] [R-12] [R-14]
 */
#include <string.h>

#include "pe.h"

enum { ELEMENTS = 16384, ROOM = 1 << 18 };

static int me, n, next, previous;

/* --- The interface's own case: 16384 elements, strides 3 and 4 --- */

#define TEST_TYPE(NAME, TYPE)                                                                                \
    do {                                                                                                     \
        TYPE *there = aclshmem_calloc(ELEMENTS * 3, sizeof(TYPE)),                                           \
             *here = calloc(ELEMENTS * 4, sizeof(TYPE)), *back = calloc(ELEMENTS * 2, sizeof(TYPE));         \
        CHECK(there != NULL && here != NULL && back != NULL);                                                \
        for (int i = 0; i < ELEMENTS * 4; i++)                                                               \
            here[i] = (TYPE)(i % 120 + me + 1);                                                              \
        aclshmem_##NAME##_iput(there, here, 3, 4, ELEMENTS, next);                                           \
        aclshmem_barrier_all();                                                                              \
        for (int i = 0; i < ELEMENTS * 3; i++)                                                               \
            CHECK(there[i] == (i % 3 == 0 ? (TYPE)(i / 3 * 4 % 120 + previous + 1) : 0));                    \
        aclshmem_##NAME##_iget(back, there, 2, 3, ELEMENTS, next);                                           \
        for (int i = 0; i < ELEMENTS * 2; i++)                                                               \
            CHECK(back[i] == (i % 2 == 0 ? (TYPE)(i / 2 * 4 % 120 + me + 1) : 0));                           \
        free(back);                                                                                          \
        free(here);                                                                                          \
        aclshmem_free(there);                                                                                \
    } while (0)

/* --- Random moves --- */

typedef void move_t(void *, void *, ptrdiff_t, ptrdiff_t, size_t, int);

static const struct width {
    size_t bytes;
    move_t *put, *get;
} widths[] = {{1, aclshmem_iput8, aclshmem_iget8},
              {2, aclshmem_iput16, aclshmem_iget16},
              {4, aclshmem_iput32, aclshmem_iget32},
              {8, aclshmem_iput64, aclshmem_iget64},
              {16, aclshmem_iput128, aclshmem_iget128}};

static uint32_t seed;

static size_t draw(size_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

/* The definition, an element at a time. */
static void model_move(unsigned char *to, const unsigned char *from, size_t dst, size_t sst, size_t count,
                       size_t width)
{
    for (size_t i = 0; i < count; i++)
        memcpy(to + i * dst * width, from + i * sst * width, width);
}

static void fill(unsigned char *memory, int pe, int step)
{
    for (size_t i = 0; i < ROOM; i++)
        memory[i] = (unsigned char)(i * 13 + (size_t)pe * 101 + (size_t)step);
}

/* Any byte address is legal for the sized forms. All PEs draw the same numbers. */
static void random_moves(aclshmem_mem_type_t type)
{
    unsigned char *there = aclshmemx_malloc(ROOM, type), *here = malloc(ROOM), *model = malloc(ROOM),
                  *other = malloc(ROOM);
    CHECK(there != NULL && here != NULL && model != NULL && other != NULL);
    seed = 99;
    for (int step = 0; step < 200; step++) {
        const struct width *w = &widths[draw(5)];
        size_t dst = 1 + draw(9), sst = 1 + draw(9), to = draw(32), from = draw(32);
        size_t most = (ROOM - 32) / (w->bytes * (dst > sst ? dst : sst));
        size_t count = draw(2) == 0 ? draw(12) : draw(most + 1);
        fill(here, me, step);
        fill(other, previous, step);
        memset(there, 0xee, ROOM);
        memset(model, 0xee, ROOM);
        aclshmem_barrier_all();
        w->put(there + to, here + from, (ptrdiff_t)dst, (ptrdiff_t)sst, count, next);
        aclshmem_barrier_all();
        model_move(model + to, other + from, dst, sst, count, w->bytes);
        CHECK(memcmp(there, model, ROOM) == 0);
        /* And back, with the strides the other way round. */
        memset(here, 0xdd, ROOM);
        memset(other, 0xdd, ROOM);
        w->get(here + from, there + to, (ptrdiff_t)sst, (ptrdiff_t)dst, count, me);
        model_move(other + from, model + to, sst, dst, count, w->bytes);
        CHECK(memcmp(here, other, ROOM) == 0);
        aclshmem_barrier_all();
    }
    free(other);
    free(model);
    free(here);
    aclshmemx_free(there, type);
}

/* Elements go in ascending order, one after the other; strides of one are a put, which behaves like memmove. */
static void overlap(void)
{
    int32_t *block = aclshmem_calloc(64, sizeof *block), model[64];
    CHECK(block != NULL);
    for (int i = 0; i < 64; i++)
        model[i] = block[i] = i;
    aclshmem_int32_iput(block + 2, block, 1, 2, 20, me);
    model_move((unsigned char *)(model + 2), (unsigned char *)model, 1, 2, 20, 4);
    CHECK(memcmp(block, model, sizeof model) == 0);
    aclshmem_int32_iget(block + 1, block, 3, 2, 15, me);
    model_move((unsigned char *)(model + 1), (unsigned char *)model, 3, 2, 15, 4);
    CHECK(memcmp(block, model, sizeof model) == 0);
    aclshmem_int32_iput(block, block, 5, 5, 10, me); /* onto itself */
    CHECK(memcmp(block, model, sizeof model) == 0);
    aclshmem_int32_iput(block + 1, block, 1, 1, 30, me);
    memmove(model + 1, model, 30 * sizeof *model);
    CHECK(memcmp(block, model, sizeof model) == 0);
    aclshmem_free(block);
}

/* --- Mistakes --- */

#define EACH_FORM(CALL, there, here, dst, sst, count, pe)                                                    \
    CALL(aclshmem_int8_iput(there, here, dst, sst, count, pe));                                              \
    CALL(aclshmem_float_iput(there, here, dst, sst, count, pe));                                             \
    CALL(aclshmem_uint64_iput(there, here, dst, sst, count, pe));                                            \
    CALL(aclshmem_iput8(there, here, dst, sst, count, pe));                                                  \
    CALL(aclshmem_iput16(there, here, dst, sst, count, pe));                                                 \
    CALL(aclshmem_iput32(there, here, dst, sst, count, pe));                                                 \
    CALL(aclshmem_iput64(there, here, dst, sst, count, pe));                                                 \
    CALL(aclshmem_iput128(there, here, dst, sst, count, pe));                                                \
    CALL(aclshmem_int8_iget(here, there, sst, dst, count, pe));                                              \
    CALL(aclshmem_float_iget(here, there, sst, dst, count, pe));                                             \
    CALL(aclshmem_uint64_iget(here, there, sst, dst, count, pe));                                            \
    CALL(aclshmem_iget8(here, there, sst, dst, count, pe));                                                  \
    CALL(aclshmem_iget16(here, there, sst, dst, count, pe));                                                 \
    CALL(aclshmem_iget32(here, there, sst, dst, count, pe));                                                 \
    CALL(aclshmem_iget64(here, there, sst, dst, count, pe));                                                 \
    CALL(aclshmem_iget128(here, there, sst, dst, count, pe))

#define REFUSED(statement)    CHECK_ERROR(statement, ACLSHMEM_INVALID_PARAM)
#define NOT_INITED(statement) CHECK_ERROR(statement, ACLSHMEM_NOT_INITED)
#define ACCEPTED(statement)                                                                                  \
    aclshmemx_clear_error();                                                                                 \
    statement;                                                                                               \
    CHECK(aclshmemx_last_error(NULL)[0] == '\0')

static void mistakes(void)
{
    void *there = aclshmem_calloc(1, 64), *nowhere = NULL;
    char here[64] = "untouched", *base = aclshmemx_get_heap_base(DEVICE_SIDE);
    void *local = here;
    aclshmemx_heap_info_t info;
    CHECK(there != NULL);
    CHECK_INT(aclshmemx_heap_info(DEVICE_SIDE, &info), 0);
    void *end = base + info.size - 1;
    aclshmemx_set_extern_logger(pe_swallow);
    EACH_FORM(REFUSED, there, local, 0, 1, 2, next);
    EACH_FORM(REFUSED, there, local, 1, 0, 2, next);
    EACH_FORM(REFUSED, there, local, -1, 1, 2, next);
    EACH_FORM(REFUSED, there, local, 1, PTRDIFF_MIN, 2, next);
    EACH_FORM(REFUSED, there, local, 2, 2, 2, -1);
    EACH_FORM(REFUSED, there, local, 2, 2, 2, n);
    EACH_FORM(REFUSED, there, local, 2, 2, 0, n);
    EACH_FORM(REFUSED, local, local, 2, 2, 2, next);
    EACH_FORM(REFUSED, there, nowhere, 2, 2, 2, next);
    EACH_FORM(REFUSED, end, local, 2, 2, 2, next);
    /* The last element decides: strides and counts past 32 and past 64 bits. */
    EACH_FORM(REFUSED, there, local, (ptrdiff_t)info.size, 1, 2, next);
    EACH_FORM(REFUSED, there, local, (ptrdiff_t)1 << 32, 1, 2, next);
    EACH_FORM(REFUSED, there, local, (ptrdiff_t)1 << 32, 1, (size_t)1 << 32, next);
    EACH_FORM(REFUSED, there, local, PTRDIFF_MAX, PTRDIFF_MAX, SIZE_MAX, next);
    EACH_FORM(REFUSED, there, local, 1, 1, SIZE_MAX, next);
    EACH_FORM(ACCEPTED, nowhere, nowhere, 2, 2, 0, next);
    EACH_FORM(ACCEPTED, nowhere, nowhere, 0, 0, 0, next);
    CHECK_ERROR(aclshmem_iput32(there, here, 3, -4, 5, next), ACLSHMEM_INVALID_PARAM);
    CHECK(strstr(aclshmemx_last_error(NULL), "iput32: the strides are 3") != NULL);
    aclshmemx_set_extern_logger(NULL);
    aclshmem_barrier_all();
    CHECK(memcmp(there, &(char[64]){0}, 64) == 0 && strcmp(here, "untouched") == 0);
    aclshmem_free(there);
}

static void without_instance(void)
{
    char word[64] = "untouched";
    aclshmemx_set_extern_logger(pe_swallow);
    EACH_FORM(NOT_INITED, (void *)word, (void *)word, 2, 2, 2, 0);
    EACH_FORM(NOT_INITED, (void *)word, (void *)word, 2, 2, 0, 0);
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
    random_moves(DEVICE_SIDE);
    random_moves(HOST_SIDE);
    overlap();
    mistakes();
    pe_finalize();
    without_instance();
    return 0;
}
