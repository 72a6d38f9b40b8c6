/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that put with a signal. Every core sends to its namesake on the next PE and looks at what came the moment it
 * sees the signal; a source is written over as soon as that is allowed.
 */
#include "kernel.h"
#include "so.h"

typedef struct link {
    int me, next, previous;
    __gm__ int32_t *signal, *taken;
    int32_t turn;
} link_t;

static link_t link_begin(__gm__ int32_t *signals)
{
    int n = aclshmem_n_pes(), me = aclshmem_my_pe();
    __gm__ int32_t *own = signals + aicore_block_index() * 32;
    link_t link = {me, (me + 1) % n, (me + n - 1) % n, own, own + 16, 0};
    return link;
}

static void fill(__gm__ char *bytes, size_t count, int pe, int turn)
{
    for (size_t k = 0; k < count; k++)
        bytes[k] = (char)(k * 7 + (size_t)pe * 31 + (size_t)turn * 13 + aicore_block_index());
}

static bool is_from(char got, size_t k, int pe, int turn)
{
    return got == (char)(k * 7 + (size_t)pe * 31 + (size_t)turn * 13 + aicore_block_index());
}

/* Something came: it is whole. Then lets the sender go on. */
static void check(link_t *link, __gm__ const char *bytes, size_t count)
{
    EXPECT_INT(aclshmem_signal_wait_until(link->signal, ACLSHMEM_CMP_EQ, link->turn), link->turn);
    for (size_t k = 0; k < count; k++)
        EXPECT(is_from(bytes[k], k, link->previous, link->turn));
    aclshmemx_signal_op(link->taken, 1, ACLSHMEM_SIGNAL_ADD, link->previous);
    aclshmem_signal_wait_until(link->taken, ACLSHMEM_CMP_GE, link->turn);
}

/* Rows of `wide` bytes came to places dst_ld apart, and nothing between them. */
static void check_rows(link_t *link, __gm__ const char *bytes, const non_contiguous_copy_param *rows,
                       size_t width)
{
    aclshmem_signal_wait_until(link->signal, ACLSHMEM_CMP_EQ, link->turn);
    for (size_t row = 0; row < rows->repeat; row++)
        for (size_t k = 0; k < rows->dst_ld * width && row * rows->dst_ld * width + k < SO_BYTES; k++) {
            char got = bytes[row * rows->dst_ld * width + k];
            if (k < rows->length * width)
                EXPECT(is_from(got, row * rows->src_ld * width + k, link->previous, link->turn));
            else
                EXPECT(got == 0);
        }
    aclshmemx_signal_op(link->taken, 1, ACLSHMEM_SIGNAL_ADD, link->previous);
    aclshmem_signal_wait_until(link->taken, ACLSHMEM_CMP_GE, link->turn);
}

#define FORM(call, count, done)                                                                              \
    do {                                                                                                     \
        link.turn++;                                                                                         \
        fill((__gm__ char *)src, SO_BYTES, link.me, link.turn);                                              \
        call;                                                                                                \
        done;                                                                                                \
        memset(src, 0x55, SO_BYTES);                                                                         \
        check(&link, (__gm__ const char *)dst, count);                                                       \
    } while (0)
#define ROWS(call, done)                                                                                     \
    do {                                                                                                     \
        link.turn++;                                                                                         \
        fill((__gm__ char *)src, SO_BYTES, link.me, link.turn);                                              \
        call;                                                                                                \
        done;                                                                                                \
        memset(src, 0x55, SO_BYTES);                                                                         \
        check_rows(&link, (__gm__ const char *)dst, &rows, sizeof *src);                                     \
    } while (0)
#define SET link.signal, link.turn, ACLSHMEM_SIGNAL_SET, link.next
#define ADD link.signal, 1, ACLSHMEM_SIGNAL_ADD, link.next

#define DEFINE_SO(NAME, TYPE)                                                                                \
    ACLSHMEM_KERNEL(so_##NAME, __gm__ char *, to, __gm__ char *, from, __gm__ int32_t *, signals)            \
    {                                                                                                        \
        __gm__ TYPE *dst = (__gm__ TYPE *)(void *)(to + aicore_block_index() * SO_BYTES);                    \
        __gm__ TYPE *src = (__gm__ TYPE *)(void *)(from + aicore_block_index() * SO_BYTES);                  \
        non_contiguous_copy_param rows = {5, 7, 9, 11};                                                      \
        link_t link = link_begin(signals);                                                                   \
        ROWS(aclshmem_##NAME##_put_signal_rows(dst, src, &rows, SET), (void)0);                              \
        ROWS(aclshmem_##NAME##_put_signal_nbi_rows(dst, src, &rows, ADD), aclshmem_quiet());                 \
        FORM(aclshmem_##NAME##_put_signal(dst, src, 100, SET), 100 * sizeof(TYPE), (void)0);                 \
        FORM(aclshmem_##NAME##_put_signal(dst, src, 1, ADD), sizeof(TYPE), (void)0);                         \
        FORM(aclshmem_##NAME##_put_signal_nbi(dst, src, 77, SET), 77 * sizeof(TYPE), aclshmem_quiet());      \
        FORM(aclshmem_##NAME##_put_signal_nbi(dst, src, 0, ADD), 0, aclshmem_quiet());                       \
        rows.repeat = 0;                                                                                     \
        ROWS(aclshmem_##NAME##_put_signal_rows(dst, src, &rows, ADD), (void)0);                              \
    }
ACLSHMEM_TYPES_RMA(DEFINE_SO)

#define BITS_FORMS(BITS)                                                                                     \
    FORM(aclshmem_put##BITS##_signal(dst, src, 50, SET), 50 * BITS / 8, (void)0);                            \
    FORM(aclshmem_put##BITS##_signal_nbi(dst, src, 33, ADD), 33 * BITS / 8, aclshmem_quiet());

ACLSHMEM_KERNEL(so_sized, __gm__ char *, to, __gm__ char *, from, __gm__ int32_t *, signals)
{
    __gm__ char *dst = to + aicore_block_index() * SO_BYTES, *src = from + aicore_block_index() * SO_BYTES;
    link_t link = link_begin(signals);
    ACLSHMEM_TYPES_BITS(BITS_FORMS)
    FORM(aclshmem_putmem_signal(dst, src, 999, SET), 999, (void)0);
    FORM(aclshmem_putmem_signal_nbi(dst, src, 1001, ADD), 1001, aclshmem_quiet());
}

/* Order: whoever sees the signal sees all of the data, however much it is and however often. */
ACLSHMEM_KERNEL(so_litmus, __gm__ char *, to, __gm__ char *, from, __gm__ int32_t *, signals, size_t, bytes,
                int, turns)
{
    __gm__ char *dst = to + aicore_block_index() * bytes, *src = from + aicore_block_index() * bytes;
    link_t link = link_begin(signals);
    while (link.turn < turns) {
        link.turn++;
        memset(src, link.turn & 0xff, bytes);
        aclshmem_putmem_signal_nbi(dst, src, bytes, SET);
        aclshmem_signal_wait_until(link.signal, ACLSHMEM_CMP_EQ, link.turn);
        for (size_t k = 0; k < bytes; k++)
            EXPECT(dst[k] == (char)link.turn);
        aclshmem_quiet();
        aclshmemx_signal_op(link.taken, 1, ACLSHMEM_SIGNAL_ADD, link.previous);
        aclshmem_signal_wait_until(link.taken, ACLSHMEM_CMP_GE, link.turn);
    }
}

/* Data, fence, flag by other calls; and the other way round with atomics. */
ACLSHMEM_KERNEL(so_fence, __gm__ int64_t *, words, __gm__ int32_t *, signals, int, turns)
{
    link_t link = link_begin(signals);
    __gm__ int64_t *data = words + aicore_block_index() * 16;
    while (link.turn < turns) {
        link.turn++;
        aclshmem_int64_p(data, link.turn, link.next);
        aclshmem_int64_atomic_add(data + 8, 1, link.next);
        aclshmem_fence();
        aclshmemx_signal_op(link.signal, link.turn, ACLSHMEM_SIGNAL_SET, link.next);
        aclshmem_signal_wait_until(link.signal, ACLSHMEM_CMP_GE, link.turn);
        EXPECT_INT(aclshmem_int64_g(data, link.me), link.turn);
        EXPECT_INT(aclshmem_int64_atomic_fetch(data + 8, link.me), link.turn);
        aclshmemx_signal_op(link.taken, 1, ACLSHMEM_SIGNAL_ADD, link.previous);
        aclshmem_signal_wait_until(link.taken, ACLSHMEM_CMP_GE, link.turn);
    }
}

/* Each argument that can be wrong. */
ACLSHMEM_KERNEL(so_with, __gm__ char *, dst, __gm__ char *, signal, int, op, int, pe)
{
    aclshmem_putmem_signal(dst, dst, 8, (__gm__ int32_t *)(void *)signal, 1, op, pe);
}

ACLSHMEM_KERNEL(so_rows_with, __gm__ char *, dst, __gm__ int32_t *, signal, uint32_t, dst_ld)
{
    non_contiguous_copy_param rows = {2, 3, 4, dst_ld};
    aclshmem_char_put_signal_rows(dst, dst, dst_ld == 0 ? NULL : &rows, signal, 1, ACLSHMEM_SIGNAL_SET, 0);
}
