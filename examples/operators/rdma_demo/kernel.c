/* SPDX-License-Identifier: Apache-2.0 */
/* ROCE by name: to everybody, complete, a count of arrivals, and back from everybody. One core posts it all. */
#include "shmem.h"

#define SCRATCH ACLSHMEM_UB(void, 190 * 1024)

ACLSHMEM_KERNEL(rdma_demo, char *, inbox, char *, mine, char *, back, uint64_t, bytes, int32_t *, arrived)
{
    const int me = aclshmem_my_pe(), n = aclshmem_n_pes();

    for (int pe = 0; pe < n; pe++) {
        aclshmemx_roce_put_nbi(inbox + (uint64_t)me * bytes, mine, SCRATCH, bytes, pe);
        aclshmemx_roce_int32_atomic_add(arrived, 1,
                                        pe); /* behind the data: requests to one PE keep their order */
    }
    for (int pe = 0; pe < n; pe++)
        aclshmemx_roce_quiet((uint32_t)pe, SCRATCH, 0);
    aclshmem_signal_wait_until(arrived, ACLSHMEM_CMP_GE, n);
    for (int pe = 0; pe < n; pe++)
        aclshmemx_roce_get_nbi(back + (uint64_t)pe * bytes, inbox + (uint64_t)me * bytes, SCRATCH, bytes, pe);
    for (int pe = 0; pe < n; pe++)
        aclshmemx_roce_quiet((uint32_t)pe, SCRATCH, 0);
    aclshmemx_roce_barrier_all();
}
