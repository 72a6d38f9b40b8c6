/* SPDX-License-Identifier: Apache-2.0 */
/* One kernel that says everything with the short names of the interface. */
#include "kernel.h"

ACLSHMEM_KERNEL(short_names, __gm__ int32_t *, words, __gm__ char *, small)
{
    int n = shmem_n_pes(), me = shmem_my_pe(), next = (me + 1) % n, previous = (me + n - 1) % n;
    __gm__ half *halves = (__gm__ half *)(void *)small;
    __gm__ bfloat16_t *bfloats = (__gm__ bfloat16_t *)(void *)(small + 512);
    shmemx_set_ffts_config(0);
    EXPECT(shmem_team_my_pe(ACLSHMEM_TEAM_WORLD) == me && shmem_team_n_pes(ACLSHMEM_TEAM_WORLD) == n);
    EXPECT(shmem_team_pe_mapping(ACLSHMEM_TEAM_WORLD, me) == me && shmem_ptr(words, me) != NULL);
    EXPECT(shmem_roce_ptr(words, -1) == NULL);
    shmem_int32_p(words, 40 + me, next);
    shmem_half_p(halves, 7, next);
    shmem_bfloat16_p(bfloats, 8, next);
    shmem_fence();
    shmemx_signal_op(words + 16, 1, ACLSHMEM_SIGNAL_ADD, next);
    EXPECT_INT(shmem_signal_wait_until(words + 16, ACLSHMEM_CMP_EQ, 1), 1);
    EXPECT_INT(shmem_int32_g(words, me), 40 + previous);
    EXPECT(shmem_half_g(halves, me) == 7 && shmem_bfloat16_g(bfloats, me) == 8);
    shmem_barrier(ACLSHMEM_TEAM_WORLD);
    shmem_put_half_mem(halves + 1, halves, 1, next);
    shmem_put_bfloat16_mem_nbi(bfloats + 1, bfloats, 1, next);
    shmem_quiet();
    shmem_putmem_signal(words + 1, words, 4, words + 16, 2, ACLSHMEM_SIGNAL_SET, next);
    shmem_signal_wait_until(words + 16, ACLSHMEM_CMP_EQ, 2);
    EXPECT(words[1] == 40 + (me + 2 * n - 2) % n && halves[1] == 7 && bfloats[1] == 8);
    shmem_barrier_all();
    shmem_get_half_mem(halves + 2, halves, 1, next);
    shmem_get_bfloat16_mem(bfloats + 2, bfloats, 1, next);
    shmem_put_half_mem_signal(halves + 3, halves + 2, 1, words + 16, 3, ACLSHMEM_SIGNAL_SET, next);
    shmem_signal_wait_until(words + 16, ACLSHMEM_CMP_EQ, 3);
    shmem_put_bfloat16_mem_signal_nbi(bfloats + 3, bfloats + 2, 1, words + 32, 4, ACLSHMEM_SIGNAL_SET, next);
    shmem_putmem_signal_nbi(words + 2, words, 4, words + 48, 5, ACLSHMEM_SIGNAL_SET, next);
    shmem_signal_wait_until(words + 48, ACLSHMEM_CMP_EQ, 5);
    shmem_signal_wait_until(words + 32, ACLSHMEM_CMP_EQ, 4);
    EXPECT(halves[3] == 7 && bfloats[3] == 8 && words[2] == words[1]);
    shmemx_barrier_vec(ACLSHMEM_TEAM_WORLD);
    shmem_int8_atomic_add((__gm__ int8_t *)small + 100, 1, next);
    shmem_int16_atomic_add((__gm__ int16_t *)(void *)(small + 102), 2, next);
    shmem_int32_atomic_add((__gm__ int32_t *)(void *)(small + 104), 3, next);
    shmem_float_atomic_add((__gm__ float *)(void *)(small + 108), 4, next);
    shmem_half_atomic_add((__gm__ half *)(void *)(small + 112), 0x3c00, next);
    shmem_bfloat16_atomic_add((__gm__ bfloat16_t *)(void *)(small + 114), 0x3f80, next);
    shmemx_barrier_all_vec();
    EXPECT(small[100] == 1 && small[102] == 2 && small[104] == 3 && small[113] == 0x3c && small[115] == 0x3f);
}
