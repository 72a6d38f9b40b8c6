/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectives against plain loops: every type and operation, counts from 0 to past every change of algorithm, in place, on the
 * world and on teams of odd shapes, on streams, PEs that differ, and every mistake.
 * [R-13] [R-14]
 */
#include <math.h>
#include <string.h>

#include "acl/acl.h"
#include "pe.h"

enum { COUNT_MAX = 3001, PES_MAX = 64 };

static int me, n; /* in the team under test */
static aclshmem_team_t team;
static char *dest, *source; /* symmetric, room for COUNT_MAX elements of 8 bytes per PE, twice */

/* What member i brings as element k: small, so that products and halves stay exact. */
static int value_of(int i, size_t k)
{
    return 1 + (int)((k + (size_t)i * 3) % 2);
}

static uint16_t half_bits(int value) /* 0 .. 2047, exact */
{
    if (value == 0)
        return 0;
    int exponent = 31 - __builtin_clz((unsigned)value);
    int fraction = (value << (10 - exponent)) & 0x3ff;
    return (uint16_t)((exponent + 15) << 10 | fraction);
}

static uint16_t bfloat16_bits(int value)
{
    float f = (float)value;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return (uint16_t)(bits >> 16);
}

#define AS_float(v)    ((float)(v))
#define AS_double(v)   ((double)(v))
#define AS_int8(v)     ((int8_t)(v))
#define AS_int16(v)    ((int16_t)(v))
#define AS_int32(v)    ((int32_t)(v))
#define AS_int64(v)    ((int64_t)(v))
#define AS_uint8(v)    ((uint8_t)(v))
#define AS_uint16(v)   ((uint16_t)(v))
#define AS_uint32(v)   ((uint32_t)(v))
#define AS_uint64(v)   ((uint64_t)(v))
#define AS_char(v)     ((char)(v))
#define AS_half(v)     half_bits(v)
#define AS_bfloat16(v) bfloat16_bits(v)

#define FILL(NAME, TYPE, count)                                                                              \
    for (size_t k_ = 0; k_ < (count); k_++)                                                                  \
    ((TYPE *)(void *)source)[k_] = AS_##NAME(value_of(me, k_))

#define CLEAR(TYPE, count) memset(dest, 0, (count) * sizeof(TYPE))

static int combined(const char *op, size_t k)
{
    int result = value_of(0, k);
    for (int i = 1; i < n; i++) {
        int v = value_of(i, k);
        switch (op[0]) {
        case 's':
            result += v;
            break;
        case 'p':
            result *= v;
            break;
        case 'm':
            result = (op[1] == 'i') == (v < result) ? v : result;
            break;
        case 'a':
            result &= v;
            break;
        case 'o':
            result |= v;
            break;
        default:
            result ^= v;
            break;
        }
    }
    return result;
}

#define REDUCE_OP(NAME, TYPE, OP)                                                                            \
    do {                                                                                                     \
        FILL(NAME, TYPE, count);                                                                             \
        CLEAR(TYPE, count + 1);                                                                              \
        CHECK_INT(                                                                                           \
            aclshmem_##NAME##_##OP##_reduce(team, (TYPE *)(void *)dest, (TYPE *)(void *)source, count), 0);  \
        for (size_t k = 0; k < count; k++)                                                                   \
            CHECK(((TYPE *)(void *)dest)[k] == AS_##NAME(combined(#OP, k)));                                 \
        CHECK(((TYPE *)(void *)dest)[count] == 0);                                                           \
        CHECK_INT(                                                                                           \
            aclshmem_##NAME##_##OP##_reduce(team, (TYPE *)(void *)source, (TYPE *)(void *)source, count),    \
            0);                                                                                              \
        CHECK(memcmp(source, dest, count * sizeof(TYPE)) == 0);                                              \
        size_t part_ = count / (size_t)n;                                                                    \
        FILL(NAME, TYPE, part_ *(size_t)n);                                                                  \
        CHECK_INT(aclshmem_##NAME##_##OP##_reduce_scatter(team, (TYPE *)(void *)dest,                        \
                                                          (TYPE *)(void *)source, part_),                    \
                  0);                                                                                        \
        for (size_t k = 0; k < part_; k++)                                                                   \
            CHECK(((TYPE *)(void *)dest)[k] == AS_##NAME(combined(#OP, k + part_ * (size_t)me)));            \
        CHECK_INT(aclshmem_##NAME##_##OP##_reduce_scatter(team, (TYPE *)(void *)source,                      \
                                                          (TYPE *)(void *)source, part_),                    \
                  0);                                                                                        \
        CHECK(memcmp(source, dest, part_ * sizeof(TYPE)) == 0);                                              \
    } while (0)

/* The product of many stays exact in the smallest type only while it is small. */
#define REDUCE(NAME, TYPE)                                                                                   \
    do {                                                                                                     \
        REDUCE_OP(NAME, TYPE, sum);                                                                          \
        if (n <= 7)                                                                                          \
            REDUCE_OP(NAME, TYPE, prod);                                                                     \
        REDUCE_OP(NAME, TYPE, min);                                                                          \
        REDUCE_OP(NAME, TYPE, max);                                                                          \
    } while (0)
#define REDUCE_BITWISE(NAME, TYPE)                                                                           \
    do {                                                                                                     \
        REDUCE_OP(NAME, TYPE, and);                                                                          \
        REDUCE_OP(NAME, TYPE, or);                                                                           \
        REDUCE_OP(NAME, TYPE, xor);                                                                          \
    } while (0)

#define MOVE(NAME, TYPE)                                                                                     \
    do {                                                                                                     \
        TYPE *d = (TYPE *)(void *)dest, *s = (TYPE *)(void *)source;                                         \
        size_t all = count * (size_t)n;                                                                      \
        int root = (int)(count % (size_t)n);                                                                 \
        FILL(NAME, TYPE, count);                                                                             \
        CLEAR(TYPE, count + 1);                                                                              \
        CHECK_INT(aclshmem_##NAME##_broadcast(team, d, s, count, root), 0);                                  \
        for (size_t k = 0; k < count; k++)                                                                   \
            CHECK(d[k] == AS_##NAME(value_of(root, k)));                                                     \
        CHECK(d[count] == 0);                                                                                \
        CHECK_INT(aclshmem_##NAME##_broadcast(team, s, s, count, root), 0);                                  \
        CHECK(memcmp(s, d, count * sizeof(TYPE)) == 0);                                                      \
        FILL(NAME, TYPE, count);                                                                             \
        CHECK_INT(aclshmem_##NAME##_fcollect(team, d, s, count), 0);                                         \
        for (size_t k = 0; k < all; k++)                                                                     \
            CHECK(d[k] == AS_##NAME(value_of((int)(k / count), k % count)));                                 \
        FILL(NAME, TYPE, all);                                                                               \
        CHECK_INT(aclshmem_##NAME##_alltoall(team, d, s, count), 0);                                         \
        for (size_t k = 0; k < all; k++)                                                                     \
            CHECK(d[k] == AS_##NAME(value_of((int)(k / count), k % count + (size_t)me * count)));            \
        /* member i brings i + count elements to collect */                                                  \
        size_t own = count + (size_t)me, at = 0;                                                             \
        FILL(NAME, TYPE, own);                                                                               \
        CHECK_INT(aclshmem_##NAME##_collect(team, d, s, own), 0);                                            \
        for (int i = 0; i < n; at += count + (size_t)i, i++)                                                 \
            for (size_t k = 0; k < count + (size_t)i; k++)                                                   \
                CHECK(d[at + k] == AS_##NAME(value_of(i, k)));                                               \
        size_t few = all > 300 ? 300 / (size_t)n : count;                                                    \
        FILL(NAME, TYPE, 3 * few * (size_t)n);                                                               \
        CLEAR(TYPE, 2 * few * (size_t)n + 2);                                                                \
        CHECK_INT(aclshmem_##NAME##_alltoalls(team, d, s, 2, 3, few), 0);                                    \
        for (int i = 0; i < n; i++)                                                                          \
            for (size_t k = 0; k < few; k++) {                                                               \
                CHECK(d[2 * ((size_t)i * few + k)] == AS_##NAME(value_of(i, 3 * ((size_t)me * few + k))));   \
                CHECK(d[2 * ((size_t)i * few + k) + 1] == 0);                                                \
            }                                                                                                \
    } while (0)

static void everything(size_t count)
{
    ACLSHMEM_COLL_TYPE_FUNC(MOVE);
    ACLSHMEM_COLL_TYPE_FUNC(REDUCE);
    ACLSHMEM_COLL_BITWISE_FUNC(REDUCE_BITWISE);
}

/* Sums round: all members hold the same bits, though additions in another order would give others. */
static void same_bits(void)
{
    enum { COUNT = 700 };
    float *d = (float *)(void *)dest, *s = (float *)(void *)source;
    for (int k = 0; k < COUNT; k++)
        s[k] = 1.0f / (float)(1 + k + 7 * me);
    CHECK_INT(aclshmem_float_sum_reduce(team, d, s, COUNT), 0);
    CHECK_INT(aclshmem_float_fcollect(team, s, d, COUNT), 0);
    for (int i = 0; i < n; i++)
        CHECK(memcmp(s + i * COUNT, d, COUNT * sizeof *d) == 0);
}

static void halves(void)
{
    uint16_t *d = (uint16_t *)(void *)dest, *s = (uint16_t *)(void *)source;
    /* largest half, infinity, NaN, smallest subnormal, and a tie that rounds to even */
    static const uint16_t first[] = {0x7bff, 0x7c00, 0x7e01, 0x0001, 0x6800},
                          second[] = {0x7bff, 0xfc00, 0x3c00, 0x0001, 0x3c00};
    static const uint16_t sum[] = {0x7c00, 0x7e00, 0x7e00, 0x0002, 0x6800};
    if (n < 2)
        return;
    for (int k = 0; k < 5; k++)
        s[k] = me == 0 ? first[k] : me == 1 ? second[k] : 0;
    CHECK_INT(aclshmem_half_sum_reduce(team, d, s, 5), 0);
    for (int k = 0; k < 5; k++)
        CHECK((d[k] & 0x7fff) == sum[k] ||
              ((d[k] & 0x7c00) == 0x7c00 && (d[k] & 0x3ff) != 0 && (sum[k] & 0x3ff) != 0));
}

static void on_stream(void)
{
    aclrtStream stream;
    int64_t *d = (int64_t *)(void *)dest, *s = (int64_t *)(void *)source;
    CHECK_INT(aclrtCreateStream(&stream), 0);
    for (int round = 0; round < 20; round++) {
        for (int k = 0; k < 100; k++)
            s[k] = me + round;
        CHECK_INT(aclshmemx_int64_sum_reduce_on_stream(team, d, s, 100, stream), 0);
        CHECK_INT(aclshmemx_int64_fcollect_on_stream(team, d + 100, d, 100, stream),
                  0); /* after the sum, on the same stream */
        CHECK_INT(aclrtSynchronizeStream(stream), 0);
        for (int k = 0; k < 100 + 100 * n; k++)
            CHECK_INT(d[k], (int64_t)n * (n - 1) / 2 + (int64_t)n * round);
    }
    CHECK_INT(aclrtDestroyStream(stream), 0);
}

static void mistakes(void)
{
    int32_t *d = (int32_t *)(void *)dest, *s = (int32_t *)(void *)source, local[4];
    aclshmemx_set_extern_logger(pe_swallow);
    memset(d, 0, 64);
    CHECK_INT(aclshmem_int32_sum_reduce(777, d, s, 1), ACLSHMEM_INVALID_PARAM);
    CHECK_INT(aclshmem_int32_sum_reduce(ACLSHMEM_TEAM_INVALID, d, s, 1), ACLSHMEM_INVALID_PARAM);
    CHECK_INT(aclshmem_int32_broadcast(team, d, s, 1, n), ACLSHMEM_INVALID_PARAM);
    CHECK_INT(aclshmem_int32_broadcast(team, d, s, 1, -1), ACLSHMEM_INVALID_PARAM);
    CHECK_INT(aclshmem_int32_sum_reduce(team, local, s, 1), ACLSHMEM_INVALID_PARAM);
    CHECK_INT(aclshmem_int32_sum_reduce(team, d, local, 1), ACLSHMEM_INVALID_PARAM);
    CHECK_INT(aclshmem_int32_fcollect(team, d, s, SIZE_MAX / 4), ACLSHMEM_INVALID_PARAM);
    CHECK_INT(aclshmem_int32_alltoalls(team, d, s, 0, 1, 1), ACLSHMEM_INVALID_PARAM);
    CHECK_INT(aclshmem_int32_alltoalls(team, d, s, 1, -1, 1), ACLSHMEM_INVALID_PARAM);
    CHECK_INT(aclshmem_int32_alltoalls(team, d, s, PTRDIFF_MAX / 4, 1, 5), ACLSHMEM_INVALID_PARAM);
    if (n > 1) { /* PEs that differ, in every respect, and one whose arguments are wrong */
        CHECK_INT(aclshmem_int32_sum_reduce(team, d, s, me == 0 ? 1 : 2), ACLSHMEM_INVALID_PARAM);
        CHECK(strstr(aclshmemx_last_error(NULL), "differ") != NULL);
        CHECK_INT(aclshmem_int32_broadcast(team, d, s, 1, me == 0 ? 0 : 1), ACLSHMEM_INVALID_PARAM);
        CHECK_INT(aclshmem_int32_broadcast(team, d, me == 0 ? s : s + 1, 1, 0), ACLSHMEM_INVALID_PARAM);
        CHECK_INT(me == 0 ? aclshmem_int32_sum_reduce(team, d, s, 1)
                          : aclshmem_int32_max_reduce(team, d, s, 1),
                  ACLSHMEM_INVALID_PARAM);
        CHECK_INT(me == 0 ? aclshmem_int32_sum_reduce(team, d, s, 1)
                          : aclshmem_float_sum_reduce(team, (float *)(void *)d, (float *)(void *)s, 1),
                  ACLSHMEM_INVALID_PARAM);
        CHECK_INT(aclshmem_int32_sum_reduce(team, d, me == n - 1 ? local : s, 1), ACLSHMEM_INVALID_PARAM);
        CHECK_INT(aclshmem_int32_sum_reduce(team, d, s, me == 0 ? 0 : 1), ACLSHMEM_INVALID_PARAM);
    }
    for (int k = 0; k < 16; k++)
        CHECK_INT(d[k], 0);
    aclshmemx_set_extern_logger(NULL);
    CHECK_INT(aclshmem_int32_sum_reduce(team, NULL, NULL, 0), 0); /* count 0 looks at no pointer */
    CHECK_INT(aclshmem_int32_collect(team, me == 0 ? d : NULL, me == 0 ? s : NULL, me == 0 ? 1 : 0), 0);
}

static void with_team(aclshmem_team_t t)
{
    static const size_t counts[] = {0, 1, 2, 3, 6, 7, 17, 49, 255, 257, COUNT_MAX - 64};
    if (t == ACLSHMEM_TEAM_INVALID)
        return;
    team = t;
    me = aclshmem_team_my_pe(t);
    n = aclshmem_team_n_pes(t);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        everything(counts[i]);
    same_bits();
    halves();
    on_stream();
    mistakes();
}

int main(void)
{
    int32_t word = 0;
    aclshmemx_set_extern_logger(pe_swallow);
    CHECK_INT(aclshmem_int32_sum_reduce(ACLSHMEM_TEAM_WORLD, &word, &word, 1), ACLSHMEM_NOT_INITED);
    aclshmemx_set_extern_logger(NULL);
    pe_init(UINT64_C(16) << 20);
    int world = aclshmem_n_pes();
    size_t room = (size_t)COUNT_MAX * 8 * (size_t)world + 4096;
    CHECK(world <= PES_MAX && (dest = aclshmem_malloc(room)) != NULL &&
          (source = aclshmem_malloc(room)) != NULL);
    aclshmem_team_t odd, tail, x, y;
    with_team(ACLSHMEM_TEAM_WORLD);
    if (world > 2) {
        CHECK_INT(aclshmem_team_split_strided(ACLSHMEM_TEAM_WORLD, 1, 2, world / 2, &odd), 0);
        with_team(odd);
        CHECK_INT(aclshmem_team_split_strided(ACLSHMEM_TEAM_WORLD, 1, 1, world - 1, &tail), 0);
        with_team(tail);
        CHECK_INT(aclshmem_team_split_2d(ACLSHMEM_TEAM_WORLD, 2, &x, &y), 0);
        with_team(x);
        with_team(y);
    }
    pe_finalize();
    return 0;
}
