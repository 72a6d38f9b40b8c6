/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A PE talking to itself: the template for new transports, and what a job of one PE runs on. It has nothing to publish
 * and reaches one PE; its memory is its own, so every operation is done when it returns.
 */
#define LOG_MODULE "transport"
#include "host/transport/transport.h"

#include "host_device/amo_apply.h"

static int self_import(aclshmemi_transport_t *t, int pe, const void *blob, size_t bytes, bool *reached)
{
    (void)blob;
    (void)bytes;
    *reached = pe == t->site->pe;
    return 0;
}

/* Where host code cannot touch it, nobody else changes the object meanwhile but the PE's own kernels. */
static int self_amo(aclshmemi_transport_t *t, aclshmemi_remote_t to, const aclshmemi_amo_request_t *request,
                    uint64_t *old)
{
    if (npu_host_can_touch() || to.place == ACLSHMEMI_NPU_ON_HOST)
        return aclshmemi_transport_mapped_amo(t, to, request, old);
    void *object = aclshmemi_transport_mapped_address(t, to);
    size_t width = aclshmemi_amo_width(request->type);
    uint64_t value = 0;
    TRY(npu_copy(&value, object, width, ACLSHMEMI_NPU_DEVICE_TO_HOST));
    uint64_t found =
        aclshmemi_amo_apply(&value, request->op, request->type, request->value, request->condition, true);
    if (request->wanted)
        *old = found;
    return request->op == ACLSHMEMI_AMO_FETCH ? 0
                                              : npu_copy(object, &value, width, ACLSHMEMI_NPU_HOST_TO_DEVICE);
}

const aclshmemi_transport_ops_t aclshmemi_transport_self = {
    .name = "self",
    .bit = ACLSHMEM_TRANSPORT_MTE,
    .import_blob = self_import,
    .put = aclshmemi_transport_mapped_put,
    .get = aclshmemi_transport_mapped_get,
    .amo = self_amo,
};
