/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Put, get and quiet in the order of a stream. Where the PE's memory is mapped these are copies of the device runtime, which
 * a graph can record and replay: nothing they use is used up by the first run. Elsewhere a task hands them to the transport.
 */
#define LOG_MODULE "rma"
#include <stdlib.h>

#include "host/data_plane/shmem_host_rma.h"
#include "host/data_plane/transfer.h"

/* A transfer on its way to a transport. */
typedef struct transfer {
    aclshmemi_task_t task;
    aclshmemi_target_t target;
    void *to;
    const void *from;
    size_t bytes;
} transfer_t;

static int run_put(aclshmemi_task_t *task)
{
    const transfer_t *t = (const transfer_t *)(const void *)task;
    return t->target.transport->ops.put(t->target.transport, t->target.remote, t->from, t->bytes);
}

static int run_get(aclshmemi_task_t *task)
{
    const transfer_t *t = (const transfer_t *)(const void *)task;
    return t->target.transport->ops.get(t->target.transport, t->to, t->target.remote, t->bytes);
}

static int by_transport(const char *call, const transfer_t *what)
{
    transfer_t *t = malloc(sizeof *t);
    if (t == NULL)
        return fail(ACLSHMEM_MALLOC_FAILED, "%s: out of memory for the request", call);
    *t = *what;
    return aclshmemi_stream_task(&t->task);
}

/* Wakes who sleeps on the memory that the copies before have written to. */
static void wake(void *bell)
{
    if (__atomic_load_n(&((aclshmemi_doorbell_t *)bell)->sleepers, __ATOMIC_RELAXED) != 0)
        aclshmemi_doorbell_ring(bell);
}

static int put_on_stream(void *dst, const void *src, size_t bytes, int pe, aclshmemi_npu_stream_t stream)
{
    static const char call[] = "putmem_on_stream";
    aclshmemi_instance_t *in = aclshmemi_current();
    aclshmemi_target_t target;
    TRY(aclshmemi_stream_enter(in, call, &stream));
    if (bytes == 0)
        return aclshmemi_check_pe(in, call, pe);
    TRY(aclshmemi_check_local(call, src, bytes, 1, false, &bytes));
    TRY(aclshmemi_reach_slowly(in, call, dst, bytes, pe, &target));
    if (target.mapped == NULL)
        return by_transport(call, &(transfer_t){{run_put, in, stream, NULL}, target, NULL, src, bytes});
    TRY(npu_copy_async(target.mapped, src, bytes,
                       target.remote.place == ACLSHMEMI_NPU_ON_DEVICE ? ACLSHMEMI_NPU_DEVICE_TO_DEVICE
                                                                      : ACLSHMEMI_NPU_DEVICE_TO_HOST,
                       stream));
    aclshmemi_stream_used(in, stream);
    return in->touch ? npu_stream_call(stream, wake, &aclshmemi_control_of(in, pe)->bell) : 0;
}

static int get_on_stream(void *dst, const void *src, size_t bytes, int pe, aclshmemi_npu_stream_t stream)
{
    static const char call[] = "getmem_on_stream";
    aclshmemi_instance_t *in = aclshmemi_current();
    aclshmemi_target_t target;
    TRY(aclshmemi_stream_enter(in, call, &stream));
    if (bytes == 0)
        return aclshmemi_check_pe(in, call, pe);
    TRY(aclshmemi_check_local(call, dst, bytes, 1, true, &bytes));
    TRY(aclshmemi_reach_slowly(in, call, src, bytes, pe, &target));
    if (target.mapped == NULL)
        return by_transport(call, &(transfer_t){{run_get, in, stream, NULL}, target, dst, NULL, bytes});
    TRY(npu_copy_async(dst, target.mapped, bytes,
                       target.remote.place == ACLSHMEMI_NPU_ON_DEVICE ? ACLSHMEMI_NPU_DEVICE_TO_DEVICE
                                                                      : ACLSHMEMI_NPU_HOST_TO_DEVICE,
                       stream));
    aclshmemi_stream_used(in, stream);
    return 0;
}

void aclshmemx_putmem_on_stream(void *dst, void *src, size_t elem_size, int32_t pe, aclrtStream stream)
{
    (void)!put_on_stream(dst, src, elem_size, pe, stream);
}

void aclshmemx_getmem_on_stream(void *dst, void *src, size_t elem_size, int32_t pe, aclrtStream stream)
{
    (void)!get_on_stream(dst, src, elem_size, pe, stream);
}

static int run_quiet(aclshmemi_task_t *task)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return aclshmemi_transport_quiet(&task->in->transports);
}

static int quiet_on_stream(aclshmemi_npu_stream_t stream)
{
    aclshmemi_instance_t *in = aclshmemi_current();
    TRY(aclshmemi_stream_enter(in, "quiet_on_stream", &stream));
    aclshmemi_task_t *task = malloc(sizeof *task);
    if (task == NULL)
        return fail(ACLSHMEM_MALLOC_FAILED, "quiet_on_stream: out of memory for the request");
    *task = (aclshmemi_task_t){run_quiet, in, stream, NULL};
    return aclshmemi_stream_task_after_own(task);
}

void aclshmemx_quiet_on_stream(aclrtStream stream)
{
    (void)!quiet_on_stream(stream);
}

int aclshmemx_stream_status(aclrtStream stream)
{
    aclshmemi_instance_t *in = aclshmemi_current();
    if (in->n_pes == 0)
        return aclshmemi_instance_missing("stream_status");
    return aclshmemi_stream_take_failure(in, stream != NULL ? stream : in->stream);
}
