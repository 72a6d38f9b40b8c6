/* SPDX-License-Identifier: Apache-2.0 */
/* The atomic operation that host, kernels and proxies share, and the numbers of 16 bits it adds. */
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* after the others */
#include <cmocka.h>

#include "host_device/amo_apply.h"

static uint64_t apply(void *where, aclshmemi_amo_op_t op, aclshmemi_amo_type_t type, uint64_t value,
                      uint64_t condition)
{
    return aclshmemi_amo_apply(where, op, type, value, condition, true);
}

/* Every half and bfloat16 survives the way to float and back; NaNs stay NaNs. */
static void widening_is_exact(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits <= 0xffff; bits++) {
        float half = aclshmemi_widen_half((uint16_t)bits), bf = aclshmemi_widen_bfloat16((uint16_t)bits);
        if (isnan(half))
            assert_true(isnan(aclshmemi_widen_half(aclshmemi_narrow_half(half))));
        else
            assert_int_equal(aclshmemi_narrow_half(half), bits);
        if (isnan(bf))
            assert_true(isnan(aclshmemi_widen_bfloat16(aclshmemi_narrow_bfloat16(bf))));
        else
            assert_int_equal(aclshmemi_narrow_bfloat16(bf), bits);
    }
    assert_true(aclshmemi_widen_half(0x3c00) == 1.0f && aclshmemi_widen_half(0xc000) == -2.0f);
    assert_true(aclshmemi_widen_half(0x0001) == ldexpf(1, -24) && aclshmemi_widen_half(0x7bff) == 65504.0f);
    assert_true(aclshmemi_widen_bfloat16(0x3f80) == 1.0f);
}

/* Between two neighbours the nearer one is taken, and half way the one whose last bit is 0. */
static void narrowing_rounds_to_nearest_even(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 0x7bff; bits++) {
        float low = aclshmemi_widen_half((uint16_t)bits), high = aclshmemi_widen_half((uint16_t)(bits + 1));
        float middle = (low + high) / 2; /* exact: float has 13 bits more */
        assert_int_equal(aclshmemi_narrow_half(middle), bits + (bits & 1));
        assert_int_equal(aclshmemi_narrow_half(nextafterf(middle, -1)), bits);
        assert_int_equal(aclshmemi_narrow_half(nextafterf(middle, INFINITY)), bits + 1);
    }
    assert_int_equal(aclshmemi_narrow_half(65519.99f), 0x7bff);
    assert_int_equal(aclshmemi_narrow_half(65520.0f), 0x7c00);
    assert_int_equal(aclshmemi_narrow_half(-1e9f), 0xfc00);
    assert_int_equal(aclshmemi_narrow_bfloat16(1.00390625f), 0x3f80); /* half way, even below */
    assert_int_equal(aclshmemi_narrow_bfloat16(1.01171875f), 0x3f82); /* half way, even above */
}

static void every_operation_gives_old_and_new(void **state)
{
    (void)state;
    static const aclshmemi_amo_type_t types[] = {ACLSHMEMI_AMO_8, ACLSHMEMI_AMO_16, ACLSHMEMI_AMO_32,
                                                 ACLSHMEMI_AMO_64};
    for (size_t t = 0; t < 4; t++) {
        uint64_t mask = t == 3 ? UINT64_MAX : (UINT64_C(1) << (8u << t)) - 1;
        uint64_t guard[3] = {0x5a5a5a5a5a5a5a5a, 0x5a5a5a5a5a5a5a00 | 0xf0, 0x5a5a5a5a5a5a5a5a};
        uint64_t *word = &guard[1], first = *word & mask;
        assert_int_equal(apply(word, ACLSHMEMI_AMO_FETCH, types[t], 0, 0), first);
        assert_int_equal(apply(word, ACLSHMEMI_AMO_PLUS, types[t], UINT64_MAX, 0), first);
        assert_int_equal(apply(word, ACLSHMEMI_AMO_AND, types[t], 0x3c, 0), first - 1);
        assert_int_equal(apply(word, ACLSHMEMI_AMO_OR, types[t], 0x81, 0), 0x2c);
        assert_int_equal(apply(word, ACLSHMEMI_AMO_XOR, types[t], 0xff, 0), 0xad);
        assert_int_equal(apply(word, ACLSHMEMI_AMO_COMPARE_SWAP, types[t], 7, 0x53), 0x52);
        assert_int_equal(apply(word, ACLSHMEMI_AMO_COMPARE_SWAP, types[t], 7, 0x52), 0x52);
        assert_int_equal(apply(word, ACLSHMEMI_AMO_STORE, types[t], UINT64_MAX, 0), 7);
        assert_int_equal(apply(word, ACLSHMEMI_AMO_PLUS, types[t], 3, 0), mask); /* wraps */
        aclshmemi_amo_apply(word, ACLSHMEMI_AMO_STORE, types[t], 9, 0, false);
        assert_int_equal(*word & mask, 9);
        assert_int_equal(*word & ~mask, (0x5a5a5a5a5a5a5a00 | 0xf0) & ~mask); /* neighbours stay */
        assert_int_equal(guard[0] ^ guard[2], 0);
    }
}

static void floats_are_added_as_floats(void **state)
{
    (void)state;
    float f = 1.5f;
    double d = 1.5;
    uint64_t value;
    assert_int_equal(apply(&f, ACLSHMEMI_AMO_PLUS, ACLSHMEMI_AMO_FLOAT, aclshmemi_bits_of_float(0.25f), 0),
                     aclshmemi_bits_of_float(1.5f));
    assert_true(f == 1.75f);
    double quarter = 0.25;
    memcpy(&value, &quarter, sizeof value);
    apply(&d, ACLSHMEMI_AMO_PLUS, ACLSHMEMI_AMO_DOUBLE, value, 0);
    assert_true(d == 1.75);
    uint16_t pair[2] = {0x3c00, 0x3f80};
    apply(&pair[0], ACLSHMEMI_AMO_PLUS, ACLSHMEMI_AMO_HALF, 0x3c00, 0);
    apply(&pair[1], ACLSHMEMI_AMO_PLUS, ACLSHMEMI_AMO_BFLOAT16, 0x3f80, 0);
    assert_int_equal(pair[0], 0x4000);
    assert_int_equal(pair[1], 0x4000);
}

/* Neighbouring elements of 8 and 16 bits, changed by threads at once: nobody's add is lost. */
enum { THREADS = 4, TURNS = 20000 };
static uint8_t bytes[8];
static uint16_t halves[2];

static void *adds(void *argument)
{
    size_t me = (size_t)(uintptr_t)argument;
    for (int i = 0; i < TURNS; i++) {
        apply(&bytes[me], ACLSHMEMI_AMO_PLUS, ACLSHMEMI_AMO_8, 1, 0);
        apply(&bytes[7], ACLSHMEMI_AMO_PLUS, ACLSHMEMI_AMO_8, 3, 0);
        if (i % 16 == 0) /* stays below 2048, up to where half counts every number */
            apply(&halves[i / 16 % 2], ACLSHMEMI_AMO_PLUS, ACLSHMEMI_AMO_HALF, i % 5 == 0 ? 0x3c00 : 0, 0);
    }
    return NULL;
}

static void small_elements_lose_nothing(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, adds, (void *)i), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(bytes[i], (uint8_t)TURNS);
    assert_int_equal(bytes[7], (uint8_t)(3 * THREADS * TURNS));
    float sum = aclshmemi_widen_half(halves[0]) + aclshmemi_widen_half(halves[1]);
    assert_true(sum == (float)(THREADS * TURNS / 16 / 5));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widening_is_exact),
        cmocka_unit_test(narrowing_rounds_to_nearest_even),
        cmocka_unit_test(every_operation_gives_old_and_new),
        cmocka_unit_test(floats_are_added_as_floats),
        cmocka_unit_test(small_elements_lose_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
