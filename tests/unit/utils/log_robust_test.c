/* SPDX-License-Identifier: Apache-2.0 */
/* The log never gets in the way: with descriptors closed, readers gone or asleep, signals, threads, forks, terminals. */
/* */
#define LOG_MODULE "testing"
#include "support/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static void configure(aclshmemi_log_options_t options)
{
    t_check_int(aclshmemi_log_configure(&options), 0);
}

/* Runs function in a child and hands its output to look. */
static void in_child(void (*function)(void *), void *argument, void (*look)(const t_child_t *))
{
    t_child_t child;
    t_run_function(&child, function, argument, 60000);
    t_check_exit(&child, 0);
    if (look)
        look(&child);
    t_child_free(&child);
}

/* ---- out of the way ---- */

static void say_with_closed_stdio(void *argument)
{
    (void)argument;
    close(0);
    close(1);
    close(2);
    errno = EDOM;
    for (int sink = 1; sink <= 2; sink++) {
        aclshmemi_log_options_t options = {.levels = "DEBUG", .sink = sink};
        if (aclshmemi_log_configure(&options) != 0)
            _exit(4);
        log_warn("into the void");
    }
    if (errno != EDOM)
        _exit(5);
    if (fcntl(0, F_GETFD) >= 0 || fcntl(1, F_GETFD) >= 0 || fcntl(2, F_GETFD) >= 0)
        _exit(6);
}

static void closed_descriptors(void **state)
{
    (void)state;
    in_child(say_with_closed_stdio, NULL, NULL);
}

static void say_without_reader(void *argument)
{
    int fds[2];
    (void)argument;
    signal(SIGPIPE, SIG_DFL);
    t_check_int(pipe2(fds, O_CLOEXEC), 0);
    int keep = dup(STDERR_FILENO);
    t_check_int(dup2(fds[1], STDERR_FILENO), STDERR_FILENO);
    close(fds[0]);
    log_warn("nobody reads this");
    sigset_t pending, mask;
    sigpending(&pending);
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    dup2(keep, STDERR_FILENO);
    t_check(!sigismember(&pending, SIGPIPE) && !sigismember(&mask, SIGPIPE));
}

/* [F-20] */
static void gone_reader_does_not_kill(void **state)
{
    (void)state;
    in_child(say_without_reader, NULL, NULL);
}

static void say_to_sleeping_reader(void *argument)
{
    int fds[2];
    char buffer[8192];
    bool nonblocking = argument != NULL;
    t_check_int(pipe2(fds, O_CLOEXEC | (nonblocking ? O_NONBLOCK : 0)), 0);
    int keep = dup(STDERR_FILENO);
    t_check_int(dup2(fds[1], STDERR_FILENO), STDERR_FILENO);
    int room = fcntl(fds[1], F_GETPIPE_SZ);
    memset(buffer, 'x', sizeof buffer);
    for (int filled = 0; filled < room; filled += 4096) {
        if (write(fds[1], buffer, 4096) != 4096)
            break;
    }
    uint64_t start = t_now_ms();
    for (int i = 0; i < 200; i++)
        log_warn("line %d", i);
    uint64_t took = t_now_ms() - start;
    t_check_int(fcntl(fds[0], F_SETFL, O_NONBLOCK), 0);
    while (read(fds[0], buffer, sizeof buffer) > 0)
        ;
    log_warn("awake");
    ssize_t n = read(fds[0], buffer, sizeof buffer - 1);
    dup2(keep, STDERR_FILENO);
    t_check(n > 0);
    buffer[n] = '\0';
    t_check_that(took < 15000, "%llu ms for lines nobody reads", (unsigned long long)took);
    t_check_contains(buffer, "testing: awake\n");
    t_check_contains(buffer, "log: 200 lines were lost");
}

static void sleeping_reader_does_not_block(void **state)
{
    (void)state;
    in_child(say_to_sleeping_reader, NULL, NULL);
    in_child(say_to_sleeping_reader, (void *)(uintptr_t) "nonblocking", NULL);
}

/* ---- threads, signals, forks ---- */

enum { THREADS = 8, LINES = 2000 };

static void *say_many(void *argument)
{
    int number = *(int *)argument;
    for (int i = 0; i < LINES; i++)
        log_warn("thread %d line %d of some length so that a torn one would show", number, i);
    return NULL;
}

static void say_in_threads(void *argument)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];
    (void)argument;
    configure((aclshmemi_log_options_t){.sink = 2, .timestamp = "none"});
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        t_check_int(pthread_create(&threads[i], NULL, say_many, &numbers[i]), 0);
    }
    /* Settings change under their feet. */
    for (int i = 0; i < 200; i++) {
        t_check_int(aclshmemi_log_set_level(i % 3), 0);
        configure((aclshmemi_log_options_t){
            .levels = i % 2 ? "WARN,heap:DEBUG" : NULL, .sink = 2, .timestamp = "none"});
    }
    for (int i = 0; i < THREADS; i++)
        t_check_int(pthread_join(threads[i], NULL), 0);
}

static void look_at_threads(const t_child_t *child)
{
    int next[THREADS] = {0}, total = 0;
    for (char *line = strtok(child->err, "\n"); line; line = strtok(NULL, "\n"), total++) {
        int thread, number, end = 0;
        int n =
            sscanf(line, "WARN - testing: thread %d line %d of some length so that a torn one would show%n",
                   &thread, &number, &end);
        t_check_that(n == 2 && line[end] == '\0' && thread >= 0 && thread < THREADS, "torn line: %s", line);
        t_check_int(number, next[thread]++);
    }
    t_check_int(total, THREADS * LINES);
}

static void threads_do_not_mix(void **state)
{
    (void)state;
    in_child(say_in_threads, NULL, look_at_threads);
}

static void on_alarm(int number)
{
    (void)number;
}

static void say_while_interrupted(void *argument)
{
    struct sigaction action = {.sa_handler = on_alarm};
    struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    t_check_int(sigaction(SIGALRM, &action, NULL), 0);
    t_check_int(setitimer(ITIMER_REAL, &often, NULL), 0);
    say_in_threads(argument);
    t_check_int(setitimer(ITIMER_REAL, &never, NULL), 0);
}

static void interrupted_lines_are_whole(void **state)
{
    (void)state;
    in_child(say_while_interrupted, NULL, look_at_threads);
}

static atomic_bool stop;

static void *say_until_stopped(void *argument)
{
    (void)argument;
    while (!atomic_load(&stop))
        log_warn("parent");
    return NULL;
}

static void say_in_grandchild(void *argument)
{
    (void)argument;
    log_warn("child");
}

static void fork_while_logging(void *argument)
{
    pthread_t threads[2];
    (void)argument;
    for (int i = 0; i < 2; i++)
        t_check_int(pthread_create(&threads[i], NULL, say_until_stopped, NULL), 0);
    for (int i = 0; i < 100; i++) {
        t_child_t child;
        t_run_function(&child, say_in_grandchild, NULL, 20000);
        t_check_exit(&child, 0);
        t_check_contains(child.err, "testing: child\n");
        t_child_free(&child);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < 2; i++)
        t_check_int(pthread_join(threads[i], NULL), 0);
}

static void a_fork_finds_the_locks_free(void **state)
{
    (void)state;
    in_child(fork_while_logging, NULL, NULL);
}

/* ---- colours ---- */

static void say_on_terminal(char out[4096])
{
    out[0] = '\0';
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
        return;
    int slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    int keep = dup(STDERR_FILENO);
    t_check(slave >= 0 && keep >= 0);
    t_check_int(dup2(slave, STDERR_FILENO), STDERR_FILENO);
    log_warn("in colour");
    ssize_t n = read(master, out, 4095);
    t_check_int(dup2(keep, STDERR_FILENO), STDERR_FILENO);
    t_check(n > 0);
    out[n] = '\0';
    close(slave);
    close(master);
    close(keep);
}

static void colours(void **state)
{
    char text[4096];
    (void)state;
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    say_on_terminal(text);
    if (!text[0]) {
        print_message("no terminal to be had here\n");
        skip();
    }
    t_check_contains(text, " \033[33mWARN\033[0m - testing: in colour");
    setenv("NO_COLOR", "1", 1);
    say_on_terminal(text);
    t_check(!strchr(text, '\033'));
    setenv("NO_COLOR", "", 1);
    say_on_terminal(text);
    t_check(strchr(text, '\033') != NULL);
    setenv("TERM", "dumb", 1);
    say_on_terminal(text);
    t_check(!strchr(text, '\033'));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_descriptors),
        cmocka_unit_test(gone_reader_does_not_kill),
        cmocka_unit_test(sleeping_reader_does_not_block),
        cmocka_unit_test(threads_do_not_mix),
        cmocka_unit_test(interrupted_lines_are_whole),
        cmocka_unit_test(a_fork_finds_the_locks_free),
        cmocka_unit_test(colours),
    };
    t_clean_environment();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
