/* SPDX-License-Identifier: Apache-2.0 */
/* ROCE for the dispatch: requests in the queue of the PE, which keeps their order. */
#ifndef ACLSHMEMI_DEVICE_RDMA_INL
#define ACLSHMEMI_DEVICE_RDMA_INL

#include "device/gm2gm/engine/queue.inl"

ACLSHMEM_DEVICE void aclshmemi_rdma_put(const aclshmemi_state_t *state, const char *call, __gm__ void *there,
                                        __gm__ const void *here, uint64_t bytes, int pe)
{
    aclshmemi_queue_port_t port = aclshmemi_queue_port(state, call, ACLSHMEMI_ENGINE_ROCE);
    aclshmemi_queue_move_t move =
        aclshmemi_queue_plain(ACLSHMEMI_WORK_PUT, there, (__gm__ void *)(uintptr_t)here, bytes, pe);
    aclshmemi_queue_start(&port, &move);
}

ACLSHMEM_DEVICE void aclshmemi_rdma_get(const aclshmemi_state_t *state, const char *call, __gm__ void *here,
                                        __gm__ const void *there, uint64_t bytes, int pe)
{
    aclshmemi_queue_port_t port = aclshmemi_queue_port(state, call, ACLSHMEMI_ENGINE_ROCE);
    aclshmemi_queue_move_t move =
        aclshmemi_queue_plain(ACLSHMEMI_WORK_GET, (__gm__ void *)(uintptr_t)there, here, bytes, pe);
    aclshmemi_queue_start(&port, &move);
}

ACLSHMEM_DEVICE void aclshmemi_rdma_quiet(const aclshmemi_state_t *state, const char *call)
{
    aclshmemi_queue_quiet(state, call, ACLSHMEMI_ENGINE_ROCE);
}

ACLSHMEM_DEVICE void aclshmemi_rdma_fence(const aclshmemi_state_t *state, const char *call)
{
    (void)state;
    (void)call;
}

ACLSHMEM_DEVICE void aclshmemi_rdma_signal(const aclshmemi_state_t *state, const char *call,
                                           __gm__ int32_t *word, int32_t value, int op, int pe)
{
    aclshmemi_queue_port_t port = aclshmemi_queue_port(state, call, ACLSHMEMI_ENGINE_ROCE);
    aclshmemi_queue_signal(&port, word, value, op, pe);
}

ACLSHMEM_DEVICE uint64_t aclshmemi_rdma_amo(const aclshmemi_state_t *state, const char *call,
                                            aclshmemi_amo_op_t op, aclshmemi_amo_type_t type,
                                            __gm__ void *there, uint64_t value, uint64_t condition, int pe,
                                            bool wanted)
{
    aclshmemi_queue_port_t port = aclshmemi_queue_port(state, call, ACLSHMEMI_ENGINE_ROCE);
    uint64_t ticket;
    return aclshmemi_queue_amo(&port, op, type, there, value, condition, pe, wanted, &ticket);
}

#endif
