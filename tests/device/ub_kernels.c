/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that put from and get into the unified buffer, and MTE by name. */
#include "kernel.h"
#include "rma.h"

enum { FRESH = 0x6b }; /* what the buffer holds before a get */

static non_contiguous_copy_param rows_of(const call_t *call)
{
    non_contiguous_copy_param rows = {call->repeat, call->length, (uint32_t)call->src_step,
                                      (uint32_t)call->dst_step};
    return rows;
}

/* The scalar unit at work on the buffer, between two flags. */
static void scalar_before_copy(aicore_pipe_t pipe, uint32_t flag)
{
    aicore_flag_set(AICORE_PIPE_S, pipe, flag);
    aicore_flag_wait(AICORE_PIPE_S, pipe, flag);
}

static void scalar_after_copy(aicore_pipe_t pipe, uint32_t flag)
{
    aicore_flag_set(pipe, AICORE_PIPE_S, flag);
    aicore_flag_wait(pipe, AICORE_PIPE_S, flag);
}

static uint64_t span_of(const call_t *call, int64_t step, bool rows)
{
    uint64_t count = rows ? call->repeat : call->count;
    return count == 0 ? 0 : ((count - 1) * (uint64_t)step + (rows ? call->length : 1)) * call->element;
}

/* Data for a put, laid out as in the source. */
static void fill(const call_t *call, bool rows)
{
    ACLSHMEM_UB_POINTER(char) ub = ACLSHMEM_UB(char, call->ub_at);
    uint64_t bytes = span_of(call, call->src_step, rows);
    aicore_touch(AICORE_PIPE_S, call->ub_at, bytes, 1);
    for (uint64_t i = 0; i < bytes; i++)
        ub[i] = call->src[i];
    scalar_before_copy(AICORE_PIPE_MTE3, call->flag);
}

static void wipe(const call_t *call)
{
    ACLSHMEM_UB_POINTER(char) ub = ACLSHMEM_UB(char, call->ub_at);
    aicore_touch(AICORE_PIPE_S, call->ub_at, call->ub_bytes, 1);
    for (uint64_t i = 0; i < call->ub_bytes; i++)
        ub[i] = FRESH;
    scalar_before_copy(AICORE_PIPE_MTE2, call->flag);
}

/* What a get brought goes to the destination, piece by piece; around it only the rest of the last 32 bytes may change. */
static void take(const call_t *call, bool rows)
{
    ACLSHMEM_UB_POINTER(char) ub = ACLSHMEM_UB(char, call->ub_at);
    scalar_after_copy(AICORE_PIPE_MTE2, call->flag);
    aicore_touch(AICORE_PIPE_S, call->ub_at, call->ub_bytes, 0);
    uint64_t pieces = rows ? call->repeat : 1;
    uint64_t bytes = (rows ? call->length : call->count) * call->element;
    uint64_t step = rows ? (uint64_t)call->dst_step * call->element : call->ub_bytes;
    for (uint64_t i = 0; i < call->ub_bytes; i++) {
        uint64_t piece = i / step, at = i % step;
        if (piece < pieces && at < bytes)
            call->dst[i] = ub[i];
        else if (piece >= pieces || at >= (bytes + 31) / 32 * 32)
            EXPECT_INT(ub[i], FRESH);
    }
}

#define TYPED(NAME, TYPE)                                                                                    \
    ACLSHMEM_KERNEL(ub_##NAME, __gm__ call_t *, call)                                                        \
    {                                                                                                        \
        non_contiguous_copy_param rows = rows_of(call);                                                      \
        ACLSHMEM_UB_POINTER(TYPE) ub = ACLSHMEM_UB(TYPE, call->ub_at);                                       \
        __gm__ TYPE *dst = (__gm__ TYPE *)(void *)call->dst, *src = (__gm__ TYPE *)(void *)call->src;        \
        EXPECT_INT(sizeof(TYPE), call->element);                                                             \
        switch (call->op) {                                                                                  \
        case OP_PUT_UB:                                                                                      \
            fill(call, false);                                                                               \
            aclshmem_##NAME##_put_nbi_ub(dst, ub, call->count, call->pe);                                    \
            break;                                                                                           \
        case OP_GET_UB:                                                                                      \
            wipe(call);                                                                                      \
            aclshmem_##NAME##_get_nbi_ub(ub, src, call->count, call->pe);                                    \
            take(call, false);                                                                               \
            break;                                                                                           \
        case OP_PUT_UB_ROWS:                                                                                 \
            fill(call, true);                                                                                \
            aclshmem_##NAME##_put_nbi_ub_rows(dst, ub, &rows, call->pe);                                     \
            break;                                                                                           \
        case OP_GET_UB_ROWS:                                                                                 \
            wipe(call);                                                                                      \
            aclshmem_##NAME##_get_nbi_ub_rows(ub, src, &rows, call->pe);                                     \
            take(call, true);                                                                                \
            break;                                                                                           \
        default:                                                                                             \
            EXPECT(!"an operation of this kernel");                                                          \
        }                                                                                                    \
        aclshmem_quiet();                                                                                    \
    }
ACLSHMEM_TYPES_RMA(TYPED)

/* MTE by name: the functions that are told the size of an element. */
ACLSHMEM_KERNEL(mte_mem, __gm__ call_t *, call)
{
    non_contiguous_copy_param rows = rows_of(call);
    ACLSHMEM_UB_POINTER(char) ub = ACLSHMEM_UB(char, call->ub_at);
    uint32_t size = call->ub_bytes, flag = call->flag;
    switch (call->op) {
    case OP_PUT_NBI:
        for (uint64_t i = 0; i < call->times; i++)
            aclshmemx_mte_putmem_nbi(call->dst + i * call->advance, call->src + i * call->advance, ub, size,
                                     call->element, call->count, call->pe, flag);
        break;
    case OP_GET_NBI:
        for (uint64_t i = 0; i < call->times; i++)
            aclshmemx_mte_getmem_nbi(call->dst + i * call->advance, call->src + i * call->advance, ub, size,
                                     call->element, call->count, call->pe, flag);
        break;
    case OP_PUT_ROWS:
        aclshmemx_mte_putmem_nbi_rows(call->dst, call->src, ub, size, call->element, &rows, call->pe, flag);
        break;
    case OP_GET_ROWS:
        aclshmemx_mte_getmem_nbi_rows(call->dst, call->src, ub, size, call->element, &rows, call->pe, flag);
        break;
    case OP_PUT_UB:
        fill(call, false);
        aclshmemx_mte_putmem_nbi_ub(call->dst, ub, call->element, call->count, call->pe, flag);
        break;
    case OP_GET_UB:
        wipe(call);
        aclshmemx_mte_getmem_nbi_ub(ub, call->src, call->element, call->count, call->pe, flag);
        take(call, false);
        break;
    case OP_PUT_UB_ROWS:
        fill(call, true);
        aclshmemx_mte_putmem_nbi_ub_rows(call->dst, ub, call->element, &rows, call->pe, flag);
        break;
    case OP_GET_UB_ROWS:
        wipe(call);
        aclshmemx_mte_getmem_nbi_ub_rows(ub, call->src, call->element, &rows, call->pe, flag);
        take(call, true);
        break;
    case OP_MTE_PUT_HINT:
        aclshmemx_mte_putmem_nbi_hint(call->dst, call->src, ub, size, call->element, call->count, call->pe,
                                      flag, true);
        break;
    case OP_MTE_GET_HINT:
        aclshmemx_mte_getmem_nbi_hint(call->dst, call->src, ub, size, call->element, call->count, call->pe,
                                      flag, false);
        break;
    case OP_MTE_PUT_HINT_CFG:
        aclshmemx_mte_putmem_nbi_hint_cfg(call->dst, call->src, call->element, call->count, call->pe, false);
        break;
    case OP_MTE_GET_HINT_CFG:
        aclshmemx_mte_getmem_nbi_hint_cfg(call->dst, call->src, call->element, call->count, call->pe, true);
        break;
    default:
        EXPECT(!"an operation of this kernel");
    }
    aclshmemx_mte_quiet();
}

/* MTE by name: the macros that find out size and form. */
ACLSHMEM_KERNEL(mte_macros, __gm__ call_t *, call)
{
    non_contiguous_copy_param rows = rows_of(call);
    const non_contiguous_copy_param *fixed_rows = &rows;
    ACLSHMEM_UB_POINTER(int32_t) ub = ACLSHMEM_UB(int32_t, call->ub_at);
    __gm__ int32_t *dst = (__gm__ int32_t *)(void *)call->dst, *src = (__gm__ int32_t *)(void *)call->src;
    uint32_t size = call->ub_bytes, flag = call->flag;
    switch (call->op) {
    case OP_PUT_NBI:
        aclshmemx_mte_put_nbi(dst, src, ub, size, call->count, call->pe, flag);
        break;
    case OP_GET_NBI:
        aclshmemx_mte_get_nbi(dst, src, ub, size, (uint32_t)call->count, call->pe, flag);
        break;
    case OP_PUT_ROWS:
        aclshmemx_mte_put_nbi(dst, src, ub, size, &rows, call->pe, flag);
        break;
    case OP_GET_ROWS:
        aclshmemx_mte_get_nbi(dst, src, ub, size, fixed_rows, call->pe, flag);
        break;
    case OP_PUT_UB:
        fill(call, false);
        aclshmemx_mte_put_nbi(dst, ub, call->count, call->pe, flag);
        break;
    case OP_GET_UB:
        wipe(call);
        aclshmemx_mte_get_nbi(ub, src, call->count, call->pe, flag);
        take(call, false);
        break;
    case OP_PUT_UB_ROWS:
        fill(call, true);
        aclshmemx_mte_put_nbi(dst, ub, fixed_rows, call->pe, flag);
        break;
    case OP_GET_UB_ROWS:
        wipe(call);
        aclshmemx_mte_get_nbi(ub, src, &rows, call->pe, flag);
        take(call, true);
        break;
    case OP_MTE_PUT_HINT:
        aclshmemx_mte_put_nbi(dst, src, ub, size, call->count, call->pe, flag, false);
        break;
    case OP_MTE_GET_HINT:
        aclshmemx_mte_get_nbi(dst, src, ub, size, call->count, call->pe, flag, true);
        break;
    default:
        EXPECT(!"an operation of this kernel");
    }
    aclshmemx_mte_quiet();
}

/* The kernel's own buffer is the scratch of what follows: that has to wait for the copy out. */
ACLSHMEM_KERNEL(ub_then_scratch, __gm__ call_t *, call)
{
    fill(call, false);
    (void)aclshmemx_set_mte_config(call->ub_at, 64, call->flag);
    aclshmem_int8_put_nbi_ub((__gm__ int8_t *)call->dst, ACLSHMEM_UB(int8_t, call->ub_at), call->count / 2,
                             call->pe);
    aclshmem_putmem_nbi(call->dst + call->count / 2, call->src + call->count / 2, call->count / 2, call->pe);
    aclshmemx_mte_putmem_nbi(call->dst + call->count, call->src + call->count, ACLSHMEM_UB(char, call->ub_at),
                             96, 1, call->count, call->pe, call->flag);
    aclshmem_putmem_nbi(call->dst + 2 * call->count, call->src + 2 * call->count, call->count, call->pe);
    aclshmem_quiet();
}
