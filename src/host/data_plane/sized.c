/* SPDX-License-Identifier: Apache-2.0 */
/* Put and get by the width of an element: counts have 32 bits, bytes have not. */
#define LOG_MODULE "rma"
#include "host/data_plane/shmem_host_rma.h"
#include "host/data_plane/transfer.h"

#define DEFINE_SIZED(BITS)                                                                                   \
    void aclshmem_put##BITS(void *dst, void *src, uint32_t elem_size, int32_t pe)                            \
    {                                                                                                        \
        aclshmemi_put_call("put" #BITS, dst, src, elem_size, (BITS) / 8, pe);                                \
    }                                                                                                        \
    void aclshmem_get##BITS(void *dst, void *src, uint32_t elem_size, int32_t pe)                            \
    {                                                                                                        \
        aclshmemi_get_call("get" #BITS, dst, src, elem_size, (BITS) / 8, pe);                                \
    }                                                                                                        \
    struct aclshmemi_needs_a_semicolon

ACLSHMEM_SIZE_FUNC(DEFINE_SIZED);
