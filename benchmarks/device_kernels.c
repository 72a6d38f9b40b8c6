/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels whose time device_ops takes. */
#include "device_ops.h"
#include "shmem.h"

ACLSHMEM_KERNEL(bench_empty, device_ops_t, a)
{
    (void)a;
}

ACLSHMEM_KERNEL(bench_put, device_ops_t, a)
{
    const uint64_t start = aicore_cycles();
    for (int32_t i = 0; i < a.repeats; i++) {
        aclshmem_putmem_nbi(a.to, a.from, a.bytes, a.pe);
        aclshmem_quiet();
    }
    *a.cycles = aicore_cycles() - start;
}

ACLSHMEM_KERNEL(bench_barrier, device_ops_t, a)
{
    aclshmem_barrier_all();
    const uint64_t start = aicore_cycles();
    for (int32_t i = 0; i < a.repeats; i++)
        aclshmem_barrier_all();
    if (aicore_block_index() == 0)
        *a.cycles = aicore_cycles() - start;
}
