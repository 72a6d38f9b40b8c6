/* SPDX-License-Identifier: Apache-2.0 */
/* Orders of init and finalize between MPI and SHMEM. */
/* */
#include "mpi_pe.h"

/* [M-04] */
void scenario_ended(void)
{
    begin(MPI_THREAD_SINGLE);
    MPI_Finalize();
    aclshmemx_init_attr_t attr = work_attr(NULL);
    quiet_log(true);
    t_check_int(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_MPI, &attr), ACLSHMEM_INNER_ERROR);
    work_check_error(ACLSHMEM_INNER_ERROR, "already ended");
    t_check_int(aclshmemx_init_status(), ACLSHMEM_STATUS_NOT_INITIALIZED);
}

/* MPI is ended first: SHMEM's memory lives on, collectives of the control plane say why not, finalize is content. */
void scenario_first(void)
{
    begin(MPI_THREAD_MULTIPLE);
    work_enter(NULL, 0);
    work_enter(NULL, 5);
    int32_t *word = aclshmem_calloc(1, sizeof *word);
    t_check(word != NULL);
    MPI_Finalize();
    int me = aclshmem_my_pe(), n = aclshmem_n_pes();
    aclshmem_int32_p(word, me + 1, (me + 1) % n);
    aclshmem_barrier_all();
    t_check_int(*word, (me + n - 1) % n + 1);
    quiet_log(true);
    t_check(aclshmem_malloc(64) == NULL);
    work_check_error(ACLSHMEM_SMEM_ERROR, "MPI was ended");
    quiet_log(false);
    aclshmem_barrier_all();
    work_leave();
    work_leave();
    t_check_int(aclshmemx_init_status(), ACLSHMEM_STATUS_NOT_INITIALIZED);
}

/* Half of the PEs end MPI first, half SHMEM. */
void scenario_crossed(void)
{
    begin(MPI_THREAD_MULTIPLE);
    work_enter(NULL, 0);
    work_some(1);
    if (mpi_rank % 2 == 0)
        work_leave();
    MPI_Finalize();
    if (mpi_rank % 2 != 0)
        work_leave();
}

/* LAUNCHER mode in a program that also uses MPI, in each order. */
void scenario_launcher(void)
{
    t_check_int(aclshmemx_init(), 0);
    begin(MPI_THREAD_MULTIPLE);
    t_check_int(aclshmem_my_pe(), mpi_rank);
    work_some(1);
    check_mpi_works();
    work_leave();
    t_check_int(aclshmemx_init(), 0);
    work_enter(NULL, 1);
    work_some(2);
    work_leave();
    check_mpi_works();
    MPI_Finalize();
    work_some(3);
    work_leave();
}
