/* SPDX-License-Identifier: Apache-2.0 */
/* Waits and tests of every type and shape, against conditions that hold, come to hold, and never do. */
/* Scenarios: [S-11] [S-12] [S-13] [S-14] [S-15] [S-16] [S-17] [S-18] [S-19] [S-20] [S-21] [S-22] [S-23] [S-24] [S-25]
 * [S-26] [S-27] [S-28] */
#include <math.h>
#include <string.h>

#include "pe.h"

enum { MANY = 5 };

static int me, n, next, previous;

/* [S-12] [S-27] A chain of PEs, each released by the one before. */
#define CHAIN(NAME, TYPE)                                                                                    \
    do {                                                                                                     \
        TYPE *word = aclshmem_calloc(2, sizeof *word);                                                       \
        CHECK(word != NULL);                                                                                 \
        if (me != 0)                                                                                         \
            aclshmem_##NAME##_wait_until(&word[0], ACLSHMEM_CMP_EQ, 98);                                     \
        aclshmem_##NAME##_p(&word[0], 98, next);                                                             \
        aclshmem_##NAME##_wait(&word[0], 0);                                                                 \
        CHECK(word[0] == 98);                                                                                \
        aclshmem_barrier_all();                                                                              \
        aclshmem_free(word);                                                                                 \
    } while (0)

/* [S-13] to [S-21] Five elements, set one after the other by the previous PE. */
#define SHAPES(NAME, TYPE)                                                                                   \
    do {                                                                                                     \
        TYPE *v = aclshmem_calloc(MANY, sizeof *v), wanted[MANY] = {1, 2, 3, 4, 5};                          \
        size_t found, index[MANY];                                                                           \
        int all, none[MANY] = {1, 1, 1, 1, 1}, not_third[MANY] = {0, 0, 1, 0, 0};                            \
        CHECK(v != NULL);                                                                                    \
        aclshmem_##NAME##_test(&v[2], ACLSHMEM_CMP_EQ, 3, &all);                                             \
        CHECK_INT(all, 0);                                                                                   \
        aclshmem_##NAME##_test_any(v, MANY, NULL, ACLSHMEM_CMP_GT, 0, &found);                               \
        CHECK(found == SIZE_MAX);                                                                            \
        aclshmem_##NAME##_test_some(v, MANY, index, NULL, ACLSHMEM_CMP_GT, 0, &found);                       \
        CHECK(found == 0);                                                                                   \
        aclshmem_##NAME##_test_any_vector(v, MANY, NULL, ACLSHMEM_CMP_EQ, wanted, &found);                   \
        CHECK(found == SIZE_MAX);                                                                            \
        aclshmem_barrier_all();                                                                              \
        aclshmem_##NAME##_p(&v[2], 3, next);                                                                 \
        aclshmem_##NAME##_wait_until_any(v, MANY, NULL, ACLSHMEM_CMP_NE, 0, &found);                         \
        CHECK(found == 2);                                                                                   \
        aclshmem_##NAME##_wait_until_any_vector(v, MANY, NULL, ACLSHMEM_CMP_EQ, wanted, &found);             \
        CHECK(found == 2);                                                                                   \
        aclshmem_##NAME##_wait_until_some(v, MANY, index, NULL, ACLSHMEM_CMP_EQ, 3, &found);                 \
        CHECK(found == 1 && index[0] == 2);                                                                  \
        aclshmem_##NAME##_test(&v[2], ACLSHMEM_CMP_EQ, 3, &all);                                             \
        CHECK_INT(all, 1);                                                                                   \
        aclshmem_##NAME##_test_any(v, MANY, not_third, ACLSHMEM_CMP_EQ, 3, &found);                          \
        CHECK(found == SIZE_MAX);                                                                            \
        aclshmem_##NAME##_test_all_vector(v, MANY, NULL, ACLSHMEM_CMP_EQ, wanted, &all);                     \
        CHECK_INT(all, 0);                                                                                   \
        aclshmem_barrier_all();                                                                              \
        for (int i = 0; i < MANY; i++)                                                                       \
            aclshmem_##NAME##_p(&v[i], wanted[i], next);                                                     \
        aclshmem_##NAME##_wait_until_all_vector(v, MANY, NULL, ACLSHMEM_CMP_EQ, wanted);                     \
        aclshmem_##NAME##_wait_until_all(v, MANY, NULL, ACLSHMEM_CMP_GE, 1);                                 \
        aclshmem_##NAME##_wait_until_all(v, MANY, not_third, ACLSHMEM_CMP_NE, 3);                            \
        aclshmem_##NAME##_wait_until_some_vector(v, MANY, index, not_third, ACLSHMEM_CMP_EQ, wanted,         \
                                                 &found);                                                    \
        CHECK(found == 4 && index[0] == 0 && index[1] == 1 && index[2] == 3 && index[3] == 4);               \
        aclshmem_##NAME##_test_some(v, MANY, index, NULL, ACLSHMEM_CMP_GE, 4, &found);                       \
        CHECK(found == 2 && index[0] == 3 && index[1] == 4);                                                 \
        aclshmem_##NAME##_test_some_vector(v, MANY, index, NULL, ACLSHMEM_CMP_LE, wanted, &found);           \
        CHECK(found == MANY);                                                                                \
        aclshmem_##NAME##_test_all_vector(v, MANY, NULL, ACLSHMEM_CMP_EQ, wanted, &all);                     \
        CHECK_INT(all, 1);                                                                                   \
        /* nothing taken in: waits return at once */                                                         \
        aclshmem_##NAME##_wait_until_all(v, MANY, none, ACLSHMEM_CMP_EQ, 77);                                \
        aclshmem_##NAME##_wait_until_all(NULL, 0, NULL, ACLSHMEM_CMP_EQ, 77);                                \
        aclshmem_##NAME##_wait_until_any(v, MANY, none, ACLSHMEM_CMP_EQ, 77, &found);                        \
        CHECK(found == SIZE_MAX);                                                                            \
        aclshmem_##NAME##_wait_until_any(v, 0, NULL, ACLSHMEM_CMP_EQ, 77, &found);                           \
        CHECK(found == SIZE_MAX);                                                                            \
        aclshmem_##NAME##_wait_until_some(v, MANY, index, none, ACLSHMEM_CMP_EQ, 77, &found);                \
        CHECK(found == 0);                                                                                   \
        aclshmem_##NAME##_wait_until_some_vector(NULL, 0, NULL, NULL, ACLSHMEM_CMP_EQ, NULL, &found);        \
        CHECK(found == 0);                                                                                   \
        aclshmem_##NAME##_test_all_vector(v, MANY, none, ACLSHMEM_CMP_EQ, wanted, &all);                     \
        CHECK_INT(all, 1);                                                                                   \
        aclshmem_barrier_all();                                                                              \
        aclshmem_free(v);                                                                                    \
    } while (0)

/* [S-11] [S-22] [S-24] [S-28] Every call refuses the same things, with words, and delivers its "nothing". */
#define MISTAKES(NAME, TYPE)                                                                                 \
    do {                                                                                                     \
        TYPE v[MANY] = {0}, w[MANY] = {0};                                                                   \
        size_t found = 5, index[MANY];                                                                       \
        int all = 5;                                                                                         \
        CHECK_ERROR(aclshmem_##NAME##_wait_until(v, 6, 0), expected);                                        \
        CHECK_ERROR(aclshmem_##NAME##_wait_until(NULL, 0, 0), expected);                                     \
        CHECK_ERROR(aclshmem_##NAME##_wait(NULL, 0), expected);                                              \
        CHECK_ERROR(aclshmem_##NAME##_wait_until_all(v, MANY, NULL, -1, 0), expected);                       \
        CHECK_ERROR(aclshmem_##NAME##_wait_until_all_vector(v, MANY, NULL, 0, NULL), expected);              \
        CHECK_ERROR(aclshmem_##NAME##_wait_until_any(v, MANY, NULL, 6, 0, &found), expected);                \
        CHECK(found == SIZE_MAX);                                                                            \
        CHECK_ERROR(aclshmem_##NAME##_wait_until_any(v, MANY, NULL, 0, 0, NULL), expected);                  \
        CHECK_ERROR(aclshmem_##NAME##_wait_until_any_vector(v, MANY, NULL, 0, w, NULL), expected);           \
        CHECK_ERROR(aclshmem_##NAME##_wait_until_some(v, MANY, index, NULL, 6, 0, &found), expected);        \
        CHECK(found == 0);                                                                                   \
        CHECK_ERROR(aclshmem_##NAME##_wait_until_some(v, MANY, index, NULL, 0, 0, NULL), expected);          \
        CHECK_ERROR(aclshmem_##NAME##_wait_until_some(v, MANY, NULL, NULL, 0, 0, &found), expected);         \
        CHECK_ERROR(aclshmem_##NAME##_wait_until_some_vector(v, MANY, index, NULL, 0, w, NULL), expected);   \
        CHECK_ERROR(aclshmem_##NAME##_test(v, 6, 0, &all), expected);                                        \
        CHECK_INT(all, 0);                                                                                   \
        CHECK_ERROR(aclshmem_##NAME##_test(v, 0, 0, NULL), expected);                                        \
        CHECK_ERROR(aclshmem_##NAME##_test_any(v, MANY, NULL, -1, 0, &found), expected);                     \
        CHECK(found == SIZE_MAX);                                                                            \
        CHECK_ERROR(aclshmem_##NAME##_test_any(v, MANY, NULL, 0, 0, NULL), expected);                        \
        CHECK_ERROR(aclshmem_##NAME##_test_some(v, MANY, index, NULL, 0, 0, NULL), expected);                \
        CHECK_ERROR(aclshmem_##NAME##_test_all_vector(v, MANY, NULL, 0, w, NULL), expected);                 \
        CHECK_ERROR(aclshmem_##NAME##_test_any_vector(v, MANY, NULL, 0, w, NULL), expected);                 \
        CHECK_ERROR(aclshmem_##NAME##_test_some_vector(v, MANY, index, NULL, 0, w, NULL), expected);         \
    } while (0)

/* [S-25] [S-26] Types compare as themselves. */
static void comparisons(void)
{
    float nan_value = NAN;
    uint8_t high = 0xff;
    int8_t low = -1;
    int holds;
    aclshmem_float_test(&nan_value, ACLSHMEM_CMP_EQ, NAN, &holds);
    CHECK_INT(holds, 0);
    aclshmem_float_test(&nan_value, ACLSHMEM_CMP_NE, NAN, &holds);
    CHECK_INT(holds, 1);
    aclshmem_uint8_test(&high, ACLSHMEM_CMP_GT, 1, &holds);
    CHECK_INT(holds, 1);
    aclshmem_int8_test(&low, ACLSHMEM_CMP_GT, 1, &holds);
    CHECK_INT(holds, 0);
    uint64_t top = UINT64_C(1) << 63;
    aclshmem_uint64_test(&top, ACLSHMEM_CMP_GT, 1, &holds);
    CHECK_INT(holds, 1);
}

int main(void)
{
    int expected = ACLSHMEM_NOT_INITED;
    aclshmemx_set_extern_logger(pe_swallow);
    ACLSHMEM_P2P_SYNC_TYPE_FUNC(MISTAKES);
    aclshmemx_set_extern_logger(NULL);
    pe_init(UINT64_C(2) << 20);
    me = aclshmem_my_pe();
    n = aclshmem_n_pes();
    next = (me + 1) % n;
    previous = (me + n - 1) % n;
    ACLSHMEM_P2P_SYNC_TYPE_FUNC(CHAIN);
    ACLSHMEM_P2P_SYNC_TYPE_FUNC(SHAPES);
    comparisons();
    expected = ACLSHMEM_INVALID_PARAM;
    aclshmemx_set_extern_logger(pe_swallow);
    ACLSHMEM_P2P_SYNC_TYPE_FUNC(MISTAKES);
    aclshmemx_set_extern_logger(NULL);
    pe_finalize();
    return 0;
}
