/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log: form of a line, levels, callback, and that it never gets in the way - with descriptors closed, readers gone
 * or asleep, signals, threads and forks. What is written to a descriptor is looked at in a child of its own.
 */
#define LOG_MODULE "testing"
#include "support/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <unistd.h>

#include "host/utils/clock.h"
#include "host/utils/env.h"
#include "host/utils/status.h"

static void configure(aclshmemi_log_options_t options)
{
    t_check_int(aclshmemi_log_configure(&options), 0);
}

static void expect_match(const char *text, const char *pattern)
{
    regex_t regex;
    t_check_int(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
    t_check_that(regexec(&regex, text, 0, NULL, 0) == 0, "\"%s\" does not match %s", text, pattern);
    regfree(&regex);
}

#define STAMP "^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{6} "

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

/* ---- form ---- */

static void say_a_line(void *argument)
{
    (void)argument;
    errno = ENOENT;
    log_warn("cannot open %s: %m", "door");
    t_check_int(errno, ENOENT);
    aclshmemi_log_set_pe(12);
    log_error("second\n");
    log_info("not at this level");
}

static void look_at_lines(const t_child_t *child)
{
    t_check_text(child->out, "");
    expect_match(child->err, STAMP "WARN - testing: cannot open door: No such file or directory\n");
    char *second = strchr(child->err, '\n') + 1;
    expect_match(second, STAMP "ERROR 12 testing: second\n$");
    t_check_text(strchr(second, '\n'), "\n");
}

static void form_of_a_line(void **state)
{
    (void)state;
    in_child(say_a_line, NULL, look_at_lines);
}

static void say_without_stamp(void *argument)
{
    configure((aclshmemi_log_options_t){.sink = 1, .timestamp = argument});
    log_warn("text");
}

static void look_none(const t_child_t *child)
{
    t_check_text(child->out, "WARN - testing: text\n");
    t_check_text(child->err, "");
}

static void look_mono(const t_child_t *child)
{
    expect_match(child->out, "^[0-9]+\\.[0-9]{6} WARN - testing: text\n$");
}

static void look_strftime(const t_child_t *child)
{
    expect_match(child->out, "^\\[[0-9]{2}h[0-9]{2}\\] WARN - testing: text\n$");
}

static void time_formats(void **state)
{
    (void)state;
    in_child(say_without_stamp, (void *)(uintptr_t) "none", look_none);
    in_child(say_without_stamp, (void *)(uintptr_t) "MONO", look_mono);
    in_child(say_without_stamp, (void *)(uintptr_t) "[%Hh%M]", look_strftime);
}

static void say_odd_texts(void *argument)
{
    (void)argument;
    configure((aclshmemi_log_options_t){.sink = 2, .timestamp = "none"});
    log_warn("a\nFATAL 0 fake: b\rc\td\033[31me\x7f");
    log_warn("%s", "100%s gr\xc3\xbc\xc3\x9f"
                   "e");
    char *big = malloc(100000);
    t_check(big != NULL);
    memset(big, 'x', 99999);
    big[99999] = '\0';
    log_warn("%s", big);
    log_warn("after");
    free(big);
}

static void look_odd(const t_child_t *child)
{
    char *line = strtok(child->err, "\n");
    t_check_text(line, "WARN - testing: a FATAL 0 fake: b c d?[31me?");
    t_check_text(strtok(NULL, "\n"), "WARN - testing: 100%s gr\xc3\xbc\xc3\x9f"
                                     "e");
    line = strtok(NULL, "\n");
    t_check(strlen(line) > 3000 && strlen(line) < 4096);
    t_check_text(line + strlen(line) - 5, "xx...");
    t_check_text(strtok(NULL, "\n"), "WARN - testing: after");
}

static void one_line_stays_one_line(void **state)
{
    (void)state;
    in_child(say_odd_texts, NULL, look_odd);
}

/* ---- levels ---- */

static void say_all_levels(void)
{
    log_trace("at trace");
    log_debug("at debug");
    log_info("at info");
    log_warn("at warn");
    log_error("at error");
    log_fatal("at fatal");
}

static void levels(void **state)
{
    (void)state;
    for (int level = ACLSHMEMI_LOG_DEBUG; level <= ACLSHMEMI_LOG_FATAL; level++) {
        t_unit_log_start(level);
        t_check_int(aclshmemi_log_get_level(), level);
        say_all_levels();
        for (int k = ACLSHMEMI_LOG_DEBUG; k <= ACLSHMEMI_LOG_FATAL; k++)
            t_check_uint(t_log_count(k), k >= level);
    }
    t_log_forget();
    configure((aclshmemi_log_options_t){.levels = "TRACE", .sink = 2});
    say_all_levels();
#ifdef NDEBUG
    t_check_uint(t_log_count(0), 1); /* trace is compiled out */
#else
    t_check_uint(t_log_count(0), 2); /* to a callback, trace is debug: it knows 0 to 4 */
#endif
    t_unit_log_stop();
}

static void bad_levels(void **state)
{
    (void)state;
    t_unit_log_start(ACLSHMEMI_LOG_ERROR);
    static const int bad[] = {-2, -1, 5, 100, INT32_MIN, INT32_MAX};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        t_check_int(aclshmemi_log_set_level(bad[i]), ACLSHMEM_INVALID_VALUE);
        t_check_int(aclshmemi_log_get_level(), ACLSHMEMI_LOG_ERROR);
    }
    t_check_uint(t_log_count(ACLSHMEMI_LOG_ERROR), sizeof bad / sizeof *bad);
    aclshmemi_log_options_t options = {.levels = "loud", .sink = 2};
    t_check_int(aclshmemi_log_configure(&options), ACLSHMEM_INVALID_PARAM);
    t_check_contains(aclshmemi_status_last_text(), "loud");
    options = (aclshmemi_log_options_t){.subsystems = ",", .sink = 2};
    t_check_int(aclshmemi_log_configure(&options), ACLSHMEM_INVALID_PARAM);
    options = (aclshmemi_log_options_t){.sink = 3};
    t_check_int(aclshmemi_log_configure(&options), ACLSHMEM_INVALID_PARAM);
    t_check_int(aclshmemi_log_get_level(), ACLSHMEMI_LOG_ERROR);
    t_unit_log_stop();
}

static void the_users_level_survives_init(void **state)
{
    (void)state;
    t_unit_log_start(ACLSHMEMI_LOG_DEBUG);
    configure((aclshmemi_log_options_t){.sink = 2});
    t_check_int(aclshmemi_log_get_level(), ACLSHMEMI_LOG_DEBUG);
    configure((aclshmemi_log_options_t){.levels = "ERROR", .sink = 2});
    t_check_int(aclshmemi_log_get_level(), ACLSHMEMI_LOG_ERROR);
    t_unit_log_stop();
}

static void modules(void **state)
{
    (void)state;
    t_unit_log_start(ACLSHMEMI_LOG_WARN);
    configure((aclshmemi_log_options_t){.levels = "ERROR,testing:DEBUG", .sink = 2});
    say_all_levels();
    t_check_uint(t_log_count(0), 1);
    t_log_forget();
    configure((aclshmemi_log_options_t){.levels = "DEBUG,testing:ERROR", .sink = 2});
    say_all_levels();
    t_check_uint(t_log_count(0) + t_log_count(1) + t_log_count(2), 0);
    t_check_uint(t_log_count(3), 1);
    t_log_forget();
    t_check_int(aclshmemi_log_set_level(ACLSHMEMI_LOG_INFO), 0); /* by call it means every module */
    log_info("at info");
    t_check_uint(t_log_count(1), 1);
    t_log_forget();
    configure((aclshmemi_log_options_t){.levels = "DEBUG", .subsystems = "^testing", .sink = 2});
    say_all_levels();
    t_check_uint(t_log_count(0) + t_log_count(1), 0);
    t_check_uint(t_log_count(2), 1);
    configure((aclshmemi_log_options_t){.levels = "DEBUG", .sink = 2}); /* the choice is not for ever */
    say_all_levels();
    t_check_uint(t_log_count(0), 1);
    t_unit_log_stop();
}

static void say_before_configure(void *argument)
{
    (void)argument;
    t_check_int(atomic_load(&aclshmemi_log_threshold), ACLSHMEMI_LOG_WARN);
    t_check_int(aclshmemi_log_get_level(), ACLSHMEMI_LOG_WARN);
    log_info("no");
    log_warn("yes");
}

static void look_before(const t_child_t *child)
{
    expect_match(child->err, STAMP "WARN - testing: yes\n$");
    t_check(!strstr(child->err, ": no"));
}

static void works_before_anything(void **state)
{
    (void)state;
    const char *const argv[] = {t_own_path(), "--before", NULL};
    t_child_t child;
    t_run(&child, argv, NULL, 30000);
    t_check_exit(&child, 0);
    look_before(&child);
    t_child_free(&child);
}

/* ---- callback ---- */

static int other_calls;

static void other_callback(int level, const char *message)
{
    (void)level;
    other_calls++;
    t_check_contains(message, "log_test.c");
    log_error("a line from inside the callback"); /* must not come back to it */
}

static void callbacks(void **state)
{
    (void)state;
    t_unit_log_start(ACLSHMEMI_LOG_WARN);
    int line = __LINE__ + 1;
    log_warn("number %d", 5);
    char expected[128];
    snprintf(expected, sizeof expected, "[SHM_SHMEM log_test.c:%d] number 5", line);
    t_log_expect_level(ACLSHMEMI_LOG_WARN, expected);
    t_check_uint(t_log_count(ACLSHMEMI_LOG_WARN), 1);
    log_info("filtered");
    t_check_uint(t_log_count(ACLSHMEMI_LOG_INFO), 0);
    aclshmemi_log_set_callback(other_callback);
    log_warn("to the other one");
    t_check_int(other_calls, 1);
    t_check_uint(t_log_count(ACLSHMEMI_LOG_WARN), 1);
    t_unit_log_stop();
}

static void restore_builtin(void *argument)
{
    (void)argument;
    aclshmemi_log_set_callback(t_log_callback);
    log_warn("into the callback");
    aclshmemi_log_set_callback(NULL);
    log_warn("out again");
}

static void look_restored(const t_child_t *child)
{
    t_check(!strstr(child->err, "into the callback"));
    t_check_contains(child->err, "testing: out again\n");
}

static void null_restores_the_sink(void **state)
{
    (void)state;
    in_child(restore_builtin, NULL, look_restored);
}

/* ---- repeats ---- */

static void say_sparse(void)
{
    log_sparse(ACLSHMEMI_LOG_WARN, "again");
}

static void repeats(void **state)
{
    (void)state;
    t_unit_log_start(ACLSHMEMI_LOG_WARN);
    for (int i = 0; i < 10; i++)
        log_once(ACLSHMEMI_LOG_WARN, "only once");
    t_check_uint(t_log_count(ACLSHMEMI_LOG_WARN), 1);
    t_log_forget();
    uint64_t start = t_now_ms();
    uint32_t calls = 0;
    for (; t_log_count(ACLSHMEMI_LOG_WARN) < 2; calls++) {
        say_sparse();
        t_check(t_now_ms() - start < 30000);
    }
    t_check(t_now_ms() - start >= 1000 - 1);
    char expected[64];
    snprintf(expected, sizeof expected, "again (%u more like this left out)", calls - 2);
    t_log_expect(expected);
    t_unit_log_stop();
}

/* The flag of the other count must not stick to the next line of somebody else. */
static void sparse_counts_do_not_stray(void **state)
{
    (void)state;
    t_unit_log_start(ACLSHMEMI_LOG_ERROR);
    aclshmemi_log_sparse_t sparse = {.held = 5};
    t_check(aclshmemi_log_sparse_pass(&sparse));
    aclshmemi_log_write(ACLSHMEMI_LOG_INFO, "testing", __FILE__, __LINE__, "filtered out");
    log_error("clean");
    t_check(!t_log_contains("left out"));
    t_unit_log_stop();
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

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--before") == 0) {
        say_before_configure(NULL);
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(form_of_a_line),
        cmocka_unit_test(time_formats),
        cmocka_unit_test(one_line_stays_one_line),
        cmocka_unit_test(levels),
        cmocka_unit_test(bad_levels),
        cmocka_unit_test(the_users_level_survives_init),
        cmocka_unit_test(modules),
        cmocka_unit_test(works_before_anything),
        cmocka_unit_test(callbacks),
        cmocka_unit_test(null_restores_the_sink),
        cmocka_unit_test(repeats),
        cmocka_unit_test(sparse_counts_do_not_stray),
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
