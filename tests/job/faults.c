/* SPDX-License-Identifier: Apache-2.0 */
/*
 * [I-28] Init with every device call failing in turn, on each PE of three: nobody hangs, nothing is left behind, and an
 * init right afterwards on the same port works.
 * [R-02] [R-10]
 */
#include <stdio.h>
#include <stdlib.h>

#include "job.h"

/* Calls of the device port that init makes; each is made to fail the first and the second time. */
static const char *const calls[] = {"open",   "device_current", "stream_create", "mem_create",
                                    "export", "reserve",        "map",           "import",
                                    "alloc",  "copy",           "fill"};

typedef struct plan {
    char fault[64];
    int victim;
} plan_t;

static void init_with_fault(job_t *job, int pe)
{
    const plan_t *plan = job->arg;
    const char *fault = plan->fault;
    aclshmemx_init_attr_t attr = job_attr(job, pe);
    job_enter(job, pe); /* opens what a process opens once */
    job_leave();
    if (pe == plan->victim)
        setenv("SHMEM_NPU_FAIL", fault, 1);
    setenv("SHMEM_CYCLE_PROF_PE", "1", 1); /* has memory of its own on the device */
    t_resources_t before = t_resources_now();
    aclshmemx_set_extern_logger(t_log_callback);
    uint64_t started = t_now_ms();
    int rc = aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attr);
    t_check_that(t_now_ms() - started < 100000, "%s: PE %d took %llu ms", fault, pe,
                 (unsigned long long)(t_now_ms() - started));
    aclshmemx_set_extern_logger(NULL);
    unsetenv("SHMEM_NPU_FAIL");
    if (rc != 0) {
        t_check_int(aclshmemx_init_status(), ACLSHMEM_STATUS_NOT_INITIALIZED);
        t_check_int(aclshmem_my_pe(), -1);
        t_resources_expect(&before, 2, 2048);
        job_enter(job, pe);
    } /* else a call that init does not reach here, or the victim failed before it met anybody and is here with its second try */
    t_check(aclshmem_malloc(64) != NULL);
    job_leave();
}

/* [H-32] [H-35] One PE cannot have host memory: nobody gets a block, with words, the device heap is as it was, and once the
 * memory is there it works. */
static void no_host_memory(job_t *job, int pe)
{
    if (pe == 1)
        setenv("SHMEM_NPU_FAIL", "mem_create:2", 1); /* the first is the device heap */
    job_enter(job, pe);
    void *device = aclshmem_malloc(4096);
    t_check(device != NULL);
    aclshmemx_set_extern_logger(t_log_callback);
    t_check(aclshmemx_malloc(4096, HOST_SIDE) == NULL);
    t_check(t_log_count(3) > 0);
    aclshmemx_set_extern_logger(NULL);
    t_check(aclshmemx_get_heap_base(HOST_SIDE) == NULL);
    aclshmem_free(device);
    t_check((device = aclshmem_malloc(4096)) != NULL);
    void *host = aclshmemx_malloc(4096, HOST_SIDE);
    t_check(host != NULL && aclshmemx_get_heap_base(HOST_SIDE) != NULL);
    aclshmemx_free(host, HOST_SIDE);
    job_leave();
}

static void run(const char *call, int nth, int victim)
{
    plan_t plan = {.victim = victim};
    job_t job;
    snprintf(plan.fault, sizeof plan.fault, "%s:%d", call, nth);
    job_init(&job, 3);
    job.control_timeout_s = job.init_timeout_s = 110; /* far from what a loaded machine takes */
    job.arg = &plan;
    job_run(&job, init_with_fault);
}

int main(void)
{
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        run(calls[i], 1, 0);
        run(calls[i], 1, 2);
        run(calls[i], 2, 1);
    }
    job_t job;
    job_init(&job, 2);
    job_run(&job, no_host_memory);
    return 0;
}
