/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The short names that kernels have besides those of host_device/shmem_short_names.h, and the two that mean another call to
 * them than to the host.
 */
#ifndef ACLSHMEM_DEVICE_SHORT_NAMES_H
#define ACLSHMEM_DEVICE_SHORT_NAMES_H

#include "host_device/shmem_short_names.h"

#undef shmem_putmem_signal
#undef shmem_putmem_signal_nbi
#define shmem_putmem_signal     aclshmem_putmem_signal
#define shmem_putmem_signal_nbi aclshmem_putmem_signal_nbi

/* Who am I, where is it */
#define shmem_team_pe_mapping aclshmem_team_pe_mapping
#define shmem_roce_ptr        aclshmem_roce_ptr

/* Order and meeting */
#define shmem_quiet             aclshmem_quiet
#define shmem_fence             aclshmem_fence
#define shmem_barrier           aclshmem_barrier
#define shmem_barrier_all       aclshmem_barrier_all
#define shmem_signal_wait_until aclshmem_signal_wait_until
#define shmemx_barrier_vec      aclshmemx_barrier_vec
#define shmemx_barrier_all_vec  aclshmemx_barrier_all_vec
#define shmemx_signal_op        aclshmemx_signal_op
#define shmemx_set_ffts_config  util_set_ffts_config

/* Types that only kernels have */
#define shmem_half_p                      aclshmem_half_p
#define shmem_half_g                      aclshmem_half_g
#define shmem_put_half_mem                aclshmem_half_put
#define shmem_put_half_mem_nbi            aclshmem_half_put_nbi
#define shmem_get_half_mem                aclshmem_half_get
#define shmem_get_half_mem_nbi            aclshmem_half_get_nbi
#define shmem_put_half_mem_signal         aclshmem_half_put_signal
#define shmem_put_half_mem_signal_nbi     aclshmem_half_put_signal_nbi
#define shmem_bfloat16_p                  aclshmem_bfloat16_p
#define shmem_bfloat16_g                  aclshmem_bfloat16_g
#define shmem_put_bfloat16_mem            aclshmem_bfloat16_put
#define shmem_put_bfloat16_mem_nbi        aclshmem_bfloat16_put_nbi
#define shmem_get_bfloat16_mem            aclshmem_bfloat16_get
#define shmem_get_bfloat16_mem_nbi        aclshmem_bfloat16_get_nbi
#define shmem_put_bfloat16_mem_signal     aclshmem_bfloat16_put_signal
#define shmem_put_bfloat16_mem_signal_nbi aclshmem_bfloat16_put_signal_nbi

/* Atomics */
#define shmem_int8_atomic_add     aclshmem_int8_atomic_add
#define shmem_int16_atomic_add    aclshmem_int16_atomic_add
#define shmem_int32_atomic_add    aclshmem_int32_atomic_add
#define shmem_half_atomic_add     aclshmem_half_atomic_add
#define shmem_bfloat16_atomic_add aclshmem_bfloat16_atomic_add
#define shmem_float_atomic_add    aclshmem_float_atomic_add

/* Engines by name */
#define shmem_mte_get_mem_nbi  aclshmemx_mte_get_nbi
#define shmem_mte_put_mem_nbi  aclshmemx_mte_put_nbi
#define shmem_roce_get_mem_nbi aclshmemx_roce_get_nbi
#define shmem_roce_put_mem_nbi aclshmemx_roce_put_nbi
#define aclshmemx_roce_sync    aclshmemx_roce_team_sync

#endif
