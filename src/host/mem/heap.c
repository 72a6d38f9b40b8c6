/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The allocator over offsets: best fit, lowest offset on a tie, the free end of the heap last, neighbours merged on free.
 * Since the end is taken only when no other block fits, its size decides nothing: a larger heap gives the same offsets
 * for the same calls, as far as the smaller one served them.
 *
 * Every byte belongs to exactly one block, free or live. A block has one record; records form a list in address order
 * (that is how neighbours are found when they merge), and each is in one of two search trees as well: live ones by
 * offset, free ones by size and then offset, so that the leftmost one that is large enough is the best fit. The trees
 * are treaps; their priorities decide the shape of a tree, never which block is chosen.
 */
#define LOG_MODULE "heap"

#include "host/mem/heap.h"

#include <inttypes.h>
#include <stdlib.h>

typedef struct block {
    uint64_t offset;
    uint64_t size;
    uint64_t priority;            /* no smaller than that of the blocks below it in its tree */
    struct block *before, *after; /* neighbours in address order, NULL at the ends */
    struct block *left, *right;   /* in the tree of its kind */
    bool live;
} block_t;

struct aclshmemi_heap {
    uint64_t size;
    uint64_t used;
    uint64_t peak;
    uint64_t live_count;
    uint64_t free_count;
    uint64_t random; /* state behind the priorities */
    block_t *first;  /* the block at offset 0 */
    block_t *live;   /* roots */
    block_t *free;
};

/* --- Trees --- */

/* Order in either tree: two blocks of one tree never compare equal. */
static bool goes_before(const block_t *a, const block_t *b)
{
    if (!a->live && a->size != b->size)
        return a->size < b->size;
    return a->offset < b->offset;
}

/* Parts a tree into what goes before block and the rest. */
static void split(block_t *tree, const block_t *block, block_t **lower, block_t **upper)
{
    while (tree) {
        if (goes_before(tree, block)) {
            *lower = tree;
            lower = &tree->right;
            tree = tree->right;
        } else {
            *upper = tree;
            upper = &tree->left;
            tree = tree->left;
        }
    }
    *lower = NULL;
    *upper = NULL;
}

/* Everything in lower goes before everything in upper. */
static block_t *join(block_t *lower, block_t *upper)
{
    block_t *root = NULL;
    block_t **at = &root;
    while (lower && upper) {
        if (lower->priority >= upper->priority) {
            *at = lower;
            at = &lower->right;
            lower = lower->right;
        } else {
            *at = upper;
            at = &upper->left;
            upper = upper->left;
        }
    }
    *at = lower ? lower : upper;
    return root;
}

static void tree_insert(block_t **root, block_t *block)
{
    block_t **at = root;
    while (*at && (*at)->priority >= block->priority)
        at = goes_before(block, *at) ? &(*at)->left : &(*at)->right;
    split(*at, block, &block->left, &block->right);
    *at = block;
}

static void tree_remove(block_t **root, block_t *block)
{
    block_t **at = root;
    while (*at != block)
        at = goes_before(block, *at) ? &(*at)->left : &(*at)->right;
    *at = join(block->left, block->right);
    block->left = NULL;
    block->right = NULL;
}

/* The first free block, in order of size and then offset, that goes behind (size, offset). */
static block_t *free_after(const aclshmemi_heap_t *heap, uint64_t size, uint64_t offset, bool inclusive)
{
    block_t *best = NULL;
    for (block_t *at = heap->free; at;) {
        bool enough = at->size != size ? at->size > size
                      : inclusive      ? at->offset >= offset
                                       : at->offset > offset;
        if (enough)
            best = at;
        at = enough ? at->left : at->right;
    }
    return best;
}

/* The live block with the largest offset that is no larger than this one. */
static block_t *live_at_or_before(const aclshmemi_heap_t *heap, uint64_t offset)
{
    block_t *best = NULL;
    for (block_t *at = heap->live; at;) {
        bool starts = at->offset <= offset;
        if (starts)
            best = at;
        at = starts ? at->right : at->left;
    }
    return best;
}

/* --- Records --- */

static block_t *record_new(aclshmemi_heap_t *heap)
{
    block_t *block = calloc(1, sizeof *block);
    if (!block)
        return NULL;
    heap->random ^= heap->random << 13; /* xorshift: never 0, full period */
    heap->random ^= heap->random >> 7;
    heap->random ^= heap->random << 17;
    block->priority = heap->random;
    return block;
}

static void set_free(aclshmemi_heap_t *heap, block_t *block)
{
    block->live = false;
    tree_insert(&heap->free, block);
    heap->free_count++;
}

static void take_from_free(aclshmemi_heap_t *heap, block_t *block)
{
    tree_remove(&heap->free, block);
    heap->free_count--;
}

/* Cuts the part behind the first size bytes off into tail; both are in no tree. */
static void cut(block_t *block, uint64_t size, block_t *tail)
{
    tail->offset = block->offset + size;
    tail->size = block->size - size;
    block->size = size;
    tail->before = block;
    tail->after = block->after;
    if (tail->after)
        tail->after->before = tail;
    block->after = tail;
}

/* Takes the block behind this one in, and its record away; both are in no tree. */
static void absorb_after(block_t *block)
{
    block_t *gone = block->after;
    block->size += gone->size;
    block->after = gone->after;
    if (block->after)
        block->after->before = block;
    free(gone);
}

/* --- The interface --- */

int aclshmemi_heap_create(uint64_t size, aclshmemi_heap_t **heap)
{
    uint64_t usable = size - size % ACLSHMEMI_HEAP_GRANULARITY;
    if (usable == 0)
        return fail(ACLSHMEM_INVALID_PARAM, "a heap needs at least %" PRIu64 " bytes, not %" PRIu64,
                    ACLSHMEMI_HEAP_GRANULARITY, size);
    aclshmemi_heap_t *made = calloc(1, sizeof *made);
    if (!made)
        return fail(ACLSHMEM_MALLOC_FAILED, "no memory for the records of a heap");
    made->size = usable;
    made->random = UINT64_C(0x9e3779b97f4a7c15);
    made->first = record_new(made);
    if (!made->first) {
        free(made);
        return fail(ACLSHMEM_MALLOC_FAILED, "no memory for the records of a heap");
    }
    made->first->size = usable;
    set_free(made, made->first);
    *heap = made;
    return 0;
}

void aclshmemi_heap_destroy(aclshmemi_heap_t *heap)
{
    if (!heap)
        return;
    for (block_t *block = heap->first; block;) {
        block_t *after = block->after;
        free(block);
        block = after;
    }
    free(heap);
}

/* Bytes to skip at the start of a block so that what follows is aligned. */
static uint64_t gap_before(const block_t *block, uint64_t alignment)
{
    return (alignment - (block->offset & (alignment - 1))) & (alignment - 1);
}

/* Blocks come in order of size, so the first that fits is the best. The walk is one step for natural alignment, and
 * for a larger one it passes only blocks that are less than one alignment larger than the request. */
static block_t *find_fit(const aclshmemi_heap_t *heap, uint64_t size, uint64_t alignment)
{
    block_t *end = NULL;
    block_t *block = free_after(heap, size, 0, true);
    while (block) {
        if (gap_before(block, alignment) <= block->size - size) {
            if (block->after)
                return block;
            end = block;
        }
        block = free_after(heap, block->size, block->offset, false);
    }
    return end;
}

uint64_t aclshmemi_heap_alloc(aclshmemi_heap_t *heap, uint64_t size, uint64_t alignment)
{
    bool power_of_two = alignment != 0 && (alignment & (alignment - 1)) == 0;
    if (size == 0 || size > heap->size || !power_of_two || alignment > heap->size)
        return ACLSHMEMI_HEAP_NONE;
    if (alignment < ACLSHMEMI_HEAP_GRANULARITY)
        alignment = ACLSHMEMI_HEAP_GRANULARITY;
    size += (ACLSHMEMI_HEAP_GRANULARITY - size % ACLSHMEMI_HEAP_GRANULARITY) % ACLSHMEMI_HEAP_GRANULARITY;

    block_t *block = find_fit(heap, size, alignment);
    if (!block)
        return ACLSHMEMI_HEAP_NONE;
    uint64_t gap = gap_before(block, alignment);
    bool has_rest = block->size - gap > size;
    /* Both records first: after this line nothing can fail, so a failure leaves the heap as it was. */
    block_t *body = gap ? record_new(heap) : block;
    block_t *rest = has_rest ? record_new(heap) : NULL;
    if (!body || (has_rest && !rest)) {
        if (body != block)
            free(body);
        free(rest);
        return ACLSHMEMI_HEAP_NONE;
    }

    take_from_free(heap, block);
    if (gap) {
        cut(block, gap, body);
        set_free(heap, block);
    }
    if (rest) {
        cut(body, size, rest);
        set_free(heap, rest);
    }
    body->live = true;
    tree_insert(&heap->live, body);
    heap->live_count++;
    heap->used += size;
    if (heap->used > heap->peak)
        heap->peak = heap->used;
    return body->offset;
}

static int refuse_free(const aclshmemi_heap_t *heap, uint64_t offset, const block_t *block)
{
    if (offset >= heap->size)
        return fail_quietly(ACLSHMEM_INVALID_PARAM,
                            "offset %" PRIu64 " is outside the heap of %" PRIu64 " bytes", offset,
                            heap->size);
    if (block && offset - block->offset < block->size)
        return fail_quietly(ACLSHMEM_INVALID_PARAM,
                            "offset %" PRIu64 " is inside the block of %" PRIu64 " bytes at offset %" PRIu64
                            ", only its start can be freed",
                            offset, block->size, block->offset);
    return fail_quietly(ACLSHMEM_INVALID_PARAM,
                        "offset %" PRIu64 " is not allocated: freed before, or never handed out", offset);
}

int aclshmemi_heap_free(aclshmemi_heap_t *heap, uint64_t offset)
{
    block_t *block = live_at_or_before(heap, offset);
    if (!block || block->offset != offset)
        return refuse_free(heap, offset, block);
    tree_remove(&heap->live, block);
    heap->live_count--;
    heap->used -= block->size;
    if (block->after && !block->after->live) {
        take_from_free(heap, block->after);
        absorb_after(block);
    }
    if (block->before && !block->before->live) {
        block = block->before;
        take_from_free(heap, block);
        absorb_after(block);
    }
    set_free(heap, block);
    return 0;
}

bool aclshmemi_heap_find(const aclshmemi_heap_t *heap, uint64_t offset, uint64_t *start, uint64_t *size)
{
    const block_t *block = live_at_or_before(heap, offset);
    if (!block || offset - block->offset >= block->size)
        return false;
    *start = block->offset;
    *size = block->size;
    return true;
}

void aclshmemi_heap_stats(const aclshmemi_heap_t *heap, aclshmemi_heap_stats_t *stats)
{
    const block_t *largest = heap->free;
    while (largest && largest->right)
        largest = largest->right;
    *stats = (aclshmemi_heap_stats_t){.size = heap->size,
                                      .used = heap->used,
                                      .free = heap->size - heap->used,
                                      .largest_free = largest ? largest->size : 0,
                                      .peak = heap->peak,
                                      .blocks = heap->live_count};
}

uint64_t aclshmemi_heap_size_for(const aclshmemi_heap_t *heap, uint64_t size, uint64_t alignment)
{
    const block_t *last = live_at_or_before(heap, heap->size);
    uint64_t end = last ? last->offset + last->size : 0, bytes;
    uint64_t gap = (alignment - (end & (alignment - 1))) & (alignment - 1);
    if (__builtin_add_overflow(end + gap, size, &bytes) || bytes > UINT64_MAX - ACLSHMEMI_HEAP_GRANULARITY)
        return UINT64_MAX;
    bytes += (ACLSHMEMI_HEAP_GRANULARITY - bytes % ACLSHMEMI_HEAP_GRANULARITY) % ACLSHMEMI_HEAP_GRANULARITY;
    return bytes > heap->size ? bytes : heap->size;
}

/* --- Checking --- */

/* A look-up by its own key must lead to the block itself; budget bounds the walk through a damaged tree. */
static bool is_reachable(const block_t *root, const block_t *block, uint64_t budget)
{
    const block_t *at = root;
    while (at && at != block && budget-- > 0)
        at = goes_before(block, at) ? at->left : at->right;
    return at == block;
}

/* Counts a tree's blocks, at most limit + 1 of them; false on a block of the other kind or priorities out of order.
 * As deep as the tree, which the priorities keep logarithmic. */
static bool count_tree(const block_t *tree, bool live, uint64_t limit, uint64_t *count)
{
    if (!tree)
        return true;
    if (tree->live != live || ++*count > limit)
        return false;
    if ((tree->left && tree->left->priority > tree->priority) ||
        (tree->right && tree->right->priority > tree->priority))
        return false;
    return count_tree(tree->left, live, limit, count) && count_tree(tree->right, live, limit, count);
}

static bool is_block_valid(const aclshmemi_heap_t *heap, const block_t *block, const block_t *before,
                           uint64_t end)
{
    if (block->before != before || block->offset != end)
        return false;
    if (block->size == 0 || block->size % ACLSHMEMI_HEAP_GRANULARITY != 0 || block->size > heap->size - end)
        return false;
    if (before && !before->live && !block->live)
        return false; /* neighbours that should have merged */
    return is_reachable(block->live ? heap->live : heap->free, block, heap->live_count + heap->free_count);
}

bool aclshmemi_heap_is_valid(const aclshmemi_heap_t *heap)
{
    uint64_t end = 0, used = 0, live_count = 0, free_count = 0;
    const block_t *before = NULL;
    for (const block_t *block = heap->first; block; before = block, block = block->after) {
        if (!is_block_valid(heap, block, before, end))
            return false;
        end += block->size;
        used += block->live ? block->size : 0;
        live_count += block->live;
        free_count += !block->live;
    }
    if (end != heap->size || used != heap->used || heap->peak < used || heap->peak > heap->size)
        return false;
    if (live_count != heap->live_count || free_count != heap->free_count)
        return false;
    uint64_t in_live = 0, in_free = 0;
    return count_tree(heap->live, true, live_count, &in_live) && in_live == live_count &&
           count_tree(heap->free, false, free_count, &in_free) && in_free == free_count;
}
