/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels and the symmetric heap in host memory: what a KV cache that is moved out to the host does. The host then reads its
 * part without a copy.
 *
 *     aclshmemrun -n 4 host_heap
 */
#include "host_heap.h"
#include "operator.h"

enum { BYTES = 1 << 20, WORDS = BYTES / 4 };

static void make_block(uint32_t *block, int pe)
{
    for (uint32_t i = 0; i < WORDS; i++)
        block[i] = op_random((uint32_t)pe, i);
}

int main(void)
{
    op_t op = op_begin_job("host_heap");
    const size_t n = (size_t)op.n;
    host_heap_params_t a = {.device = op_symmetric(&op, BYTES),
                            .host = aclshmemx_malloc(n * BYTES, HOST_SIDE),
                            .back = op_symmetric(&op, 2 * n * BYTES),
                            .flags = op_symmetric(&op, n * 64),
                            .bytes = BYTES};
    uint32_t *block = op_host(&op, BYTES), *back = op_host(&op, 2 * n * BYTES);
    if (a.host == NULL)
        op_fail(&op, "no symmetric host memory: %s", aclshmemx_last_error(NULL));

    make_block(block, op.me);
    op_write(&op, a.device, block, BYTES);
    const double start = op_now_us();
    op_launch(&op, "host_heap", OP_BLOCKS, &a, sizeof a);
    op_sync(&op);
    const double took = op_now_us() - start;
    op_read(&op, back, a.back, 2 * n * BYTES);
    for (int pe = 0; pe < op.n; pe++) {
        make_block(block, pe);
        op.wrong += memcmp(a.host + (size_t)pe * BYTES, block, BYTES) != 0; /* host memory is read as it is */
        op.wrong += memcmp((char *)back + (size_t)(2 * pe) * BYTES, block, BYTES) != 0;
        make_block(block, op.me);
        op.wrong += memcmp((char *)back + (size_t)(2 * pe + 1) * BYTES, block, BYTES) != 0;
    }
    if (op.me == 0)
        printf("1 MiB to the host memory of every PE and back in %.0f us\n", took);
    free(block);
    free(back);
    aclshmem_free(a.flags);
    aclshmem_free(a.back);
    aclshmem_barrier_all(); /* nobody's kernel reads my host memory any more */
    aclshmemx_free(a.host, HOST_SIDE);
    aclshmem_free(a.device);
    return op_end(&op);
}
