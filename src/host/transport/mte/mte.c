/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Load-store peers: everything whose memory is mapped here. Mapping is the work of hybm; this transport only says which
 * PEs that covers, and copies by the device runtime where the host cannot touch device memory itself (a card).
 */
#define LOG_MODULE "mte"
#include "host/transport/transport.h"

static int mte_import(aclshmemi_transport_t *t, int pe, const void *blob, size_t bytes, bool *reached)
{
    (void)blob;
    (void)bytes;
    *reached = t->site->device_base[pe] != NULL;
    return 0;
}

/* An atomic add to a card's memory needs a kernel; a store is a copy of one word. */
static int mte_amo32(aclshmemi_transport_t *t, aclshmemi_remote_t to, aclshmemi_amo_t op, int32_t value)
{
    if (op != ACLSHMEMI_AMO_SET)
        return fail(ACLSHMEM_NOT_SUPPORTED,
                    "an atomic add from the host to device memory of PE %d is not available on this runtime",
                    to.pe);
    return npu_copy(aclshmemi_transport_mapped_address(t, to), &value, sizeof value,
                    ACLSHMEMI_NPU_HOST_TO_DEVICE);
}

const aclshmemi_transport_ops_t aclshmemi_transport_mte = {
    .name = "mte",
    .bit = ACLSHMEM_TRANSPORT_MTE,
    .import_blob = mte_import,
    .put = aclshmemi_transport_mapped_put,
    .get = aclshmemi_transport_mapped_get,
    .amo32 = mte_amo32,
};
