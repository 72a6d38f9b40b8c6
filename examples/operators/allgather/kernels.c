/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two ways to give everybody a copy of everybody's block.
 *
 * Small blocks: a core takes some of the PEs and puts the whole block to each, with a signal behind it; latency is one put.
 * Large blocks: every block goes in slices, so that all cores work on it at once, each on its own part of the way to the
 * same PE; the PEs start with different neighbours, so that not all of them write to one.
 */
#include "allgather.h"
#include "device/gm2gm/shmem_device_p2p_sync.h"
#include "device/gm2gm/shmem_device_rma.h"
#include "device/gm2gm/shmem_device_so.h"
#include "device/team/shmem_device_team.h"

ACLSHMEM_KERNEL(allgather_small, allgather_args_t, a)
{
    const int me = aclshmem_my_pe(), n = aclshmem_n_pes();
    const int core = (int)aicore_block_index(), cores = (int)aicore_block_count();
    char *mine = (char *)a.result + (uint64_t)me * a.bytes;

    for (int i = core; i < n; i += cores) {
        const int pe = (me + i) % n;
        aclshmem_putmem_signal_nbi(mine, a.source, a.bytes, &a.flags[me * ALLGATHER_LINE], a.round,
                                   ACLSHMEM_SIGNAL_SET, pe);
    }
    for (int pe = core; pe < n; pe += cores)
        aclshmem_signal_wait_until(&a.flags[pe * ALLGATHER_LINE], ACLSHMEM_CMP_GE, a.round);
}

/* Slice number `slice` of a block: whole lines, the last one takes the rest. */
static uint64_t slice_start(const allgather_args_t *a, int slice)
{
    return slice >= a->slices ? a->bytes : a->bytes / (uint64_t)a->slices / 64 * 64 * (uint64_t)slice;
}

ACLSHMEM_KERNEL(allgather_large, allgather_args_t, a)
{
    const int me = aclshmem_my_pe(), n = aclshmem_n_pes();
    const int core = (int)aicore_block_index(), cores = (int)aicore_block_count();
    int32_t *flags = a.flags + n * ALLGATHER_LINE;

    for (int i = 0; i < n; i++) {
        const int pe = (me + i) % n;
        for (int slice = core; slice < a.slices; slice += cores) {
            const uint64_t start = slice_start(&a, slice), end = slice_start(&a, slice + 1);
            aclshmem_putmem_signal_nbi(
                (char *)a.result + (uint64_t)me * a.bytes + start, (char *)a.source + start, end - start,
                &flags[(me * a.slices + slice) * ALLGATHER_LINE], a.round, ACLSHMEM_SIGNAL_SET, pe);
        }
    }
    for (int pe = 0; pe < n; pe++)
        for (int slice = core; slice < a.slices; slice += cores)
            aclshmem_signal_wait_until(&flags[(pe * a.slices + slice) * ALLGATHER_LINE], ACLSHMEM_CMP_GE,
                                       a.round);
}
