/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which engine carries an operation: the moves of engine.inl, by the rule of aclshmemi_engine_for.
 */
#ifndef ACLSHMEMI_DEVICE_DISPATCH_INL
#define ACLSHMEMI_DEVICE_DISPATCH_INL

#include "device/engine.inl"
#include "device/gm2gm/engine/mte.inl"
#include "device/gm2gm/engine/rdma.inl"
#include "device/gm2gm/engine/sdma.inl"
#include "device/gm2gm/engine/udma.inl"

/* --- One engine --- */

ACLSHMEM_DEVICE void aclshmemi_engine_put(const aclshmemi_state_t *state, const char *call, uint32_t engine,
                                          __gm__ void *there, __gm__ const void *here, uint64_t bytes, int pe)
{
    aclshmemi_core()->used |= engine;
    switch (engine) {
    case ACLSHMEM_TRANSPORT_ROCE:
        aclshmemi_rdma_put(state, call, there, here, bytes, pe);
        break;
    case ACLSHMEM_TRANSPORT_SDMA:
        aclshmemi_sdma_put(state, call, there, here, bytes, pe);
        break;
    case ACLSHMEM_TRANSPORT_UDMA:
        aclshmemi_udma_put(state, call, there, here, bytes, pe);
        break;
    default:
        aclshmemi_mte_put(state, call, there, here, bytes, pe);
    }
}

ACLSHMEM_DEVICE void aclshmemi_engine_get(const aclshmemi_state_t *state, const char *call, uint32_t engine,
                                          __gm__ void *here, __gm__ const void *there, uint64_t bytes, int pe)
{
    aclshmemi_core()->used |= engine;
    switch (engine) {
    case ACLSHMEM_TRANSPORT_ROCE:
        aclshmemi_rdma_get(state, call, here, there, bytes, pe);
        break;
    case ACLSHMEM_TRANSPORT_SDMA:
        aclshmemi_sdma_get(state, call, here, there, bytes, pe);
        break;
    case ACLSHMEM_TRANSPORT_UDMA:
        aclshmemi_udma_get(state, call, here, there, bytes, pe);
        break;
    default:
        aclshmemi_mte_get(state, call, here, there, bytes, pe);
    }
}

/* Everything this core started on the engine is complete. Copies that are made where they are issued already are. */
ACLSHMEM_DEVICE void aclshmemi_engine_quiet(const aclshmemi_state_t *state, const char *call, uint32_t engine)
{
    switch (engine) {
    case ACLSHMEM_TRANSPORT_ROCE:
        aclshmemi_rdma_quiet(state, call);
        break;
    case ACLSHMEM_TRANSPORT_SDMA:
        aclshmemi_sdma_quiet(state, call);
        break;
    case ACLSHMEM_TRANSPORT_UDMA:
        aclshmemi_udma_quiet(state, call);
        break;
    default:
        if (!aclshmemi_port_copies_directly())
            aclshmemi_mte_quiet(state, call);
    }
}

/* --- By the rule --- */

ACLSHMEM_DEVICE void aclshmemi_put(const char *call, __gm__ void *there, __gm__ const void *here,
                                   uint64_t bytes, int pe)
{
    const aclshmemi_state_t *state = aclshmemi_state(call);
    aclshmemi_check(state, call, there, bytes, pe);
    if (bytes != 0)
        aclshmemi_engine_put(state, call, aclshmemi_engine_for(state, call, pe, true), there, here, bytes,
                             pe);
}

ACLSHMEM_DEVICE void aclshmemi_get(const char *call, __gm__ void *here, __gm__ const void *there,
                                   uint64_t bytes, int pe)
{
    const aclshmemi_state_t *state = aclshmemi_state(call);
    aclshmemi_check(state, call, there, bytes, pe);
    if (bytes != 0)
        aclshmemi_engine_get(state, call, aclshmemi_engine_for(state, call, pe, true), here, there, bytes,
                             pe);
}

/* The same, complete on return. */
ACLSHMEM_DEVICE void aclshmemi_put_now(const char *call, __gm__ void *there, __gm__ const void *here,
                                       uint64_t bytes, int pe)
{
    const aclshmemi_state_t *state = aclshmemi_state(call);
    aclshmemi_check(state, call, there, bytes, pe);
    if (bytes == 0)
        return;
    uint32_t engine = aclshmemi_engine_for(state, call, pe, true);
    aclshmemi_engine_put(state, call, engine, there, here, bytes, pe);
    aclshmemi_engine_quiet(state, call, engine);
}

ACLSHMEM_DEVICE void aclshmemi_get_now(const char *call, __gm__ void *here, __gm__ const void *there,
                                       uint64_t bytes, int pe)
{
    const aclshmemi_state_t *state = aclshmemi_state(call);
    aclshmemi_check(state, call, there, bytes, pe);
    if (bytes == 0)
        return;
    uint32_t engine = aclshmemi_engine_for(state, call, pe, true);
    aclshmemi_engine_get(state, call, engine, here, there, bytes, pe);
    aclshmemi_engine_quiet(state, call, engine);
}

/* A signal on the engine that carried the data; SDMA has none and passes it on when its copies are complete. */
ACLSHMEM_DEVICE void aclshmemi_engine_signal(const aclshmemi_state_t *state, const char *call,
                                             uint32_t engine, __gm__ int32_t *word, int32_t value, int op,
                                             int pe)
{
    aclshmemi_core()->used |= engine;
    switch (engine) {
    case ACLSHMEM_TRANSPORT_ROCE:
        aclshmemi_rdma_signal(state, call, word, value, op, pe);
        break;
    case ACLSHMEM_TRANSPORT_UDMA:
        aclshmemi_udma_signal(state, call, word, value, op, pe);
        break;
    default:
        aclshmemi_mte_signal(state, call, word, value, op, pe);
    }
}

ACLSHMEM_DEVICE void aclshmemi_signal(const char *call, __gm__ int32_t *word, int32_t value, int op, int pe)
{
    const aclshmemi_state_t *state = aclshmemi_state(call);
    aclshmemi_check(state, call, word, sizeof *word, pe);
    aclshmemi_engine_signal(state, call, aclshmemi_engine_for(state, call, pe, false), word, value, op, pe);
}

ACLSHMEM_DEVICE uint64_t aclshmemi_amo(const char *call, aclshmemi_amo_op_t op, aclshmemi_amo_type_t type,
                                       __gm__ void *there, uint64_t value, uint64_t condition, int pe,
                                       bool wanted)
{
    static const uint8_t width[] = {1, 2, 4, 8, 4, 8, 2, 2}; /* bytes, by type */
    const aclshmemi_state_t *state = aclshmemi_state(call);
    aclshmemi_check(state, call, there, width[type], pe);
    uint32_t engine = aclshmemi_engine_for(state, call, pe, false);
    aclshmemi_core()->used |= engine;
    switch (engine) {
    case ACLSHMEM_TRANSPORT_ROCE:
        return aclshmemi_rdma_amo(state, call, op, type, there, value, condition, pe, wanted);
    case ACLSHMEM_TRANSPORT_UDMA:
        return aclshmemi_udma_amo(state, call, op, type, there, value, condition, pe, wanted);
    default:
        return aclshmemi_mte_amo(state, call, op, type, there, value, condition, pe, wanted);
    }
}

ACLSHMEM_DEVICE void aclshmemi_put_signal(const char *call, __gm__ void *there, __gm__ const void *here,
                                          uint64_t bytes, __gm__ int32_t *word, int32_t value, int op, int pe)
{
    const aclshmemi_state_t *state = aclshmemi_state(call);
    aclshmemi_check(state, call, there, bytes, pe);
    aclshmemi_check(state, call, word, sizeof *word, pe);
    uint32_t engine = aclshmemi_engine_for(state, call, pe, true);
    if (bytes != 0)
        aclshmemi_engine_put(state, call, engine, there, here, bytes, pe);
    if (engine == ACLSHMEM_TRANSPORT_SDMA) {
        aclshmemi_engine_quiet(state, call, engine);
        engine = aclshmemi_engine_for(state, call, pe, false);
    }
    aclshmemi_engine_signal(state, call, engine, word, value, op, pe);
}

/* --- Order --- */

ACLSHMEM_DEVICE void aclshmemi_quiet_core(const char *call)
{
    const aclshmemi_state_t *state = aclshmemi_state(call);
    aclshmemi_core_t *core = aclshmemi_core();
    for (uint32_t left = core->used & ~(uint32_t)ACLSHMEM_TRANSPORT_MTE; left != 0; left &= left - 1)
        aclshmemi_engine_quiet(state, call, left & (~left + 1));
    aclshmemi_mte_quiet(state, call); /* in any case: the kernel's own copies and stores count as well */
    core->used = 0;
}

/*
 * What comes later may take another road to the same PE: from SDMA it does whenever it is no bulk data, from the others
 * when they were called by name. Only a core that has used nothing but one of ROCE and UDMA can rely on its order.
 */
ACLSHMEM_DEVICE void aclshmemi_fence_core(const char *call)
{
    const aclshmemi_state_t *state = aclshmemi_state(call);
    aclshmemi_core_t *core = aclshmemi_core();
    switch (core->used) {
    case ACLSHMEM_TRANSPORT_ROCE:
        aclshmemi_rdma_fence(state, call);
        break;
    case ACLSHMEM_TRANSPORT_UDMA:
        aclshmemi_udma_fence(state, call);
        break;
    default:
        for (uint32_t left = core->used & ~(uint32_t)ACLSHMEM_TRANSPORT_MTE; left != 0; left &= left - 1)
            aclshmemi_engine_quiet(state, call, left & (~left + 1));
        core->used &= ACLSHMEM_TRANSPORT_MTE;
    }
    aclshmemi_mte_fence(state, call);
}

#endif
