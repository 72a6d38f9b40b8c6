/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The RDMA engine from a kernel: work queues that a proxy thread of the PE drains. Inside one host it moves the data itself.
 *
 *     aclshmemrun -n 4 rdma_demo
 */
#include "operator.h"

enum { BYTES = 256 << 10 };

typedef struct rdma_args {
    char *inbox, *mine, *back;
    uint64_t bytes;
    int32_t *arrived;
} rdma_args_t;

int main(void)
{
    aclshmemx_init_attr_t attr = ACLSHMEMX_INIT_ATTR_INITIALIZER;
    attr.local_mem_size = (uint64_t)64 << 20;
    attr.option_attr.data_op_engine_type =
        (data_op_engine_type_t)(ACLSHMEM_DATA_OP_MTE | ACLSHMEM_DATA_OP_ROCE);
    if (aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_LAUNCHER, &attr) != 0)
        return 1; /* the library has said why */
    op_t op = op_begin("rdma_demo");
    const size_t all = (size_t)op.n * BYTES;
    rdma_args_t a = {op_symmetric(&op, all), op_symmetric(&op, BYTES), op_symmetric(&op, all), BYTES,
                     op_symmetric(&op, 64)};
    uint32_t *host = op_host(&op, BYTES), *got = op_host(&op, all);

    for (uint32_t i = 0; i < BYTES / 4; i++)
        host[i] = op_random((uint32_t)op.me, i);
    op_write(&op, a.mine, host, BYTES);
    const double start = op_now_us();
    op_launch(&op, "rdma_demo", 1, &a, sizeof a);
    op_sync(&op);
    const double took = op_now_us() - start;
    op_read(&op, got, a.back, all); /* mine, from everybody */
    for (int pe = 0; pe < op.n; pe++)
        op.wrong += memcmp((char *)got + (size_t)pe * BYTES, host, BYTES) != 0;
    op_read(&op, got, a.inbox, all); /* everybody's, at mine */
    for (int pe = 0; pe < op.n; pe++) {
        for (uint32_t i = 0; i < BYTES / 4; i++)
            host[i] = op_random((uint32_t)pe, i);
        op.wrong += memcmp((char *)got + (size_t)pe * BYTES, host, BYTES) != 0;
    }
    if (op.me == 0)
        printf("%d KiB to every PE and back over ROCE in %.0f us\n", BYTES >> 10, took);
    free(host);
    free(got);
    aclshmem_free(a.arrived);
    aclshmem_free(a.back);
    aclshmem_free(a.mine);
    aclshmem_free(a.inbox);
    return op_end(&op);
}
