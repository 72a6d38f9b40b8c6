/* SPDX-License-Identifier: Apache-2.0 */
/* Signals and waits for signals in the order of a stream. */
#define LOG_MODULE "rma"
#include <stdlib.h>

#include "host/data_plane/look.h"
#include "host/data_plane/shmem_host_so.h"
#include "host/data_plane/transfer.h"

/* --- Signals --- */

typedef struct signal_task {
    aclshmemi_task_t task;
    int32_t *word;
    int32_t signal;
    int op, pe;
} signal_task_t;

static const char signal_name[] = "signal_op_on_stream";

static int run_signal(aclshmemi_task_t *task)
{
    const signal_task_t *s = (const signal_task_t *)(const void *)task;
    return aclshmemi_signal(task->in, signal_name, s->word, s->signal, s->op, s->pe);
}

static int run_nothing(aclshmemi_task_t *task)
{
    (void)task;
    return 0;
}

/* Host code cannot touch the word: a copy stores it, from memory that the task behind the copy gives back. */
static int set_by_copy(const aclshmemi_target_t *target, signal_task_t *s)
{
    aclshmemi_task_t *task = &s->task;
    void *word = NULL;
    int rc = s->op == ACLSHMEM_SIGNAL_SET
                 ? aclshmemi_stream_aid_take(task->in, &task->aid)
                 : fail(ACLSHMEM_NOT_SUPPORTED,
                        "%s: an atomic add to device memory of PE %d needs a kernel on this runtime",
                        signal_name, s->pe);
    if (rc == 0 && task->aid->word == NULL) {
        rc = npu_host_alloc(sizeof(int32_t), &word);
        if (rc == 0)
            task->aid->word = word;
    }
    if (rc == 0) {
        *task->aid->word = s->signal;
        rc = npu_copy_async(target->mapped, task->aid->word, sizeof(int32_t), ACLSHMEMI_NPU_HOST_TO_DEVICE,
                            task->stream);
    }
    if (rc != 0) {
        aclshmemi_stream_aid_give(task->in, task->aid);
        free(s);
        return rc;
    }
    task->run = run_nothing;
    return aclshmemi_stream_task(task);
}

static int signal_on_stream(int32_t *word, int32_t signal, int op, int pe, aclshmemi_npu_stream_t stream)
{
    aclshmemi_instance_t *in = aclshmemi_current();
    aclshmemi_target_t target;
    TRY(aclshmemi_stream_enter(in, signal_name, &stream));
    TRY(aclshmemi_signal_check(signal_name, word, op));
    TRY(aclshmemi_reach_slowly(in, signal_name, word, sizeof *word, pe, &target));
    signal_task_t *s = malloc(sizeof *s);
    if (s == NULL)
        return fail(ACLSHMEM_MALLOC_FAILED, "%s: out of memory for the request", signal_name);
    *s = (signal_task_t){{run_signal, in, stream, NULL}, word, signal, op, pe};
    if (target.address == NULL && target.mapped != NULL)
        return set_by_copy(&target, s);
    return aclshmemi_stream_task(&s->task);
}

void aclshmemx_signal_op_on_stream(int32_t *sig_addr, int32_t signal, int sig_op, int pe, aclrtStream stream)
{
    (void)!signal_on_stream(sig_addr, signal, sig_op, pe, stream);
}

/* --- Waits --- */

typedef struct wait_task {
    aclshmemi_task_t task;
    aclshmemi_look_t look;
    int32_t value;
} wait_task_t;

static int run_wait(aclshmemi_task_t *task)
{
    const wait_task_t *w = (const wait_task_t *)(const void *)task;
    return aclshmemi_look_wait_all(&w->look, task->in->env.wait_timeout_ms);
}

static int wait_on_stream(const int32_t *word, int cmp, int32_t value, aclshmemi_npu_stream_t stream)
{
    static const char call[] = "signal_wait_until_on_stream";
    aclshmemi_instance_t *in = aclshmemi_current();
    aclshmemi_look_t look;
    TRY(aclshmemi_stream_enter(in, call, &stream));
    aclshmemi_signal_look(&look, call, word, cmp, &value);
    TRY(aclshmemi_look_check(&look, false));
    if (!in->touch)
        return fail(ACLSHMEM_NOT_SUPPORTED,
                    "%s: the host cannot see device memory on this runtime, so the wait needs a kernel",
                    call);
    wait_task_t *w = malloc(sizeof *w);
    if (w == NULL)
        return fail(ACLSHMEM_MALLOC_FAILED, "%s: out of memory for the request", call);
    *w = (wait_task_t){{run_wait, in, stream, NULL}, look, value};
    w->look.values = &w->value;
    return aclshmemi_stream_task(&w->task);
}

void aclshmemx_signal_wait_until_on_stream(int32_t *sig_addr, int cmp, int32_t cmp_val, aclrtStream stream)
{
    (void)!wait_on_stream(sig_addr, cmp, cmp_val, stream);
}
