/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the PEs are given: variables, descriptors, the secret, a folder; and what they are not given.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run_support.h"

static void names_of_a_pe(void **state)
{
    (void)state;
    result_t r = run_job(NULL, "-n", "3", "--tag", PE, "env", "SHMEM_PE", "SHMEM_NPES", "SHMEM_LOCAL_PE",
                         "SHMEM_LOCAL_NPES", "SHMEM_NODE", "SHMEM_NNODES", "SHMEM_RESTART_COUNT", "PMI_RANK",
                         "PMI_SIZE", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR",
                         "PYTHONUNBUFFERED", "OMP_NUM_THREADS", NULL);
    assert_code(r, 0);
    for (int pe = 0; pe < 3; pe++) {
        static const char *const own[] = {"SHMEM_PE", "SHMEM_LOCAL_PE", "PMI_RANK", "RANK", "LOCAL_RANK"};
        static const char *const equal[] = {
            "SHMEM_NPES=3",       "SHMEM_LOCAL_NPES=3",    "SHMEM_NODE=0",       "SHMEM_NNODES=1",
            "PMI_SIZE=3",         "WORLD_SIZE=3",          "LOCAL_WORLD_SIZE=3", "MASTER_ADDR=127.0.0.1",
            "PYTHONUNBUFFERED=1", "SHMEM_RESTART_COUNT=0", "OMP_NUM_THREADS=1"};
        char line[96];
        for (size_t i = 0; i < 5; i++) {
            snprintf(line, sizeof(line), "%d: %s=%d\n", pe, own[i], pe);
            assert_has(r.out, line);
        }
        for (size_t i = 0; i < sizeof(equal) / sizeof(equal[0]); i++) {
            snprintf(line, sizeof(line), "%d: %s\n", pe, equal[i]);
            assert_has(r.out, line);
        }
    }
    run_free(&r);
}

static void job_name_and_port(void **state)
{
    (void)state;
    result_t a = run_job(NULL, "-n", "2", PE, "env", "SHMEM_JOB_ID", "MASTER_PORT", NULL);
    result_t b = run_job(NULL, "-n", "1", PE, "env", "SHMEM_JOB_ID", "MASTER_PORT", NULL);
    char *half = strstr(a.out, "MASTER_PORT");
    assert_non_null(half);
    half = strchr(half, '\n') + 1;
    size_t length = (size_t)(half - a.out);
    assert_int_equal(a.out_bytes, 2 * length); /* both PEs have the same ones */
    assert_memory_equal(a.out, half, length);
    assert_true(strcmp(half, b.out) != 0); /* another job has others */
    assert_has(a.out, "SHMEM_JOB_ID=");
    int port = atoi(strstr(b.out, "MASTER_PORT=") + 12);
    assert_true(port > 1024 && port < 65536);
    run_free(&a);
    run_free(&b);
}

static void what_the_user_set_stays(void **state)
{
    (void)state;
    setenv("MASTER_ADDR", "10.0.0.1", 1);
    setenv("MASTER_PORT", "1234", 1);
    setenv("OMP_NUM_THREADS", "5", 1);
    setenv("PYTHONUNBUFFERED", "", 1);
    result_t r = run_job(NULL, "-n", "2", PE, "env", "MASTER_ADDR", "MASTER_PORT", "OMP_NUM_THREADS",
                         "PYTHONUNBUFFERED", NULL);
    unsetenv("MASTER_ADDR");
    unsetenv("MASTER_PORT");
    unsetenv("OMP_NUM_THREADS");
    unsetenv("PYTHONUNBUFFERED");
    assert_int_equal(
        run_count(r.out, "MASTER_ADDR=10.0.0.1\nMASTER_PORT=1234\nOMP_NUM_THREADS=5\nPYTHONUNBUFFERED=\n"),
        2);
    run_free(&r);
    r = run_job(NULL, "-n", "1", PE, "env", "OMP_NUM_THREADS", NULL); /* one PE may have all cores */
    assert_string_equal(r.out, "no OMP_NUM_THREADS=\n");
    run_free(&r);
}

static void other_launchers_names_are_gone(void **state)
{
    (void)state;
    static const char *const names[] = {
        "OMPI_COMM_WORLD_RANK", "OMPI_MCA_x",     "PMIX_RANK",       "SLURM_PROCID",    "SLURM_STEP_ID",
        "TORCHELASTIC_RUN_ID",  "PMI_PORT",       "HYDI_CONTROL_FD", "MPI_LOCALRANKID", "MV2_COMM_WORLD_RANK",
        "PALS_RANKID",          "FLUX_TASK_RANK", "ROLE_RANK",       "RANK_ID"};
    enum { COUNT = sizeof(names) / sizeof(names[0]) };
    char *argv[COUNT + 8] = {NULL, (char[]){"-n"}, (char[]){"1"}, (char *)(uintptr_t)PE, (char[]){"env"}};
    for (int i = 0; i < COUNT; i++) {
        setenv(names[i], "7", 1);
        argv[5 + i] = (char *)(uintptr_t)names[i];
    }
    setenv("MASTER_PORT", "1", 1); /* that launcher's, not the user's */
    argv[5 + COUNT] = (char[]){"MASTER_PORT"};
    result_t r = run_words(NULL, argv);
    for (int i = 0; i < COUNT; i++)
        unsetenv(names[i]);
    unsetenv("MASTER_PORT");
    assert_code(r, 0);
    assert_int_equal(run_count(r.out, "no "), COUNT);
    assert_has_not(r.out, "MASTER_PORT=1\n");
    run_free(&r);
    setenv("SLURM_JOB_ID", "77", 1); /* a batch job is not a task */
    r = run_job(NULL, "-n", "1", PE, "env", "SLURM_JOB_ID", NULL);
    unsetenv("SLURM_JOB_ID");
    assert_string_equal(r.out, "SLURM_JOB_ID=77\n");
    run_free(&r);
}

/* A job inside a PE of a job is a job of its own. */
static void nested_jobs(void **state)
{
    (void)state;
    result_t r = run_job(NULL, "-n", "2", run_launcher(), "-n", "3", PE, "env", "SHMEM_NPES", "PMI_SIZE",
                         "WORLD_SIZE", NULL);
    assert_code(r, 0);
    assert_int_equal(run_count(r.out, "SHMEM_NPES=3\nPMI_SIZE=3\nWORLD_SIZE=3\n"), 6);
    run_free(&r);
}

static void exports(void **state)
{
    (void)state;
    setenv("HERE", "from here", 1);
    result_t r = run_job(NULL, "-n", "2", "-x", "A=1=2", "-x", "HERE", "-xB=", "-x", "MASTER_PORT=4711", PE,
                         "env", "A", "HERE", "B", "MASTER_PORT", NULL);
    assert_code(r, 0);
    assert_int_equal(run_count(r.out, "A=1=2\nHERE=from here\nB=\nMASTER_PORT=4711\n"), 2);
    assert_string_equal(r.err, "");
    run_free(&r);
    unsetenv("HERE");
    r = run_job(NULL, "-n", "1", "-x", "HERE", "true", NULL);
    assert_code(r, 0);
    assert_has(r.err, "-x HERE: it is not set here");
    run_free(&r);
    r = run_job(NULL, "-n", "1", "--mem", "64M", PE, "env", "SHMEM_SYMMETRIC_SIZE", NULL);
    assert_string_equal(r.out, "SHMEM_SYMMETRIC_SIZE=64M\n");
    run_free(&r);
}

/* 0, 1, 2 and the three that are announced, whatever we had open ourselves or were given open. */
static void descriptors(void **state)
{
    (void)state;
    int pair[2], high;
    assert_int_equal(pipe(pair), 0); /* inherited by the launcher, since not close-on-exec */
    high = fcntl(pair[0], F_DUPFD, 300);
    assert_true(high >= 300);
    result_t r = run_job(NULL, "-n", "5", PE, "fds", NULL);
    assert_code(r, 0);
    assert_has_not(r.out, "stranger");
    static const char *const words[] = {"0\n", "1\n", "2\n", "secret\n", "life\n", "pmi\n"};
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(run_count(r.out, words[i]), 5);
    close(pair[0]);
    close(pair[1]);
    close(high);
    run_free(&r);
}

static void secret(void **state)
{
    (void)state;
    result_t r = run_job(NULL, "-n", "4", PE, "secret", NULL);
    assert_code(r, 0);
    assert_int_equal(r.out_bytes, 4 * 65);
    char first[66] = "";
    memcpy(first, r.out, 65);
    assert_int_equal(run_count(r.out, first), 4);
    result_t other = run_job(NULL, "-n", "1", PE, "secret", NULL);
    assert_true(strcmp(other.out, first) != 0);
    first[64] = 0;
    run_free(&r);
    run_free(&other);
    r = run_job(NULL, "-n", "1", "sh", "-c", "tr '\\0' '\\n' < /proc/$PPID/cmdline; ls -l /proc/self/fd; env",
                NULL);
    assert_has(r.out,
               "aclshmem-secret (deleted)"); /* in memory, never on a command line or in the environment */
    run_free(&r);
}

static void folder(void **state)
{
    (void)state;
    char path[] = "/tmp/run-folder-XXXXXX", script[64], line[128];
    assert_non_null(mkdtemp(path));
    result_t r = run_job(NULL, "-n", "2", "--wdir", path, PE, "place", NULL);
    assert_code(r, 0);
    snprintf(line, sizeof(line), "%s %s\n", path, path);
    assert_int_equal(run_count(r.out, line), 2);
    run_free(&r);
    snprintf(script, sizeof(script), "%s/here", path);
    int fd = open(script, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
    assert_true(fd >= 0 && dprintf(fd, "#!/bin/sh\necho found\n") > 0);
    close(fd);
    r = run_job(NULL, "-n", "1", "--wdir", path, "./here", NULL);
    assert_code(r, 0);
    assert_string_equal(r.out, "found\n");
    run_free(&r);
    unlink(script);
    rmdir(path);
}

/* Each PE has a process group of its own, in our session. */
static void groups(void **state)
{
    (void)state;
    result_t r =
        run_job(NULL, "-n", "2", "sh", "-c", "set -- $(cat /proc/$$/stat); test $1 = $5 && echo own", NULL);
    assert_code(r, 0);
    assert_int_equal(run_count(r.out, "own\n"), 2);
    run_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_a_pe),
        cmocka_unit_test(job_name_and_port),
        cmocka_unit_test(what_the_user_set_stays),
        cmocka_unit_test(other_launchers_names_are_gone),
        cmocka_unit_test(nested_jobs),
        cmocka_unit_test(exports),
        cmocka_unit_test(descriptors),
        cmocka_unit_test(secret),
        cmocka_unit_test(folder),
        cmocka_unit_test(groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
