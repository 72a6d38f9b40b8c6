/* SPDX-License-Identifier: Apache-2.0 */
/* The symmetric heap: offsets agree, every limit, every mistake, asymmetric calls found out and harmless. */
/* Scenarios: [H-01] [H-02] [H-03] [H-04] [H-05] [H-06] [H-07] [H-08] [H-09] [H-10] [H-11] [H-12] [H-13] [H-14]
 * [H-16] [H-17] [H-18] [H-19] [H-20] [H-21] [H-22] [H-23] [H-24] [H-25] [H-26] [H-30] [H-31] [H-33] [H-34]
 * [H-36] */
#include <string.h>

#include "pe.h"

#define MIB (UINT64_C(1) << 20)
static const uint64_t heap_bytes = 4 * MIB;
static int me, n;

static uint64_t offset_of(const void *address)
{
    return (uint64_t)((const char *)address - (const char *)aclshmemx_get_heap_base(DEVICE_SIDE));
}

/* All PEs hold the same value. */
static void check_same(uint64_t value)
{
    static uint64_t *all;
    if (all == NULL || offset_of(all) > heap_bytes + 6 * MIB)
        all = aclshmem_calloc(64, sizeof *all);
    CHECK(all != NULL);
    for (int pe = 0; pe < n; pe++)
        aclshmem_uint64_p(&all[me], value, pe);
    aclshmem_barrier_all();
    for (int pe = 0; pe < n; pe++)
        CHECK_INT(all[pe], value);
    aclshmem_barrier_all();
}

static void sizes(void)
{
    char *p;
    CHECK(aclshmem_malloc(0) == NULL);
    CHECK(aclshmem_calloc(16, 0) == NULL && aclshmem_calloc(0, 16) == NULL);
    CHECK((p = aclshmem_malloc(heap_bytes)) != NULL);
    memset(p, 0xaa, heap_bytes);
    aclshmem_free(p);
    CHECK((p = aclshmem_calloc(16, heap_bytes / 16)) != NULL);
    for (uint64_t i = 0; i < heap_bytes; i++)
        CHECK(p[i] == 0);
    aclshmem_free(p);
    static const size_t small[] = {1, 15, 16, 17};
    for (int i = 0; i < 4; i++) {
        CHECK((p = aclshmem_malloc(small[i])) != NULL);
        CHECK_INT(offset_of(p) % 16, 0);
        aclshmem_free(p);
    }
}

static void refusals(void)
{
    aclshmemx_set_extern_logger(pe_swallow);
    CHECK(aclshmem_malloc(heap_bytes + 6 * MIB + 1) == NULL);
    CHECK(aclshmem_calloc(16, (heap_bytes + 6 * MIB) / 16 + 1) == NULL);
    CHECK_ERROR(CHECK(aclshmem_calloc(SIZE_MAX, 2) == NULL), ACLSHMEM_INVALID_VALUE);
    CHECK_ERROR(CHECK(aclshmem_align(17, 128) == NULL), ACLSHMEM_INVALID_PARAM);
    CHECK_ERROR(CHECK(aclshmem_align(0, 128) == NULL), ACLSHMEM_INVALID_PARAM);
    CHECK(aclshmem_align(16, 0) == NULL);
    CHECK(aclshmem_align(16, heap_bytes + 6 * MIB + 1) == NULL);
    CHECK_ERROR(CHECK(aclshmemx_malloc(64, (aclshmem_mem_type_t)7) == NULL), ACLSHMEM_INVALID_PARAM);
    /* The message names a size that would do. */
    CHECK(aclshmem_malloc(heap_bytes + 8 * MIB) == NULL);
    CHECK(strstr(aclshmemx_last_error(NULL), "local_mem_size") != NULL);
    aclshmemx_set_extern_logger(NULL);
    void *p = aclshmem_malloc(4096);
    CHECK(p != NULL);
    aclshmem_free(p);
}

static void alignments(void)
{
    for (size_t alignment = 16; alignment <= 2 * MIB; alignment *= 2) {
        void *odd = aclshmem_malloc(48), *p = aclshmem_align(alignment, 64);
        CHECK(odd != NULL && p != NULL);
        CHECK_INT((uintptr_t)p % alignment, 0);
        check_same(offset_of(p));
        aclshmem_free(p);
        aclshmem_free(odd);
    }
}

static void wrong_frees(void)
{
    char *base = aclshmem_malloc(128 << 10), stack;
    CHECK(base != NULL);
    aclshmem_barrier_all();
    aclshmemx_set_extern_logger(pe_swallow);
    CHECK_ERROR(aclshmem_free(base + 64), ACLSHMEM_INVALID_PARAM);
    CHECK_ERROR(aclshmem_free(&stack), ACLSHMEM_INVALID_PARAM);
    CHECK_ERROR(aclshmemx_free(base, HOST_SIDE), ACLSHMEM_INVALID_PARAM);
    aclshmem_free(base);
    CHECK_ERROR(aclshmem_free(base), ACLSHMEM_INVALID_PARAM);
    aclshmemx_set_extern_logger(NULL);
    if (me == 0)
        aclshmem_free(NULL); /* not collective */
    CHECK((base = aclshmem_malloc(128 << 10)) != NULL);
    aclshmem_free(base);
}

static void merging(void)
{
    char *block[4];
    for (int i = 0; i < 4; i++)
        CHECK((block[i] = aclshmem_malloc(MIB)) != NULL);
    aclshmem_free(block[1]);
    aclshmem_free(block[3]);
    aclshmemx_set_extern_logger(pe_swallow);
    CHECK(aclshmem_malloc(2 * MIB) == NULL);
    aclshmemx_set_extern_logger(NULL);
    aclshmem_free(block[2]);
    CHECK((block[1] = aclshmem_malloc(3 * MIB)) != NULL);
    aclshmem_free(block[1]);
    aclshmem_free(block[0]);
}

static void asymmetric_calls(void)
{
    if (n == 1)
        return;
    aclshmemx_set_extern_logger(pe_swallow);
    CHECK_ERROR(CHECK(aclshmem_malloc(4096 + (size_t)me * 16) == NULL), ACLSHMEM_INVALID_PARAM);
    CHECK(strstr(aclshmemx_last_error(NULL), "calls malloc(count 1, size 4") !=
          NULL); /* both sides' values are shown */
    CHECK(aclshmem_calloc((size_t)me + 1, 64) == NULL);
    CHECK(aclshmem_align(me == 0 ? 64 : 128, 64) == NULL);
    CHECK(aclshmem_malloc(me == 0 ? 0 : 64) == NULL);
    CHECK(aclshmem_calloc(me == 0 ? SIZE_MAX : 1, 2) == NULL);
    CHECK((me == 0 ? aclshmem_malloc(64) : aclshmem_calloc(1, 64)) == NULL);
    char *p = aclshmem_malloc(64), *q = aclshmem_malloc(64);
    CHECK(p != NULL && q != NULL);
    CHECK_ERROR(aclshmem_free(me == 0 ? p : q), ACLSHMEM_INVALID_PARAM);
    aclshmemx_set_extern_logger(NULL);
    aclshmem_free(q); /* nothing was lost or freed by halves */
    aclshmem_free(p);
    CHECK((p = aclshmem_malloc(heap_bytes - MIB)) != NULL);
    check_same(offset_of(p));
    aclshmem_free(p);
}

static void random_walk(void)
{
    enum { STEPS = 400, LIVE = 32 };
    char *live[LIVE] = {NULL};
    uint32_t state = 12345; /* the same on all PEs */
    for (int step = 0; step < STEPS; step++) {
        state = state * 1664525u + 1013904223u;
        int k = (int)(state >> 16) % LIVE;
        if (live[k] != NULL) {
            aclshmem_free(live[k]);
            live[k] = NULL;
        } else {
            live[k] = aclshmem_align((size_t)16 << (state >> 8) % 6, 1 + (state >> 4) % 60000);
            CHECK(live[k] != NULL);
        }
        if (step % 40 == 0)
            check_same(live[k] == NULL ? 0 : offset_of(live[k]));
    }
    for (int k = 0; k < LIVE; k++)
        aclshmem_free(live[k]);
}

static void host_heap(void)
{
    CHECK(aclshmemx_get_heap_base(HOST_SIDE) == NULL);
    aclshmemx_heap_info_t info;
    aclshmemx_set_extern_logger(pe_swallow);
    CHECK_INT(aclshmemx_heap_info(HOST_SIDE, &info), ACLSHMEM_NOT_INITED);
    int *h = aclshmemx_malloc(4096, HOST_SIDE);
    CHECK(h != NULL && aclshmemx_get_heap_base(HOST_SIDE) != NULL);
    CHECK_ERROR(aclshmemx_free(h, DEVICE_SIDE), ACLSHMEM_INVALID_PARAM);
    aclshmemx_set_extern_logger(NULL);
    *(int *)aclshmem_ptr(h, (me + 1) % n) = me;
    aclshmem_barrier_all();
    CHECK_INT(*h, (me + n - 1) % n);
    CHECK_INT(aclshmemx_heap_info(HOST_SIDE, &info), 0);
    CHECK_INT(info.blocks, 1);
    aclshmemx_free(h, HOST_SIDE);
}

/* [H-15] Small blocks of all kinds come and go, and leave no crumbs. */
static void churn(void)
{
    enum { CHURN_ROUNDS = 100 };
    void *kept[3 * CHURN_ROUNDS];
    int live = 0;
    for (int i = 0; i < CHURN_ROUNDS; i++) {
        void *made[3] = {aclshmem_malloc(1024 + (size_t)(i % 7) * 128),
                         aclshmem_calloc(32, 16 + (size_t)(i % 5)),
                         aclshmem_align(64, 1536 + (size_t)(i % 3) * 64)};
        for (int k = 0; k < 3; k++) {
            CHECK(made[k] != NULL);
            if (i % 3 == k)
                aclshmem_free(made[k]);
            else
                kept[live++] = made[k];
        }
    }
    while (live > 0)
        aclshmem_free(kept[--live]);
    void *half = aclshmem_malloc(heap_bytes / 2);
    CHECK(half != NULL);
    aclshmem_free(half);
}

/* [H-29] Of a heap that is used up, what comes back can be had again. */
static void exhaustion(void)
{
    enum { BLOCKS_MAX = 64 };
    void *block[BLOCKS_MAX];
    int count = 0;
    aclshmemx_set_extern_logger(pe_swallow);
    while (count < BLOCKS_MAX && (block[count] = aclshmem_malloc(heap_bytes / 16)) != NULL)
        count++;
    CHECK(count >= 16 && count < BLOCKS_MAX);
    CHECK(aclshmem_malloc(heap_bytes / 16) == NULL);
    aclshmemx_set_extern_logger(NULL);
    aclshmem_free(block[count / 2]);
    CHECK((block[count / 2] = aclshmem_malloc(heap_bytes / 16)) != NULL);
    while (count > 0)
        aclshmem_free(block[--count]);
}

int main(void)
{
    CHECK(aclshmemx_get_heap_base(DEVICE_SIDE) == NULL);
    aclshmemx_set_extern_logger(pe_swallow);
    CHECK(aclshmem_malloc(64) == NULL && aclshmem_calloc(1, 64) == NULL && aclshmem_align(64, 64) == NULL);
    CHECK(aclshmemx_malloc(64, HOST_SIDE) == NULL);
    aclshmem_free((void *)16);
    aclshmem_free(NULL);
    aclshmemx_set_extern_logger(NULL);
    pe_init(heap_bytes);
    me = aclshmem_my_pe();
    n = aclshmem_n_pes();
    sizes();
    refusals();
    aclshmemx_heap_info_t before, after;
    CHECK_INT(aclshmemx_heap_info(DEVICE_SIDE, &before), 0);
    CHECK(before.largest_free >= heap_bytes && before.largest_free < heap_bytes + MIB);
    alignments();
    wrong_frees();
    merging();
    churn();
    exhaustion();
    asymmetric_calls();
    random_walk();
    host_heap();
    CHECK_INT(aclshmemx_heap_info(DEVICE_SIDE, &after), 0);
    CHECK_INT(after.blocks, before.blocks + 1); /* the block of check_same */
    pe_finalize();
    CHECK(aclshmemx_get_heap_base(DEVICE_SIDE) == NULL);
    return 0;
}
