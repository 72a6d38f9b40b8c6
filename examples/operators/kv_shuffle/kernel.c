/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of a key-value cache change places between two PEs. Every core moves its slice of every block and talks to the
 * core with its number at the partner: "my slices may be written", data, "yours are written".
 */
#include "device/gm2gm/shmem_device_mo.h"
#include "device/gm2gm/shmem_device_p2p_sync.h"
#include "device/gm2gm/shmem_device_rma.h"
#include "kv_shuffle.h"

ACLSHMEM_KERNEL(kv_shuffle, kv_shuffle_params_t, a)
{
    const uint64_t core = aicore_block_index(), cores = aicore_block_count();
    const uint64_t slice = (a.block_bytes / cores + 63) / 64 * 64,
                   start = core * slice < a.block_bytes ? core * slice : a.block_bytes;
    const uint64_t bytes = start + slice <= a.block_bytes ? slice : a.block_bytes - start;
    int32_t *free_flag = &a.free_flags[core * KV_LINE], *done_flag = &a.done_flags[core * KV_LINE];

    aclshmemx_signal_op(free_flag, a.round, ACLSHMEM_SIGNAL_SET, a.partner);
    aclshmem_signal_wait_until(free_flag, ACLSHMEM_CMP_GE, a.round);
    for (int32_t i = 0; i < a.count; i++) {
        const uint64_t from = (uint64_t)a.from[i] * a.block_bytes + start,
                       to = (uint64_t)a.to[i] * a.block_bytes + start;
        aclshmem_putmem_nbi(a.key + to, a.key + from, bytes, a.partner);
        aclshmem_putmem_nbi(a.value + to, a.value + from, bytes, a.partner);
    }
    aclshmem_quiet(); /* the two caches are one message: one signal for all of it */
    aclshmemx_signal_op(done_flag, a.round, ACLSHMEM_SIGNAL_SET, a.partner);
    aclshmem_signal_wait_until(done_flag, ACLSHMEM_CMP_GE, a.round);
}
