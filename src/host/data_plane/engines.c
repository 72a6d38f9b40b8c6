/* SPDX-License-Identifier: Apache-2.0 */
/* Which engines operations take, changed while the job runs, and what an engine hands to host programs. */
#define LOG_MODULE "rma"
#include "host/bridge/bridge.h"
#include "host/data_plane/shmem_host_rma.h"
#include "host/sync/sync.h"

static int check_engines(const aclshmemi_instance_t *in, uint32_t engines)
{
    const uint32_t known = ((uint32_t)ACLSHMEM_DATA_OP_MAX << 1) - 1;
    if (in->n_pes == 0)
        return aclshmemi_instance_missing("set_engines");
    if (engines == 0 || (engines & ~known) != 0)
        return fail(ACLSHMEM_INVALID_VALUE,
                    "set_engines: 0x%x is no set of engines; MTE 1, SDMA 2, ROCE 4 and UDMA 8 are allowed",
                    engines);
    for (uint32_t bit = 1; bit <= engines; bit <<= 1)
        if ((engines & bit) != 0 &&
            aclshmemi_transport_find(&in->transports, aclshmemi_transport_bits(bit)) == NULL)
            return fail(ACLSHMEM_NOT_SUPPORTED,
                        "set_engines: engine 0x%x is not open; ask for it in data_op_engine_type at init or "
                        "in SHMEM_ENGINES",
                        bit);
    return 0;
}

int aclshmemx_set_engines(uint32_t engines)
{
    aclshmemi_instance_t *in = aclshmemi_current();
    TRY(check_engines(in, engines));
    TRY(aclshmemi_quiet(in));
    TRY(aclshmemi_transport_allow(&in->transports, engines));
    aclshmemi_instance_use_engines(in);
    return aclshmemi_bridge_update(in);
}

uint32_t aclshmemx_get_engines(void)
{
    const aclshmemi_instance_t *in = aclshmemi_current();
    uint32_t engines = 0;
    for (uint32_t bit = 1; in->n_pes != 0 && bit <= (uint32_t)ACLSHMEM_DATA_OP_MAX; bit <<= 1)
        if ((in->transports.allowed & aclshmemi_transport_bits(bit)) != 0 &&
            aclshmemi_transport_find(&in->transports, aclshmemi_transport_bits(bit)) != NULL)
            engines |= bit;
    return engines;
}

void *aclshmemx_sdma_notify(uint32_t core)
{
    const aclshmemi_instance_t *in = aclshmemi_current();
    if (in->n_pes == 0) {
        (void)!aclshmemi_instance_missing("sdma_notify");
        return NULL;
    }
    aclshmemi_transport_t *sdma = aclshmemi_transport_find(&in->transports, ACLSHMEM_TRANSPORT_SDMA);
    if (sdma == NULL)
        (void)!fail(ACLSHMEM_NOT_SUPPORTED,
                    "sdma_notify: engine SDMA is not open; ask for it in data_op_engine_type at init");
    return sdma == NULL ? NULL : sdma->ops.notify(sdma, core);
}
