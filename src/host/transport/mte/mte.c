/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Load-store peers: everything whose memory is mapped here. Mapping is the work of hybm; this transport only says which
 * PEs that covers, and copies by the device runtime where the host cannot touch device memory itself (a card).
 */
#define LOG_MODULE "mte"
#include "host/transport/transport.h"

#include "host_device/amo_apply.h"

static int mte_import(aclshmemi_transport_t *t, int pe, const void *blob, size_t bytes, bool *reached)
{
    (void)blob;
    (void)bytes;
    *reached = t->site->device_base[pe] != NULL;
    return 0;
}

/* On a card an atomic operation on device memory needs a kernel; a store of one word is a copy. */
static int mte_amo(aclshmemi_transport_t *t, aclshmemi_remote_t to, const aclshmemi_amo_request_t *request,
                   uint64_t *old)
{
    if (npu_host_can_touch() || to.place == ACLSHMEMI_NPU_ON_HOST || request->op != ACLSHMEMI_AMO_STORE ||
        request->wanted)
        return aclshmemi_transport_mapped_amo(t, to, request, old);
    return npu_copy(aclshmemi_transport_mapped_address(t, to), &request->value,
                    aclshmemi_amo_width(request->type), ACLSHMEMI_NPU_HOST_TO_DEVICE);
}

const aclshmemi_transport_ops_t aclshmemi_transport_mte = {
    .name = "mte",
    .bit = ACLSHMEM_TRANSPORT_MTE,
    .import_blob = mte_import,
    .put = aclshmemi_transport_mapped_put,
    .get = aclshmemi_transport_mapped_get,
    .amo = mte_amo,
};
