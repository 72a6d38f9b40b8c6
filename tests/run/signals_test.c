/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals sent to the launcher: what the PEs get, when they are killed, and the exit code.
 * [R-07] [R-21]
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run_support.h"

static char state_of(pid_t pid)
{
    char path[64], text[512] = "";
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return '-';
    ssize_t got = read(fd, text, sizeof(text) - 1);
    close(fd);
    const char *end = got > 0 ? strrchr(text, ')') : NULL;
    return end ? end[2] : '?';
}

static void wait_for_state(pid_t pid, const char *wanted)
{
    double end = run_now() + 20;
    while (!strchr(wanted, state_of(pid))) {
        if (run_now() > end)
            fail_msg("process %d is in state %c, not %s", (int)pid, state_of(pid), wanted);
        poll(NULL, 0, 2);
    }
}

static running_t start_listeners(const char *grace)
{
    const char *const words[] = {"-n", "3", "--grace", grace, PE, "listen", NULL};
    run_mark();
    running_t job = run_start(words);
    run_until(&job, "ready", 3);
    return job;
}

static void expect_end(running_t *job, int code)
{
    result_t r = run_finish(job);
    assert_code(r, code);
    run_expect_nothing_left();
    run_free(&r);
}

/* Within two seconds of each other; on a busy machine two may not be, so they are sent until it has happened. */
static void two_interrupts_kill(void **state)
{
    (void)state;
    siginfo_t info = {0};
    running_t job = start_listeners("60");
    double begin = run_now();
    while (!info.si_pid && run_now() - begin < 30) {
        kill(job.pid, SIGINT);
        poll(NULL, 0, 50);
        assert_int_equal(waitid(P_PID, (id_t)job.pid, &info, WEXITED | WNOHANG | WNOWAIT), 0);
    }
    assert_int_equal(info.si_pid, job.pid);
    expect_end(&job, 130);
}

static void one_interrupt_gives_grace(void **state)
{
    (void)state;
    running_t job = start_listeners("0.5");
    double begin = run_now();
    kill(job.pid, SIGINT);
    run_until(&job, "got 2\n", 3);
    expect_end(&job, 130);
    assert_true(run_now() - begin >= 0.45);
}

/* However it is sent: a terminal sends to the launcher's whole group, and that must not count as two. */
static void interrupt_of_a_group_counts_once(void **state)
{
    (void)state;
    run_mark();
    const char *const words[] = {"-n", "2", "--grace", "0.7", PE, "listen", NULL};
    running_t job = run_start(words);
    run_until(&job, "ready", 2);
    /* its working process is in our own group, so both are signalled by hand */
    char path[64], text[64] = "";
    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)job.pid, (int)job.pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0);
    close(fd);
    double begin = run_now();
    kill(atoi(text), SIGINT);
    kill(job.pid, SIGINT);
    kill(atoi(text), SIGINT);
    run_until(&job, "got 2\n", 2);
    expect_end(&job, 130);
    assert_true(run_now() - begin >= 0.65);
}

static void deadly_signals_are_passed_on(void **state)
{
    (void)state;
    const int numbers[] = {SIGTERM, SIGHUP, SIGQUIT};
    for (int i = 0; i < 3; i++) {
        char word[16];
        running_t job = start_listeners("0.3");
        kill(job.pid, numbers[i]);
        snprintf(word, sizeof(word), "got %d\n", numbers[i]);
        run_until(&job, word, 3);
        expect_end(&job, 128 + numbers[i]);
    }
}

/* A PE that ends well upon TERM does not change that the job was ended. */
static void graceful_end_keeps_the_code(void **state)
{
    (void)state;
    const char *const words[] = {"-n", "2", "--grace", "60", PE, "listen", "15", "0", NULL};
    running_t job = run_start(words);
    run_until(&job, "ready", 2);
    kill(job.pid, SIGTERM);
    result_t r = run_finish(&job);
    assert_code(r, 143);
    assert_has(r.err, "ended by signal 15");
    run_free(&r);
}

static void other_signals_are_passed_on(void **state)
{
    (void)state;
    const int numbers[] = {SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT};
    running_t job = start_listeners("0.1");
    for (int i = 0; i < 4; i++) {
        char word[16];
        kill(job.pid, numbers[i]);
        snprintf(word, sizeof(word), "got %d\n", numbers[i]);
        run_until(&job, word, 3);
    }
    kill(job.pid, SIGTERM);
    expect_end(&job, 143);
}

/* USR1 is for the program: a helper beside it, with the default action, lives on. */
static void user_signal_spares_helpers(void **state)
{
    (void)state;
    const char *const words[] = {
        "-n",
        "1",
        "sh",
        "-c",
        "sleep 60 & trap 'kill -0 $! && echo helper lives; kill $!; exit 0' USR1; echo ready; wait",
        NULL};
    running_t job = run_start(words);
    run_until(&job, "ready", 1);
    kill(job.pid, SIGUSR1);
    result_t r = run_finish(&job);
    assert_code(r, 0);
    assert_has(r.out, "helper lives");
    run_free(&r);
}

static pid_t pe_pid(const char *text)
{
    const char *at = strstr(text, "pid=");
    return at ? (pid_t)atoi(at + 4) : -1;
}

static void stop_and_continue(void **state)
{
    (void)state;
    int status;
    const char *const words[] = {"-n", "1", "--grace", "1", "sh", "-c", "echo pid=$$ ready; exec sleep 100",
                                 NULL};
    run_mark();
    running_t job = run_start(words);
    run_until(&job, "ready", 1);
    pid_t pe = pe_pid(job.text);
    assert_true(pe > 0);
    for (int i = 0; i < 3; i++) {
        kill(job.pid, SIGTSTP);
        assert_int_equal(waitpid(job.pid, &status, WUNTRACED), job.pid); /* we stop ourselves too */
        assert_true(WIFSTOPPED(status));
        wait_for_state(pe, "T");
        kill(job.pid, SIGCONT);
        wait_for_state(pe, "SR");
    }
    kill(job.pid, SIGTERM);
    expect_end(&job, 143);
}

/* A stopped PE hears TERM as well. */
static void stopped_pe_is_ended(void **state)
{
    (void)state;
    const char *const words[] = {"-n", "2", "--grace", "60", "sh", "-c", "echo pid=$$ ready; exec sleep 100",
                                 NULL};
    run_mark();
    running_t job = run_start(words);
    run_until(&job, "ready", 2);
    pid_t pe = pe_pid(job.text);
    kill(pe, SIGSTOP);
    wait_for_state(pe, "T");
    double begin = run_now();
    kill(job.pid, SIGTERM);
    expect_end(&job, 143);
    assert_true(run_now() - begin < 30);
}

/* nohup: HUP was ignored when we were started, so the job survives it. */
static void ignored_hangup_stays_ignored(void **state)
{
    (void)state;
    run_mark();
    assert_true(signal(SIGHUP, SIG_IGN) != SIG_ERR);
    const char *const words[] = {"-n", "1", "--grace", "1", PE, "listen", NULL};
    running_t job = run_start(words);
    run_until(&job, "ready", 1);
    assert_true(signal(SIGHUP, SIG_DFL) != SIG_ERR);
    kill(job.pid, SIGHUP);
    kill(job.pid, SIGUSR1);
    run_until(&job, "got 10\n", 1);
    assert_has_not(job.text, "got 1\n");
    kill(job.pid, SIGTERM);
    expect_end(&job, 143);
}

/* A shell without job control starts background jobs with INT ignored; what we pass on is meant all the same. */
static void interrupt_works_in_the_background(void **state)
{
    (void)state;
    run_mark();
    assert_true(signal(SIGINT, SIG_IGN) != SIG_ERR);
    const char *const words[] = {"-n", "1", "--grace", "60", "sh", "-c", "echo ready; exec sleep 100", NULL};
    running_t job = run_start(words);
    run_until(&job, "ready", 1);
    assert_true(signal(SIGINT, SIG_DFL) != SIG_ERR);
    double begin = run_now();
    kill(job.pid, SIGINT);
    expect_end(&job, 130);
    assert_true(run_now() - begin < 30);
}

static void ignored_child_ends_do_not_matter(void **state)
{
    (void)state;
    assert_true(signal(SIGCHLD, SIG_IGN) != SIG_ERR);
    const char *const words[] = {"-n", "2", PE, "exit", "1", "7", NULL};
    running_t job = run_start(words);
    assert_true(signal(SIGCHLD, SIG_DFL) != SIG_ERR);
    result_t r = run_finish(&job);
    assert_code(r, 7);
    run_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_interrupts_kill),
        cmocka_unit_test(one_interrupt_gives_grace),
        cmocka_unit_test(interrupt_of_a_group_counts_once),
        cmocka_unit_test(deadly_signals_are_passed_on),
        cmocka_unit_test(graceful_end_keeps_the_code),
        cmocka_unit_test(other_signals_are_passed_on),
        cmocka_unit_test(user_signal_spares_helpers),
        cmocka_unit_test(stop_and_continue),
        cmocka_unit_test(stopped_pe_is_ended),
        cmocka_unit_test(ignored_hangup_stays_ignored),
        cmocka_unit_test(interrupt_works_in_the_background),
        cmocka_unit_test(ignored_child_ends_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
