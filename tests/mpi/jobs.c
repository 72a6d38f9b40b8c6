/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts the PE programs of this folder under one MPI's launcher and looks at how each job ends.
 *
 *     mpi_jobs openmpi|mpich PE-PROGRAM PLAIN-PROGRAM DIGITS-TRAIN
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"

enum { LIMIT_MS = 60000, WORDS_MAX = 24 };

static const char *const openmpi[] = {
    "mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--mca", "btl", "self,vader", NULL};
static const char *const mpich[] = {"mpiexec.hydra", NULL};

static const char *const *launcher;
static char folder[400];

static void run(t_child_t *child, const char *n_pes, const char *const *words, const char *setting)
{
    char temporary[440];
    const char *argv[WORDS_MAX] = {NULL};
    const char *environment[] = {temporary, setting, NULL};
    size_t used = 0;
    /* Two mpiruns of one user trip over a folder they share. */
    snprintf(temporary, sizeof temporary, "TMPDIR=%s", folder);
    for (size_t i = 0; launcher[i] != NULL; i++)
        argv[used++] = launcher[i];
    argv[used++] = "-n";
    argv[used++] = n_pes;
    for (; *words != NULL && used + 1 < WORDS_MAX; words++)
        argv[used++] = *words;
    t_run(child, argv, environment, LIMIT_MS);
}

static void expect(const char *n_pes, const char *const *words, const char *setting, int exit_code)
{
    t_child_t child;
    uint64_t started = t_now_ms();
    run(&child, n_pes, words, setting);
    printf("%s %s %s: exit code %d after %llu ms\n", launcher[0], n_pes, words[1] ? words[1] : words[0],
           child.exit_code, (unsigned long long)(t_now_ms() - started));
    fflush(stdout);
    t_check_exit(&child, exit_code);
    if (exit_code == 0)
        t_check_that(strstr(child.err, " ERROR ") == NULL && strstr(child.err, " WARN ") == NULL,
                     "unexpected words: %s", child.err);
    t_child_free(&child);
}

static void need_launcher(void)
{
    char command[100];
    snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", launcher[0]);
    if (system(command) != 0)
        t_skip("%s is not installed", launcher[0]);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name, *n_pes;
        int exit_code;
    } jobs[] = {
        {"user", "2", 0},     {"user", "1", 0},  {"ours", "2", 0},    {"split", "4", 0},  {"split", "5", 0},
        {"ended", "1", 0},    {"wrong", "2", 0}, {"wrong", "5", 0},   {"exit", "2", 3},   {"id", "2", 0},
        {"first", "2", 0},    {"first", "3", 0}, {"crossed", "4", 0}, {"thread", "2", 0}, {"absent", "2", 7},
        {"launcher", "3", 0}, {"tls", "2", 0},
    };
    t_check(argc == 5);
    launcher = strcmp(argv[1], "openmpi") == 0 ? openmpi : mpich;
    if (argv[2][0] == '\0')
        t_skip("%s is not installed, or this is a build with sanitizers", argv[1]);
    need_launcher();
    t_dir_make(folder, sizeof folder);
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++)
        expect(jobs[i].n_pes, (const char *const[]){argv[2], jobs[i].name, NULL}, NULL, jobs[i].exit_code);
    expect("3", (const char *const[]){argv[3], "3", NULL}, NULL, 0);
    /* [B-22] What lies elsewhere on the path of libraries is not taken: these are none. */
    char elsewhere[440];
    static const char *const names[] = {"", "_openmpi", "_mpich"};
    for (int i = 0; i < 3; i++) {
        snprintf(elsewhere, sizeof elsewhere, "%s/aclshmem_bootstrap_mpi%s.so", folder, names[i]);
        t_file_write(elsewhere, "no library");
    }
    snprintf(elsewhere, sizeof elsewhere, "LD_LIBRARY_PATH=%s", folder);
    expect("2", (const char *const[]){argv[3], "2", NULL}, elsewhere, 0);
    expect("1", (const char *const[]){argv[3], "missing", NULL}, "SHMEM_BOOTSTRAP_MPI_LIB=no_such_plugin.so",
           0);
    /* A plug-in of the other family is refused before it touches anything. */
    char other[100];
    snprintf(other, sizeof other, "SHMEM_BOOTSTRAP_MPI_LIB=aclshmem_bootstrap_mpi_%s.so",
             launcher == mpich ? "openmpi" : "mpich");
    expect("2", (const char *const[]){argv[2], "other", NULL}, other, 0);
    expect("2", (const char *const[]){argv[4], "--epochs", "6", NULL}, NULL, 0);
    expect("3", (const char *const[]){argv[4], "--epochs", "6", "--bootstrap", "mpi", NULL}, NULL, 0);
    t_dir_remove(folder);
    return 0;
}
