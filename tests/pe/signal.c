/* SPDX-License-Identifier: Apache-2.0 */
/* Signals: never before their data, never lost, never twice; waits of every kind, and every mistake. */
/* Scenarios: [S-01] [S-02] [S-03] [S-04] [S-05] [S-07] [S-09] */
#include <string.h>

#include "pe.h"

enum { MESSAGES = 1000, WORDS = 300 };

static int me, n, next, previous;

static void wait_ge(int32_t *signal, int32_t value)
{
    CHECK_INT(aclshmemx_signal_wait_until_timeout(signal, ACLSHMEM_CMP_GE, value, 120000, NULL), 0);
}

#define TEST_TYPE(NAME, TYPE)                                                                                \
    do {                                                                                                     \
        TYPE *there = aclshmem_calloc(WORDS, sizeof(TYPE)), here[WORDS];                                     \
        int32_t *signal = aclshmem_calloc(1, sizeof *signal);                                                \
        CHECK(there != NULL && signal != NULL);                                                              \
        for (int i = 0; i < WORDS; i++)                                                                      \
            here[i] = (TYPE)(me + i);                                                                        \
        aclshmem_##NAME##_put_signal(there, here, WORDS, (uint8_t *)signal, 6, ACLSHMEM_SIGNAL_SET, next);   \
        wait_ge(signal, 6);                                                                                  \
        CHECK_INT(*signal, 6);                                                                               \
        for (int i = 0; i < WORDS; i++)                                                                      \
            CHECK(there[i] == (TYPE)(previous + i));                                                         \
        aclshmem_barrier_all();                                                                              \
        aclshmem_##NAME##_put_signal(there, here, 0, (uint8_t *)signal, 5, ACLSHMEM_SIGNAL_ADD, next);       \
        wait_ge(signal, 11);                                                                                 \
        CHECK_INT(*signal, 11);                                                                              \
        aclshmem_barrier_all();                                                                              \
        for (int i = 0; i < WORDS; i++)                                                                      \
            here[i] = (TYPE)(2 * me + i);                                                                    \
        aclshmem_##NAME##_put_signal_nbi(there, here, WORDS, (uint8_t *)signal, 9, ACLSHMEM_SIGNAL_ADD,      \
                                         next);                                                              \
        wait_ge(signal, 20);                                                                                 \
        CHECK_INT(*signal, 20);                                                                              \
        for (int i = 0; i < WORDS; i++)                                                                      \
            CHECK(there[i] == (TYPE)(2 * previous + i));                                                     \
        aclshmem_barrier_all();                                                                              \
        aclshmem_free(signal);                                                                               \
        aclshmem_free(there);                                                                                \
    } while (0)

#define TEST_SIZE(BITS)                                                                                      \
    do {                                                                                                     \
        unsigned char *there = aclshmem_calloc(WORDS + 1, (BITS) / 8), here[WORDS * (BITS) / 8];             \
        int32_t *signal = aclshmem_calloc(1, sizeof *signal);                                                \
        CHECK(there != NULL && signal != NULL);                                                              \
        memset(here, me + 1, sizeof here);                                                                   \
        aclshmem_put##BITS##_signal(there, here, WORDS, signal, 1, ACLSHMEM_SIGNAL_SET, next);               \
        wait_ge(signal, 1);                                                                                  \
        for (size_t i = 0; i < sizeof here; i++)                                                             \
            CHECK_INT(there[i], (unsigned char)(previous + 1));                                              \
        CHECK_INT(there[sizeof here], 0);                                                                    \
        aclshmem_barrier_all();                                                                              \
        memset(here, me + 9, sizeof here);                                                                   \
        aclshmem_put##BITS##_signal_nbi(there, here, WORDS, signal, 2, ACLSHMEM_SIGNAL_SET, next);           \
        wait_ge(signal, 2);                                                                                  \
        for (size_t i = 0; i < sizeof here; i++)                                                             \
            CHECK_INT(there[i], (unsigned char)(previous + 9));                                              \
        CHECK_INT(there[sizeof here], 0);                                                                    \
        aclshmem_barrier_all();                                                                              \
        aclshmem_free(signal);                                                                               \
        aclshmem_free(there);                                                                                \
    } while (0)

/* Data is checked the moment the wait returns; an acknowledgement lets the sender go on. */
static void data_before_signal(void)
{
    int64_t *data = aclshmem_calloc(WORDS, sizeof *data), mine[WORDS];
    int32_t *arrived = aclshmem_calloc(1, sizeof *arrived), *taken = aclshmem_calloc(1, sizeof *taken);
    CHECK(data != NULL && arrived != NULL && taken != NULL);
    for (int32_t m = 1; m <= MESSAGES; m++) {
        for (int i = 0; i < WORDS; i++)
            mine[i] = (int64_t)m * WORDS + i + me;
        if (m % 2 == 0)
            aclshmemx_putmem_signal(data, mine, sizeof mine, arrived, m, ACLSHMEM_SIGNAL_SET, next);
        else
            aclshmemx_putmem_signal_nbi(data, mine, sizeof mine, arrived, m, ACLSHMEM_SIGNAL_SET, next);
        wait_ge(arrived, m);
        for (int i = 0; i < WORDS; i++)
            CHECK_INT(data[i], (int64_t)m * WORDS + i + previous);
        aclshmemx_signal_op(taken, m, ACLSHMEM_SIGNAL_SET, previous);
        wait_ge(taken, m);
    }
    aclshmem_free(taken);
    aclshmem_free(arrived);
    aclshmem_free(data);
}

static void adds_are_exact(void)
{
    int32_t *counter = aclshmem_calloc(3, sizeof *counter); /* neighbours must not change */
    CHECK(counter != NULL);
    for (int i = 0; i < MESSAGES; i++)
        aclshmemx_signal_op(&counter[1], 10, ACLSHMEM_SIGNAL_ADD, 0);
    if (me == 0) {
        CHECK_INT(aclshmemx_signal_wait_until_timeout(&counter[1], ACLSHMEM_CMP_EQ, 10 * MESSAGES * n, 120000,
                                                      NULL),
                  0);
        CHECK(counter[0] == 0 && counter[2] == 0);
    }
    aclshmem_barrier_all();
    CHECK_INT(counter[1], me == 0 ? 10 * MESSAGES * n : 0);
    aclshmem_free(counter);
}

static void comparisons(void)
{
    static const struct {
        int cmp;
        int32_t value, wanted;
        bool holds;
    } rows[] = {{ACLSHMEM_CMP_EQ, 5, 5, true},
                {ACLSHMEM_CMP_EQ, 5, 6, false},
                {ACLSHMEM_CMP_NE, 5, 6, true},
                {ACLSHMEM_CMP_NE, 5, 5, false},
                {ACLSHMEM_CMP_GT, -1, -2, true},
                {ACLSHMEM_CMP_GT, 5, 5, false},
                {ACLSHMEM_CMP_GE, 5, 5, true},
                {ACLSHMEM_CMP_GE, INT32_MIN, 0, false},
                {ACLSHMEM_CMP_LT, INT32_MIN, INT32_MAX, true},
                {ACLSHMEM_CMP_LT, 5, 5, false},
                {ACLSHMEM_CMP_LE, 5, 5, true},
                {ACLSHMEM_CMP_LE, 6, 5, false}};
    int32_t *word = aclshmem_calloc(1, sizeof *word), seen;
    CHECK(word != NULL);
    aclshmemx_set_extern_logger(pe_swallow);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        *word = rows[i].value;
        int rc = aclshmemx_signal_wait_until_timeout(word, rows[i].cmp, rows[i].wanted, 1, &seen);
        CHECK_INT(rc, rows[i].holds ? 0 : ACLSHMEM_TIMEOUT_ERROR);
        CHECK_INT(seen, rows[i].value);
    }
    aclshmemx_set_extern_logger(NULL);
    aclshmem_barrier_all();
    aclshmem_free(word);
}

static void mistakes(void)
{
    int32_t *word = aclshmem_calloc(2, sizeof *word), local = 0, *data = aclshmem_calloc(1, sizeof *data),
            nine = 9;
    CHECK(word != NULL && data != NULL);
    aclshmemx_set_extern_logger(pe_swallow);
    for (int op = -1; op <= 2; op += 3) {
        CHECK_ERROR(aclshmemx_signal_op(word, 1, op, next), ACLSHMEM_INVALID_PARAM);
        CHECK_ERROR(aclshmem_int32_put_signal(data, &nine, 1, (uint8_t *)word, 1, op, next),
                    ACLSHMEM_INVALID_PARAM);
        CHECK_ERROR(aclshmem_int32_put_signal_nbi(data, &nine, 1, (uint8_t *)word, 1, op, next),
                    ACLSHMEM_INVALID_PARAM);
        CHECK_ERROR(aclshmem_put32_signal_nbi(data, &nine, 1, word, 1, op, next), ACLSHMEM_INVALID_PARAM);
        CHECK_ERROR(aclshmemx_putmem_signal_nbi(data, &nine, 4, word, 1, op, next), ACLSHMEM_INVALID_PARAM);
    }
    CHECK_ERROR(aclshmemx_putmem_signal(data, &nine, 4, &local, 1, 0, next), ACLSHMEM_INVALID_PARAM);
    CHECK_ERROR(aclshmemx_putmem_signal(data, &nine, 4, (char *)word + 1, 1, 0, next),
                ACLSHMEM_INVALID_PARAM);
    CHECK_ERROR(aclshmemx_putmem_signal(&local, &nine, 4, word, 1, 0, next), ACLSHMEM_INVALID_PARAM);
    CHECK_ERROR(aclshmemx_putmem_signal(data, &nine, 4, word, 1, 0, n), ACLSHMEM_INVALID_PARAM);
    CHECK_ERROR(aclshmemx_putmem_signal(data, NULL, 4, word, 1, 0, next), ACLSHMEM_INVALID_PARAM);
    CHECK_ERROR(aclshmemx_putmem_signal_nbi(data, NULL, 4, word, 1, 0, next), ACLSHMEM_INVALID_PARAM);
    CHECK_ERROR(aclshmemx_putmem_signal_nbi(&local, &nine, 4, word, 1, 0, next), ACLSHMEM_INVALID_PARAM);
    CHECK_ERROR(aclshmemx_putmem_signal_nbi(data, &nine, 4, word, 1, 0, -1), ACLSHMEM_INVALID_PARAM);
    CHECK_ERROR(aclshmem_double_put_signal_nbi((double *)(void *)data, (double *)(void *)data, SIZE_MAX / 4,
                                               (uint8_t *)word, 1, 0, next),
                ACLSHMEM_INVALID_PARAM);
    CHECK_ERROR(aclshmem_signal_wait_until(word, 6, 0), ACLSHMEM_INVALID_PARAM);
    CHECK_ERROR(aclshmem_signal_wait_until(word, -1, 0), ACLSHMEM_INVALID_PARAM);
    CHECK_ERROR(aclshmem_signal_wait_until(NULL, 0, 0), ACLSHMEM_INVALID_PARAM);
    CHECK_ERROR(aclshmem_signal_wait_until((int32_t *)(void *)((char *)word + 2), 0, 0),
                ACLSHMEM_INVALID_PARAM);
    aclshmemx_set_extern_logger(NULL);
    aclshmem_barrier_all();
    CHECK(*word == 0 && *data == 0); /* a refused call has moved nothing */
    aclshmem_free(data);
    aclshmem_free(word);
}

int main(void)
{
    pe_init(UINT64_C(4) << 20);
    me = aclshmem_my_pe();
    n = aclshmem_n_pes();
    next = (me + 1) % n;
    previous = (me + n - 1) % n;
    ACLSHMEM_TYPE_FUNC(TEST_TYPE);
    ACLSHMEM_SIZE_FUNC(TEST_SIZE);
    data_before_signal();
    adds_are_exact();
    comparisons();
    mistakes();
    pe_finalize();
    aclshmemx_set_extern_logger(pe_swallow);
    int32_t word = 0;
    CHECK_ERROR(aclshmemx_signal_op(&word, 1, 0, 0), ACLSHMEM_NOT_INITED);
    CHECK_ERROR(aclshmem_signal_wait_until(&word, 0, 1), ACLSHMEM_NOT_INITED);
    return 0;
}
