/* SPDX-License-Identifier: Apache-2.0 */
/* One PE that uses MPI itself. The argument names the scenario; jobs.c starts it. Built for each MPI. */
#include "mpi_pe.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

int mpi_rank, mpi_size;

void begin(int level)
{
    int provided;
    t_check_int(MPI_Init_thread(NULL, NULL, level, &provided), MPI_SUCCESS);
    MPI_Comm_rank(MPI_COMM_WORLD, &mpi_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &mpi_size);
}

void quiet_log(bool quiet)
{
    aclshmemx_set_extern_logger(quiet ? t_log_callback : NULL);
}

void check_mpi_works(void)
{
    int sum = 0;
    t_check_int(MPI_Allreduce(&mpi_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
    t_check_int(sum, mpi_size * (mpi_size - 1) / 2);
}

/* Attributes that name the place. */
static aclshmemx_init_attr_t full_attr(int pe, int n_pes)
{
    aclshmemx_init_attr_t attr = work_attr(NULL);
    attr.my_pe = pe;
    attr.n_pes = n_pes;
    return attr;
}

static void expect_refusal(aclshmemx_init_attr_t attr, int code, const char *words)
{
    uint64_t started = t_now_ms();
    quiet_log(true);
    t_check_int(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_MPI, &attr), code);
    work_check_error(code, words);
    t_check_int(aclshmemx_init_status(), ACLSHMEM_STATUS_NOT_INITIALIZED);
    t_check(t_now_ms() - started < 20000); /* and not by a deadline */
    quiet_log(false);
}

/* [M-01] The program's own MPI, before, between and after several rounds; numbers given and taken. */
static void scenario_user(void)
{
    MPI_Comm world = MPI_COMM_WORLD;
    begin(MPI_THREAD_MULTIPLE);
    for (int round = 0; round < 3; round++) {
        aclshmemx_init_attr_t attr = full_attr(mpi_rank, mpi_size);
        t_check_int(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_MPI, &attr), 0);
        work_some(round);
        check_mpi_works();
        work_leave();
        work_enter(&world, 0);
        t_check_int(aclshmem_my_pe(), mpi_rank);
        work_some(round + 10);
        work_leave();
        check_mpi_works();
    }
    MPI_Finalize();
}

/* [M-02] SHMEM starts MPI, the program uses it, SHMEM ends it. */
static void scenario_ours(void)
{
    int flag = 0;
    work_enter(NULL, 0);
    t_check(MPI_Initialized(&flag) == MPI_SUCCESS && flag);
    MPI_Comm_rank(MPI_COMM_WORLD, &mpi_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &mpi_size);
    check_mpi_works();
    work_enter(NULL, 3);
    work_leave();
    t_check(MPI_Finalized(&flag) == MPI_SUCCESS && !flag); /* one instance is left */
    work_some(4);
    work_leave();
    t_check(MPI_Finalized(&flag) == MPI_SUCCESS && flag);
    expect_refusal(work_attr(NULL), ACLSHMEM_INNER_ERROR, "cannot be started again");
}

/* [M-03] Groups by communicators that are freed at once; the world beside them; an id through the group. */
static void scenario_split(void)
{
    MPI_Comm group;
    begin(MPI_THREAD_MULTIPLE);
    work_enter(NULL, 0);
    for (int round = 0; round < 5; round++) {
        MPI_Comm_split(MPI_COMM_WORLD, mpi_rank % 2, -mpi_rank, &group); /* numbers run backwards */
        work_enter(&group, 1 + (uint64_t)(mpi_rank % 2));
        MPI_Comm_free(&group);
        t_check_int(aclshmem_n_pes(), (mpi_size + 1 - mpi_rank % 2) / 2);
        t_check_int(aclshmem_my_pe(), aclshmem_n_pes() - 1 - mpi_rank / 2);
        work_some(100 + mpi_rank % 2);
        t_check_int(aclshmemx_instance_ctx_set(0), 0);
        work_some(3);
        t_check_int(aclshmemx_finalize(1 + (uint64_t)(mpi_rank % 2)), 0);
    }
    for (int round = 0; round < 20; round++) {
        aclshmemx_uniqueid_t id;
        aclshmemx_init_attr_t attr = work_attr(NULL);
        int pe, n;
        MPI_Comm_split(MPI_COMM_WORLD, mpi_rank % 2, mpi_rank, &group);
        MPI_Comm_rank(group, &pe);
        MPI_Comm_size(group, &n);
        memset(&id, 0, sizeof id);
        if (pe == 0)
            t_check_int(aclshmemx_get_uniqueid(&id), 0);
        MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, group);
        t_check_int(aclshmemx_set_attr_uniqueid_args(pe, n, 2 << 20, &id, &attr), 0);
        attr.instance_id = 7;
        int rc = aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_UNIQUEID, &attr);
        t_check_that(rc == 0, "init by id gave %d: %s", rc, aclshmemx_last_error(NULL));
        work_some(round);
        work_leave();
        MPI_Comm_free(&group);
    }
    work_leave();
    MPI_Finalize();
}

/* [M-06] Whoever is wrong, all PEs are told at once; then it works. */
static void scenario_wrong(void)
{
    MPI_Comm null = MPI_COMM_NULL;
    begin(MPI_THREAD_MULTIPLE);
    expect_refusal(full_attr(mpi_size - 1 - mpi_rank, mpi_size), ACLSHMEM_INVALID_VALUE, "say PE");
    expect_refusal(full_attr(mpi_rank, mpi_rank == 1 ? mpi_size + 1 : mpi_size), ACLSHMEM_INVALID_VALUE,
                   "rank 1");
    expect_refusal(work_attr(&null), ACLSHMEM_INVALID_PARAM, "MPI_COMM_NULL");
    aclshmemx_init_attr_t attr = full_attr(mpi_rank, mpi_size);
    attr.local_mem_size *= 1 + (uint64_t)mpi_rank;
    expect_refusal(attr, ACLSHMEM_INVALID_PARAM, "local_mem_size");
    work_enter(NULL, 0);
    quiet_log(true);
    uint64_t started = t_now_ms();
    t_check(aclshmem_malloc(64 * (1 + (size_t)mpi_rank)) == NULL);
    work_check_error(ACLSHMEM_INVALID_PARAM, "PE 0 calls malloc");
    t_check(t_now_ms() - started < 20000);
    quiet_log(false);
    work_some(1);
    work_leave();
    MPI_Finalize();
}

/* [M-07] */
static void scenario_exit(void)
{
    begin(MPI_THREAD_MULTIPLE);
    work_enter(NULL, 0);
    aclshmem_barrier_all();
    if (mpi_rank == 1)
        aclshmem_global_exit(3);
    for (;;)
        pause(); /* ended from outside */
}

/* [M-08] MPI only carries the id. */
static void scenario_id(void)
{
    aclshmemx_uniqueid_t id;
    aclshmemx_init_attr_t attr = work_attr(NULL);
    begin(MPI_THREAD_MULTIPLE);
    memset(&id, 0, sizeof id);
    if (mpi_rank == 0)
        t_check_int(aclshmemx_get_uniqueid(&id), 0);
    MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
    t_check_int(aclshmemx_set_attr_uniqueid_args(mpi_rank, mpi_size, 2 << 20, &id, &attr), 0);
    t_check_int(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_UNIQUEID, &attr), 0);
    work_some(1);
    work_leave();
    MPI_Finalize();
}

static void *init_in_a_thread(void *argument)
{
    (void)argument;
    work_device();
    expect_refusal(work_attr(NULL), ACLSHMEM_INNER_ERROR, "MPI_THREAD_FUNNELED");
    return NULL;
}

/* A level that forbids the call is a sentence, and the right thread works. */
static void scenario_thread(void)
{
    pthread_t thread;
    begin(MPI_THREAD_FUNNELED);
    int level;
    MPI_Query_thread(&level);
    if (level == MPI_THREAD_FUNNELED) {
        t_check_int(pthread_create(&thread, NULL, init_in_a_thread, NULL), 0);
        t_check_int(pthread_join(thread, NULL), 0);
    }
    work_enter(NULL, 0);
    work_some(1);
    work_leave();
    MPI_Finalize();
}

/* A PE that does not come to a collective is an error of the others in time. */
static void scenario_absent(void)
{
    begin(MPI_THREAD_MULTIPLE);
    aclshmemx_init_attr_t attr = work_attr(NULL);
    attr.option_attr.control_operation_timeout = 1;
    t_check_int(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_MPI, &attr), 0);
    if (mpi_rank == 0) {
        quiet_log(true);
        t_check(aclshmem_malloc(64) == NULL);
        work_check_error(ACLSHMEM_SMEM_ERROR, "not all PEs take part");
        t_check_int(aclshmem_finalize(), ACLSHMEM_SMEM_ERROR);
        t_check_int(aclshmemx_init_status(), ACLSHMEM_STATUS_NOT_INITIALIZED);
        MPI_Abort(MPI_COMM_WORLD, 7);
    }
    for (;;)
        pause();
}

/* [T-27] Certificates that go unused are worth a warning; their absence is not. */
static void scenario_tls(void)
{
    static const char info[] = "tlsCaPath : /nowhere; tlsCaFile : a.pem; tlsCert : /nowhere/b.pem";
    begin(MPI_THREAD_MULTIPLE);
    quiet_log(true);
    work_enter(NULL, 0);
    work_leave();
    t_log_expect_clean();
    t_check_int(aclshmemx_set_conf_store_tls(true, info, sizeof info - 1), 0);
    work_enter(NULL, 0);
    work_leave();
    t_log_expect("certificates were set");
    MPI_Finalize();
}

/* A plug-in for another MPI was named. */
static void scenario_other(void)
{
    begin(MPI_THREAD_MULTIPLE);
    expect_refusal(work_attr(NULL), ACLSHMEM_INVALID_VALUE, "no MPI bootstrap plug-in");
    check_mpi_works();
    MPI_Finalize();
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } scenarios[] = {
        {"user", scenario_user},         {"ours", scenario_ours},     {"split", scenario_split},
        {"wrong", scenario_wrong},       {"exit", scenario_exit},     {"id", scenario_id},
        {"thread", scenario_thread},     {"absent", scenario_absent}, {"tls", scenario_tls},
        {"ended", scenario_ended},       {"first", scenario_first},   {"crossed", scenario_crossed},
        {"launcher", scenario_launcher}, {"other", scenario_other},
    };
    work_device();
    for (size_t i = 0; argc == 2 && i < sizeof scenarios / sizeof scenarios[0]; i++)
        if (strcmp(argv[1], scenarios[i].name) == 0) {
            scenarios[i].run();
            return 0;
        }
    return 2;
}
