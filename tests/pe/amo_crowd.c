/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Atomics in a crowd: neighbouring objects of every width that different PEs work on at once, one word that everything which
 * may touch it touches, and bits that mean nothing carried unchanged.
 */
#include <string.h>

#include "pe.h"

enum { TIMES = 500 };

static int me, n;

static uint64_t state;

static uint64_t draw(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Element me of every PE's array is ours alone; what stands beside it belongs to others, who work on it now. */
#define NEIGHBOURS(NAME, TYPE)                                                                               \
    do {                                                                                                     \
        TYPE *v = aclshmem_calloc((size_t)n, sizeof *v);                                                     \
        CHECK(v != NULL);                                                                                    \
        for (int i = 0; i < TIMES; i++)                                                                      \
            for (int pe = 0; pe < n; pe++) {                                                                 \
                CHECK(aclshmem_##NAME##_atomic_fetch_add(&v[me], 3, pe) == (TYPE)(4 * i));                   \
                aclshmem_##NAME##_atomic_add(&v[me], 1, pe);                                                 \
                CHECK(aclshmem_##NAME##_atomic_swap(&v[me], (TYPE)(4 * i + 4), pe) == (TYPE)(4 * i + 4));    \
                CHECK(aclshmem_##NAME##_atomic_fetch(&v[me], pe) == (TYPE)(4 * i + 4));                      \
            }                                                                                                \
        aclshmem_barrier_all();                                                                              \
        for (int pe = 0; pe < n; pe++)                                                                       \
            CHECK(v[pe] == (TYPE)(4 * TIMES));                                                               \
        aclshmem_barrier_all();                                                                              \
        aclshmem_free(v);                                                                                    \
    } while (0)

/* One bit per PE in the same word, set and cleared while the others set and clear theirs. */
#define BITS_OF_ONE_WORD(NAME, TYPE)                                                                         \
    do {                                                                                                     \
        TYPE *v = aclshmem_calloc(3, sizeof *v), bit = (TYPE)((TYPE)1 << me % 31);                           \
        CHECK(v != NULL);                                                                                    \
        for (int i = 0; i < TIMES && me < 31; i++) {                                                         \
            CHECK((aclshmem_##NAME##_atomic_fetch_or(&v[1], bit, 0) & bit) == 0);                            \
            CHECK((aclshmem_##NAME##_atomic_fetch(&v[1], 0) & bit) == bit);                                  \
            CHECK((aclshmem_##NAME##_atomic_fetch_and(&v[1], (TYPE)~bit, 0) & bit) == bit);                  \
            aclshmem_##NAME##_atomic_xor(&v[1], bit, 0);                                                     \
            aclshmem_##NAME##_atomic_xor(&v[1], bit, 0);                                                     \
        }                                                                                                    \
        aclshmem_barrier_all();                                                                              \
        CHECK(v[0] == 0 && v[1] == 0 && v[2] == 0);                                                          \
        aclshmem_barrier_all();                                                                              \
        aclshmem_free(v);                                                                                    \
    } while (0)

/* Signals and every atomic that adds, on one word. */
static void every_way_to_add(void)
{
    int32_t *v = aclshmem_calloc(3, sizeof *v), one = 1;
    int64_t *data = aclshmem_calloc((size_t)n, sizeof *data), mine = me;
    CHECK(v != NULL && data != NULL);
    for (int i = 0; i < TIMES; i++) {
        aclshmemx_signal_op(&v[1], 1, ACLSHMEM_SIGNAL_ADD, 0);
        aclshmem_int32_atomic_add(&v[1], 1, 0);
        aclshmem_uint32_atomic_inc((uint32_t *)&v[1], 0);
        (void)aclshmem_int32_atomic_fetch_add(&v[1], one, 0);
        aclshmem_int64_put_signal(&data[me], &mine, 1, (uint8_t *)&v[1], 1, ACLSHMEM_SIGNAL_ADD, 0);
        int32_t seen = aclshmem_int32_atomic_fetch(&v[1], 0), before;
        while ((before = aclshmem_int32_atomic_compare_swap(&v[1], seen, seen + 1, 0)) != seen)
            seen = before;
    }
    if (me == 0) /* the own memory, by the interface and by a wait */
        aclshmem_int32_wait_until(&v[1], ACLSHMEM_CMP_EQ, 6 * TIMES * n);
    aclshmem_barrier_all();
    CHECK(v[0] == 0 && v[1] == (me == 0 ? 6 * TIMES * n : 0) && v[2] == 0);
    aclshmem_barrier_all();
    aclshmem_free(data);
    aclshmem_free(v);
}

/* NaNs with payloads, negative zeros, subnormals: set, swapped, fetched and got as they are. */
#define ANY_BITS(NAME, TYPE)                                                                                 \
    do {                                                                                                     \
        TYPE *v = aclshmem_calloc((size_t)n, sizeof *v), in, out;                                            \
        CHECK(v != NULL);                                                                                    \
        for (int i = 0; i < TIMES; i++)                                                                      \
            for (int pe = 0; pe < n; pe++) {                                                                 \
                uint64_t bits = i % 4 == 0 ? draw() | UINT64_C(0x7ff000007f800000) : draw();                 \
                memcpy(&in, &bits, sizeof in);                                                               \
                aclshmem_##NAME##_atomic_set(&v[me], in, pe);                                                \
                out = aclshmem_##NAME##_atomic_fetch(&v[me], pe);                                            \
                CHECK(memcmp(&in, &out, sizeof in) == 0);                                                    \
                out = aclshmem_##NAME##_atomic_swap(&v[me], (TYPE)0, pe);                                    \
                CHECK(memcmp(&in, &out, sizeof in) == 0);                                                    \
                aclshmem_##NAME##_atomic_set(&v[me], in, pe);                                                \
                aclshmem_getmem(&out, &v[me], sizeof out, pe);                                               \
                CHECK(memcmp(&in, &out, sizeof in) == 0);                                                    \
            }                                                                                                \
        aclshmem_barrier_all();                                                                              \
        aclshmem_free(v);                                                                                    \
    } while (0)

int main(void)
{
    pe_init(UINT64_C(2) << 20);
    me = aclshmem_my_pe();
    n = aclshmem_n_pes();
    state = UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)me;
    ACLSHMEM_AMO_INTEGER_FUNC(NEIGHBOURS);
    ACLSHMEM_AMO_FLOAT_FUNC(NEIGHBOURS);
    ACLSHMEM_AMO_INTEGER_FUNC(BITS_OF_ONE_WORD);
    every_way_to_add();
    ACLSHMEM_AMO_INTEGER_FUNC(ANY_BITS);
    ACLSHMEM_AMO_FLOAT_FUNC(ANY_BITS);
    pe_finalize();
    return 0;
}
