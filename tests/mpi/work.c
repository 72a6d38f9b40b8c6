/* SPDX-License-Identifier: Apache-2.0 */
/* What every PE of these tests does between init and finalize. */
#include "work.h"

#include <string.h>

void work_device(void)
{
    aclError rc = aclInit(NULL);
    t_check(rc == ACL_SUCCESS || rc == ACL_ERROR_REPEAT_INITIALIZE);
    t_check_int(aclrtSetDevice(0), ACL_SUCCESS);
}

aclshmemx_init_attr_t work_attr(void *comm)
{
    aclshmemx_init_attr_t attr = ACLSHMEMX_INIT_ATTR_INITIALIZER;
    attr.my_pe = 0;
    attr.n_pes = 0;
    attr.local_mem_size = UINT64_C(2) << 20;
    attr.comm_args = comm;
    attr.option_attr.shm_init_timeout = 30;
    attr.option_attr.control_operation_timeout = 30;
    return attr;
}

void work_enter(void *comm, uint64_t instance)
{
    aclshmemx_init_attr_t attr = work_attr(comm);
    attr.instance_id = instance;
    int rc = aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_MPI, &attr);
    t_check_that(rc == 0, "init gave %d: %s", rc, aclshmemx_last_error(NULL));
    t_check_int(aclshmemx_init_status(), ACLSHMEM_STATUS_IS_INITIALIZED);
    memset(&attr, 0xff, sizeof attr); /* nothing of it is read again */
}

void work_leave(void)
{
    int rc = aclshmem_finalize();
    t_check_that(rc == 0, "finalize gave %d: %s", rc, aclshmemx_last_error(NULL));
}

void work_some(int tag)
{
    int me = aclshmem_my_pe(), n = aclshmem_n_pes();
    int64_t *row = aclshmem_calloc((size_t)n, sizeof *row);
    t_check(row != NULL && me >= 0 && me < n);
    for (int pe = 0; pe < n; pe++)
        aclshmem_int64_p(&row[me], tag * 1000 + me * 10 + pe, pe);
    aclshmem_barrier_all();
    for (int pe = 0; pe < n; pe++)
        t_check_int(row[pe], tag * 1000 + pe * 10 + me);
    aclshmem_free(row);
}

void work_check_error_at(const char *file, int line, int code, const char *part)
{
    int got = 0;
    const char *text = aclshmemx_last_error(&got);
    if (got != code || strstr(text, part) == NULL)
        t_fail_at(file, line, "last error is %d \"%s\", expected %d with \"%s\"", got, text, code, part);
}
