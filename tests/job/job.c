/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs without a launcher. */
#include "job.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum { DEADLINE_MS = 120000 };

bool job_ends_suddenly;

#ifdef __SANITIZE_ADDRESS__
/* Asked when the process ends. A connection that a thread is just closing is in no list any more, and in no stack that the
 * search sees. */
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
    return job_ends_suddenly;
}
#endif

typedef struct start {
    job_t *job;
    int pe;
    job_body_t *body;
} start_t;

void job_init(job_t *job, int n_pes)
{
    memset(job, 0, sizeof *job);
    job->n_pes = n_pes;
    job->heap_bytes = UINT64_C(2) << 20;
    job->init_timeout_s = 30;
    job->control_timeout_s = 30;
    snprintf(job->ip_port, sizeof job->ip_port, "tcp://127.0.0.1:%u", t_free_port(AF_INET));
}

void job_device(void)
{
    aclError rc = aclInit(NULL);
    t_check(rc == ACL_SUCCESS || rc == ACL_ERROR_REPEAT_INITIALIZE);
    t_check_int(aclrtSetDevice(0), ACL_SUCCESS);
}

static void pe_main(void *argument)
{
    start_t *start = argument;
    job_device();
    start->body(start->job, start->pe);
}

void job_start(job_t *job, int pe, job_body_t *body)
{
    start_t start = {job, pe, body};
    t_start_function(&job->pe[pe], pe_main, &start);
}

void job_expect(job_t *job, int pe, int exit_code)
{
    t_finish(&job->pe[pe], DEADLINE_MS);
    t_check_exit(&job->pe[pe], exit_code);
    t_child_free(&job->pe[pe]);
}

void job_run(job_t *job, job_body_t *body)
{
    for (int pe = 0; pe < job->n_pes; pe++)
        job_start(job, pe, body);
    bool good = true;
    for (int pe = 0; pe < job->n_pes; pe++) {
        t_finish(&job->pe[pe], DEADLINE_MS);
        good = good && !job->pe[pe].timed_out && job->pe[pe].exit_code == 0;
    }
    /* The PE that gives up is seldom the one at fault: all of them tell. */
    for (int pe = 0; pe < job->n_pes && !good; pe++)
        fprintf(stderr, "PE %d %s %d\n--- its output\n%s--- its errors\n%s---\n", pe,
                job->pe[pe].timed_out ? "ran out of time, exit code" : "ended with", job->pe[pe].exit_code,
                job->pe[pe].out, job->pe[pe].err);
    t_check_that(good, "not all of %d PEs ended with 0", job->n_pes);
    for (int pe = 0; pe < job->n_pes; pe++)
        t_child_free(&job->pe[pe]);
}

aclshmemx_init_attr_t job_attr(const job_t *job, int pe)
{
    aclshmemx_init_attr_t attr = ACLSHMEMX_INIT_ATTR_INITIALIZER;
    attr.my_pe = pe;
    attr.n_pes = job->n_pes;
    memcpy(attr.ip_port, job->ip_port, sizeof attr.ip_port);
    attr.local_mem_size = job->heap_bytes;
    attr.option_attr.shm_init_timeout = job->init_timeout_s;
    attr.option_attr.control_operation_timeout = job->control_timeout_s;
    return attr;
}

void job_enter(const job_t *job, int pe)
{
    aclshmemx_init_attr_t attr = job_attr(job, pe);
    int rc = aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attr);
    t_check_that(rc == 0, "init of PE %d gave %d: %s", pe, rc, aclshmemx_last_error(NULL));
    t_check_int(aclshmemx_init_status(), ACLSHMEM_STATUS_IS_INITIALIZED);
    t_check_int(aclshmem_my_pe(), pe);
    t_check_int(aclshmem_n_pes(), job->n_pes);
}

void job_leave(void)
{
    int rc = aclshmem_finalize();
    t_check_that(rc == 0, "finalize gave %d: %s", rc, aclshmemx_last_error(NULL));
    t_check_int(aclshmemx_init_status(), ACLSHMEM_STATUS_NOT_INITIALIZED);
}

void job_check_error_at(const char *file, int line, int code, const char *part)
{
    int got = 0;
    const char *text = aclshmemx_last_error(&got);
    if (got != code || strstr(text, part) == NULL)
        t_fail_at(file, line, "last error is %d \"%s\", expected %d with \"%s\"", got, text, code, part);
}
