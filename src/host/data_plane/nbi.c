/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls that need not be complete when they return. Where memory is shared they are, since the caller's own copy is
 * the fastest there is; a transport takes its puts along and quiet waits for them.
 */
#define LOG_MODULE "rma"
#include "host/data_plane/shmem_host_rma.h"
#include "host/data_plane/shmem_host_so.h"
#include "host/data_plane/transfer.h"

void aclshmem_putmem_nbi(void *dst, void *src, size_t elem_size, int32_t pe)
{
    aclshmemi_put_call("putmem_nbi", dst, src, elem_size, 1, pe);
}

void aclshmem_getmem_nbi(void *dst, void *src, size_t elem_size, int32_t pe)
{
    aclshmemi_get_call("getmem_nbi", dst, src, elem_size, 1, pe);
}

void aclshmemx_putmem_signal_nbi(void *dst, void *src, size_t elem_size, void *sig_addr, int32_t signal,
                                 int sig_op, int pe)
{
    aclshmemi_put_signal_call("putmem_signal_nbi", dst, src, elem_size, 1, sig_addr, signal, sig_op, pe);
}

#define DEFINE_TYPED(NAME, TYPE)                                                                             \
    void aclshmem_##NAME##_put_nbi(TYPE *dest, TYPE *source, size_t nelems, int pe)                          \
    {                                                                                                        \
        aclshmemi_put_call(#NAME "_put_nbi", dest, source, nelems, sizeof(TYPE), pe);                        \
    }                                                                                                        \
    void aclshmem_##NAME##_get_nbi(TYPE *dest, TYPE *source, size_t nelems, int pe)                          \
    {                                                                                                        \
        aclshmemi_get_call(#NAME "_get_nbi", dest, source, nelems, sizeof(TYPE), pe);                        \
    }                                                                                                        \
    void aclshmem_##NAME##_put_signal_nbi(TYPE *dst, TYPE *src, size_t elem_size, uint8_t *sig_addr,         \
                                          int32_t signal, int sig_op, int pe)                                \
    {                                                                                                        \
        aclshmemi_put_signal_call(#NAME "_put_signal_nbi", dst, src, elem_size, sizeof(TYPE), sig_addr,      \
                                  signal, sig_op, pe);                                                       \
    }                                                                                                        \
    struct aclshmemi_needs_a_semicolon

#define DEFINE_SIZED(BITS)                                                                                   \
    void aclshmem_put##BITS##_nbi(void *dst, void *src, uint32_t elem_size, int32_t pe)                      \
    {                                                                                                        \
        aclshmemi_put_call("put" #BITS "_nbi", dst, src, elem_size, (BITS) / 8, pe);                         \
    }                                                                                                        \
    void aclshmem_get##BITS##_nbi(void *dst, void *src, uint32_t elem_size, int32_t pe)                      \
    {                                                                                                        \
        aclshmemi_get_call("get" #BITS "_nbi", dst, src, elem_size, (BITS) / 8, pe);                         \
    }                                                                                                        \
    void aclshmem_put##BITS##_signal_nbi(void *dst, void *src, size_t nelems, int32_t *sig_addr,             \
                                         int32_t signal, int sig_op, int pe)                                 \
    {                                                                                                        \
        aclshmemi_put_signal_call("put" #BITS "_signal_nbi", dst, src, nelems, (BITS) / 8, sig_addr, signal, \
                                  sig_op, pe);                                                               \
    }                                                                                                        \
    struct aclshmemi_needs_a_semicolon

ACLSHMEM_TYPE_FUNC(DEFINE_TYPED);
ACLSHMEM_SIZE_FUNC(DEFINE_SIZED);
