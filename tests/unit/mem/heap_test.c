/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The allocator over offsets: the rules of the symmetric heap as far as they are about offsets, and a long random run
 * against a model that is too simple to be wrong.
 *
 * The program is linked with calloc wrapped, so that memory for records can be made to fail.
 * [R-09]
 */
#define LOG_MODULE "test"

#include "host/mem/heap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/utils/clock.h"

#define KIB  UINT64_C(1024)
#define MIB  (KIB * KIB)
#define GIB  (KIB * MIB)
#define NONE ACLSHMEMI_HEAP_NONE

static int calloc_until_failure = -1; /* calls that still work; negative: all of them */

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

void *__wrap_calloc(size_t count, size_t size)
{
    if (calloc_until_failure == 0)
        return NULL;
    if (calloc_until_failure > 0)
        calloc_until_failure--;
    return __real_calloc(count, size);
}

static aclshmemi_heap_t *heap_of(uint64_t size)
{
    aclshmemi_heap_t *heap = NULL;
    assert_int_equal(aclshmemi_heap_create(size, &heap), 0);
    assert_non_null(heap);
    assert_true(aclshmemi_heap_is_valid(heap));
    return heap;
}

static aclshmemi_heap_stats_t stats_of(const aclshmemi_heap_t *heap)
{
    aclshmemi_heap_stats_t stats;
    aclshmemi_heap_stats(heap, &stats);
    return stats;
}

static void must_free(aclshmemi_heap_t *heap, uint64_t offset)
{
    assert_int_equal(aclshmemi_heap_free(heap, offset), 0);
    assert_true(aclshmemi_heap_is_valid(heap));
}

static void must_refuse(aclshmemi_heap_t *heap, uint64_t offset, const char *reason)
{
    aclshmemi_heap_stats_t before = stats_of(heap), after;
    assert_int_equal(aclshmemi_heap_free(heap, offset), ACLSHMEM_INVALID_PARAM);
    assert_non_null(strstr(aclshmemi_status_last_text(), reason));
    after = stats_of(heap);
    assert_memory_equal(&before, &after, sizeof before);
    assert_true(aclshmemi_heap_is_valid(heap));
}

/* --- Sizes and alignments --- */

static void test_size_zero_and_too_large(void **state)
{
    (void)state;
    aclshmemi_heap_t *heap = heap_of(4 * MIB);
    assert_int_equal(aclshmemi_heap_alloc(heap, 0, 16), NONE);
    assert_int_equal(aclshmemi_heap_alloc(heap, 4 * MIB + 1, 16), NONE);
    assert_int_equal(aclshmemi_heap_alloc(heap, UINT64_MAX, 16), NONE);
    assert_int_equal(aclshmemi_heap_alloc(heap, UINT64_MAX - 14, 16), NONE);
    assert_int_equal(stats_of(heap).used, 0);
    assert_int_equal(aclshmemi_heap_alloc(heap, 4 * MIB, 16), 0);
    assert_int_equal(stats_of(heap).largest_free, 0);
    assert_int_equal(aclshmemi_heap_alloc(heap, 1, 16), NONE);
    assert_true(aclshmemi_heap_is_valid(heap));
    aclshmemi_heap_destroy(heap);
}

static void test_granularity(void **state)
{
    (void)state;
    aclshmemi_heap_t *heap = heap_of(KIB);
    assert_int_equal(aclshmemi_heap_alloc(heap, 1, 1), 0);
    assert_int_equal(aclshmemi_heap_alloc(heap, 15, 2), 16);
    assert_int_equal(aclshmemi_heap_alloc(heap, 16, 4), 32);
    assert_int_equal(aclshmemi_heap_alloc(heap, 17, 8), 48);
    assert_int_equal(aclshmemi_heap_alloc(heap, 1, 16), 80);
    assert_int_equal(stats_of(heap).used, 96);
    assert_int_equal(stats_of(heap).blocks, 5);
    aclshmemi_heap_destroy(heap);
}

static void test_heap_sizes(void **state)
{
    (void)state;
    aclshmemi_heap_t *heap = (aclshmemi_heap_t *)8; /* untouched by a failure */
    assert_int_equal(aclshmemi_heap_create(0, &heap), ACLSHMEM_INVALID_PARAM);
    assert_int_equal(aclshmemi_heap_create(15, &heap), ACLSHMEM_INVALID_PARAM);
    assert_ptr_equal(heap, (aclshmemi_heap_t *)8);
    heap = heap_of(4096 + 15); /* the odd bytes at the end are not usable */
    assert_int_equal(stats_of(heap).size, 4096);
    assert_int_equal(aclshmemi_heap_alloc(heap, 4097, 16), NONE);
    assert_int_equal(aclshmemi_heap_alloc(heap, 4081, 16), 0);
    aclshmemi_heap_destroy(heap);
    heap = heap_of(16);
    assert_int_equal(aclshmemi_heap_alloc(heap, 16, 16), 0);
    must_free(heap, 0);
    aclshmemi_heap_destroy(heap);
    aclshmemi_heap_destroy(NULL);
}

static void test_beyond_every_power_of_two(void **state)
{
    (void)state;
    aclshmemi_heap_t *heap = heap_of(UINT64_MAX);
    uint64_t end = 0;
    for (int shift = 4; shift < 63; shift++) {
        assert_int_equal(aclshmemi_heap_alloc(heap, UINT64_C(1) << shift, 16), end);
        end += UINT64_C(1) << shift;
    }
    assert_int_equal(stats_of(heap).used, end);
    assert_int_equal(aclshmemi_heap_alloc(heap, UINT64_MAX - 15 - end, 16), end);
    assert_int_equal(stats_of(heap).free, 0);
    assert_true(aclshmemi_heap_is_valid(heap));
    aclshmemi_heap_destroy(heap);
}

static void test_bad_alignment(void **state)
{
    (void)state;
    aclshmemi_heap_t *heap = heap_of(4 * MIB);
    static const uint64_t bad[] = {0, 3, 17, 48, 4 * MIB + 1, UINT64_MAX, 8 * MIB, UINT64_C(1) << 63};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(aclshmemi_heap_alloc(heap, 128, bad[i]), NONE);
    assert_int_equal(aclshmemi_heap_alloc(heap, 4 * MIB, 4 * MIB), 0); /* up to the heap */
    aclshmemi_heap_destroy(heap);
}

static void test_every_alignment(void **state)
{
    (void)state;
    for (uint64_t alignment = 1; alignment <= 2 * MIB; alignment *= 2) {
        aclshmemi_heap_t *heap = heap_of(8 * MIB);
        assert_int_equal(aclshmemi_heap_alloc(heap, 16, 16), 0); /* pushes the rest off alignment */
        for (int i = 0; i < 3; i++) {
            uint64_t offset = aclshmemi_heap_alloc(heap, 64, alignment);
            assert_int_not_equal(offset, NONE);
            assert_int_equal(offset % alignment, 0);
            assert_true(aclshmemi_heap_is_valid(heap));
        }
        aclshmemi_heap_destroy(heap);
    }
}

static void test_alignment_splits_front_and_back(void **state)
{
    (void)state;
    aclshmemi_heap_t *heap = heap_of(4 * KIB);
    assert_int_equal(aclshmemi_heap_alloc(heap, 16, 16), 0);
    assert_int_equal(aclshmemi_heap_alloc(heap, 64, KIB), KIB);
    assert_int_equal(stats_of(heap).used, 80); /* the gap was not kept */
    assert_int_equal(stats_of(heap).largest_free, 3 * KIB - 64);
    assert_int_equal(aclshmemi_heap_alloc(heap, KIB - 16, 16), 16); /* the front is usable, exactly */
    assert_int_equal(aclshmemi_heap_alloc(heap, 3 * KIB - 64, 64), KIB + 64); /* and so is the back */
    assert_int_equal(stats_of(heap).free, 0);
    must_free(heap, KIB);
    must_free(heap, 16);
    must_free(heap, KIB + 64);
    must_free(heap, 0);
    assert_int_equal(stats_of(heap).largest_free, 4 * KIB);
    aclshmemi_heap_destroy(heap);
}

static void test_alignment_skips_blocks_that_are_large_but_off(void **state)
{
    (void)state;
    aclshmemi_heap_t *heap = heap_of(64 * KIB);
    /* Free: [16, 4096+16), 4096 bytes long but without 4096 aligned ones; the next such block is the far end. */
    assert_int_equal(aclshmemi_heap_alloc(heap, 16, 16), 0);
    assert_int_equal(aclshmemi_heap_alloc(heap, 4096, 16), 16);
    assert_int_equal(aclshmemi_heap_alloc(heap, 16, 16), 4112);
    must_free(heap, 16);
    assert_int_equal(aclshmemi_heap_alloc(heap, 4096, 4096), 8192);
    assert_int_equal(aclshmemi_heap_alloc(heap, 4096, 16), 16);
    assert_true(aclshmemi_heap_is_valid(heap));
    aclshmemi_heap_destroy(heap);
}

/* --- Choice and merging --- */

static void test_best_fit_lowest_on_a_tie(void **state)
{
    (void)state;
    aclshmemi_heap_t *heap = heap_of(MIB);
    static const uint64_t sizes[] = {512, 256, 128, 256, 128};
    uint64_t hole[5], offset = 0;
    for (int i = 0; i < 5; i++) {
        hole[i] = aclshmemi_heap_alloc(heap, sizes[i], 16);
        assert_int_equal(hole[i], offset);
        assert_int_equal(aclshmemi_heap_alloc(heap, 16, 16), offset + sizes[i]); /* keeps the holes apart */
        offset += sizes[i] + 16;
    }
    for (int i = 4; i >= 0; i--)
        must_free(heap, hole[i]);
    assert_int_equal(aclshmemi_heap_alloc(heap, 100, 16),
                     hole[2]); /* smallest that is enough, lower of two */
    assert_int_equal(aclshmemi_heap_alloc(heap, 128, 16), hole[4]);
    assert_int_equal(aclshmemi_heap_alloc(heap, 128, 16), hole[1]);
    assert_int_equal(aclshmemi_heap_alloc(heap, 128, 16),
                     hole[1] + 128); /* what is left of a hole is a hole */
    assert_int_equal(aclshmemi_heap_alloc(heap, 300, 16), hole[0]);
    assert_int_equal(aclshmemi_heap_alloc(heap, 256, 16), hole[3]);
    aclshmemi_heap_destroy(heap);
}

static void test_merges_both_ways(void **state)
{
    (void)state;
    aclshmemi_heap_t *heap = heap_of(4 * MIB);
    uint64_t at[4];
    for (int i = 0; i < 4; i++)
        at[i] = aclshmemi_heap_alloc(heap, MIB, 16);
    must_free(heap, at[1]);
    must_free(heap, at[3]);
    assert_int_equal(aclshmemi_heap_alloc(heap, 2 * MIB, 16), NONE);
    assert_int_equal(stats_of(heap).largest_free, MIB);
    must_free(heap, at[2]);
    assert_int_equal(stats_of(heap).largest_free, 3 * MIB);
    assert_int_equal(aclshmemi_heap_alloc(heap, 3 * MIB, 16), MIB);
    aclshmemi_heap_destroy(heap);
}

static void test_merges_in_every_order(void **state)
{
    (void)state;
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (int order = 0; order < 6; order++) {
        aclshmemi_heap_t *heap = heap_of(3 * KIB);
        for (uint64_t i = 0; i < 3; i++)
            assert_int_equal(aclshmemi_heap_alloc(heap, KIB, 16), i * KIB);
        for (int i = 0; i < 3; i++)
            must_free(heap, (uint64_t)orders[order][i] * KIB);
        assert_int_equal(stats_of(heap).largest_free, 3 * KIB);
        assert_int_equal(stats_of(heap).used, 0);
        assert_int_equal(aclshmemi_heap_alloc(heap, 3 * KIB, 16), 0);
        aclshmemi_heap_destroy(heap);
    }
}

static void test_exhaust_and_reuse(void **state)
{
    (void)state;
    aclshmemi_heap_t *heap = heap_of(64 * KIB);
    uint64_t offset, last = NONE, count = 0;
    while ((offset = aclshmemi_heap_alloc(heap, 48, 16)) != NONE) {
        last = offset;
        count++;
    }
    assert_int_equal(count, 64 * KIB / 48);
    assert_int_equal(last, (count - 1) * 48);
    must_free(heap, 480);
    assert_int_equal(aclshmemi_heap_alloc(heap, 48, 16), 480);
    assert_int_equal(aclshmemi_heap_alloc(heap, 48, 16), NONE);
    aclshmemi_heap_destroy(heap);
}

/* --- Freeing what is not there --- */

static void test_wrong_frees(void **state)
{
    (void)state;
    aclshmemi_heap_t *heap = heap_of(4 * MIB);
    must_refuse(heap, 0, "not allocated");
    assert_int_equal(aclshmemi_heap_alloc(heap, 128 * KIB, 16), 0);
    assert_int_equal(aclshmemi_heap_alloc(heap, 64 * KIB, 16), 128 * KIB);
    must_refuse(heap, 64, "inside the block of 131072 bytes at offset 0");
    must_refuse(heap, 1, "inside the block");
    must_refuse(heap, 128 * KIB - 1, "inside the block");
    must_refuse(heap, 192 * KIB, "not allocated");
    must_refuse(heap, 4 * MIB, "outside the heap of 4194304 bytes");
    must_refuse(heap, UINT64_MAX, "outside the heap");
    must_free(heap, 128 * KIB);
    must_refuse(heap, 128 * KIB, "freed before");
    must_free(heap, 0);
    must_refuse(heap, 0, "freed before");
    assert_int_equal(aclshmemi_heap_alloc(heap, 4 * MIB, 16), 0);
    aclshmemi_heap_destroy(heap);
}

static void test_find(void **state)
{
    (void)state;
    aclshmemi_heap_t *heap = heap_of(KIB);
    uint64_t start = 1, size = 2;
    assert_false(aclshmemi_heap_find(heap, 0, &start, &size));
    assert_int_equal(aclshmemi_heap_alloc(heap, 64, 16), 0);
    assert_int_equal(aclshmemi_heap_alloc(heap, 33, 16), 64);
    assert_false(aclshmemi_heap_find(heap, 112, &start, &size));
    assert_false(aclshmemi_heap_find(heap, UINT64_MAX, &start, &size));
    assert_int_equal(start, 1); /* untouched by a miss */
    assert_int_equal(size, 2);
    assert_true(aclshmemi_heap_find(heap, 63, &start, &size));
    assert_int_equal(start, 0);
    assert_int_equal(size, 64);
    assert_true(aclshmemi_heap_find(heap, 64, &start, &size));
    assert_int_equal(start, 64);
    assert_int_equal(size, 48);
    must_free(heap, 0);
    assert_false(aclshmemi_heap_find(heap, 63, &start, &size));
    aclshmemi_heap_destroy(heap);
}

static void test_peak(void **state)
{
    (void)state;
    aclshmemi_heap_t *heap = heap_of(MIB);
    assert_int_equal(stats_of(heap).peak, 0);
    uint64_t a = aclshmemi_heap_alloc(heap, 1000, 16);
    uint64_t b = aclshmemi_heap_alloc(heap, 2000, 16);
    assert_int_equal(stats_of(heap).peak, 1008 + 2000);
    must_free(heap, a);
    assert_int_equal(stats_of(heap).used, 2000);
    assert_int_equal(stats_of(heap).peak, 3008);
    a = aclshmemi_heap_alloc(heap, 16, 16);
    assert_int_equal(stats_of(heap).peak, 3008);
    assert_int_equal(aclshmemi_heap_alloc(heap, 2 * MIB, 16), NONE); /* a failed request is not a peak */
    assert_int_equal(stats_of(heap).peak, 3008);
    must_free(heap, a);
    must_free(heap, b);
    assert_int_equal(stats_of(heap).peak, 3008);
    assert_int_equal(stats_of(heap).blocks, 0);
    aclshmemi_heap_destroy(heap);
}

/* Any mixture of kinds and sizes comes back completely. */
static void test_mixed_rounds(void **state)
{
    (void)state;
    aclshmemi_heap_t *heap = heap_of(4 * MIB);
    uint64_t kept[300];
    int count = 0;
    for (uint64_t i = 0; i < 100; i++) {
        kept[count++] = aclshmemi_heap_alloc(heap, 1024 + (i % 7) * 128, 16);
        kept[count++] = aclshmemi_heap_alloc(heap, 32 * (16 + i % 5), 16);
        kept[count++] = aclshmemi_heap_alloc(heap, 1536 + (i % 3) * 64, 64);
        for (int k = 1; k <= 3; k++)
            assert_int_not_equal(kept[count - k], NONE);
        assert_int_equal(kept[count - 1] % 64, 0);
        if (i % 3 == 0)
            must_free(heap, kept[--count]);
    }
    while (count > 0)
        must_free(heap, kept[--count]);
    assert_int_equal(stats_of(heap).largest_free, 4 * MIB);
    assert_int_equal(aclshmemi_heap_alloc(heap, 2 * MIB, 16), 0);
    aclshmemi_heap_destroy(heap);
}

/* --- No memory for records --- */

static void test_create_without_memory(void **state)
{
    (void)state;
    for (int works = 0; works < 2; works++) {
        aclshmemi_heap_t *heap = NULL;
        calloc_until_failure = works;
        int rc = aclshmemi_heap_create(MIB, &heap);
        calloc_until_failure = -1;
        assert_int_equal(rc, ACLSHMEM_MALLOC_FAILED);
        assert_null(heap);
    }
}

static void test_alloc_without_memory(void **state)
{
    (void)state;
    aclshmemi_heap_t *heap = heap_of(MIB);
    assert_int_equal(aclshmemi_heap_alloc(heap, 16, 16), 0);
    aclshmemi_heap_stats_t before = stats_of(heap);
    for (int works = 0; works < 2; works++) { /* one record for the body, one for the rest */
        calloc_until_failure = works;
        uint64_t offset = aclshmemi_heap_alloc(heap, 64, 4096);
        calloc_until_failure = -1;
        assert_int_equal(offset, NONE);
        aclshmemi_heap_stats_t after = stats_of(heap);
        assert_memory_equal(&before, &after, sizeof before);
        assert_true(aclshmemi_heap_is_valid(heap));
    }
    calloc_until_failure = 0;
    assert_int_equal(aclshmemi_heap_alloc(heap, MIB - 16, 16), 16); /* a block that fits exactly needs none */
    assert_int_equal(aclshmemi_heap_free(heap, 0), 0);              /* and neither does giving back */
    assert_int_equal(aclshmemi_heap_free(heap, 16), 0);
    calloc_until_failure = -1;
    assert_int_equal(stats_of(heap).largest_free, MIB);
    assert_true(aclshmemi_heap_is_valid(heap));
    aclshmemi_heap_destroy(heap);
}

/* --- A million steps against a model --- */

#define MODEL_BLOCKS 4096
#define LIVE_MAX     256

typedef struct model {
    struct {
        uint64_t offset, size;
        bool live;
    } block[MODEL_BLOCKS]; /* in address order, gapless */
    size_t count;
    uint64_t used, peak;
} model_t;

static void model_insert(model_t *model, size_t at, uint64_t offset, uint64_t size)
{
    assert_true(model->count < MODEL_BLOCKS);
    memmove(&model->block[at + 1], &model->block[at], (model->count - at) * sizeof model->block[0]);
    model->block[at].offset = offset;
    model->block[at].size = size;
    model->block[at].live = false;
    model->count++;
}

static void model_delete(model_t *model, size_t at)
{
    model->count--;
    memmove(&model->block[at], &model->block[at + 1], (model->count - at) * sizeof model->block[0]);
}

static uint64_t round_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

static uint64_t model_alloc(model_t *model, uint64_t size, uint64_t alignment)
{
    size_t best = MODEL_BLOCKS;
    size = round_up(size, 16);
    alignment = alignment < 16 ? 16 : alignment;
    for (size_t i = 0; i < model->count; i++) {
        uint64_t end = model->block[i].offset + model->block[i].size;
        if (model->block[i].live || round_up(model->block[i].offset, alignment) + size > end)
            continue;
        bool is_end = i + 1 == model->count;
        if (best == MODEL_BLOCKS || (!is_end && model->block[i].size < model->block[best].size))
            best = i;
    }
    if (best == MODEL_BLOCKS)
        return NONE;
    uint64_t start = model->block[best].offset, end = start + model->block[best].size;
    uint64_t offset = round_up(start, alignment);
    if (offset > start) {
        model->block[best].size = offset - start;
        model_insert(model, ++best, offset, end - offset);
    }
    if (offset + size < end) {
        model->block[best].size = size;
        model_insert(model, best + 1, offset + size, end - offset - size);
    }
    model->block[best].live = true;
    model->used += size;
    model->peak = model->used > model->peak ? model->used : model->peak;
    return offset;
}

static void model_free(model_t *model, uint64_t offset)
{
    size_t i = 0;
    while (model->block[i].offset != offset)
        i++;
    model->block[i].live = false;
    model->used -= model->block[i].size;
    if (i + 1 < model->count && !model->block[i + 1].live) {
        model->block[i].size += model->block[i + 1].size;
        model_delete(model, i + 1);
    }
    if (i > 0 && !model->block[i - 1].live) {
        model->block[i - 1].size += model->block[i].size;
        model_delete(model, i);
    }
}

static void compare_stats(const aclshmemi_heap_t *heap, const model_t *model)
{
    aclshmemi_heap_stats_t stats = stats_of(heap);
    uint64_t largest = 0, live = 0;
    for (size_t i = 0; i < model->count; i++) {
        live += model->block[i].live;
        if (!model->block[i].live && model->block[i].size > largest)
            largest = model->block[i].size;
    }
    assert_int_equal(stats.used, model->used);
    assert_int_equal(stats.free, stats.size - model->used);
    assert_int_equal(stats.peak, model->peak);
    assert_int_equal(stats.blocks, live);
    assert_int_equal(stats.largest_free, largest);
}

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15)); /* splitmix64 */
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Sizes over all magnitudes, alignments mostly natural, phases of growing and of shrinking. */
static uint64_t run_against_model(uint64_t heap_bytes, uint64_t seed, uint64_t steps,
                                  aclshmemi_deadline_t deadline)
{
    aclshmemi_heap_t *heap = heap_of(heap_bytes);
    model_t *model = calloc(1, sizeof *model);
    assert_non_null(model);
    model_insert(model, 0, 0, heap_bytes);
    uint64_t live[LIVE_MAX], done = 0;
    size_t count = 0;
    for (; done < steps; done++) {
        if (done % 1024 == 0 && aclshmemi_deadline_passed(deadline))
            break;
        bool growing = (done >> 9) % 2 == 0;
        if (count < LIVE_MAX && next_random(&seed) % 100 < (growing ? 70 : 30)) {
            uint64_t size = 1 + next_random(&seed) % (UINT64_C(1) << (1 + next_random(&seed) % 14));
            uint64_t alignment = UINT64_C(1) << (next_random(&seed) % 4 ? 4 : next_random(&seed) % 13);
            uint64_t offset = aclshmemi_heap_alloc(heap, size, alignment);
            assert_int_equal(offset, model_alloc(model, size, alignment));
            if (offset != NONE)
                live[count++] = offset;
        } else if (count > 0) {
            size_t victim = next_random(&seed) % count;
            assert_int_equal(aclshmemi_heap_free(heap, live[victim]), 0);
            model_free(model, live[victim]);
            live[victim] = live[--count];
        }
        if (done % 64 == 0)
            compare_stats(heap, model);
        if (done % 256 == 0)
            assert_true(aclshmemi_heap_is_valid(heap));
    }
    while (count > 0)
        must_free(heap, live[--count]);
    assert_int_equal(stats_of(heap).largest_free, heap_bytes);
    assert_int_equal(stats_of(heap).blocks, 0);
    free(model);
    aclshmemi_heap_destroy(heap);
    return done;
}

static void test_a_million_steps(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {64 * KIB, 256 * KIB, 2 * MIB, 16 * GIB}; /* from crowded to roomy */
    aclshmemi_deadline_t deadline = aclshmemi_deadline_after_ms(20000);
    uint64_t done = 0;
    for (uint64_t i = 0; i < 4; i++)
        done += run_against_model(sizes[i], 12345 + i, 250000, deadline);
    print_message("%llu steps agree with the model\n", (unsigned long long)done);
    assert_true(done > 1000);
}

/* The same calls give the same offsets, whatever another heap of the process did before. */
static void test_same_calls_same_offsets(void **state)
{
    (void)state;
    aclshmemi_heap_t *one = heap_of(MIB), *other = heap_of(MIB);
    uint64_t seed = 7, live[64];
    for (int i = 0; i < 500; i++) { /* a different past, all of it given back */
        uint64_t offset = aclshmemi_heap_alloc(other, 1 + next_random(&seed) % 4096, 16);
        must_free(other, offset);
    }
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 64; i++) {
            uint64_t size = 1 + next_random(&seed) % 8192;
            live[i] = aclshmemi_heap_alloc(one, size, 16);
            assert_int_equal(aclshmemi_heap_alloc(other, size, 16), live[i]);
        }
        for (int i = 0; i < 64; i++)
            if (live[i] != NONE) {
                must_free(one, live[i]);
                must_free(other, live[i]);
            }
    }
    aclshmemi_heap_destroy(one);
    aclshmemi_heap_destroy(other);
}

/* --- The size that would have done --- */

typedef struct replay {
    uint64_t seed, live[LIVE_MAX];
    size_t count;
} replay_t;

/* One random step; false when a request found no room, which then is in size and alignment. */
static bool replay_step(replay_t *r, aclshmemi_heap_t *heap, uint64_t *size, uint64_t *alignment)
{
    if (r->count == LIVE_MAX || (r->count > 0 && next_random(&r->seed) % 100 < 40)) {
        size_t victim = next_random(&r->seed) % r->count;
        must_free(heap, r->live[victim]);
        r->live[victim] = r->live[--r->count];
        return true;
    }
    *size = 1 + next_random(&r->seed) % (UINT64_C(1) << (1 + next_random(&r->seed) % 15));
    *alignment = UINT64_C(1) << (next_random(&r->seed) % 3 ? 4 : next_random(&r->seed) % 14);
    uint64_t offset = aclshmemi_heap_alloc(heap, *size, *alignment);
    if (offset != NONE)
        r->live[r->count++] = offset;
    return offset != NONE;
}

static bool replay_all(uint64_t heap_bytes, uint64_t seed, size_t steps)
{
    aclshmemi_heap_t *heap = heap_of(heap_bytes);
    replay_t r = {.seed = seed};
    uint64_t size, alignment;
    while (steps > 0 && replay_step(&r, heap, &size, &alignment))
        steps--;
    aclshmemi_heap_destroy(heap);
    return steps == 0;
}

/* A program that ran out of room is started again with the size it was told, and comes past that place; with less it
 * does not. */
static void test_size_for(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        aclshmemi_heap_t *heap = heap_of((16 + seed % 100) * KIB);
        replay_t r = {.seed = seed};
        uint64_t size = 0, alignment = 0;
        size_t steps = 1;
        while (replay_step(&r, heap, &size, &alignment))
            steps++;
        uint64_t enough = aclshmemi_heap_size_for(heap, size, alignment);
        assert_true(enough > stats_of(heap).size);
        aclshmemi_heap_destroy(heap);
        assert_true(replay_all(enough, seed, steps));
        assert_false(replay_all(enough - ACLSHMEMI_HEAP_GRANULARITY, seed, steps));
    }
}

/* A hole in the middle does not help: the heap grows at its end. */
static void test_size_for_ignores_holes(void **state)
{
    (void)state;
    aclshmemi_heap_t *heap = heap_of(MIB);
    uint64_t hole = aclshmemi_heap_alloc(heap, 512 * KIB, 16);
    assert_int_equal(aclshmemi_heap_alloc(heap, 256 * KIB, 16), 512 * KIB);
    must_free(heap, hole);
    assert_int_equal(aclshmemi_heap_size_for(heap, 768 * KIB, 16), MIB + 512 * KIB);
    assert_int_equal(aclshmemi_heap_size_for(heap, 768 * KIB - 5, MIB), MIB + 768 * KIB);
    assert_int_equal(aclshmemi_heap_size_for(heap, UINT64_MAX - 3, 16), UINT64_MAX);
    aclshmemi_heap_destroy(heap);
}

/* Thousands of blocks: a step that walked them all would show as minutes, and the program has a time limit. */
static void test_many_blocks(void **state)
{
    (void)state;
    enum { COUNT = 200000 };
    aclshmemi_heap_t *heap = heap_of(64 * (uint64_t)COUNT);
    for (uint64_t i = 0; i < COUNT; i++)
        assert_int_equal(aclshmemi_heap_alloc(heap, 64, 16), i * 64);
    for (uint64_t i = 0; i < COUNT; i += 2)
        assert_int_equal(aclshmemi_heap_free(heap, i * 64), 0);
    assert_true(aclshmemi_heap_is_valid(heap));
    for (uint64_t i = 0; i < COUNT; i += 2)
        assert_int_equal(aclshmemi_heap_alloc(heap, 64, 16), i * 64);
    for (uint64_t i = 0; i < COUNT; i++)
        assert_int_equal(aclshmemi_heap_free(heap, i * 64), 0);
    assert_int_equal(stats_of(heap).largest_free, 64 * (uint64_t)COUNT);
    aclshmemi_heap_destroy(heap);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_size_zero_and_too_large),
        cmocka_unit_test(test_granularity),
        cmocka_unit_test(test_heap_sizes),
        cmocka_unit_test(test_beyond_every_power_of_two),
        cmocka_unit_test(test_bad_alignment),
        cmocka_unit_test(test_every_alignment),
        cmocka_unit_test(test_alignment_splits_front_and_back),
        cmocka_unit_test(test_alignment_skips_blocks_that_are_large_but_off),
        cmocka_unit_test(test_best_fit_lowest_on_a_tie),
        cmocka_unit_test(test_merges_both_ways),
        cmocka_unit_test(test_merges_in_every_order),
        cmocka_unit_test(test_exhaust_and_reuse),
        cmocka_unit_test(test_wrong_frees),
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_peak),
        cmocka_unit_test(test_mixed_rounds),
        cmocka_unit_test(test_create_without_memory),
        cmocka_unit_test(test_alloc_without_memory),
        cmocka_unit_test(test_a_million_steps),
        cmocka_unit_test(test_same_calls_same_offsets),
        cmocka_unit_test(test_size_for),
        cmocka_unit_test(test_size_for_ignores_holes),
        cmocka_unit_test(test_many_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) == 0 ? 0 : 1;
}
