/* SPDX-License-Identifier: Apache-2.0 */
/* Completion and order of what the host issued: quiet, of all and of one PE, and fence. */
#define LOG_MODULE "rma"
#include "host/data_plane/shmem_host_rma.h"
#include "host/data_plane/transfer.h"

/* Stores to mapped memory need an order only; the transports wait for what they still carry. */
void aclshmem_quiet(void)
{
    aclshmemi_instance_t *in = aclshmemi_current();
    if (in->n_pes == 0)
        (void)!aclshmemi_instance_missing("quiet");
    else
        (void)!aclshmemi_quiet(in);
}

void aclshmemx_pe_quiet(int pe)
{
    aclshmemi_instance_t *in = aclshmemi_current();
    if (aclshmemi_check_pe(in, "pe_quiet", pe) != 0 || aclshmemi_stream_complete(in) != 0)
        return;
    aclshmemi_transport_t *transport = in->transports.by_pe[pe];
    if (transport != NULL)
        (void)!transport->ops.quiet(transport);
}

void aclshmem_fence(void)
{
    aclshmemi_instance_t *in = aclshmemi_current();
    if (in->n_pes == 0)
        (void)!aclshmemi_instance_missing("fence");
    else if (aclshmemi_stream_complete(in) == 0)
        (void)!aclshmemi_transport_fence(&in->transports);
}
