/* SPDX-License-Identifier: Apache-2.0 */
/* Host atomics: every operation of every type, exact under contention, bits and neighbours untouched, every mistake. */
/* */
#include <math.h>
#include <string.h>

#include "pe.h"

enum { TIMES = 2000 };

static int me, n, next;

/* One operation after the other on an object of the next PE, with neighbours that must not change. */
#define COMMON(NAME, TYPE)                                                                                   \
    do {                                                                                                     \
        TYPE *v = aclshmem_calloc(3, sizeof *v), got;                                                        \
        CHECK(v != NULL);                                                                                    \
        aclshmem_barrier_all();                                                                              \
        aclshmem_##NAME##_atomic_set(&v[1], 5, next);                                                        \
        CHECK(aclshmem_##NAME##_atomic_fetch(&v[1], next) == 5);                                             \
        CHECK(aclshmem_##NAME##_atomic_swap(&v[1], 9, next) == 5);                                           \
        aclshmem_##NAME##_atomic_add(&v[1], 2, next);                                                        \
        CHECK(aclshmem_##NAME##_atomic_fetch_add(&v[1], 4, next) == 11);                                     \
        aclshmem_##NAME##_atomic_fetch_nbi(&got, &v[1], next);                                               \
        aclshmem_quiet();                                                                                    \
        CHECK(got == 15);                                                                                    \
        aclshmem_##NAME##_atomic_swap_nbi(&got, &v[1], 1, next);                                             \
        aclshmem_##NAME##_atomic_fetch_add_nbi(&got, &v[1], 6, next);                                        \
        aclshmem_quiet();                                                                                    \
        CHECK(got == 1 && aclshmem_##NAME##_g(&v[1], next) == 7);                                            \
        aclshmem_barrier_all();                                                                              \
        CHECK(v[0] == 0 && v[1] == 7 && v[2] == 0);                                                          \
        aclshmem_barrier_all();                                                                              \
        /* everybody adds to one object of the last PE */                                                    \
        v[1] = 0;                                                                                            \
        aclshmem_barrier_all();                                                                              \
        for (int i = 0; i < TIMES; i++)                                                                      \
            aclshmem_##NAME##_atomic_add(&v[1], 1, n - 1);                                                   \
        for (int i = 0; i < TIMES; i++)                                                                      \
            (void)aclshmem_##NAME##_atomic_fetch_add(&v[1], 2, n - 1);                                       \
        aclshmem_barrier_all();                                                                              \
        CHECK(v[1] == (TYPE)(me == n - 1 ? 3 * TIMES * n : 0));                                              \
        aclshmem_free(v);                                                                                    \
    } while (0)

#define INTEGER(NAME, TYPE)                                                                                  \
    do {                                                                                                     \
        TYPE *v = aclshmem_calloc(3, sizeof *v), got;                                                        \
        CHECK(v != NULL);                                                                                    \
        aclshmem_barrier_all();                                                                              \
        aclshmem_##NAME##_atomic_set(&v[1], 12, next);                                                       \
        CHECK(aclshmem_##NAME##_atomic_compare_swap(&v[1], 13, 20, next) == 12);                             \
        CHECK(aclshmem_##NAME##_atomic_compare_swap(&v[1], 12, 20, next) == 12);                             \
        CHECK(aclshmem_##NAME##_atomic_fetch_inc(&v[1], next) == 20);                                        \
        aclshmem_##NAME##_atomic_inc(&v[1], next);                          /* 22 */                         \
        CHECK(aclshmem_##NAME##_atomic_fetch_and(&v[1], 0x17, next) == 22); /* 22 */                         \
        aclshmem_##NAME##_atomic_and(&v[1], 0x14, next);                    /* 20 */                         \
        CHECK(aclshmem_##NAME##_atomic_fetch_or(&v[1], 3, next) == 20);     /* 23 */                         \
        aclshmem_##NAME##_atomic_or(&v[1], 8, next);                        /* 31 */                         \
        CHECK(aclshmem_##NAME##_atomic_fetch_xor(&v[1], 1, next) == 31);    /* 30 */                         \
        aclshmem_##NAME##_atomic_xor(&v[1], 6, next);                       /* 24 */                         \
        aclshmem_##NAME##_atomic_compare_swap_nbi(&got, &v[1], 24, 1, next);                                 \
        aclshmem_##NAME##_atomic_fetch_inc_nbi(&got, &v[1], next);    /* 2 */                                \
        aclshmem_##NAME##_atomic_fetch_or_nbi(&got, &v[1], 5, next);  /* 7 */                                \
        aclshmem_##NAME##_atomic_fetch_and_nbi(&got, &v[1], 6, next); /* 6 */                                \
        aclshmem_##NAME##_atomic_fetch_xor_nbi(&got, &v[1], 7, next); /* 1 */                                \
        aclshmem_quiet();                                                                                    \
        CHECK(got == 6);                                                                                     \
        aclshmem_barrier_all();                                                                              \
        CHECK(v[0] == 0 && v[1] == 1 && v[2] == 0);                                                          \
        aclshmem_barrier_all();                                                                              \
        /* integers wrap, in their own bytes */                                                              \
        aclshmem_##NAME##_atomic_set(&v[1], (TYPE) ~(TYPE)0, next);                                          \
        aclshmem_##NAME##_atomic_inc(&v[1], next);                                                           \
        aclshmem_barrier_all();                                                                              \
        CHECK(v[0] == 0 && v[1] == 0 && v[2] == 0);                                                          \
        aclshmem_barrier_all();                                                                              \
        /* a counter made of compare_swap loses nothing */                                                   \
        for (int i = 0; i < TIMES / 4; i++) {                                                                \
            TYPE seen = aclshmem_##NAME##_atomic_fetch(&v[1], 0), before;                                    \
            while ((before = aclshmem_##NAME##_atomic_compare_swap(&v[1], seen, (TYPE)(seen + 1), 0)) !=     \
                   seen)                                                                                     \
                seen = before;                                                                               \
        }                                                                                                    \
        aclshmem_barrier_all();                                                                              \
        CHECK(v[1] == (TYPE)(me == 0 ? TIMES / 4 * n : 0));                                                  \
        aclshmem_free(v);                                                                                    \
    } while (0)

/* Bits travel as they are, also those that are no number. */
static void bits(void)
{
    double *v = aclshmem_calloc(1, sizeof *v);
    uint64_t pattern = UINT64_C(0x7ff4dead0000beef), got;
    double odd, back;
    CHECK(v != NULL);
    aclshmem_barrier_all();
    memcpy(&odd, &pattern, sizeof odd);
    aclshmem_double_atomic_set(v, odd, next);
    back = aclshmem_double_atomic_swap(v, 0.0, next);
    memcpy(&got, &back, sizeof got);
    CHECK(got == pattern);
    aclshmem_double_atomic_set(v, odd, next);
    aclshmem_double_atomic_add(v, 1.0, next); /* ends, though no number equals itself here */
    CHECK(isnan(aclshmem_double_atomic_fetch(v, next)));
    aclshmem_barrier_all();
    aclshmem_free(v);
}

static void mistakes(int expected)
{
    int64_t *v = expected == ACLSHMEM_NOT_INITED ? NULL : aclshmem_calloc(2, sizeof *v), local = 3;
    aclshmemx_set_extern_logger(pe_swallow);
    CHECK_ERROR(aclshmem_int64_atomic_set(&local, 9, 0), expected);
    CHECK_ERROR(CHECK(aclshmem_int64_atomic_fetch(&local, 0) == 0), expected);
    CHECK_ERROR(CHECK(aclshmem_int64_atomic_fetch_add(&local, 1, 0) == 0), expected);
    CHECK_INT(local, 3);
    if (v != NULL) {
        CHECK_ERROR(aclshmem_int64_atomic_add(v, 1, -1), expected);
        CHECK_ERROR(aclshmem_int64_atomic_add(v, 1, n), expected);
        CHECK_ERROR(aclshmem_int64_atomic_add((int64_t *)(void *)((char *)v + 4), 1, 0), expected);
        CHECK_ERROR(aclshmem_int64_atomic_fetch_nbi(NULL, v, 0), expected);
        CHECK_ERROR(aclshmem_int64_atomic_fetch_or_nbi(NULL, v, 1, 0), expected);
        aclshmem_barrier_all();
        CHECK(v[0] == 0 && v[1] == 0);
        aclshmem_free(v);
    }
    aclshmemx_set_extern_logger(NULL);
}

int main(void)
{
    mistakes(ACLSHMEM_NOT_INITED);
    pe_init(UINT64_C(2) << 20);
    me = aclshmem_my_pe();
    n = aclshmem_n_pes();
    next = (me + 1) % n;
    ACLSHMEM_AMO_INTEGER_FUNC(COMMON);
    ACLSHMEM_AMO_FLOAT_FUNC(COMMON);
    ACLSHMEM_AMO_INTEGER_FUNC(INTEGER);
    bits();
    mistakes(ACLSHMEM_INVALID_PARAM);
    pe_finalize();
    return 0;
}
