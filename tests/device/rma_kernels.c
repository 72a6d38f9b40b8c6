/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel for each type and width, with every put and get of it. */
#include "rma.h"

#include "kernel.h"

static void use_scratch(const call_t *call)
{
    if (call->scratch_bytes != 0)
        EXPECT_INT(aclshmemx_set_mte_config(call->scratch_at, call->scratch_bytes, call->flag), 0);
}

static non_contiguous_copy_param rows_of(const call_t *call)
{
    non_contiguous_copy_param rows = {call->repeat, call->length, (uint32_t)call->src_step,
                                      (uint32_t)call->dst_step};
    return rows;
}

/* Blocking calls are looked at without a quiet behind them. */
#define TYPED(NAME, TYPE)                                                                                    \
    static void run_##NAME(const call_t *call, __gm__ TYPE *dst, __gm__ TYPE *src)                           \
    {                                                                                                        \
        non_contiguous_copy_param rows = rows_of(call);                                                      \
        switch (call->op) {                                                                                  \
        case OP_PUT:                                                                                         \
            aclshmem_##NAME##_put(dst, src, call->count, call->pe);                                          \
            break;                                                                                           \
        case OP_GET:                                                                                         \
            aclshmem_##NAME##_get(dst, src, call->count, call->pe);                                          \
            break;                                                                                           \
        case OP_PUT_NBI:                                                                                     \
            aclshmem_##NAME##_put_nbi(dst, src, call->count, call->pe);                                      \
            break;                                                                                           \
        case OP_GET_NBI:                                                                                     \
            aclshmem_##NAME##_get_nbi(dst, src, call->count, call->pe);                                      \
            break;                                                                                           \
        case OP_PUT_ROWS:                                                                                    \
            aclshmem_##NAME##_put_nbi_rows(dst, src, &rows, call->pe);                                       \
            break;                                                                                           \
        case OP_GET_ROWS:                                                                                    \
            aclshmem_##NAME##_get_nbi_rows(dst, src, &rows, call->pe);                                       \
            break;                                                                                           \
        case OP_IPUT:                                                                                        \
            aclshmem_##NAME##_iput(dst, src, call->dst_step, call->src_step, call->count, call->pe);         \
            break;                                                                                           \
        case OP_IGET:                                                                                        \
            aclshmem_##NAME##_iget(dst, src, call->dst_step, call->src_step, call->count, call->pe);         \
            break;                                                                                           \
        case OP_P:                                                                                           \
            for (uint64_t i = 0; i < call->count; i++)                                                       \
                aclshmem_##NAME##_p(dst + i, src[i], call->pe);                                              \
            break;                                                                                           \
        case OP_G:                                                                                           \
            for (uint64_t i = 0; i < call->count; i++)                                                       \
                dst[i] = aclshmem_##NAME##_g(src + i, call->pe);                                             \
            break;                                                                                           \
        default:                                                                                             \
            EXPECT(!"an operation of this kernel");                                                          \
        }                                                                                                    \
    }                                                                                                        \
    ACLSHMEM_KERNEL(rma_##NAME, __gm__ call_t *, call)                                                       \
    {                                                                                                        \
        use_scratch(call);                                                                                   \
        for (uint64_t i = 0; i < call->times; i++)                                                           \
            run_##NAME(call, (__gm__ TYPE *)(void *)(call->dst + i * call->advance),                         \
                       (__gm__ TYPE *)(void *)(call->src + i * call->advance));                              \
        if (call->op == OP_PUT_NBI || call->op == OP_GET_NBI || call->op == OP_PUT_ROWS ||                   \
            call->op == OP_GET_ROWS || call->op == OP_G)                                                     \
            aclshmem_quiet();                                                                                \
    }
ACLSHMEM_TYPES_RMA(TYPED)

#define SIZED(BITS)                                                                                          \
    ACLSHMEM_KERNEL(rma_##BITS, __gm__ call_t *, call)                                                       \
    {                                                                                                        \
        use_scratch(call);                                                                                   \
        switch (call->op) {                                                                                  \
        case OP_PUT:                                                                                         \
            aclshmem_put##BITS(call->dst, call->src, call->count, call->pe);                                 \
            return;                                                                                          \
        case OP_GET:                                                                                         \
            aclshmem_get##BITS(call->dst, call->src, call->count, call->pe);                                 \
            return;                                                                                          \
        case OP_PUT_NBI:                                                                                     \
            aclshmem_put##BITS##_nbi(call->dst, call->src, call->count, call->pe);                           \
            break;                                                                                           \
        case OP_GET_NBI:                                                                                     \
            aclshmem_get##BITS##_nbi(call->dst, call->src, call->count, call->pe);                           \
            break;                                                                                           \
        case OP_IPUT:                                                                                        \
            aclshmem_iput##BITS(call->dst, call->src, call->dst_step, call->src_step, call->count,           \
                                call->pe);                                                                   \
            return;                                                                                          \
        case OP_IGET:                                                                                        \
            aclshmem_iget##BITS(call->dst, call->src, call->dst_step, call->src_step, call->count,           \
                                call->pe);                                                                   \
            return;                                                                                          \
        default:                                                                                             \
            EXPECT(!"an operation of this kernel");                                                          \
        }                                                                                                    \
        aclshmem_quiet();                                                                                    \
    }
ACLSHMEM_TYPES_BITS(SIZED)

ACLSHMEM_KERNEL(rma_mem, __gm__ call_t *, call)
{
    use_scratch(call);
    switch (call->op) {
    case OP_PUT:
        aclshmem_putmem(call->dst, call->src, call->count, call->pe);
        return;
    case OP_GET:
        aclshmem_getmem(call->dst, call->src, call->count, call->pe);
        return;
    case OP_PUT_NBI:
        for (uint64_t i = 0; i < call->times; i++)
            aclshmem_putmem_nbi(call->dst + i * call->advance, call->src + i * call->advance, call->count,
                                call->pe);
        break;
    case OP_GET_NBI:
        for (uint64_t i = 0; i < call->times; i++)
            aclshmem_getmem_nbi(call->dst + i * call->advance, call->src + i * call->advance, call->count,
                                call->pe);
        break;
    default:
        EXPECT(!"an operation of this kernel");
    }
    aclshmem_quiet();
}

/* Every block moves its share. */
ACLSHMEM_KERNEL(rma_shares, __gm__ call_t *, call)
{
    uint64_t blocks = aicore_block_count(), block = aicore_block_index();
    uint64_t from = call->count * block / blocks, to = call->count * (block + 1) / blocks;
    if (call->op == OP_PUT_NBI)
        aclshmem_putmem_nbi(call->dst + from, call->src + from, to - from, call->pe);
    else
        aclshmem_getmem_nbi(call->dst + from, call->src + from, to - from, call->pe);
    aclshmem_quiet();
}

/* Data, then a word that says so, with a fence or a quiet in between. */
ACLSHMEM_KERNEL(rma_flagged, __gm__ call_t *, call, __gm__ int32_t *, word)
{
    use_scratch(call);
    aclshmem_putmem_nbi(call->dst, call->src, call->count, call->pe);
    if (call->flag % 2 != 0)
        aclshmem_fence();
    else
        aclshmem_quiet();
    aclshmem_int32_p(word, (int32_t)call->times, call->pe);
}

/* The settings of a core, and that they are its own and end with the kernel. */
ACLSHMEM_KERNEL(rma_settings, __gm__ call_t *, call)
{
    uint32_t block = aicore_block_index();
    EXPECT_INT(aclshmemx_set_sdma_config(128 + 64 * block, 64, block % 8), 0);
    EXPECT_INT(aclshmemx_set_udma_config(4096 + 128 * block, 128, block % 8), 0);
    EXPECT_INT(aclshmemx_set_mte_config(8192 + 1024 * block, 1024, block % 8), 0);
    aicore_sync_all();
    aclshmem_ub_config_t mte = aclshmemi_scratch(aclshmemi_state("test"), ACLSHMEMI_ENGINE_MTE);
    aclshmem_ub_config_t sdma = aclshmemi_scratch(aclshmemi_state("test"), ACLSHMEMI_ENGINE_SDMA);
    aclshmem_ub_config_t udma = aclshmemi_scratch(aclshmemi_state("test"), ACLSHMEMI_ENGINE_UDMA);
    EXPECT_INT(mte.aclshmem_ub, 8192 + 1024 * block);
    EXPECT_INT(mte.ub_size, 1024);
    EXPECT_INT(mte.sync_id, block % 8);
    EXPECT_INT(sdma.aclshmem_ub, 128 + 64 * block);
    EXPECT_INT(udma.aclshmem_ub, 4096 + 128 * block);
    aclshmem_putmem(call->dst + 64 * block, call->src + 64 * block, 64, call->pe);
}

ACLSHMEM_KERNEL(rma_settings_of_host, __gm__ call_t *, call)
{
    aclshmem_ub_config_t mte = aclshmemi_scratch(aclshmemi_state("test"), ACLSHMEMI_ENGINE_MTE);
    EXPECT_INT(mte.aclshmem_ub, call->scratch_at);
    EXPECT_INT(mte.ub_size, call->scratch_bytes);
    EXPECT_INT(mte.sync_id, call->flag);
    aclshmem_putmem(call->dst, call->src, call->count, call->pe);
}

ACLSHMEM_KERNEL(rma_set_mte, uint64_t, offset, uint32_t, bytes, uint32_t, flag)
{
    (void)aclshmemx_set_mte_config(offset, bytes, flag);
}

ACLSHMEM_KERNEL(rma_set_sdma, uint64_t, offset, uint32_t, bytes, uint32_t, flag)
{
    (void)aclshmemx_set_sdma_config(offset, bytes, flag);
}

ACLSHMEM_KERNEL(rma_set_udma, uint64_t, offset, uint32_t, bytes, uint32_t, flag)
{
    (void)aclshmemx_set_udma_config(offset, bytes, flag);
}

/* The rows are missing. */
ACLSHMEM_KERNEL(rma_no_rows, __gm__ call_t *, call)
{
    aclshmem_int32_put_nbi_rows((__gm__ int32_t *)(void *)call->dst, (__gm__ int32_t *)(void *)call->src,
                                NULL, call->pe);
}
