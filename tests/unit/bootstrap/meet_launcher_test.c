/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PEs under real launchers: our own, Hydra and Open MPI, as far as they are installed.
 *
 * Each PE is a meet_pe. What is looked at: who it thinks started it, that the meeting works round after round, late and
 * after a failure, and that the launcher is content with the end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/unit.h"

enum { LIMIT_MS = 60000, ARGUMENTS_MAX = 24 };

static char folder[400];
static char meet_pe[512], aclshmemrun[512];

typedef struct launcher {
    const char *program; /* found in PATH, except our own */
    const char *options[6];
    const char *name; /* what the PEs call it */
    bool same_host;   /* tells how many PEs are on this host */
} launcher_t;

static const launcher_t own = {aclshmemrun, {NULL}, "aclshmemrun", true};
static const launcher_t hydra = {"mpiexec.hydra", {NULL}, "pmi", true};
static const launcher_t hydra_port = {"mpiexec.hydra", {"-pmi-port"}, "pmi", true};
static const launcher_t openmpi = {
    "mpirun.openmpi", {"--allow-run-as-root", "--oversubscribe", "--mca", "btl", "self,vader"}, "pmix", true};

static void need(const launcher_t *launcher)
{
    char command[600];
    snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", launcher->program);
    if (system(command) == 0)
        return;
    print_message("skipped: %s is not installed\n", launcher->program);
    skip();
}

/* launcher -n n meet_pe arguments [: -n m meet_pe arguments] */
static void run(t_child_t *child, const launcher_t *launcher, const char *const *words,
                const char *const *environment)
{
    const char *argv[ARGUMENTS_MAX] = {launcher->program};
    size_t used = 1;
    for (size_t i = 0; i < 6 && launcher->options[i] != NULL; i++)
        argv[used++] = launcher->options[i];
    for (; *words != NULL && used + 1 < ARGUMENTS_MAX; words++)
        argv[used++] = strcmp(*words, "PE") == 0 ? meet_pe : *words;
    t_run(child, argv, environment, LIMIT_MS);
}

/* Every PE reported, all with the same ids, and nothing was said besides. */
static void check_reports(const t_child_t *child, const launcher_t *launcher, int n_pes, int rounds)
{
    char expected[100];
    const char *ids = strstr(child->out, "ids ");
    t_check_exit(child, 0);
    t_check_text(child->err, "");
    assert_non_null(ids);
    for (int pe = 0; pe < n_pes; pe++) {
        if (launcher->same_host)
            snprintf(expected, sizeof expected, "launcher %s PE %d of %d, %d of %d here, %d rounds, %.12s",
                     launcher->name, pe, n_pes, pe, n_pes, rounds, ids);
        else
            snprintf(expected, sizeof expected, "launcher %s PE %d of %d,", launcher->name, pe, n_pes);
        t_check_contains(child->out, expected);
    }
}

static void check_run(const launcher_t *launcher, const char *const *words, const char *const *environment,
                      int n_pes, int rounds)
{
    t_child_t child;
    run(&child, launcher, words, environment);
    check_reports(&child, launcher, n_pes, rounds);
    t_child_free(&child);
}

/* What every launcher must be able to do. */
static void try_launcher(const launcher_t *launcher)
{
    const char *const once[] = {"-n", "4", "PE", NULL};
    const char *const rounds[] = {"-n", "3", "PE", "rounds=5", "done=each", NULL};
    const char *const instances[] = {"-n", "2", "PE", "rounds=3", "done=last", NULL};
    const char *const one[] = {"-n", "1", "PE", NULL};
    const char *const forking[] = {"-n", "3", "PE", "rounds=3", "fork=1", NULL};
    need(launcher);
    check_run(launcher, once, NULL, 4, 1);
    check_run(launcher, rounds, NULL, 3, 5);
    check_run(launcher, instances, NULL, 2, 3);
    check_run(launcher, one, NULL, 1, 1);
    check_run(launcher, forking, NULL, 3, 3);
}

static void try_late_and_again(const launcher_t *launcher)
{
    /* The first meetings fail, PE 0's id of then is still good when the late one comes. */
    const char *const words[] = {"-n",          "1",        "PE",       "timeout=700", "tries=30",
                                 "rounds=3",    ":",        "-n",       "2",           "PE",
                                 "timeout=700", "tries=30", "rounds=3", "delay=1700",  NULL};
    t_child_t child;
    need(launcher);
    run(&child, launcher, words, NULL);
    t_check_exit(&child, 0);
    t_check_contains(child.err, "did not come to the meeting");
    t_check_contains(child.out, "PE 0 of 3");
    t_check_contains(child.out, "PE 2 of 3");
    t_child_free(&child);
}

/* A process that only asks who it is does not disturb the job. */
static void try_detect(const launcher_t *launcher)
{
    const char *const words[] = {"-n", "3", "PE", "detect=1", NULL};
    t_child_t child;
    char expected[100];
    need(launcher);
    run(&child, launcher, words, NULL);
    t_check_exit(&child, 0);
    t_check_text(child.err, "");
    for (int pe = 0; pe < 3; pe++) {
        snprintf(expected, sizeof expected, "launcher %s PE %d of 3, %d of 3 here\n", launcher->name, pe, pe);
        t_check_contains(child.out, expected);
    }
    t_child_free(&child);
}

static void try_abort(const launcher_t *launcher)
{
    const char *const words[] = {"-n", "3", "PE", "abort=42", NULL};
    t_child_t child;
    need(launcher);
    uint64_t before = t_now_ms();
    run(&child, launcher, words, NULL);
    t_check_exit(&child, 42);
    assert_true(t_now_ms() - before < 15000); /* the PEs would stay for 20 s */
    t_child_free(&child);
}

#define TESTS_OF(launcher)                                                                                   \
    static void test_##launcher(void **state)                                                                \
    {                                                                                                        \
        (void)state;                                                                                         \
        try_launcher(&(launcher));                                                                           \
    }                                                                                                        \
    static void test_##launcher##_late(void **state)                                                         \
    {                                                                                                        \
        (void)state;                                                                                         \
        try_late_and_again(&(launcher));                                                                     \
    }                                                                                                        \
    static void test_##launcher##_detect(void **state)                                                       \
    {                                                                                                        \
        (void)state;                                                                                         \
        try_detect(&(launcher));                                                                             \
    }                                                                                                        \
    static void test_##launcher##_abort(void **state)                                                        \
    {                                                                                                        \
        (void)state;                                                                                         \
        try_abort(&(launcher));                                                                              \
    }

TESTS_OF(own)
TESTS_OF(hydra)
TESTS_OF(hydra_port)
TESTS_OF(openmpi)

/* Open MPI as if PMIx were not there: the socket named by the job. */
static void test_openmpi_without_pmix(void **state)
{
    (void)state;
    const char *const words[] = {"-n", "3", "PE", "rounds=3", "done=each", NULL};
    const char *const forced[] = {"SHMEM_LAUNCHER=ompi", NULL};
    launcher_t launcher = openmpi;
    launcher.name = "ompi";
    need(&launcher);
    check_run(&launcher, words, forced, 3, 3);
}

/* Two jobs of one user at once, which nothing but the job's name tells apart. */
static void test_openmpi_twice_at_once(void **state)
{
    (void)state;
    need(&openmpi);
    const char *argv[] = {
        openmpi.program, openmpi.options[0], openmpi.options[1], "-n", "3", meet_pe, "rounds=3", NULL};
    t_child_t job[2];
    char folders[2][300], base[2][350];
    launcher_t launcher = openmpi;
    launcher.name = "ompi";
    for (int i = 0; i < 2; i++) {
        /* Started in the same moment, two mpiruns trip over a folder they share. */
        t_dir_make(folders[i], sizeof folders[i]);
        snprintf(base[i], sizeof base[i], "OMPI_MCA_orte_tmpdir_base=%s", folders[i]);
        const char *const environment[] = {"SHMEM_LAUNCHER=ompi", base[i], NULL};
        t_start(&job[i], argv, environment);
    }
    for (int i = 0; i < 2; i++) {
        t_finish(&job[i], LIMIT_MS);
        check_reports(&job[i], &launcher, 3, 3);
        t_child_free(&job[i]);
        t_dir_remove(folders[i]);
    }
}

/* Names of outer launchers around an inner one, and a batch script around ours. */
static void test_launchers_inside_others(void **state)
{
    (void)state;
    const char *const words[] = {"-n", "3", "PE", NULL};
    const char *const batch[] = {"SLURM_JOB_ID=5", "SLURM_PROCID=0", "SLURM_NTASKS=4", "SLURM_LOCALID=0",
                                 NULL};
    const char *const step[] = {"SLURM_JOB_ID=5",         "SLURM_PROCID=0",  "SLURM_STEP_ID=0",
                                "SLURM_STEP_NUM_TASKS=3", "SLURM_LOCALID=0", NULL};
    check_run(&own, words, batch, 3, 1);
    check_run(&own, words, step, 3, 1);
    need(&hydra);
    check_run(&hydra, words, step, 3, 1);
    const char *const nested[] = {"-n", "1", aclshmemrun, "-n", "3", "PE", NULL};
    t_child_t child;
    run(&child, &hydra, nested, NULL);
    check_reports(&child, &own, 3, 1);
    t_child_free(&child);
}

static void test_counts_that_disagree_warn_once(void **state)
{
    (void)state;
    const char *const words[] = {"-n", "3", "PE", NULL};
    const char *const outer[] = {"SLURM_PROCID=0", "SLURM_STEP_ID=0", "SLURM_STEP_NUM_TASKS=2", NULL};
    const char *const forced[] = {"SLURM_PROCID=0", "SLURM_STEP_ID=0", "SLURM_STEP_NUM_TASKS=2",
                                  "SHMEM_LAUNCHER=pmi", NULL};
    t_child_t child;
    need(&hydra);
    run(&child, &hydra, words, outer);
    t_check_exit(&child, 0);
    const char *text =
        "the variables of pmi say 3 PEs, those of slurm say 2; following pmi; SHMEM_LAUNCHER=slurm";
    t_check_contains(child.err, text);
    assert_null(strstr(strstr(child.err, text) + 1, text)); /* from PE 0 alone */
    t_child_free(&child);
    check_run(&hydra, words, forced, 3, 1);
}

/* A program that uses MPI as well, in any order; whoever is done last says goodbye. */
static void try_beside_mpi(const launcher_t *launcher, const char *program)
{
    static const char *const orders[] = {"IMDF", "MIDF", "MDIF", "IMFD", "IMDMDF", "MDIBMDF", "MMDDIBF"};
    char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, program);
    need(launcher);
    if (access(path, X_OK) != 0) {
        print_message("skipped: %s was not built, for want of that MPI's headers or because of a sanitizer\n",
                      program);
        skip();
    }
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        const char *const words[] = {"-n", "3", path, orders[i], NULL};
        t_child_t child;
        char expected[64];
        run(&child, launcher, words, NULL);
        t_check_exit(&child, 0);
        t_check_text(child.err, "");
        for (int pe = 0; pe < 3; pe++) {
            snprintf(expected, sizeof expected, "%s PE %d of 3 %.12s", launcher->name, pe,
                     strstr(child.out, "ids "));
            t_check_contains(child.out, expected);
        }
        t_child_free(&child);
    }
}

static void test_beside_mpich(void **state)
{
    (void)state;
    try_beside_mpi(&hydra, "meet_mpich_pe");
}

static void test_beside_openmpi(void **state)
{
    (void)state;
    try_beside_mpi(&openmpi, "meet_ompi-c_pe");
}

static void test_alone(void **state)
{
    (void)state;
    const char *argv[] = {meet_pe, NULL};
    const char *const torch[] = {"WORLD_SIZE=4", NULL};
    t_child_t child;
    t_run(&child, argv, NULL, LIMIT_MS);
    t_check_exit(&child, 0);
    t_check_contains(child.out, "launcher alone PE 0 of 1");
    t_check_text(child.err, "");
    t_child_free(&child);
    t_run(&child, argv, torch, LIMIT_MS);
    t_check_exit(&child, 0);
    t_check_contains(child.err, "WARN");
    t_check_contains(child.err, "WORLD_SIZE is 4");
    t_child_free(&child);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own),
        cmocka_unit_test(test_own_late),
        cmocka_unit_test(test_own_detect),
        cmocka_unit_test(test_own_abort),
        cmocka_unit_test(test_hydra),
        cmocka_unit_test(test_hydra_late),
        cmocka_unit_test(test_hydra_detect),
        cmocka_unit_test(test_hydra_abort),
        cmocka_unit_test(test_hydra_port),
        cmocka_unit_test(test_hydra_port_late),
        cmocka_unit_test(test_hydra_port_detect),
        cmocka_unit_test(test_hydra_port_abort),
        cmocka_unit_test(test_openmpi),
        cmocka_unit_test(test_openmpi_late),
        cmocka_unit_test(test_openmpi_detect),
        cmocka_unit_test(test_openmpi_abort),
        cmocka_unit_test(test_openmpi_without_pmix),
        cmocka_unit_test(test_openmpi_twice_at_once),
        cmocka_unit_test(test_launchers_inside_others),
        cmocka_unit_test(test_counts_that_disagree_warn_once),
        cmocka_unit_test(test_beside_mpich),
        cmocka_unit_test(test_beside_openmpi),
        cmocka_unit_test(test_alone),
    };
    const char *own_path = t_own_path();
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(own_path, '/') - own_path), own_path);
    snprintf(meet_pe, sizeof meet_pe, "%s/meet_pe", folder);
    snprintf(aclshmemrun, sizeof aclshmemrun, "%s/aclshmemrun", folder);
    t_clean_environment();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
