/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting the launcher from a test, talking to it, and looking at what it leaves behind.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "run_support.h"

enum { WORDS_MOST = 64, UNTIL_MS = 30000, FINISH_MS = 120000 };

static char mark[64];

/* RUN_ONLY=pattern picks tests of a program by name. */
__attribute__((constructor)) static void pick_tests(void)
{
    if (getenv("RUN_ONLY"))
        cmocka_set_test_filter(getenv("RUN_ONLY"));
}

/* Everything is built into one folder. */
static const char *beside_us(const char *name, char *out, size_t size)
{
    ssize_t got = readlink("/proc/self/exe", out, size - 1);
    assert_true(got > 0);
    out[got] = 0;
    char *slash = strrchr(out, '/');
    assert_true(slash && (size_t)(slash - out) + strlen(name) + 2 < size);
    memcpy(slash + 1, name, strlen(name) + 1);
    return out;
}

const char *run_pe(void)
{
    static char path[4096];
    return path[0] ? path : beside_us("run_pe", path, sizeof(path));
}

char *run_launcher(void)
{
    static char path[4096];
    if (!path[0])
        (void)beside_us("aclshmemrun", path, sizeof(path));
    return path;
}

double run_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void start(running_t *job, char **argv, bool with_input)
{
    int in[2] = {-1, -1}, out[2], err[2];
    argv[0] = run_launcher();
    if (with_input)
        assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    assert_int_equal(pipe2(err, O_CLOEXEC), 0);
    *job = (running_t){.pid = fork(), .in = in[1], .out = out[0], .err = err[0]};
    if (job->pid == 0) {
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        int input = with_input ? in[0] : open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (dup2(input, 0) == 0 && dup2(out[1], 1) == 1 && dup2(err[1], 2) == 2)
            execv(argv[0], argv);
        _exit(98);
    }
    assert_true(job->pid > 0);
    if (with_input)
        close(in[0]);
    close(out[1]);
    close(err[1]);
}

running_t run_start(const char *const *arguments)
{
    char *argv[WORDS_MOST] = {0};
    running_t job;
    for (int i = 0; arguments[i]; i++) {
        assert_true(i < WORDS_MOST - 2);
        argv[i + 1] = strdup(arguments[i]);
    }
    start(&job, argv, true);
    for (int i = 1; argv[i]; i++)
        free(argv[i]);
    return job;
}

static size_t power_of_two(size_t bytes)
{
    size_t power = 4096;
    while (power < bytes)
        power *= 2;
    return power;
}

static void append(char **text, size_t *bytes, const char *data, size_t length)
{
    if (!*text || power_of_two(*bytes + length + 1) != power_of_two(*bytes + 1))
        *text = realloc(*text, power_of_two(*bytes + length + 1));
    assert_non_null(*text);
    memcpy(*text + *bytes, data, length);
    *bytes += length;
    (*text)[*bytes] = 0;
}

int run_count(const char *text, const char *word)
{
    int count = 0;
    for (const char *at = text; at && (at = strstr(at, word)) != NULL; at += strlen(word))
        count++;
    return count;
}

void run_until(running_t *job, const char *word, int count)
{
    double end = run_now() + UNTIL_MS / 1000.0;
    while (run_count(job->text, word) < count) {
        char block[4096];
        struct pollfd ready = {.fd = job->out, .events = POLLIN};
        if (run_now() > end || poll(&ready, 1, UNTIL_MS) <= 0)
            fail_msg("\"%s\" did not come %d times: %s", word, count, job->text ? job->text : "");
        ssize_t got = read(job->out, block, sizeof(block));
        if (got <= 0)
            fail_msg("output ended before \"%s\" came %d times: %s", word, count, job->text ? job->text : "");
        append(&job->text, &job->bytes, block, (size_t)got);
    }
}

/* Takes what is readable; false when that stream has ended. */
static bool take(int *fd, char **text, size_t *bytes)
{
    static char block[1 << 16];
    ssize_t got = read(*fd, block, sizeof(block));
    if (got > 0) {
        append(text, bytes, block, (size_t)got);
        return true;
    }
    close(*fd);
    *fd = -1;
    return false;
}

result_t run_finish(running_t *job)
{
    result_t result = {.out = job->text, .out_bytes = job->bytes};
    double end = run_now() + FINISH_MS / 1000.0;
    int status = 0;
    append(&result.out, &result.out_bytes, "", 0);
    append(&result.err, &result.err_bytes, "", 0);
    if (job->in >= 0)
        close(job->in);
    while (job->out >= 0 || job->err >= 0) {
        struct pollfd ready[] = {{.fd = job->out, .events = POLLIN}, {.fd = job->err, .events = POLLIN}};
        if (run_now() > end || poll(ready, 2, FINISH_MS) <= 0) {
            kill(job->pid, SIGKILL);
            fail_msg("the launcher does not end; stdout: %s\nstderr: %s", result.out, result.err);
        }
        if (ready[0].revents)
            take(&job->out, &result.out, &result.out_bytes);
        if (ready[1].revents)
            take(&job->err, &result.err, &result.err_bytes);
    }
    assert_int_equal(waitpid(job->pid, &status, 0), job->pid);
    result.code = WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
    *job = (running_t){.in = -1, .out = -1, .err = -1};
    return result;
}

result_t run_words(const char *input, char **argv)
{
    running_t job;
    double begin = run_now();
    start(&job, argv, input != NULL);
    if (input) {
        assert_int_equal(write(job.in, input, strlen(input)), (ssize_t)strlen(input));
        close(job.in);
        job.in = -1;
    }
    result_t result = run_finish(&job);
    result.seconds = run_now() - begin;
    return result;
}

result_t run_job(const char *input, ...)
{
    char *argv[WORDS_MOST] = {0};
    int count = 1;
    va_list args;
    va_start(args, input);
    while ((argv[count] = va_arg(args, char *)) != NULL)
        assert_true(++count < WORDS_MOST - 1);
    va_end(args);
    return run_words(input, argv);
}

void run_free(result_t *result)
{
    free(result->out);
    free(result->err);
    *result = (result_t){0};
}

void run_mark(void)
{
    static int count;
    snprintf(mark, sizeof(mark), "%d.%d", (int)getpid(), ++count);
    setenv("RUN_TEST_MARK", mark, 1);
}

static bool carries_mark(const char *pid)
{
    char path[300], wanted[96];
    static char text[1 << 17];
    snprintf(path, sizeof(path), "/proc/%s/environ", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got = read(fd, text, sizeof(text));
    close(fd);
    snprintf(wanted, sizeof(wanted), "RUN_TEST_MARK=%s", mark);
    return got > 0 && memmem(text, (size_t)got, wanted, strlen(wanted) + 1) != NULL;
}

int run_marked(void)
{
    int count = 0;
    DIR *folder = opendir("/proc");
    struct dirent *entry;
    assert_non_null(folder);
    while ((entry = readdir(folder)) != NULL)
        count += entry->d_name[0] > '0' && entry->d_name[0] <= '9' && atoi(entry->d_name) != getpid() &&
                 carries_mark(entry->d_name);
    closedir(folder);
    return count;
}

void run_expect_nothing_left(void)
{
    double end = run_now() + 10;
    while (run_marked()) {
        if (run_now() > end)
            fail_msg("%d processes of the job are left", run_marked());
        poll(NULL, 0, 5);
    }
}
