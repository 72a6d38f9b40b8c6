/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the device port about DMA queues and the notifies that they record. */
#define LOG_MODULE "npu"

#include "host/npu/acl_table.h"

int npu_dma_queue_create(aclshmemi_npu_dma_queue_t *queue, aclshmemi_npu_dma_info_t *info)
{
    TRY(aclshmemi_npu_enter(ACLSHMEMI_NPU_dma_queue_create));
    aclcpuDmaQueue made = NULL;
    aclcpuDmaQueueInfo found = {0};
    if (!aclshmemi_acl.aclcpuDmaQueueCreate || !aclshmemi_acl.aclcpuDmaQueueDestroy)
        return fail_quietly(ACLSHMEM_NOT_SUPPORTED, "the device runtime hands out no DMA queues");
    int code = aclshmemi_acl.aclcpuDmaQueueCreate(&made, &found);
    if (code != 0)
        return fail_quietly(code, "the device has no DMA queue left (aclcpuDmaQueueCreate: code %d %s)", code,
                            aclshmemi_npu_runtime_text());
    *info = (aclshmemi_npu_dma_info_t){
        .ring = found.ring,
        .doorbell = found.doorbell,
        .head = found.head,
        .error = found.error,
        .depth = found.depth,
        .id = found.id,
    };
    *queue = made;
    return 0;
}

void npu_dma_queue_destroy(aclshmemi_npu_dma_queue_t queue)
{
    if (queue && aclshmemi_npu_is_open())
        aclshmemi_npu_noted(aclshmemi_acl.aclcpuDmaQueueDestroy(queue), "aclcpuDmaQueueDestroy");
}

int npu_notify_create(aclshmemi_npu_notify_t *notify, uint32_t *id)
{
    TRY(aclshmemi_npu_enter(ACLSHMEMI_NPU_notify_create));
    aclrtNotify made = NULL;
    if (!aclshmemi_acl.aclrtCreateNotify || !aclshmemi_acl.aclrtGetNotifyId ||
        !aclshmemi_acl.aclrtDestroyNotify)
        return fail(ACLSHMEM_NOT_SUPPORTED, "the device runtime has no notifies; a newer one is needed");
    TRY(aclshmemi_npu_result(aclshmemi_acl.aclrtCreateNotify(&made, 0), "aclrtCreateNotify", __FILE__,
                             __LINE__, "a notify"));
    uint32_t found = 0;
    int code = aclshmemi_npu_result(aclshmemi_acl.aclrtGetNotifyId(made, &found), "aclrtGetNotifyId",
                                    __FILE__, __LINE__, "notify %p", made);
    if (code != 0) {
        npu_notify_destroy(made);
        return code;
    }
    *notify = made;
    *id = found;
    return 0;
}

void npu_notify_destroy(aclshmemi_npu_notify_t notify)
{
    if (notify && aclshmemi_npu_is_open())
        aclshmemi_npu_noted(aclshmemi_acl.aclrtDestroyNotify(notify), "aclrtDestroyNotify");
}
