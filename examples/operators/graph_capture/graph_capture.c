/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Captures a step that communicates, three kernels and a copy, and replays it without the host in between: the result is
 * that of launching everything by hand.
 *
 *     aclshmemrun -n 3 graph_capture
 */
#include "acl/acl_mdl.h"

#include "operator.h"

enum { COUNT = 1000, KERNELS = 3, REPLAYS = 50 };

typedef struct ring_args {
    uint64_t *mine, *inbox;
    int32_t count;
} ring_args_t;

static void enqueue_step(const op_t *op, const ring_args_t *a, uint64_t *copy)
{
    for (int i = 0; i < KERNELS; i++)
        op_launch(op, "ring_step", 4, a, sizeof *a);
    OP_ACL(op, aclrtMemcpyAsync(copy, COUNT * sizeof *copy, a->mine, COUNT * sizeof *copy,
                                ACL_MEMCPY_DEVICE_TO_DEVICE, op->stream));
}

static void start_values(const op_t *op, const ring_args_t *a, uint64_t *host)
{
    for (int i = 0; i < COUNT; i++)
        host[i] = (uint64_t)(op->me * COUNT + i + 1);
    op_write(op, a->mine, host, COUNT * sizeof *host);
    memset(host, 0, COUNT * sizeof *host);
    op_write(op, a->inbox, host, COUNT * sizeof *host);
    aclshmem_barrier_all();
}

int main(void)
{
    op_t op = op_begin_job("graph_capture");
    ring_args_t a = {op_symmetric(&op, COUNT * sizeof(uint64_t)), op_symmetric(&op, COUNT * sizeof(uint64_t)),
                     COUNT};
    uint64_t *copy = op_symmetric(&op, COUNT * sizeof *copy);
    uint64_t *host = op_host(&op, COUNT * sizeof *host), *by_hand = op_host(&op, COUNT * sizeof *by_hand);
    aclmdlRI graph = NULL;

    start_values(&op, &a, host);
    double start = op_now_us();
    for (int i = 0; i < REPLAYS; i++)
        enqueue_step(&op, &a, copy);
    op_sync(&op);
    const double launched = op_now_us() - start;
    op_read(&op, by_hand, copy, COUNT * sizeof *by_hand);

    start_values(&op, &a, host);
    OP_ACL(&op, aclmdlRICaptureBegin(op.stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    enqueue_step(&op, &a, copy); /* recorded, not run */
    OP_ACL(&op, aclmdlRICaptureEnd(op.stream, &graph));
    start = op_now_us();
    for (int i = 0; i < REPLAYS; i++)
        OP_ACL(&op, aclmdlRIExecuteAsync(graph, op.stream));
    op_sync(&op);
    const double replayed = op_now_us() - start;
    op_read(&op, host, copy, COUNT * sizeof *host);
    OP_ACL(&op, aclmdlRIDestroy(graph));

    for (int i = 0; i < COUNT; i++)
        op.wrong += host[i] != by_hand[i] || by_hand[i] == 0;
    if (op.me == 0)
        printf("%d steps of %d kernels and a copy: launched in %.0f us, replayed in %.0f us\n", REPLAYS,
               KERNELS, launched, replayed);
    free(host);
    free(by_hand);
    aclshmem_free(copy);
    aclshmem_free(a.inbox);
    aclshmem_free(a.mine);
    return op_end(&op);
}
