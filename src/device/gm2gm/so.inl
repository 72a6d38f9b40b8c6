/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies of put with signal. Data goes by the dispatch rule, the signal behind it on the same engine. */
#ifndef ACLSHMEMI_DEVICE_SO_INL
#define ACLSHMEMI_DEVICE_SO_INL

#include "device/gm2gm/p2p_sync.inl"
#include "device/gm2gm/rows.inl"

/* wait: the source may be used again on return. */
ACLSHMEM_DEVICE void aclshmemi_put_signal_call(const char *call, __gm__ void *dst, __gm__ const void *src,
                                               size_t elements, size_t element_bytes,
                                               __gm__ int32_t *sig_addr, int32_t signal, int sig_op, int pe,
                                               bool wait)
{
    aclshmemi_signal_check(call, sig_addr, sig_op);
    aclshmemi_put_signal(call, dst, src, aclshmemi_bytes(elements, element_bytes), sig_addr, signal, sig_op,
                         pe);
    if (wait)
        aclshmemi_quiet_core(call);
}

ACLSHMEM_DEVICE void aclshmem_putmem_signal(__gm__ void *dst, __gm__ void *src, size_t elem_size,
                                            __gm__ int32_t *sig_addr, int32_t signal, int sig_op, int pe)
{
    aclshmemi_put_signal_call("putmem_signal", dst, src, elem_size, 1, sig_addr, signal, sig_op, pe, true);
}

ACLSHMEM_DEVICE void aclshmem_putmem_signal_nbi(__gm__ void *dst, __gm__ void *src, size_t elem_size,
                                                __gm__ int32_t *sig_addr, int32_t signal, int sig_op, int pe)
{
    aclshmemi_put_signal_call("putmem_signal_nbi", dst, src, elem_size, 1, sig_addr, signal, sig_op, pe,
                              false);
}

#define ACLSHMEMI_PUT_SIGNAL_BITS(BITS)                                                                      \
    ACLSHMEM_DEVICE void aclshmem_put##BITS##_signal(__gm__ void *dst, __gm__ void *src, size_t nelems,      \
                                                     __gm__ int32_t *sig_addr, int32_t signal, int sig_op,   \
                                                     int pe)                                                 \
    {                                                                                                        \
        aclshmemi_put_signal_call("put" #BITS "_signal", dst, src, nelems, (BITS) / 8, sig_addr, signal,     \
                                  sig_op, pe, true);                                                         \
    }                                                                                                        \
    ACLSHMEM_DEVICE void aclshmem_put##BITS##_signal_nbi(__gm__ void *dst, __gm__ void *src, size_t nelems,  \
                                                         __gm__ int32_t *sig_addr, int32_t signal,           \
                                                         int sig_op, int pe)                                 \
    {                                                                                                        \
        aclshmemi_put_signal_call("put" #BITS "_signal_nbi", dst, src, nelems, (BITS) / 8, sig_addr, signal, \
                                  sig_op, pe, false);                                                        \
    }
ACLSHMEM_TYPES_BITS(ACLSHMEMI_PUT_SIGNAL_BITS)
#undef ACLSHMEMI_PUT_SIGNAL_BITS

/* Rows go by the engine that carries signals, so the signal comes behind them; where that is SDMA they are waited for. */
ACLSHMEM_DEVICE void aclshmemi_put_signal_rows(const char *call, __gm__ void *dst, __gm__ const void *src,
                                               const non_contiguous_copy_param *rows, size_t element_bytes,
                                               __gm__ int32_t *sig_addr, int32_t signal, int sig_op, int pe,
                                               bool wait)
{
    aclshmemi_signal_check(call, sig_addr, sig_op);
    aclshmemi_rows_t out = aclshmemi_rows_of(call, rows, element_bytes, pe);
    uint32_t engine = aclshmemi_put_rows(call, dst, src, &out, pe);
    if (engine == ACLSHMEM_TRANSPORT_SDMA)
        aclshmemi_engine_quiet(aclshmemi_state(call), call, engine);
    aclshmemi_signal(call, sig_addr, signal, sig_op, pe);
    if (wait)
        aclshmemi_quiet_core(call);
}

#define ACLSHMEMI_PUT_SIGNAL_TYPED(NAME, TYPE)                                                               \
    ACLSHMEM_DEVICE void aclshmem_##NAME##_put_signal(__gm__ TYPE *dst, __gm__ TYPE *src, size_t elem_size,  \
                                                      __gm__ int32_t *sig_addr, int32_t signal, int sig_op,  \
                                                      int pe)                                                \
    {                                                                                                        \
        aclshmemi_put_signal_call(#NAME "_put_signal", dst, src, elem_size, sizeof(TYPE), sig_addr, signal,  \
                                  sig_op, pe, true);                                                         \
    }                                                                                                        \
    ACLSHMEM_DEVICE void aclshmem_##NAME##_put_signal_nbi(__gm__ TYPE *dst, __gm__ TYPE *src,                \
                                                          size_t elem_size, __gm__ int32_t *sig_addr,        \
                                                          int32_t signal, int sig_op, int pe)                \
    {                                                                                                        \
        aclshmemi_put_signal_call(#NAME "_put_signal_nbi", dst, src, elem_size, sizeof(TYPE), sig_addr,      \
                                  signal, sig_op, pe, false);                                                \
    }                                                                                                        \
    ACLSHMEM_DEVICE void aclshmem_##NAME##_put_signal_rows(                                                  \
        __gm__ TYPE *dst, __gm__ TYPE *src, const non_contiguous_copy_param *rows, __gm__ int32_t *sig_addr, \
        int32_t signal, int sig_op, int pe)                                                                  \
    {                                                                                                        \
        aclshmemi_put_signal_rows(#NAME "_put_signal_rows", dst, src, rows, sizeof(TYPE), sig_addr, signal,  \
                                  sig_op, pe, true);                                                         \
    }                                                                                                        \
    ACLSHMEM_DEVICE void aclshmem_##NAME##_put_signal_nbi_rows(                                              \
        __gm__ TYPE *dst, __gm__ TYPE *src, const non_contiguous_copy_param *rows, __gm__ int32_t *sig_addr, \
        int32_t signal, int sig_op, int pe)                                                                  \
    {                                                                                                        \
        aclshmemi_put_signal_rows(#NAME "_put_signal_nbi_rows", dst, src, rows, sizeof(TYPE), sig_addr,      \
                                  signal, sig_op, pe, false);                                                \
    }
ACLSHMEM_TYPES_RMA(ACLSHMEMI_PUT_SIGNAL_TYPED)
#undef ACLSHMEMI_PUT_SIGNAL_TYPED

#endif
