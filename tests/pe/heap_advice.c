/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The advice in the error of an allocation that found no room: a job that is started again with that heap comes past the
 * place where it failed, whatever holes it had made by then, and what the queries say agrees with the text.
 * [R-06] [R-09] [R-26]
 */
#include <inttypes.h>
#include <string.h>

#include "pe.h"

enum { LIVE = 24, STEPS = 4000 };

#define MIB (UINT64_C(1) << 20)

static uint32_t seed;

static size_t draw(size_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

/* The same calls for the same start; stops at the first that finds no room, and tells how many there were. */
static int walk(uint32_t start, aclshmem_mem_type_t type)
{
    char *live[LIVE] = {NULL};
    seed = start;
    for (int step = 0; step < STEPS; step++) {
        size_t k = draw(LIVE);
        if (live[k] != NULL && draw(2) == 0) {
            aclshmemx_free(live[k], type);
            live[k] = NULL;
        } else if (live[k] == NULL) {
            size_t size = 1 + draw((size_t)1 << (8 + draw(14))), alignment = (size_t)16 << draw(12);
            live[k] = aclshmemx_align(alignment, size, type);
            if (live[k] == NULL)
                return step;
            live[k][0] = live[k][size - 1] = 1; /* it is there to the end */
        }
    }
    return STEPS;
}

static uint64_t number_before(const char *text, const char *word)
{
    const char *at = strstr(text, word);
    CHECK(at != NULL);
    while (at > text && (at[-1] == ' ' || (at[-1] >= '0' && at[-1] <= '9')))
        at--;
    return strtoull(at, NULL, 10);
}

/* Fails, reads the advice, follows it. */
static void follow(uint32_t start, aclshmem_mem_type_t type)
{
    aclshmemx_heap_info_t info;
    uint64_t heap_bytes = 2 * MIB;
    int step = 0;
    for (int round = 0; step < STEPS; round++) {
        CHECK(round < 40);
        pe_init(heap_bytes);
        aclshmemx_set_extern_logger(pe_swallow);
        int failed_at = walk(start, type);
        aclshmemx_set_extern_logger(NULL);
        CHECK(round == 0 || failed_at > step); /* past the place where it failed */
        step = failed_at;
        if (step < STEPS) {
            int code;
            const char *text = aclshmemx_last_error(&code);
            CHECK_INT(code, ACLSHMEM_MALLOC_FAILED);
            CHECK_INT(aclshmemx_heap_info(type, &info), 0);
            CHECK_INT(number_before(text, "bytes are free"), info.free);
            heap_bytes = number_before(text, "would do");
            CHECK(heap_bytes % (2 * MIB) == 0);
        }
        pe_finalize();
    }
}

/* What no heap can hold is not promised. */
static void no_advice(void)
{
    pe_init(2 * MIB);
    aclshmemx_set_extern_logger(pe_swallow);
    static const uint64_t sizes[] = {UINT64_C(64) << 30, UINT64_MAX / 2, UINT64_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        CHECK_ERROR(CHECK(aclshmem_malloc(sizes[i]) == NULL), ACLSHMEM_MALLOC_FAILED);
        CHECK(strstr(aclshmemx_last_error(NULL), "no heap can be that large") != NULL);
    }
    aclshmemx_set_extern_logger(NULL);
    pe_finalize();
}

int main(void)
{
    for (uint32_t start = 1; start <= 3; start++)
        follow(start * 977, start % 2 == 0 ? HOST_SIDE : DEVICE_SIDE);
    no_advice();
    return 0;
}
