/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole jobs killed at random moments: a PE, PE 0, or the launcher, during init, run and finalize. The launcher must report
 * the right exit code, and whatever died, no process of the job, no file, no shared-memory object and no named socket may
 * be left, and a new job must start at once.
 *
 *     kills ACLSHMEMRUN PROGRAM [rounds [seed]]
 * [R-08] [R-21]
 */
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/support.h"

enum { PES = 4, DEADLINE_MS = 30000, LONGEST_DELAY_US = 450000, GONE_MS = 10000 };

static const char *launcher, *program;
static char marker[64]; /* a variable that only our jobs have in their environment */
static uint32_t dice_state;

static uint32_t dice(uint32_t sides)
{
    dice_state = dice_state * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)dice_state * sides) >> 32);
}

/* Whether a process carries the marker; its PE number goes to pe (-1: the launcher). */
static bool is_ours(pid_t pid, int *pe)
{
    char path[64], text[65536];
    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t size = read(fd, text, sizeof text - 1);
    close(fd);
    if (size <= 0)
        return false;
    text[size] = '\0';
    bool found = false;
    *pe = -1;
    for (char *at = text; at < text + size; at += strlen(at) + 1) {
        found = found || strcmp(at, marker) == 0;
        if (strncmp(at, "SHMEM_PE=", 9) == 0)
            *pe = atoi(at + 9);
    }
    return found;
}

/* Pid of a living process of the job: PE pe, or any for pe < 0. 0: none. Zombies have no environment and do not count. */
static pid_t find(int wanted)
{
    DIR *proc = opendir("/proc");
    t_check(proc != NULL);
    pid_t found = 0;
    for (struct dirent *entry; found == 0 && (entry = readdir(proc)) != NULL;) {
        pid_t pid = (pid_t)atoi(entry->d_name);
        int pe;
        if (pid > 1 && pid != getpid() && is_ours(pid, &pe) && (wanted < 0 || pe == wanted))
            found = pid;
    }
    closedir(proc);
    return found;
}

static size_t entries(const char *path)
{
    size_t count = 0;
    DIR *dir = opendir(path);
    while (dir != NULL && readdir(dir) != NULL)
        count++;
    if (dir != NULL)
        closedir(dir);
    return count;
}

static void nap_us(long us)
{
    struct timespec t = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};
    nanosleep(&t, NULL);
}

/* A /dev/shm of our own, so that other programs of the machine do not matter; without the right, it is not looked at. */
static bool own_shm;

static void take_own_shm(void)
{
    own_shm = unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
              mount("tmpfs", "/dev/shm", "tmpfs", 0, NULL) == 0;
}

static void nothing_is_left(const char *what, int round, const char *folder)
{
    uint64_t started = t_now_ms();
    pid_t pid;
    while ((pid = find(-1)) != 0) {
        t_check_that(t_now_ms() - started < GONE_MS, "round %d (%s): process %d is left", round, what,
                     (int)pid);
        nap_us(5000);
    }
    t_check_that(entries(folder) == 2, "round %d (%s): files are left in %s", round, what, folder);
    t_check_that(!own_shm || entries("/dev/shm") == 2, "round %d (%s): something is left in /dev/shm", round,
                 what);
}

/* One job, one kill. */
static void kill_round(int round, const char *folder)
{
    char tmp[512];
    snprintf(tmp, sizeof tmp, "TMPDIR=%s", folder);
    const char *const argv[] = {launcher, "-n", "4", program, "--epochs", "8", NULL};
    const char *const environment[] = {tmp, marker, NULL};
    t_child_t job;
    t_start(&job, argv, environment);
    nap_us((long)dice(LONGEST_DELAY_US));
    uint32_t victim = dice(PES + 2); /* a PE, PE 0 twice as often, or the launcher */
    pid_t pid = victim == PES + 1 ? job.pid : find(victim == PES ? 0 : (int)victim);
    bool hit = pid != 0 && kill(pid, SIGKILL) == 0;
    t_finish(&job, DEADLINE_MS);
    t_check_that(!job.timed_out, "round %d: the job hangs after victim %u died\n%s", round, victim, job.err);
    if (victim == PES + 1)
        t_check_that(job.exit_code == 128 + SIGKILL || !hit || job.exit_code == 0, "round %d: exit code %d",
                     round, job.exit_code);
    else /* a PE that was already past its end does not fail the job */
        t_check_that(job.exit_code == 128 + SIGKILL || job.exit_code == 0,
                     "round %d: victim %u, exit code %d, expected 137\n%s", round, victim, job.exit_code,
                     job.err);
    nothing_is_left(victim == PES + 1 ? "launcher killed" : "PE killed", round, folder);
    t_child_free(&job);
}

int main(int argc, char **argv)
{
    char folder[256];
    t_check(argc >= 3);
    launcher = argv[1];
    program = argv[2];
    int rounds = argc > 3 ? atoi(argv[3]) : 25;
    dice_state = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : (uint32_t)getpid() * 2654435761u;
    printf("%d rounds, seed %u\n", rounds, dice_state);
    snprintf(marker, sizeof marker, "KILLS_TEST_MARKER=%d", (int)getpid());
    t_clean_environment();
    take_own_shm();
    t_dir_make(folder, sizeof folder);
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* what outlives its launcher comes to us, and is reaped */
    for (int round = 0; round < rounds; round++) {
        kill_round(round, folder);
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
    }
    const char *const again[] = {launcher, "-n", "4", program, NULL};
    t_child_t job;
    t_run(&job, again, NULL, 120000);
    t_check_exit(&job, 0);
    t_child_free(&job);
    t_dir_remove(folder);
    return 0;
}
