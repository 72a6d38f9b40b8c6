/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that call every function of the engine headers by name. */
#include "engines.h"
#include "kernel.h"

static int next_pe(void)
{
    return (aclshmem_my_pe() + 1) % aclshmem_n_pes();
}

#define BUF   ACLSHMEM_UB(uint8_t, 1024)
#define SMALL 100
#define WHERE (17) /* bytes off any alignment */

/* --- Moves: SDMA, ROCE, UDMA; the source is this PE's, the target the next one's, and it comes back --- */

static void sdma_moves(__gm__ engines_t *e, int pe)
{
    aclshmemx_sdma_put_nbi(e->target + WHERE, e->source + 3, BUF, 64, ENGINES_BYTES, pe, 0);
    aclshmemx_sdma_put_nbi(e->target, e->source, BUF, 64, 0, pe, 0); /* nothing */
    aclshmemx_sdma_quiet(BUF, 64, 0);
    aclshmemx_sdma_get_nbi(e->back + 1, e->target + WHERE, BUF, 64, ENGINES_BYTES, pe, 7);
    aclshmemx_sdma_quiet(BUF, 64, 7);
    aclshmemx_cmo_nbi(e->back, SMALL, ACLSHMEM_CMO_TYPE_PREFETCH, BUF, 64, 0);
    aclshmemx_cmo_nbi(e->back, ENGINES_BYTES, ACLSHMEM_CMO_TYPE_PREFETCH, BUF, 64, 0);
    aclshmemx_cmo_nbi(e->back, SMALL, ACLSHMEM_CMO_TYPE_FLUSH, BUF, 64, 0);
    /* Without quiet in between the queue keeps the order. */
    aclshmemx_sdma_put_nbi(e->of_core[0], (__gm__ uint64_t *)e->word, BUF, 64, 1, pe, 0);
    aclshmemx_sdma_putmem_nbi(e->of_core[1], e->of_core[0], BUF, 64, 8, 1, aclshmem_my_pe(), 0);
    aclshmem_quiet();
}

static void roce_moves(__gm__ engines_t *e, int pe)
{
    aclshmemx_roce_put_nbi(e->target + WHERE, e->source + 3, BUF, ENGINES_BYTES, pe);
    aclshmemx_roce_put_nbi(e->target, e->source, BUF, 0, pe, 1);
    aclshmemx_roce_get_nbi(e->back + 1, e->target + WHERE, BUF, SMALL, pe); /* behind the put */
    aclshmemx_roce_quiet((uint32_t)pe, BUF, 0);
    for (int i = 0; i < SMALL; i++)
        EXPECT_INT(e->back[1 + i], e->source[3 + i]);
    aclshmemx_roce_get_nbi(e->back + 1, e->target + WHERE, BUF, ENGINES_BYTES, pe, 3);
    aclshmem_quiet();
}

static void udma_moves(__gm__ engines_t *e, int pe)
{
    aclshmemx_udma_put_nbi(e->target + WHERE, e->source + 3, BUF, ENGINES_BYTES / 2, pe);
    aclshmemx_udma_put_nbi_s(e->target + WHERE + ENGINES_BYTES / 2, e->source + 3 + ENGINES_BYTES / 2, BUF,
                             ENGINES_BYTES - ENGINES_BYTES / 2, pe, 2);
    aclshmemx_udma_put_nbi(e->target, e->source, BUF, 0, pe, 5);
    aclshmemx_udma_quiet(pe);
    aclshmemx_udma_get_nbi(e->back + 1, e->target + WHERE, BUF, ENGINES_BYTES / 2, pe, 1);
    aclshmemx_udma_get_nbi_s(e->back + 1 + ENGINES_BYTES / 2, e->target + WHERE + ENGINES_BYTES / 2, BUF,
                             ENGINES_BYTES - ENGINES_BYTES / 2, pe);
    aclshmemx_udma_quiet(pe);
}

ACLSHMEM_KERNEL(engines_move, __gm__ engines_t *, e, int, engine)
{
    int pe = next_pe();
    if (engine == ENGINES_SDMA)
        sdma_moves(e, pe);
    else if (engine == ENGINES_ROCE)
        roce_moves(e, pe);
    else
        udma_moves(e, pe);
    for (int i = 0; i < ENGINES_BYTES; i++)
        if (e->back[1 + i] != e->source[3 + i])
            aicore_trap("byte %d came back as %u", i, e->back[1 + i]);
}

/* --- What only UDMA has --- */

ACLSHMEM_KERNEL(engines_udma_only, __gm__ engines_t *, e)
{
    int me = aclshmem_my_pe(), n = aclshmem_n_pes(), pe = next_pe();
    aclshmemx_udma_put_signal_nbi(e->target, e->source, 1000, &e->signal, 1, pe);
    aclshmemx_udma_put_signal_nbi(e->target + 1000, e->source + 1000, 1000, &e->signal, 2, pe, BUF);
    aclshmemx_udma_put_signal_nbi(e->target + 2000, e->source + 2000, 1000, &e->signal, 3, pe, BUF, 4);
    aclshmemx_udma_put_signal_nbi_s(e->target + 3000, e->source + 3000, 1000, &e->signal, UINT64_C(4) << 40,
                                    pe);
    aclshmem_uint64_wait_until(&e->signal, ACLSHMEM_CMP_EQ, UINT64_C(4) << 40);
    for (int i = 0; i < 4000; i++)
        EXPECT_INT(e->target[i], engines_pattern((me + n - 1) % n, i));
    __gm__ uint64_t *other = (__gm__ uint64_t *)&e->word[7];
    aclshmemx_udma_put_signal_nbi(e->target, e->source, 0, other, 9, pe); /* the signal alone */
    aclshmem_uint64_wait_until(other, ACLSHMEM_CMP_EQ, 9);
    aclshmem_quiet();
    if (n < 3)
        return;
    int relay = (me + 2) % n;
    aclshmemx_udma_relay_put_nbi(&e->word[1], &e->word[0], BUF, 1, pe, relay);
    aclshmemx_udma_relay_put_nbi(&e->word[2], &e->word[0], BUF, 1, pe, relay, 1);
    aclshmemx_udma_relay_put_nbi_s(&e->word[3], &e->word[0], BUF, 1, pe, relay);
    aclshmemx_udma_relay_put_nbi(&e->word[4], &e->word[0], BUF, 1, pe, pe); /* these five have no effect */
    aclshmemx_udma_relay_put_nbi(&e->word[4], &e->word[0], BUF, 1, me, relay);
    aclshmemx_udma_relay_put_nbi(&e->word[4], &e->word[0], BUF, 1, pe, me);
    aclshmemx_udma_relay_put_nbi(&e->word[4], &e->word[0], BUF, 1, n, relay);
    aclshmemx_udma_relay_put_nbi(&e->word[4], &e->word[0], BUF, 1, pe, -1);
    aclshmemx_udma_relay_get_nbi(&e->word[5], &e->word[0], BUF, 1, pe, relay);
    aclshmemx_udma_relay_get_nbi_s(&e->word[6], &e->word[0], BUF, 1, pe, relay, 1);
    aclshmemx_udma_quiet(pe);
    EXPECT_INT(e->word[5], 100 + pe);
    EXPECT_INT(e->word[6], 100 + pe);
}

/* --- Atomics by name --- */

#define DEFINE_ROCE_ATOMICS(TYPE)                                                                            \
    static void roce_##TYPE(__gm__ TYPE *word, int pe)                                                       \
    {                                                                                                        \
        aclshmemx_roce_atomic_set(word, 5, pe);                                                              \
        EXPECT_INT(aclshmemx_roce_atomic_fetch(word, pe), 5);                                                \
        EXPECT_INT(aclshmemx_roce_atomic_swap(word, 9, pe), 5);                                              \
        EXPECT_INT(aclshmemx_roce_atomic_compare_swap(word, 8, 1, pe), 9);                                   \
        EXPECT_INT(aclshmemx_roce_atomic_compare_swap(word, 9, 1, pe), 9);                                   \
        aclshmemx_roce_atomic_add(word, 10, pe);                                                             \
        EXPECT_INT(aclshmemx_roce_atomic_fetch_add(word, 20, pe), 11);                                       \
        aclshmemx_roce_atomic_inc(word, pe);                                                                 \
        EXPECT_INT(aclshmemx_roce_atomic_fetch_inc(word, pe), 32);                                           \
        aclshmemx_roce_atomic_and(word, 0x3c, pe);                                                           \
        EXPECT_INT(aclshmemx_roce_atomic_fetch_and(word, 0x28, pe), 0x20);                                   \
        aclshmemx_roce_atomic_or(word, 0x41, pe);                                                            \
        EXPECT_INT(aclshmemx_roce_atomic_fetch_or(word, 0x12, pe), 0x61);                                    \
        aclshmemx_roce_atomic_xor(word, 0xff, pe);                                                           \
        EXPECT_INT(aclshmemx_roce_atomic_fetch_xor(word, 0x0f, pe), 0x8c);                                   \
        EXPECT_INT(aclshmemx_roce_atomic_fetch(word, pe), 0x83);                                             \
    }
#define DEFINE_UDMA_ATOMICS(TYPE)                                                                            \
    static void udma_##TYPE(__gm__ TYPE *word, int pe)                                                       \
    {                                                                                                        \
        aclshmemx_udma_atomic_set(word, 5, pe);                                                              \
        EXPECT_INT(aclshmemx_udma_atomic_fetch(word, pe), 5);                                                \
        EXPECT_INT(aclshmemx_udma_atomic_swap(word, 9, pe), 5);                                              \
        EXPECT_INT(aclshmemx_udma_atomic_compare_swap(word, 8, 1, pe), 9);                                   \
        EXPECT_INT(aclshmemx_udma_atomic_compare_swap(word, 9, 1, pe), 9);                                   \
        aclshmemx_udma_atomic_add(word, 10, pe);                                                             \
        EXPECT_INT(aclshmemx_udma_atomic_fetch_add(word, 20, pe), 11);                                       \
        aclshmemx_udma_atomic_inc(word, pe);                                                                 \
        EXPECT_INT(aclshmemx_udma_atomic_fetch_inc(word, pe), 32);                                           \
        aclshmemx_udma_atomic_and(word, 0x3c, pe);                                                           \
        EXPECT_INT(aclshmemx_udma_atomic_fetch_and(word, 0x28, pe), 0x20);                                   \
        aclshmemx_udma_atomic_or(word, 0x41, pe);                                                            \
        EXPECT_INT(aclshmemx_udma_atomic_fetch_or(word, 0x12, pe), 0x61);                                    \
        aclshmemx_udma_atomic_xor(word, 0xff, pe);                                                           \
        EXPECT_INT(aclshmemx_udma_atomic_fetch_xor(word, 0x0f, pe), 0x8c);                                   \
        EXPECT_INT(aclshmemx_udma_atomic_fetch(word, pe), 0x83);                                             \
    }
DEFINE_ROCE_ATOMICS(int32_t)
DEFINE_ROCE_ATOMICS(int64_t)
DEFINE_ROCE_ATOMICS(uint32_t)
DEFINE_ROCE_ATOMICS(uint64_t)
DEFINE_UDMA_ATOMICS(int32_t)
DEFINE_UDMA_ATOMICS(int64_t)
DEFINE_UDMA_ATOMICS(uint32_t)
DEFINE_UDMA_ATOMICS(uint64_t)

ACLSHMEM_KERNEL(engines_atomics, __gm__ engines_t *, e, int, engine)
{
    int pe = next_pe();
    if (engine == ENGINES_ROCE) {
        roce_int32_t((__gm__ int32_t *)&e->word[0], pe);
        roce_int64_t((__gm__ int64_t *)&e->word[1], pe);
        roce_uint32_t((__gm__ uint32_t *)&e->word[2], pe);
        roce_uint64_t((__gm__ uint64_t *)&e->word[3], pe);
        aclshmemx_roce_quiet((uint32_t)pe, BUF, 0);
        return;
    }
    udma_int32_t((__gm__ int32_t *)&e->word[0], pe);
    udma_int64_t((__gm__ int64_t *)&e->word[1], pe);
    udma_uint32_t((__gm__ uint32_t *)&e->word[2], pe);
    udma_uint64_t((__gm__ uint64_t *)&e->word[3], pe);
    __gm__ float *number = (__gm__ float *)&e->word[4];
    aclshmemx_udma_atomic_set((__gm__ uint32_t *)number, 0, pe);
    aclshmemx_udma_atomic_add(number, 1.25f, pe);
    aclshmemx_udma_float_atomic_add(number, 0.5f, pe);
    EXPECT_INT(aclshmemx_udma_atomic_fetch((__gm__ uint32_t *)number, pe), 0x3fe00000);
    aclshmemx_udma_quiet(pe);
}

/* --- All cores to one queue: they overrun it many times, and nothing is lost --- */

static void post(__gm__ engines_t *e, int engine, uint64_t round, int pe)
{
    uint32_t core = aicore_block_index();
    __gm__ uint64_t *mine = &e->rounds[round], *there = &e->of_core[core][0];
    if (engine == ENGINES_SDMA)
        aclshmemx_sdma_put_nbi(there, mine, BUF, 64, 1, pe, 0);
    else if (engine == ENGINES_ROCE)
        aclshmemx_roce_put_nbi(there, mine, BUF, 1, pe);
    else
        aclshmemx_udma_put_nbi(there, mine, BUF, 1, pe);
    if (engine == ENGINES_ROCE)
        aclshmemx_roce_atomic_inc(&e->count, 0);
    else if (engine == ENGINES_UDMA)
        aclshmemx_udma_atomic_inc(&e->count, 0);
    else
        aclshmemx_mte_atomic_inc(&e->count, 0);
}

ACLSHMEM_KERNEL(engines_crowd, __gm__ engines_t *, e, int, engine)
{
    int pe = next_pe();
    for (uint64_t round = 1; round <= ENGINES_POSTS; round++) {
        post(e, engine, round, pe);
        if (round % 25 == 0) /* what was put is there after quiet */
            aclshmem_quiet();
    }
    aclshmem_quiet();
}

/* --- Notifies: the copies before it are seen by who waits for it --- */

ACLSHMEM_KERNEL(engines_notify, __gm__ engines_t *, e)
{
    uint32_t core = aicore_block_index();
    e->of_core[core][1] = 77 + core;
    aclshmemx_sdma_put_nbi(&e->of_core[core][0], &e->of_core[core][1], BUF, 64, 1, aclshmem_my_pe(), 0);
    aclshmemx_sdma_notify_record(BUF, 64, 0);
}

/* --- Meetings over ROCE --- */

ACLSHMEM_KERNEL(engines_meet, __gm__ engines_t *, e, aclshmem_team_t, team, int, rounds)
{
    int n = aclshmem_n_pes(), me = aclshmem_my_pe();
    __gm__ aclshmemx_team_t *none = NULL;
    EXPECT_INT(aclshmemx_roce_team_sync(none), -1);
    EXPECT_INT(aclshmemx_roce_team_sync(none, BUF, 0), -1);
    EXPECT_INT(aclshmemx_roce_barrier(none), -1);
    EXPECT_INT(aclshmemx_roce_barrier(none, BUF, 0), -1);
    EXPECT_INT(aclshmemx_roce_sync_team(ACLSHMEM_MAX_TEAMS), -1);
    EXPECT_INT(aclshmemx_roce_barrier_team(-5), -1);
    for (int round = 1; round <= rounds; round++) {
        uint64_t value = (uint64_t)round;
        e->of_core[1][0] = value;
        for (int pe = 0; pe < n; pe++)
            aclshmemx_roce_put_nbi(&e->of_core[2 + me % 46][0], &e->of_core[1][0], BUF, 1, pe);
        switch (round % 3) {
        case 0:
            aclshmemx_roce_barrier_all();
            break;
        case 1:
            aclshmemx_roce_barrier_all(BUF, 0);
            break;
        default:
            EXPECT_INT(aclshmemx_roce_barrier_team(ACLSHMEM_TEAM_WORLD), 0);
        }
        for (int pe = 0; pe < n; pe++)
            EXPECT_INT(e->of_core[2 + pe % 46][0], value);
        aclshmemx_roce_sync_all();
        aclshmemx_roce_sync_all(BUF, 1);
    }
    if (team < 0)
        return;
    int members = aclshmem_team_n_pes(team), last = aclshmem_team_pe_mapping(team, members - 1);
    for (int round = 1; round <= rounds; round++) {
        aclshmemx_roce_atomic_inc(&e->count, last);
        EXPECT_INT(aclshmemx_roce_barrier_team(team), 0);
        EXPECT_INT(aclshmemx_roce_atomic_fetch(&e->count, last), round * members);
        EXPECT_INT(aclshmemx_roce_sync_team(team), 0);
    }
    /* The record of the team, for those that take it. */
    __gm__ aclshmemx_team_t *record =
        (__gm__ aclshmemx_team_t *)(uintptr_t)aclshmemi_team_record(aclshmemi_state("test"), team);
    EXPECT_INT(aclshmemx_roce_team_sync(record), 0);
    EXPECT_INT(aclshmemx_roce_sync(record, BUF, 2), 0);
    aclshmemx_roce_atomic_inc(&e->count, last);
    EXPECT_INT(aclshmemx_roce_barrier(record), 0);
    EXPECT_INT(aclshmemx_roce_atomic_fetch(&e->count, last), (rounds + 1) * members);
    EXPECT_INT(aclshmemx_roce_barrier(record, BUF, 2), 0);
}

/* --- What is refused --- */

ACLSHMEM_KERNEL(engines_wrong, __gm__ engines_t *, e, int, what)
{
    int n = aclshmem_n_pes();
    uint64_t outside = 0;
    switch (what) {
    case 0:
        aclshmemx_sdma_put_nbi(&e->count, &e->signal, BUF, 32, 1, 0, 0);
        break;
    case 1:
        aclshmemx_roce_put_nbi(&e->count, &e->signal, BUF, 1, n);
        break;
    case 2:
        aclshmemx_udma_put_nbi(&outside, &e->signal, BUF, 1, 0);
        break;
    case 3:
        aclshmemx_roce_get_nbi(&e->count, &e->signal, BUF, 1, 0, 8);
        break;
    case 4:
        aclshmemx_udma_put_signal_nbi(&e->count, &e->signal, 1,
                                      (__gm__ uint64_t *)((__gm__ char *)&e->signal + 4), 1, 0);
        break;
    case 5:
        aclshmemx_roce_put_nbi(&e->count, &e->signal, ACLSHMEM_UB(uint8_t, 192 * 1024 - 64), 1, 0);
        break;
    case 6: /* nothing lies there, which the DMA engine finds out */
        aclshmemx_sdma_put_nbi((__gm__ char *)e, (__gm__ char *)(uintptr_t)64, BUF, 64, 4096, 0, 0);
        aclshmemx_sdma_quiet(BUF, 64, 0);
        break;
    default:
        aclshmemx_sdma_get_nbi(&e->count, &e->signal, BUF, 64, 1, -1, 0);
    }
    aclshmem_quiet();
}
