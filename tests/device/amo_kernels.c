/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that use every atomic. `exact` has a word to itself on the next PE; storms share theirs with everybody. */
#include "amo.h"

#include "kernel.h"

static int next_pe(void)
{
    return (aclshmem_my_pe() + 1) % aclshmem_n_pes();
}

#define DEFINE_EXACT(NAME, TYPE, lowest, highest)                                                            \
    ACLSHMEM_KERNEL(exact_##NAME, __gm__ TYPE *, word)                                                       \
    {                                                                                                        \
        int pe = next_pe();                                                                                  \
        aclshmem_##NAME##_atomic_set(word, 5, pe);                                                           \
        EXPECT_INT(aclshmem_##NAME##_atomic_fetch(word, pe), 5);                                             \
        EXPECT_INT(aclshmem_##NAME##_atomic_swap(word, 9, pe), 5);                                           \
        EXPECT_INT(aclshmem_##NAME##_atomic_compare_swap(word, 8, 1, pe), 9);                                \
        EXPECT_INT(aclshmem_##NAME##_atomic_compare_swap(word, 9, 1, pe), 9);                                \
        aclshmem_##NAME##_atomic_add(word, 10, pe);                                                          \
        EXPECT_INT(aclshmem_##NAME##_atomic_fetch_add(word, 20, pe), 11);                                    \
        aclshmem_##NAME##_atomic_inc(word, pe);                                                              \
        EXPECT_INT(aclshmem_##NAME##_atomic_fetch_inc(word, pe), 32);                                        \
        aclshmem_##NAME##_atomic_and(word, 0x3c, pe);                                                        \
        EXPECT_INT(aclshmem_##NAME##_atomic_fetch_and(word, 0x28, pe), 0x20);                                \
        aclshmem_##NAME##_atomic_or(word, 0x41, pe);                                                         \
        EXPECT_INT(aclshmem_##NAME##_atomic_fetch_or(word, 0x12, pe), 0x61);                                 \
        aclshmem_##NAME##_atomic_xor(word, 0xff, pe);                                                        \
        EXPECT_INT(aclshmem_##NAME##_atomic_fetch_xor(word, 0x0f, pe), 0x8c);                                \
        EXPECT_INT(aclshmem_##NAME##_atomic_fetch(word, pe), 0x83);                                          \
        aclshmem_##NAME##_atomic_set(word, highest, pe);                                                     \
        aclshmem_##NAME##_atomic_add(word, 1, pe); /* wraps */                                               \
        EXPECT(aclshmem_##NAME##_atomic_fetch(word, pe) == (lowest));                                        \
        aclshmemx_mte_atomic_set(word, 1, pe);                                                               \
        EXPECT_INT(aclshmemx_mte_atomic_swap(word, 2, pe), 1);                                               \
        EXPECT_INT(aclshmemx_mte_atomic_compare_swap(word, 2, 3, pe), 2);                                    \
        aclshmemx_mte_atomic_add(word, 4, pe);                                                               \
        EXPECT_INT(aclshmemx_mte_atomic_fetch_add(word, 5, pe), 7);                                          \
        aclshmemx_mte_atomic_inc(word, pe);                                                                  \
        EXPECT_INT(aclshmemx_mte_atomic_fetch_inc(word, pe), 13);                                            \
        EXPECT_INT(aclshmemx_mte_atomic_fetch(word, pe), 14);                                                \
        EXPECT_INT(aclshmemx_mte_##NAME##_atomic_fetch(word, pe), 14);                                       \
        aclshmem_quiet();                                                                                    \
        EXPECT_INT(word[1], 0); /* the neighbour stays */                                                    \
    }
DEFINE_EXACT(int32, int32_t, INT32_MIN, INT32_MAX)
DEFINE_EXACT(int64, int64_t, INT64_MIN, INT64_MAX)
DEFINE_EXACT(uint32, uint32_t, 0, UINT32_MAX)
DEFINE_EXACT(uint64, uint64_t, 0, UINT64_MAX)

ACLSHMEM_KERNEL(exact_float, __gm__ float *, word)
{
    int pe = next_pe();
    aclshmem_float_atomic_set(word, 1.5f, pe);
    EXPECT(aclshmem_float_atomic_swap(word, 0.1f, pe) == 1.5f);
    aclshmem_float_atomic_add(word, 0.2f, pe);
    aclshmem_quiet(); /* the next one may take another engine */
    aclshmemx_mte_float_atomic_add(word, 0.25f, pe);
    aclshmemx_mte_atomic_add(word, 0.5f, pe);
    EXPECT(aclshmem_float_atomic_swap(word, -0.0f, pe) == 0.1f + 0.2f + 0.25f + 0.5f);
}

/* Elements of 8 and 16 bits: the neighbours of each in its word stay, and half and bfloat16 round to nearest even. */
ACLSHMEM_KERNEL(exact_small, __gm__ char *, bytes)
{
    __gm__ int8_t *b = (__gm__ int8_t *)bytes;
    __gm__ int16_t *s = (__gm__ int16_t *)(void *)(bytes + 8);
    __gm__ uint16_t *h = (__gm__ uint16_t *)(void *)(bytes + 16), *f = h + 4;
    int pe = next_pe();
    for (int i = 0; i < 4; i++) {
        aclshmem_int8_atomic_add(b + i, (int8_t)(100 + i), pe);
        aclshmem_int8_atomic_add(b + i, 100, pe);
        aclshmem_int16_atomic_add(s + i, (int16_t)(30000 + i), pe);
        aclshmem_int16_atomic_add(s + i, 30000, pe);
        aclshmem_half_atomic_add(h + i, 0x6800, pe);                       /* 2048 */
        aclshmem_half_atomic_add(h + i, (uint16_t)(0x3c00 + 512 * i), pe); /* 1, 1.5, 2, 3 */
        aclshmem_bfloat16_atomic_add(f + i, 0x4380, pe);                   /* 256 */
        aclshmem_bfloat16_atomic_add(f + i, (uint16_t)(0x3f80 + 64 * i), pe);
    }
    aclshmemx_mte_int8_atomic_add(b + 4, 1, pe);
    aclshmemx_mte_atomic_add(b + 5, 2, pe);
    aclshmemx_mte_int16_atomic_add(s + 3, 1, pe);
    aclshmemx_mte_atomic_add(s + 3, 1, pe);
    aclshmemx_mte_half_atomic_add(f + 4, 0x3c00, pe);
    aclshmemx_mte_bfloat16_atomic_add(f + 5, 0x3f80, pe);
    aclshmem_quiet();
}

/* Everybody at once, on the words of one PE. */
ACLSHMEM_KERNEL(storm, __gm__ storm_t *, all, int, pe, int, rounds)
{
    uint32_t me = (uint32_t)aclshmem_my_pe() * 64 + aicore_block_index();
    for (int i = 0; i < rounds; i++) {
        aclshmem_int32_atomic_add(&all->i32, 3, pe);
        aclshmem_uint32_atomic_inc(&all->u32, pe);
        aclshmem_int64_atomic_fetch_add(&all->i64, -5, pe);
        aclshmem_uint64_atomic_xor(&all->u64, UINT64_C(1) << (me + (uint32_t)i) % 64, pe);
        aclshmem_float_atomic_add(&all->f32, 1, pe);
        aclshmem_int8_atomic_add(&all->i8[i % 4], 1, pe);
        aclshmem_int16_atomic_add(&all->i16[i % 2], -1, pe);
        if (i % 8 == 0) {
            aclshmem_half_atomic_add(&all->half[i / 8 % 2], 0x3c00, pe);
            aclshmem_bfloat16_atomic_add(&all->bfloat16, i == 0 ? 0x3f80 : 0, pe);
        }
        uint32_t seen = aclshmem_uint32_atomic_fetch(&all->cas, pe), found;
        while ((found = aclshmem_uint32_atomic_compare_swap(&all->cas, seen, seen + 7, pe)) != seen)
            seen = found;
    }
    aclshmem_uint32_atomic_or(&all->who, 1u << me % 32, pe);
    aclshmem_quiet();
}

ACLSHMEM_KERNEL(add_with, __gm__ char *, word, int, pe)
{
    aclshmem_int64_atomic_add((__gm__ int64_t *)(void *)word, 1, pe);
}

ACLSHMEM_KERNEL(mte_add_with, __gm__ char *, word, int, pe)
{
    aclshmemx_mte_int64_atomic_add((__gm__ int64_t *)(void *)word, 1, pe);
}
