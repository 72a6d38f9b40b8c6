/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that wait and test. Core 0 of a PE waits; core 1 of the PE before it writes when core 0 says go, so that each
 * wait has something to wait for and each test is asked before and after.
 */
#include <math.h>

#include "kernel.h"

typedef __gm__ int32_t *signal_t;

static int next_pe(void)
{
    return (aclshmem_my_pe() + 1) % aclshmem_n_pes();
}

static int previous_pe(void)
{
    return (aclshmem_my_pe() + aclshmem_n_pes() - 1) % aclshmem_n_pes();
}

static void go(signal_t word)
{
    aclshmemx_signal_op(word, 1, ACLSHMEM_SIGNAL_ADD, previous_pe());
}

static void await_go(signal_t word, int32_t turn)
{
    EXPECT(aclshmem_signal_wait_until(word, ACLSHMEM_CMP_GE, turn) >= turn);
}

enum { WORDS = 6 };

#define DEFINE_WAITS(NAME, TYPE)                                                                             \
    static void NAME##_write(__gm__ TYPE *words, size_t i, int value)                                        \
    {                                                                                                        \
        TYPE typed = (TYPE)value;                                                                            \
        __atomic_store((__gm__ TYPE *)aclshmem_ptr(words + i, next_pe()), &typed, __ATOMIC_RELEASE);         \
    }                                                                                                        \
    static void NAME##_writer(__gm__ TYPE *words, signal_t turns)                                            \
    {                                                                                                        \
        static const struct {                                                                                \
            int32_t turn;                                                                                    \
            size_t i;                                                                                        \
            int value;                                                                                       \
        } plan[] = {{1, 0, 5}, {2, 0, 7}, {3, 3, 9}, {3, 2, 3},  {4, 4, 1},  {5, 4, 2}, {5, 5, 2},           \
                    {6, 0, 1}, {6, 1, 2}, {6, 2, 4}, {7, 1, 21}, {8, 2, 31}, {8, 4, 51}};                    \
        for (size_t k = 0; k < sizeof plan / sizeof plan[0]; k++) {                                          \
            await_go(turns, plan[k].turn);                                                                   \
            NAME##_write(words, plan[k].i, plan[k].value);                                                   \
        }                                                                                                    \
    }                                                                                                        \
    static void NAME##_one(__gm__ TYPE *w, signal_t turns)                                                   \
    {                                                                                                        \
        EXPECT(!aclshmem_##NAME##_test(w, ACLSHMEM_CMP_EQ, 5));                                              \
        go(turns);                                                                                           \
        aclshmem_##NAME##_wait_until(w, ACLSHMEM_CMP_EQ, 5);                                                 \
        EXPECT(aclshmem_##NAME##_test(w, ACLSHMEM_CMP_EQ, 5) && !aclshmem_##NAME##_test(w, 1, 5));           \
        EXPECT(aclshmem_##NAME##_test(w, ACLSHMEM_CMP_NE, 4) && !aclshmem_##NAME##_test(w, 0, 4));           \
        EXPECT(aclshmem_##NAME##_test(w, ACLSHMEM_CMP_GT, 4) && !aclshmem_##NAME##_test(w, 2, 5));           \
        EXPECT(aclshmem_##NAME##_test(w, ACLSHMEM_CMP_GE, 5) && !aclshmem_##NAME##_test(w, 3, 6));           \
        EXPECT(aclshmem_##NAME##_test(w, ACLSHMEM_CMP_LT, 6) && !aclshmem_##NAME##_test(w, 4, 5));           \
        EXPECT(aclshmem_##NAME##_test(w, ACLSHMEM_CMP_LE, 5) && !aclshmem_##NAME##_test(w, 5, 4));           \
        EXPECT(aclshmem_##NAME##_test(w, ACLSHMEM_CMP_LT, (TYPE)-1) == ((TYPE)-1 > 0));                      \
        go(turns);                                                                                           \
        aclshmem_##NAME##_wait(w, 5);                                                                        \
        EXPECT(*w == 7);                                                                                     \
    }                                                                                                        \
    static void NAME##_many(__gm__ TYPE *w, signal_t turns)                                                  \
    {                                                                                                        \
        static const int without_1[WORDS] = {0, 1, 0, 0, 9, 0}, none[WORDS] = {1, 1, 1, 1, 1, 1};            \
        size_t found[WORDS];                                                                                 \
        go(turns);                                                                                           \
        aclshmem_##NAME##_wait_until_all(w, 4, without_1, ACLSHMEM_CMP_GE, 3);                               \
        EXPECT(w[0] == 7 && w[1] == 0 && w[2] == 3 && w[3] == 9);                                            \
        aclshmem_##NAME##_wait_until_all(w, WORDS, none, ACLSHMEM_CMP_EQ, 99);                               \
        aclshmem_##NAME##_wait_until_all(NULL, 0, NULL, ACLSHMEM_CMP_EQ, 99);                                \
        EXPECT(aclshmem_##NAME##_test_any(w, WORDS, NULL, ACLSHMEM_CMP_EQ, 1) == SIZE_MAX);                  \
        go(turns);                                                                                           \
        EXPECT_INT(aclshmem_##NAME##_wait_until_any(w, WORDS, NULL, ACLSHMEM_CMP_EQ, 1), 4);                 \
        EXPECT_INT(aclshmem_##NAME##_test_any(w, WORDS, NULL, ACLSHMEM_CMP_GE, 3), 0);                       \
        EXPECT_INT(aclshmem_##NAME##_test_any(w + 1, 3, without_1 + 1, ACLSHMEM_CMP_GE, 0), 1);              \
        EXPECT(aclshmem_##NAME##_wait_until_any(w, WORDS, none, ACLSHMEM_CMP_EQ, 99) == SIZE_MAX);           \
        EXPECT(aclshmem_##NAME##_test_any(w, WORDS, none, ACLSHMEM_CMP_GE, 0) == SIZE_MAX);                  \
        EXPECT_INT(aclshmem_##NAME##_test_some(w, WORDS, found, NULL, ACLSHMEM_CMP_EQ, 2), 0);               \
        go(turns);                                                                                           \
        size_t n = aclshmem_##NAME##_wait_until_some(w, WORDS, found, NULL, ACLSHMEM_CMP_EQ, 2);             \
        EXPECT((n == 1 && found[0] >= 4 && found[0] <= 5) || (n == 2 && found[0] == 4 && found[1] == 5));    \
        aclshmem_##NAME##_wait_until_all(w + 4, 2, NULL, ACLSHMEM_CMP_EQ, 2);                                \
        EXPECT_INT(aclshmem_##NAME##_test_some(w, WORDS, found, without_1, ACLSHMEM_CMP_GE, 0), 4);          \
        EXPECT(found[0] == 0 && found[1] == 2 && found[2] == 3 && found[3] == 5);                            \
        EXPECT_INT(aclshmem_##NAME##_wait_until_some(w, WORDS, found, none, ACLSHMEM_CMP_GE, 0), 0);         \
        EXPECT_INT(aclshmem_##NAME##_wait_until_some(NULL, 0, NULL, NULL, ACLSHMEM_CMP_GE, 0), 0);           \
    }                                                                                                        \
    static void NAME##_vectors(__gm__ TYPE *w, signal_t turns)                                               \
    {                                                                                                        \
        static const int skip_0[WORDS] = {1, 0, 0, 0, 0, 0};                                                 \
        TYPE all[WORDS] = {1, 2, 4, 9, 2, 2}, any[WORDS] = {99, 21, 99, 99, 99, 99},                         \
             some[WORDS] = {1, 99, 31, 99, 51, 99};                                                          \
        size_t found[WORDS];                                                                                 \
        EXPECT(!aclshmem_##NAME##_test_all_vector(w, WORDS, NULL, ACLSHMEM_CMP_EQ, all));                    \
        go(turns);                                                                                           \
        aclshmem_##NAME##_wait_until_all_vector(w, WORDS, NULL, ACLSHMEM_CMP_EQ, all);                       \
        EXPECT(aclshmem_##NAME##_test_all_vector(w, WORDS, NULL, ACLSHMEM_CMP_EQ, all) == 1);                \
        EXPECT(aclshmem_##NAME##_test_all_vector(w, 0, NULL, ACLSHMEM_CMP_EQ, all) == 1);                    \
        EXPECT(aclshmem_##NAME##_test_any_vector(w, WORDS, NULL, ACLSHMEM_CMP_EQ, any) == SIZE_MAX);         \
        go(turns);                                                                                           \
        EXPECT_INT(aclshmem_##NAME##_wait_until_any_vector(w, WORDS, NULL, ACLSHMEM_CMP_EQ, any), 1);        \
        EXPECT_INT(aclshmem_##NAME##_test_any_vector(w, WORDS, NULL, ACLSHMEM_CMP_EQ, any), 1);              \
        EXPECT_INT(aclshmem_##NAME##_test_some_vector(w, WORDS, found, skip_0, ACLSHMEM_CMP_EQ, some), 0);   \
        go(turns);                                                                                           \
        size_t n = aclshmem_##NAME##_wait_until_some_vector(w, WORDS, found, skip_0, 0, some);               \
        EXPECT(n >= 1 && (found[0] == 2 || found[0] == 4));                                                  \
        aclshmem_##NAME##_wait_until_all(w + 4, 1, NULL, ACLSHMEM_CMP_EQ, 51);                               \
        aclshmem_##NAME##_wait_until_all(w + 2, 1, NULL, ACLSHMEM_CMP_EQ, 31);                               \
        EXPECT_INT(aclshmem_##NAME##_test_some_vector(w, WORDS, found, NULL, ACLSHMEM_CMP_EQ, some), 3);     \
        EXPECT(found[0] == 0 && found[1] == 2 && found[2] == 4);                                             \
    }                                                                                                        \
    ACLSHMEM_KERNEL(waits_##NAME, __gm__ TYPE *, words, signal_t, turns)                                     \
    {                                                                                                        \
        if (aicore_block_index() == 1) {                                                                     \
            NAME##_writer(words, turns);                                                                     \
            return;                                                                                          \
        }                                                                                                    \
        NAME##_one(words, turns);                                                                            \
        NAME##_many(words, turns);                                                                           \
        NAME##_vectors(words, turns);                                                                        \
    }
ACLSHMEM_TYPES_P2P(DEFINE_WAITS)

/* NaN is unequal to everything, itself included, and neither above nor below. */
ACLSHMEM_KERNEL(waits_nan, __gm__ float *, word)
{
    *word = NAN;
    for (int cmp = ACLSHMEM_CMP_EQ; cmp <= ACLSHMEM_CMP_LE; cmp++)
        EXPECT_INT(aclshmem_float_test(word, cmp, NAN), cmp == ACLSHMEM_CMP_NE);
    aclshmem_float_wait(word, 1);
    *word = -0.0f;
    EXPECT(aclshmem_float_test(word, ACLSHMEM_CMP_EQ, 0));
}

/* Every core adds to a word of every PE, then waits until all have; core 0 then sets the word behind it. */
ACLSHMEM_KERNEL(signal_all, signal_t, words, int32_t, cores, int32_t, rounds)
{
    int me = aclshmem_my_pe(), n = aclshmem_n_pes();
    for (int32_t round = 1; round <= rounds; round++) {
        for (int pe = 0; pe < n; pe++)
            aclshmemx_signal_op(&words[0], 1, ACLSHMEM_SIGNAL_ADD, (me + pe) % n);
        EXPECT(aclshmem_signal_wait_until(&words[0], ACLSHMEM_CMP_GE, round * cores) >= round * cores);
        if (aicore_block_index() == 0)
            for (int pe = 0; pe < n; pe++)
                aclshmemx_signal_op(&words[16 + me], -round, ACLSHMEM_SIGNAL_SET, pe);
        for (int pe = 0; pe < n; pe++)
            EXPECT(aclshmem_signal_wait_until(&words[16 + pe], ACLSHMEM_CMP_LE, -round) <= -round);
    }
}

/* Ping-pong with the host of a PE, which gets odd numbers in its second word and gives even ones into our first. */
ACLSHMEM_KERNEL(talk_to_host, signal_t, words, int32_t, last, int, pe)
{
    for (int32_t i = 1; i < last; i += 2) {
        aclshmemx_signal_op(words + 16, i, ACLSHMEM_SIGNAL_SET, pe);
        EXPECT_INT(aclshmem_signal_wait_until(words, ACLSHMEM_CMP_GT, i), i + 1);
    }
}

ACLSHMEM_KERNEL(wait_with, __gm__ char *, word, int, cmp)
{
    aclshmem_int32_wait_until((__gm__ int32_t *)(void *)word, cmp, 42);
}

ACLSHMEM_KERNEL(wait_for_some_of_nowhere, __gm__ int32_t *, words)
{
    (void)aclshmem_int32_test_some(words, 2, NULL, NULL, ACLSHMEM_CMP_EQ, 0);
}

ACLSHMEM_KERNEL(wait_with_values_of_nowhere, __gm__ int32_t *, words)
{
    (void)aclshmem_int32_test_all_vector(words, 2, NULL, ACLSHMEM_CMP_EQ, NULL);
}

ACLSHMEM_KERNEL(signal_with, __gm__ char *, word, int, op, int, pe)
{
    aclshmemx_signal_op((signal_t)(void *)word, 1, op, pe);
}
