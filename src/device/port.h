/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The AICore page: everything device code asks of the core it runs on. A new card answers this page; the answer below is
 * the CPU runtime's. Buffer addresses are numbers in bytes; what the calls mean stands in aicore/aicore_pipe.h.
 */
#ifndef ACLSHMEMI_DEVICE_PORT_H
#define ACLSHMEMI_DEVICE_PORT_H

#if defined(__CCE_AICORE__) && !defined(__CCE_KT_TEST__)
#error "this release has no device code for CANN's compiler: its port page waits for a card to be tried on"
#endif

#include "aicore/aicore.h"

/* Copies: memory to buffer on MTE2, buffer to memory on MTE3; by rows; past the buffer where the core allows it. */
#define aclshmemi_port_copy_in         aicore_copy_in
#define aclshmemi_port_copy_out        aicore_copy_out
#define aclshmemi_port_copy_in_rows    aicore_copy_in_rows
#define aclshmemi_port_copy_out_rows   aicore_copy_out_rows
#define aclshmemi_port_copies_directly aicore_copies_directly
#define aclshmemi_port_copy_through    aicore_copy_through
#define aclshmemi_port_atomic_mode     aicore_atomic_mode

/* Order between pipes. */
#define aclshmemi_port_flag_set  aicore_flag_set
#define aclshmemi_port_flag_wait aicore_flag_wait
#define aclshmemi_port_barrier   aicore_barrier

/* The scalar unit and its cache. */
#define aclshmemi_port_load        aicore_load
#define aclshmemi_port_store       aicore_store
#define aclshmemi_port_cache_line  aicore_cache_line
#define aclshmemi_port_cache_range aicore_cache_range
#define aclshmemi_port_cache_all   aicore_cache_all
#define aclshmemi_port_fence       aicore_fence

/* Who am I. */
#define aclshmemi_port_self      aicore_self
#define aclshmemi_port_block     aicore_block_index
#define aclshmemi_port_ub_bytes  aicore_ub_bytes
#define aclshmemi_port_local     aicore_local
#define aclshmemi_port_state     aicore_slot
#define aclshmemi_port_state_use aicore_slot_use
#define aclshmemi_port_cycles    aicore_cycles

/* Waiting, meeting, giving up. */
#define aclshmemi_port_wait_begin aicore_wait_begin
#define aclshmemi_port_wait_step  aicore_wait_step
#define aclshmemi_port_sync_all   aicore_sync_all
#define aclshmemi_port_ring       aicore_doorbell_ring
#define aclshmemi_port_doorbell   aicore_doorbell_store
#define aclshmemi_port_trap       aicore_trap

/* Vector cores of the launch, over all its blocks. */
static inline uint32_t aclshmemi_port_cores(void)
{
    return aicore_self()->block_count * aicore_self()->sub_count;
}

#endif
