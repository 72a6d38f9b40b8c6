/* SPDX-License-Identifier: Apache-2.0 */
/* One step of a ring: mix what the left neighbour sent last time into mine, and send that on. */
#include "device/gm2gm/shmem_device_cc.h"
#include "device/gm2gm/shmem_device_rma.h"
#include "device/team/shmem_device_team.h"

ACLSHMEM_KERNEL(ring_step, uint64_t *, mine, uint64_t *, inbox, int32_t, count)
{
    const int n = aclshmem_n_pes(), right = (aclshmem_my_pe() + 1) % n;
    const int32_t core = (int32_t)aicore_block_index(), cores = (int32_t)aicore_block_count();
    const int32_t share = (count + cores - 1) / cores, start = core * share;
    const int32_t mine_count = start >= count ? 0 : start + share <= count ? share : count - start;

    for (int32_t i = start; i < start + mine_count; i++)
        mine[i] = 5 * mine[i] + 2 * inbox[i];
    aclshmem_barrier_all(); /* every inbox has been read */
    if (mine_count > 0)
        aclshmem_uint64_put(inbox + start, mine + start, (size_t)mine_count, right);
    aclshmem_barrier_all(); /* every inbox is full again */
}
