/* SPDX-License-Identifier: Apache-2.0 */
/* A program that knows nothing of MPI and meets by it all the same: SHMEM starts and ends MPI. [M-02] */
#include <stdio.h>
#include <string.h>

#include "work.h"

int main(int argc, char **argv)
{
    int n = 0;
    (void)argc;
    work_device();
    if (strcmp(argv[1], "missing") == 0) { /* [M-05] [B-21] */
        aclshmemx_init_attr_t attr = work_attr(NULL);
        aclshmemx_set_extern_logger(t_log_callback);
        t_check_int(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_MPI, &attr), ACLSHMEM_INVALID_VALUE);
        work_check_error(ACLSHMEM_INVALID_VALUE, "no MPI bootstrap plug-in");
        work_check_error(ACLSHMEM_INVALID_VALUE, "no_such_plugin.so");
        t_check_int(aclshmemx_init_status(), ACLSHMEM_STATUS_NOT_INITIALIZED);
        return 0;
    }
    t_check_int(sscanf(argv[1], "%d", &n), 1);
    work_enter(NULL, 0);
    t_check_int(aclshmem_n_pes(), n);
    work_some(1);
    work_leave();
    aclshmemx_init_attr_t attr = work_attr(NULL);
    aclshmemx_set_extern_logger(t_log_callback);
    t_check_int(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_MPI, &attr), ACLSHMEM_INNER_ERROR);
    work_check_error(ACLSHMEM_INNER_ERROR, "cannot be started again");
    return 0;
}
