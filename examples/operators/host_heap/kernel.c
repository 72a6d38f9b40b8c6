/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device memory to the host memory of every PE (D2H at home, D2rH elsewhere), then from there back into device memory
 * (H2D, rH2D). A core serves some of the PEs; for a kernel host memory is one more address.
 */
#include "device/gm2gm/shmem_device_p2p_sync.h"
#include "device/gm2gm/shmem_device_rma.h"
#include "device/gm2gm/shmem_device_so.h"
#include "device/team/shmem_device_team.h"
#include "host_heap.h"

ACLSHMEM_KERNEL(host_heap, host_heap_params_t, a)
{
    const int me = aclshmem_my_pe(), n = aclshmem_n_pes();

    for (int pe = (int)aicore_block_index(); pe < n; pe += (int)aicore_block_count()) {
        aclshmem_putmem_signal(a.host + (uint64_t)me * a.bytes, a.device, a.bytes, &a.flags[me * 16], 1,
                               ACLSHMEM_SIGNAL_SET, pe);
        aclshmem_signal_wait_until(&a.flags[pe * 16], ACLSHMEM_CMP_GE, 1);
        /* What pe put into my host memory; and what I put into that of pe. */
        aclshmem_getmem(a.back + (uint64_t)(2 * pe) * a.bytes, a.host + (uint64_t)pe * a.bytes, a.bytes, me);
        aclshmem_getmem(a.back + (uint64_t)(2 * pe + 1) * a.bytes, a.host + (uint64_t)me * a.bytes, a.bytes,
                        pe);
    }
}
