/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A PE talking to itself: the template for new transports, and what a job of one PE runs on. It has nothing to publish
 * and reaches one PE; its memory is its own, so every operation is done when it returns.
 */
#define LOG_MODULE "transport"
#include "host/transport/transport.h"

static int self_import(aclshmemi_transport_t *t, int pe, const void *blob, size_t bytes, bool *reached)
{
    (void)blob;
    (void)bytes;
    *reached = pe == t->site->pe;
    return 0;
}

static int self_amo32(aclshmemi_transport_t *t, aclshmemi_remote_t to, aclshmemi_amo_t op, int32_t value)
{
    int32_t *word = (int32_t *)(void *)aclshmemi_transport_mapped_address(t, to);
    if (op == ACLSHMEMI_AMO_ADD) {
        int32_t old = 0;
        TRY(npu_copy(&old, word, sizeof old, ACLSHMEMI_NPU_DEVICE_TO_HOST));
        value = (int32_t)((uint32_t)old + (uint32_t)value);
    }
    return npu_copy(word, &value, sizeof value, ACLSHMEMI_NPU_HOST_TO_DEVICE);
}

const aclshmemi_transport_ops_t aclshmemi_transport_self = {
    .name = "self",
    .bit = ACLSHMEM_TRANSPORT_MTE,
    .import_blob = self_import,
    .put = aclshmemi_transport_mapped_put,
    .get = aclshmemi_transport_mapped_get,
    .amo32 = self_amo32,
};
