/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting a PE: its pipes, its secret, its place in a process group of its own, and exec. A child owns nothing of ours
 * but its standard streams and the three descriptors it is told about.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run.h"

enum { GIVEN_FROM = 20 }; /* where the given descriptors lie, out of the way of scripts that use 3 to 9 */

typedef struct start_error {
    int rank, error;
    start_stage_t stage;
} start_error_t;

/* Everything a child needs besides the job; the parent closes all of it after fork. */
typedef struct ends {
    int in, out, err; /* the child's */
    int pmi, secret;
    int out_read, err_read; /* ours */
} ends_t;

/* 0, 126 or 127: what execvp would find, without starting anything. */
static int look_up(const char *program, const char *folder)
{
    char path[8192];
    struct stat info;
    int found = EXIT_NOT_FOUND;
    if (strchr(program, '/')) {
        snprintf(path, sizeof(path), "%s%s%s", program[0] == '/' || !folder ? "" : folder,
                 program[0] == '/' || !folder ? "" : "/", program);
        if (stat(path, &info))
            return errno == EACCES ? EXIT_NOT_EXECUTABLE : EXIT_NOT_FOUND;
        return !S_ISREG(info.st_mode) || access(path, X_OK) ? EXIT_NOT_EXECUTABLE : 0;
    }
    const char *list = getenv("PATH");
    for (const char *at = list ? list : "/bin:/usr/bin";; at++) {
        size_t length = strcspn(at, ":");
        const char *base = length ? "" : folder ? folder : ".";
        snprintf(path, sizeof(path), "%.*s%s/%s", (int)length, at, base, program);
        if (stat(path, &info) == 0 && S_ISREG(info.st_mode)) {
            if (access(path, X_OK) == 0)
                return 0;
            found = EXIT_NOT_EXECUTABLE;
        }
        at += length;
        if (!*at)
            return found;
    }
}

int spawn_check(job_t *job)
{
    for (int i = 0; i < job->n_pes; i++) {
        const pe_t *pe = &job->pes[i];
        struct stat info;
        const char *folder = pe->segment->wdir;
        if (i && pe->segment == pe[-1].segment && pe->argv[0] == pe[-1].argv[0])
            continue;
        if (folder && (stat(folder, &info) || !S_ISDIR(info.st_mode) || access(folder, X_OK))) {
            say("--wdir: %s is not a folder we may enter", folder);
            return EXIT_USAGE;
        }
        int code = look_up(pe->argv[0], folder);
        if (code == EXIT_NOT_FOUND)
            say("program %s not found%s", pe->argv[0], strchr(pe->argv[0], '/') ? "" : " in PATH");
        else if (code)
            say("program %s is not executable", pe->argv[0]);
        if (code)
            return code;
    }
    return 0;
}

/* A sealed memory file, one per child, so that nobody moves anybody else's offset. */
static int make_secret(const job_t *job)
{
    int fd = memfd_create("aclshmem-secret", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return -1;
    if (pwrite(fd, job->secret, SECRET_BYTES, 0) == SECRET_BYTES &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        return fd;
    close(fd);
    return -1;
}

static void close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void close_ends(ends_t *ends)
{
    int *fds[] = {&ends->in,     &ends->out,      &ends->err,     &ends->pmi,
                  &ends->secret, &ends->out_read, &ends->err_read};
    for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
        close_end(fds[i]);
}

static int make_pipe(int *read_end, int *write_end)
{
    int pair[2];
    if (pipe2(pair, O_CLOEXEC))
        return -1;
    *read_end = pair[0];
    *write_end = pair[1];
    return fcntl(pair[0], F_SETFL, O_NONBLOCK);
}

static int duplicate(int fd)
{
    return fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

/* With the terminal a PE keeps what is a terminal; the rest comes through us as always. */
static int make_output(const job_t *job, const pe_t *pe, int own, bool to_file, int *read_end, int *write_end)
{
    if (job->terminal && pe->rank == 0 && isatty(own) && !to_file && !job->options->tag)
        return (*write_end = duplicate(own)) < 0 ? -1 : 0;
    return make_pipe(read_end, write_end);
}

static int make_ends(job_t *job, pe_t *pe, ends_t *ends)
{
    *ends = (ends_t){-1, -1, -1, -1, -1, -1, -1};
    if (input_for(job, pe, &ends->in) ||
        make_output(job, pe, STDOUT_FILENO, job->options->output, &ends->out_read, &ends->out) ||
        make_output(job, pe, STDERR_FILENO, job->options->error, &ends->err_read, &ends->err) ||
        (ends->secret = make_secret(job)) < 0 || pmi_open(job, pe, &ends->pmi)) {
        int reason = errno;
        close_ends(ends);
        errno = reason;
        return -1;
    }
    return 0;
}

/* --- In the child --- */

static void child_fail(job_t *job, const pe_t *pe, start_stage_t stage)
{
    start_error_t report = {.rank = pe->rank, .stage = stage, .error = errno};
    bool found = report.error != ENOENT && report.error != ENOTDIR;
    ssize_t done = write(job->start_errors_write, &report, sizeof(report));
    (void)done; /* the exit code tells as well */
    _exit(stage != STAGE_EXEC || found ? EXIT_NOT_EXECUTABLE : EXIT_NOT_FOUND);
}

static void set_variable(void *to, const char *name, const char *value)
{
    (void)to;
    (void)setenv(name, value, 1);
}

/* Closes at exec whatever is open, ours or inherited, and lets the given ones through. */
static int give(int fd)
{
    int given = fcntl(fd, F_DUPFD, GIVEN_FROM);
    return given >= 0 ? given : fcntl(fd, F_DUPFD, 3);
}

static int close_others_at_exec(void)
{
    if (close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) == 0)
        return 0;
    long most = sysconf(_SC_OPEN_MAX); /* kernels before 5.11 */
    for (int fd = 3; fd < most; fd++)
        (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    return 0;
}

static void child_descriptors(job_t *job, const pe_t *pe, const ends_t *ends)
{
    if (dup2(ends->in, 0) < 0 || dup2(ends->out, 1) < 0 || dup2(ends->err, 2) < 0 || close_others_at_exec())
        child_fail(job, pe, STAGE_SETUP);
    int pmi = give(ends->pmi), secret = give(ends->secret), life = give(job->life_read);
    if (pmi < 0 || secret < 0 || life < 0)
        child_fail(job, pe, STAGE_SETUP);
    childenv_each(pe, pmi, secret, life, set_variable, NULL);
}

static void restore_descriptor_limit(const job_t *job)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit))
        return;
    limit.rlim_cur = job->descriptor_limit;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

static void child_main(job_t *job, pe_t *pe, const ends_t *ends, pid_t keeper) __attribute__((noreturn));
static void child_main(job_t *job, pe_t *pe, const ends_t *ends, pid_t keeper)
{
    (void)setpgid(0, 0);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != keeper)
        _exit(128 + SIGKILL);
    if (job->terminal && pe->rank == 0 && tcgetpgrp(STDIN_FILENO) == getpgid(keeper))
        children_give_terminal(getpid());
    child_descriptors(job, pe, ends);
    explicit_bzero(job->secret, sizeof(job->secret));
    if (bind_child(job, pe))
        child_fail(job, pe, STAGE_SETUP);
    if (pe->segment->wdir && chdir(pe->segment->wdir))
        child_fail(job, pe, STAGE_FOLDER);
    restore_descriptor_limit(job);
    front_restore_signals();
    if (pe->waits_for_gdb)
        wrap_wait_for_debugger();
    execvp(pe->argv[0], pe->argv);
    child_fail(job, pe, STAGE_EXEC);
    _exit(EXIT_NOT_EXECUTABLE);
}

int spawn_pe(job_t *job, pe_t *pe)
{
    ends_t ends;
    pid_t keeper = getpid();
    if (make_ends(job, pe, &ends)) {
        say("cannot make the pipes of PE %d: %s", pe->rank, strerror(errno));
        return -1;
    }
    pid_t pid = fork();
    if (pid == 0)
        child_main(job, pe, &ends, keeper);
    if (pid < 0) {
        say("cannot start PE %d: %s%s", pe->rank, strerror(errno),
            errno == EAGAIN
                ? "; the limit of processes is reached (ulimit -u, or pids.max of the control group)"
                : "");
        close_ends(&ends);
        return -1;
    }
    (void)setpgid(pid, pid); /* the child does it too; whoever comes first */
    pe->pid = pid;
    pe->state = PE_STARTED;
    pe->started_ms = now_ms();
    job->alive++;
    output_watch(&pe->out, ends.out_read);
    output_watch(&pe->err, ends.err_read);
    ends.out_read = ends.err_read = -1;
    close_ends(&ends);
    return 0;
}

/* Why exec failed, from those for which it did. */
void spawn_read_errors(job_t *job)
{
    start_error_t report;
    while (read(job->start_errors.fd, &report, sizeof(report)) == (ssize_t)sizeof(report)) {
        if (report.rank < 0 || report.rank >= job->n_pes)
            continue;
        job->pes[report.rank].start_errno = report.error;
        job->pes[report.rank].start_stage = report.stage;
    }
}
