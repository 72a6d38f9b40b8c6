/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives over all PEs. */
#define LOG_MODULE "sync"
#include "host/data_plane/shmem_host_cc.h"

#include "host/sync/sync.h"

void aclshmem_barrier_all(void)
{
    aclshmemi_instance_t *in = aclshmemi_current();
    if (in->n_pes == 0)
        (void)!aclshmemi_instance_missing("barrier_all");
    else if (aclshmemi_transport_quiet(&in->transports) == 0)
        (void)!aclshmemi_barrier_all(in, ACLSHMEMI_CALL_BARRIER);
}

void aclshmem_sync_all(void)
{
    aclshmemi_instance_t *in = aclshmemi_current();
    if (in->n_pes == 0)
        (void)!aclshmemi_instance_missing("sync_all");
    else
        (void)!aclshmemi_barrier_all(in, ACLSHMEMI_CALL_SYNC);
}
