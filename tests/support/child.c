/* SPDX-License-Identifier: Apache-2.0 */
/* Children with a deadline, and what a process holds. */
#include "support/support.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

uint64_t t_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Memory files rather than pipes: a child that prints much does not wait for us to read. */
static int output_file(const char *name)
{
    int fd = memfd_create(name, MFD_CLOEXEC);
    if (fd < 0)
        t_fail("no file for the output of a child: %s", strerror(errno));
    /* Appending, so that grandchildren that share it do not write over each other. */
    if (fcntl(fd, F_SETFL, O_APPEND) != 0)
        t_fail("cannot set the output of a child to append: %s", strerror(errno));
    return fd;
}

static void fork_child(t_child_t *child)
{
    *child = (t_child_t){.out_fd = output_file("stdout"), .err_fd = output_file("stderr")};
    fflush(stdout);
    fflush(stderr);
    pid_t parent = getpid();
    child->pid = fork();
    if (child->pid < 0)
        t_fail("cannot fork: %s", strerror(errno));
    if (child->pid > 0) {
        setpgid(child->pid, child->pid); /* both sides do it, so it holds whoever runs first */
        return;
    }
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _Exit(T_FAIL);
    if (dup2(child->out_fd, STDOUT_FILENO) < 0 || dup2(child->err_fd, STDERR_FILENO) < 0)
        _Exit(T_FAIL);
}

static void apply_environment(const char *const environment[])
{
    for (; environment && *environment; environment++) {
        char *entry = strdup(*environment);
        char *equal = entry ? strchr(entry, '=') : NULL;
        if (!entry)
            _Exit(T_FAIL);
        if (equal) {
            *equal = '\0';
            setenv(entry, equal + 1, 1);
        } else {
            unsetenv(entry);
        }
        free(entry);
    }
}

void t_start(t_child_t *child, const char *const argv[], const char *const environment[])
{
    char *arguments[64] = {0};
    for (size_t i = 0; argv[i]; i++) {
        if (i + 1 >= sizeof arguments / sizeof *arguments)
            t_fail("too many arguments for %s", argv[0]);
        arguments[i] = strdup(argv[i]);
        if (!arguments[i])
            t_fail("no memory for the arguments of %s", argv[0]);
    }
    fork_child(child);
    if (child->pid == 0) {
        apply_environment(environment);
        execvp(arguments[0], arguments);
        fprintf(stderr, "cannot run %s: %s\n", arguments[0], strerror(errno));
        _Exit(127);
    }
    for (size_t i = 0; arguments[i]; i++)
        free(arguments[i]);
}

void t_start_function(t_child_t *child, void (*function)(void *), void *argument)
{
    fork_child(child);
    if (child->pid == 0) {
        function(argument);
        fflush(stdout);
        fflush(stderr);
        _Exit(T_PASS);
    }
}

static char *take_output(int *fd)
{
    struct stat st;
    if (fstat(*fd, &st) != 0)
        t_fail("cannot see the output of a child: %s", strerror(errno));
    size_t size = (size_t)st.st_size, done = 0;
    char *text = malloc(size + 1);
    if (!text)
        t_fail("no memory for %zu bytes of output", size);
    while (done < size) {
        ssize_t n = pread(*fd, text + done, size - done, (off_t)done);
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    text[done] = '\0';
    close(*fd);
    *fd = -1;
    return text;
}

void t_finish(t_child_t *child, int deadline_ms)
{
    const struct timespec pause = {0, 1000000};
    uint64_t end = t_now_ms() + (uint64_t)deadline_ms;
    int status = 0;
    for (;;) {
        pid_t pid = waitpid(child->pid, &status, child->timed_out ? 0 : WNOHANG);
        if (pid == child->pid)
            break;
        if (pid < 0 && errno != EINTR)
            t_fail("cannot wait for process %d: %s", (int)child->pid, strerror(errno));
        if (!child->timed_out && t_now_ms() >= end) {
            child->timed_out = true;
            kill(-child->pid, SIGKILL);
            kill(child->pid, SIGKILL);
        }
        nanosleep(&pause, NULL);
    }
    child->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    child->out = take_output(&child->out_fd);
    child->err = take_output(&child->err_fd);
}

void t_run(t_child_t *child, const char *const argv[], const char *const environment[], int deadline_ms)
{
    t_start(child, argv, environment);
    t_finish(child, deadline_ms);
}

void t_run_function(t_child_t *child, void (*function)(void *), void *argument, int deadline_ms)
{
    t_start_function(child, function, argument);
    t_finish(child, deadline_ms);
}

void t_child_free(t_child_t *child)
{
    free(child->out);
    free(child->err);
    *child = (t_child_t){.out_fd = -1, .err_fd = -1};
}

const char *t_own_path(void)
{
    static char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n <= 0)
        t_fail("cannot find this program: %s", strerror(errno));
    path[n] = '\0';
    return path;
}

void t_check_exit_at(const char *file, int line, const t_child_t *child, int code)
{
    if (child->timed_out || child->exit_code != code)
        t_fail_at(file, line, "child %s %d, expected %d\n--- its output\n%s--- its errors\n%s---",
                  child->timed_out ? "ran out of time, exit code" : "ended with", child->exit_code, code,
                  child->out, child->err);
}

/* ---- resources ---- */

static size_t count_entries(const char *path)
{
    size_t count = 0;
    DIR *dir = opendir(path);
    if (!dir)
        t_fail("cannot open %s: %s", path, strerror(errno));
    for (struct dirent *entry; (entry = readdir(dir));)
        count += entry->d_name[0] != '.';
    closedir(dir);
    return count;
}

static size_t count_lines(const char *path)
{
    char *text = t_file_read(path);
    size_t count = 0;
    for (const char *at = text; (at = strchr(at, '\n')); at++)
        count++;
    free(text);
    return count;
}

static size_t resident_kib(void)
{
    char *text = t_file_read("/proc/self/statm");
    unsigned long total = 0, resident = 0;
    if (sscanf(text, "%lu %lu", &total, &resident) != 2)
        t_fail("cannot read /proc/self/statm");
    free(text);
    return resident * (size_t)sysconf(_SC_PAGESIZE) / 1024;
}

t_resources_t t_resources_now(void)
{
    return (t_resources_t){
        .descriptors = count_entries("/proc/self/fd") - 1, /* one is that of the folder itself */
        .threads = count_entries("/proc/self/task"),
        .mappings = count_lines("/proc/self/maps"),
        .resident_kib = resident_kib(),
    };
}

/* Sanitizers keep notes about every block and every mapping, and never give them back. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifdef SANITIZED
enum { SPARE_MAPPINGS = 1000, SPARE_KIB = 256 << 10 };
#else
enum { SPARE_MAPPINGS = 0, SPARE_KIB = 0 };
#endif

enum { SETTLE_MS = 10000 };

void t_resources_expect_at(const char *file, int line, const t_resources_t *before, size_t more_mappings,
                           size_t more_kib)
{
    t_resources_t now = t_resources_now();
    /* A thread that was joined may still be seen for an instant, and a connection on which another process asks our
     * device runtime for memory lasts until it has its answer. What leaks is there at the end as well. */
    for (uint64_t end = t_now_ms() + SETTLE_MS;
         (now.threads > before->threads || now.descriptors > before->descriptors) && t_now_ms() < end;) {
        const struct timespec pause = {0, 1000000};
        nanosleep(&pause, NULL);
        now = t_resources_now();
    }
    if (now.descriptors != before->descriptors)
        t_fail_at(file, line, "%zu descriptors, before %zu", now.descriptors, before->descriptors);
    if (now.threads != before->threads)
        t_fail_at(file, line, "%zu threads, before %zu", now.threads, before->threads);
    if (now.mappings > before->mappings + more_mappings + SPARE_MAPPINGS)
        t_fail_at(file, line, "%zu mappings, before %zu", now.mappings, before->mappings);
    if (now.resident_kib > before->resident_kib + more_kib + SPARE_KIB)
        t_fail_at(file, line, "%zu KiB resident, before %zu", now.resident_kib, before->resident_kib);
}
