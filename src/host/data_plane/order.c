/* SPDX-License-Identifier: Apache-2.0 */
/* Completion and order of what the host issued: quiet, of all and of one PE, and fence. */
#define LOG_MODULE "rma"
#include "host/data_plane/shmem_host_rma.h"
#include "host/data_plane/transfer.h"

/* Stores to mapped memory need an order only; the transports wait for what they still carry. The fence is a full one: who
 * looks at a peer's memory next must not see it as it was before the stores here were seen there. */
void aclshmem_quiet(void)
{
    aclshmemi_instance_t *in = aclshmemi_current();
    if (__builtin_expect(in->n_pes == 0, 0))
        (void)!aclshmemi_instance_missing("quiet");
    else if (aclshmemi_all_done(in))
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
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

/* Orders puts among themselves, and puts are stores. */
void aclshmem_fence(void)
{
    aclshmemi_instance_t *in = aclshmemi_current();
    if (__builtin_expect(in->n_pes == 0, 0))
        (void)!aclshmemi_instance_missing("fence");
    else if (aclshmemi_all_done(in))
        __atomic_thread_fence(__ATOMIC_RELEASE);
    else if (aclshmemi_stream_complete(in) == 0)
        (void)!aclshmemi_transport_fence(&in->transports);
}
