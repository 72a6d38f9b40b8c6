/* SPDX-License-Identifier: Apache-2.0 */
/* Scratch of the engines in the unified buffer: what kernels that start later use, and the word for their barriers. */
#define LOG_MODULE "rma"
#include <inttypes.h>

#include "host/data_plane/shmem_host_rma.h"
#include "host/bridge/bridge.h"

enum { LEAST_MTE = 1, LEAST_SDMA = 64, LEAST_RDMA = 128, LEAST_UDMA = 128 }; /* bytes */

static int check(const aclshmemi_instance_t *in, const char *call, uint64_t offset, uint32_t ub_size,
                 uint32_t least)
{
    if (in->n_pes == 0)
        return aclshmemi_instance_missing(call);
    if (ub_size < least)
        return fail(ACLSHMEM_INVALID_VALUE, "%s: %u bytes of scratch, at least %u are needed", call, ub_size,
                    least);
    if (offset > (uint64_t)INT64_MAX - ub_size)
        return fail(ACLSHMEM_INVALID_VALUE, "%s: offset %" PRIu64 " is in no unified buffer", call, offset);
    return 0;
}

#define DEFINE_CONFIG(engine, LEAST)                                                                         \
    int aclshmemx_set_##engine##_config(uint64_t offset, uint32_t ub_size, uint32_t sync_id)                 \
    {                                                                                                        \
        aclshmemi_instance_t *in = aclshmemi_current();                                                      \
        TRY(check(in, "set_" #engine "_config", offset, ub_size, LEAST));                                    \
        in->state->seen.engine##_config = (aclshmem_ub_config_t){(int64_t)offset, ub_size, sync_id};         \
        return aclshmemi_bridge_update(in);                                                                  \
    }                                                                                                        \
    struct aclshmemi_needs_a_semicolon

DEFINE_CONFIG(mte, LEAST_MTE);
DEFINE_CONFIG(sdma, LEAST_SDMA);
DEFINE_CONFIG(rdma, LEAST_RDMA);
DEFINE_CONFIG(udma, LEAST_UDMA);

uint64_t util_get_ffts_config(void)
{
    return aclshmemi_current()->n_pes == 0 ? 0 : npu_sync_config();
}
