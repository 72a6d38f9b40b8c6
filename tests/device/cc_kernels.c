/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that meet. Every core counts up in its own word before a barrier and looks at all words of all members behind it. */
#include "cc.h"

#include "kernel.h"

static void count(__gm__ cc_words_t *words, int32_t round)
{
    __atomic_store_n(&words->counts[aicore_block_index()], round, __ATOMIC_RELAXED);
}

/* Nobody is behind; who is ahead is so by one, since he has to wait for us in the next. */
static void all_have_counted(__gm__ cc_words_t *words, aclshmem_team_t team, int32_t round)
{
    for (int i = 0; i < aclshmem_team_n_pes(team); i++) {
        int pe = aclshmem_team_pe_mapping(team, i);
        __gm__ cc_words_t *theirs = (__gm__ cc_words_t *)aclshmem_ptr(words, pe);
        EXPECT(theirs != NULL);
        for (int core = 0; core < theirs->cores; core++) {
            int32_t seen = __atomic_load_n(&theirs->counts[core], __ATOMIC_RELAXED);
            EXPECT(seen == round || seen == round + 1);
        }
    }
}

static void meet(__gm__ cc_words_t *words, aclshmem_team_t team, int rounds, int kind)
{
    util_set_ffts_config(0);
    for (int32_t round = 1; round <= rounds; round++) {
        count(words, round);
        switch (kind) {
        case CC_BARRIER:
            aclshmem_barrier(team);
            break;
        case CC_SYNC:
            aclshmem_sync(team);
            break;
        case CC_BARRIER_VEC:
            aclshmemx_barrier_vec(team);
            break;
        case CC_BARRIER_ALL:
            aclshmem_barrier_all();
            break;
        case CC_SYNC_ALL:
            aclshmem_sync_all();
            break;
        default:
            aclshmemx_barrier_all_vec();
        }
        all_have_counted(words, team, round);
    }
}

ACLSHMEM_KERNEL(meet_cores, __gm__ cc_words_t *, words, aclshmem_team_t, team, int, rounds, int, kind)
{
    meet(words, team, rounds, kind);
}

ACLSHMEM_KERNEL_MIXED(meet_mixed, __gm__ cc_words_t *, words, aclshmem_team_t, team, int, rounds, int, kind)
{
    meet(words, team, rounds, kind);
}

/* Two teams in turn, and the world between them. */
ACLSHMEM_KERNEL(meet_in_turn, __gm__ cc_words_t *, words, aclshmem_team_t, one, aclshmem_team_t, other)
{
    for (int32_t round = 1; round <= 10; round++) {
        aclshmem_barrier(one);
        aclshmem_sync(other);
        count(words, round);
        aclshmem_barrier_all();
        all_have_counted(words, ACLSHMEM_TEAM_WORLD, round);
    }
}

/* The first `missing` cores of PE 0 do not come. */
ACLSHMEM_KERNEL(meet_some, int, missing)
{
    if (aclshmem_my_pe() != 0 || (int)aicore_block_index() >= missing)
        aclshmem_barrier_all();
}

/* Stays inside a barrier until the second core is let go, and says when the first one is inside. */
ACLSHMEM_KERNEL(meet_late, __gm__ int32_t *, gate)
{
    if (aicore_block_index() == 1) {
        const aclshmemi_state_t *state = aclshmemi_state("test");
        const uint32_t *arrived =
            &aclshmemi_kernel_words(state, aclshmemi_team_record(state, ACLSHMEM_TEAM_WORLD))->arrived;
        while (__atomic_load_n(arrived, __ATOMIC_ACQUIRE) == 0)
            aicore_poll(arrived, sizeof *arrived);
        __atomic_store_n(&gate[1], 1, __ATOMIC_RELEASE);
        aclshmem_signal_wait_until(&gate[0], ACLSHMEM_CMP_EQ, 1);
    }
    aclshmem_barrier_all();
}

ACLSHMEM_KERNEL(meet_team, aclshmem_team_t, team)
{
    aclshmem_barrier(team);
}

ACLSHMEM_KERNEL(wait_for_ever, __gm__ int32_t *, word, int, many)
{
    if (many != 0)
        (void)aclshmem_int32_wait_until_any(word, 3, NULL, ACLSHMEM_CMP_EQ, 77);
    else
        (void)aclshmem_signal_wait_until(word, ACLSHMEM_CMP_GE, 9);
}
