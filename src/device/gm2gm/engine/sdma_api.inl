/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies of SDMA by name. */
#ifndef ACLSHMEMI_DEVICE_SDMA_API_INL
#define ACLSHMEMI_DEVICE_SDMA_API_INL

#include "device/dispatch.inl"

#define ACLSHMEMI_SDMA_SCRATCH(call, buf)                                                                    \
    aclshmemi_scratch_check(call, "SDMA", AICORE_UB_NUMBER(buf), ub_size, sync_id, UB_ALIGN_SIZE_64)

ACLSHMEM_DEVICE void aclshmemx_sdma_putmem_nbi(__gm__ void *dst, __gm__ void *src,
                                               ACLSHMEM_UB_POINTER(void) buf, uint32_t ub_size,
                                               size_t element_bytes, size_t nelems, int pe, uint32_t sync_id)
{
    static const char call[] = "sdma_put_nbi";
    const aclshmemi_state_t *state = aclshmemi_state(call);
    uint64_t bytes = aclshmemi_bytes(nelems, element_bytes);
    ACLSHMEMI_SDMA_SCRATCH(call, buf);
    aclshmemi_check(state, call, dst, bytes, pe);
    if (bytes != 0)
        aclshmemi_sdma_start_put(state, call, dst, src, bytes, pe);
}

ACLSHMEM_DEVICE void aclshmemx_sdma_getmem_nbi(__gm__ void *dst, __gm__ void *src,
                                               ACLSHMEM_UB_POINTER(void) buf, uint32_t ub_size,
                                               size_t element_bytes, size_t nelems, int pe, uint32_t sync_id)
{
    static const char call[] = "sdma_get_nbi";
    const aclshmemi_state_t *state = aclshmemi_state(call);
    uint64_t bytes = aclshmemi_bytes(nelems, element_bytes);
    ACLSHMEMI_SDMA_SCRATCH(call, buf);
    aclshmemi_check(state, call, src, bytes, pe);
    if (bytes != 0)
        aclshmemi_sdma_start_get(state, call, dst, src, bytes, pe);
}

ACLSHMEM_DEVICE void aclshmemx_sdma_quiet(ACLSHMEM_UB_POINTER(void) buf, uint32_t ub_size, uint32_t sync_id)
{
    static const char call[] = "sdma_quiet";
    ACLSHMEMI_SDMA_SCRATCH(call, buf);
    aclshmemi_sdma_drain(aclshmemi_state(call), call);
}

ACLSHMEM_DEVICE void aclshmemx_sdma_notify_record(ACLSHMEM_UB_POINTER(void) buf, uint32_t ub_size,
                                                  uint32_t sync_id)
{
    static const char call[] = "sdma_notify_record";
    const aclshmemi_state_t *state = aclshmemi_state(call);
    aclshmemi_dma_entry_t entry;
    ACLSHMEMI_SDMA_SCRATCH(call, buf);
    memset(&entry, 0, sizeof entry);
    entry.kind = ACLSHMEMI_DMA_ENTRY_NOTIFY;
    entry.notify =
        aclshmemi_sdma_workspace(state, call)->notify[aclshmemi_port_block() % ACLSHMEMI_DMA_CHANNELS];
    aclshmemi_sdma_post(state, call, &entry);
}

/* What fits a cache is enough for a hint. */
ACLSHMEM_DEVICE void aclshmemx_cmomem_nbi(__gm__ void *src, size_t element_bytes, size_t nelems,
                                          ACLSHMEMCMOTYPE cmo_type, ACLSHMEM_UB_POINTER(void) buf,
                                          uint32_t ub_size, uint32_t sync_id)
{
    static const char call[] = "cmo_nbi";
    uint64_t bytes = aclshmemi_bytes(nelems, element_bytes);
    ACLSHMEMI_SDMA_SCRATCH(call, buf);
    if ((uint32_t)cmo_type != 6u) /* PREFETCH */
        return;
    if (bytes > ACLSHMEMI_DMA_PIECE)
        bytes = ACLSHMEMI_DMA_PIECE;
    for (uint64_t at = 0; at < bytes; at += SCALAR_DATA_CACHELINE_SIZE)
        __builtin_prefetch((__gm__ const char *)src + at);
}

#undef ACLSHMEMI_SDMA_SCRATCH

#endif
