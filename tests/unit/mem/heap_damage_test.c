/* SPDX-License-Identifier: Apache-2.0 */
/* The validity checker of the heap is worth something only if it sees damage: one wrong field at a time. The source is
 * included because the records are nobody else's business. */
#include "host/mem/heap.c"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static aclshmemi_heap_t *heap;

/* Live at 0, 256 and 768; free at 128, 512 and from 896 to the end. */
static int set_up(void **state)
{
    (void)state;
    if (aclshmemi_heap_create(4096, &heap))
        return -1;
    static const uint64_t sizes[] = {128, 128, 256, 256, 128};
    for (int i = 0; i < 5; i++)
        if (aclshmemi_heap_alloc(heap, sizes[i], 16) == ACLSHMEMI_HEAP_NONE)
            return -1;
    return aclshmemi_heap_free(heap, 128) || aclshmemi_heap_free(heap, 512) ? -1 : 0;
}

static int tear_down(void **state)
{
    (void)state;
    aclshmemi_heap_destroy(heap);
    return 0;
}

#define damage(place, value)                                                                                 \
    do {                                                                                                     \
        __typeof__(place) saved_ = (place);                                                                  \
        assert_true(aclshmemi_heap_is_valid(heap));                                                          \
        (place) = (value);                                                                                   \
        assert_false(aclshmemi_heap_is_valid(heap));                                                         \
        (place) = saved_;                                                                                    \
    } while (0)

static void test_totals(void **state)
{
    (void)state;
    damage(heap->used, heap->used + 16);
    damage(heap->size, heap->size - 16);
    damage(heap->peak, heap->used - 16);
    damage(heap->peak, heap->size + 16);
    damage(heap->live_count, heap->live_count + 1);
    damage(heap->free_count, heap->free_count - 1);
}

static void test_fields_of_a_block(void **state)
{
    (void)state;
    block_t *second = heap->first->after;
    damage(second->offset, 144);
    damage(second->size, 112);
    damage(second->size, 136);
    damage(second->size, 0);
    damage(second->size, UINT64_MAX - 15);
    damage(second->live, true);
    damage(second->before, NULL);
    damage(heap->first->after, second->after);
    damage(heap->first->live, false); /* two free neighbours */
}

static void test_trees(void **state)
{
    (void)state;
    damage(heap->live, NULL);
    damage(heap->free, NULL);
    damage(heap->live, heap->free);
    damage(heap->live->priority, 0);
    block_t *root = heap->free;
    block_t **child = root->left ? &root->left : &root->right;
    damage(*child, NULL);
    damage(*child, root); /* a circle */
    damage(*child, heap->live);
    block_t *left = root->left;
    damage(root->left, root->right);
    assert_ptr_equal(root->left, left);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_totals, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_fields_of_a_block, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_trees, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) == 0 ? 0 : 1;
}
