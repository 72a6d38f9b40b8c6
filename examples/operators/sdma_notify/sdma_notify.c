/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The DMA engine copies while nobody waits for it but a stream: a kernel starts the copies to the right neighbour, another
 * stream waits for the notifies behind them and then reads the data back from the neighbour.
 *
 *     aclshmemrun -n 4 sdma_notify
 */
#include "operator.h"

enum { BLOCKS = 8, ROUNDS = 10, BYTES = 4 << 20, WAIT_S = 60 };

typedef struct sdma_args {
    char *to, *from;
    uint64_t bytes;
    int32_t pe;
} sdma_args_t;

int main(void)
{
    aclshmemx_init_attr_t attr = ACLSHMEMX_INIT_ATTR_INITIALIZER;
    attr.local_mem_size = (uint64_t)64 << 20;
    attr.option_attr.data_op_engine_type =
        (data_op_engine_type_t)(ACLSHMEM_DATA_OP_MTE | ACLSHMEM_DATA_OP_SDMA);
    if (aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_LAUNCHER, &attr) != 0)
        return 1; /* the library has said why */
    op_t op = op_begin("sdma_notify");
    sdma_args_t a = {op_symmetric(&op, BYTES), op_symmetric(&op, BYTES), BYTES, (op.me + 1) % op.n};
    char *back = op_symmetric(&op, BYTES);
    uint32_t *host = op_host(&op, BYTES), *got = op_host(&op, BYTES);
    aclrtStream waiting = NULL;
    double best = 0;
    OP_ACL(&op, aclrtCreateStream(&waiting));

    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < BYTES / 4; i++)
            host[i] = op_random((uint32_t)op.me * 100 + round, i);
        op_write(&op, a.from, host, BYTES);
        const double start = op_now_us();
        op_launch(&op, "sdma_notify", BLOCKS, &a, sizeof a);
        for (uint32_t core = 0; core < BLOCKS; core++) {
            aclrtNotify notify = aclshmemx_sdma_notify(core);
            if (notify == NULL)
                op_fail(&op, "%s", aclshmemx_last_error(NULL));
            OP_ACL(&op, aclrtWaitAndResetNotify(notify, waiting, WAIT_S));
        }
        aclshmemx_getmem_on_stream(back, a.to, BYTES, a.pe, waiting);
        OP_ACL(&op, aclrtSynchronizeStream(waiting));
        const double took = op_now_us() - start;
        best = best == 0 || took < best ? took : best;
        op_sync(&op);
        op_read(&op, got, back, BYTES);
        op.wrong += memcmp(got, host, BYTES) != 0;
    }
    if (op.me == 0)
        printf("%d MiB by %d queues to the neighbour, noticed and read back in %.0f us\n", BYTES >> 20,
               BLOCKS, best);
    OP_ACL(&op, aclrtDestroyStream(waiting));
    free(host);
    free(got);
    aclshmem_free(back);
    aclshmem_free(a.from);
    aclshmem_free(a.to);
    return op_end(&op);
}
