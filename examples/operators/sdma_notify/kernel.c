/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies by the device's DMA engine: every core hands its slice to its queue and records its notify behind it. The kernel
 * ends while the copies may still run.
 */
#include "shmem.h"

ACLSHMEM_KERNEL(sdma_notify, char *, to, char *, from, uint64_t, bytes, int32_t, pe)
{
    const uint64_t core = aicore_block_index(), slice = bytes / aicore_block_count();
    aclshmemx_sdma_put_nbi(to + core * slice, from + core * slice, ACLSHMEM_UB(void, 191 * 1024), 64, slice,
                           pe, 0);
    aclshmemx_sdma_notify_record(ACLSHMEM_UB(void, 191 * 1024), 64, 0);
}
