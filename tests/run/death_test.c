/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sudden deaths: of the launcher, of its working process, of PEs with children. Nothing may be left in any case, not
 * even processes that went into sessions of their own. RUN_KILLS says how many random kills are tried.
 * [R-21]
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run_support.h"

static pid_t worker_of(pid_t pid)
{
    char path[64], text[64] = "";
    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (fd >= 0)
        close(fd);
    return got > 0 ? (pid_t)atoi(text) : -1;
}

static void grandchildren_go_with_a_failing_job(void **state)
{
    (void)state;
    run_mark();
    const char *const words[] = {"--stdin",        "2", "-n", "2", PE, "tree", ":", "sh", "-c",
                                 "read x; exit 3", NULL};
    running_t job = run_start(words);
    run_until(&job, "ready", 2);
    assert_int_equal(write(job.in, "\n", 1), 1);
    result_t r = run_finish(&job);
    assert_code(r, 3);
    run_expect_nothing_left();
    run_free(&r);
}

/* They ignore TERM, so they are killed after the grace time, though all PEs have ended well. */
static void stubborn_grandchildren_go_after_grace(void **state)
{
    (void)state;
    run_mark();
    result_t r = run_job(NULL, "-n", "2", "--grace", "0.3", PE, "tree", "leave", "stubborn", NULL);
    assert_code(r, 0);
    assert_true(r.seconds >= 0.3);
    assert_int_equal(run_marked(), 0); /* nothing is left when the launcher has ended, not only soon after */
    run_free(&r);
}

static void launcher_is_killed(void **state)
{
    (void)state;
    run_mark();
    const char *const words[] = {"-n", "4", PE, "tree", NULL};
    running_t job = run_start(words);
    run_until(&job, "ready", 4);
    kill(job.pid, SIGKILL);
    run_expect_nothing_left();
    result_t r = run_finish(&job);
    assert_code(r, 1000 + SIGKILL);
    run_free(&r);
}

static void stopped_launcher_is_killed(void **state)
{
    (void)state;
    run_mark();
    const char *const words[] = {"-n", "2", PE, "tree", NULL};
    running_t job = run_start(words);
    run_until(&job, "ready", 2);
    kill(worker_of(job.pid), SIGSTOP);
    kill(job.pid, SIGSTOP);
    kill(job.pid, SIGKILL);
    run_expect_nothing_left();
    result_t r = run_finish(&job);
    assert_code(r, 1000 + SIGKILL);
    run_free(&r);
}

static void worker_is_killed(void **state)
{
    (void)state;
    run_mark();
    const char *const words[] = {"-n", "4", PE, "tree", NULL};
    running_t job = run_start(words);
    run_until(&job, "ready", 4);
    kill(worker_of(job.pid), SIGKILL);
    result_t r = run_finish(&job);
    assert_code(r, 128 + SIGKILL);
    assert_has(r.err, "the PEs have been killed");
    assert_int_equal(run_marked(), 0);
    run_free(&r);
}

/* The PEs see it by themselves as well, on the descriptor they were given: here nobody is there to kill this one. */
static void life_pipe_ends_with_the_launcher(void **state)
{
    (void)state;
    char name[64];
    snprintf(name, sizeof(name), "/tmp/run-life-%d", (int)getpid());
    unlink(name);
    run_mark();
    const char *const words[] = {"-n", "1", PE, "life", name, NULL};
    running_t job = run_start(words);
    run_until(&job, "ready", 1);
    pid_t worker = worker_of(job.pid);
    kill(job.pid, SIGSTOP);
    kill(worker, SIGKILL);
    double end = run_now() + 20;
    while (access(name, F_OK) && run_now() < end)
        poll(NULL, 0, 2);
    assert_int_equal(unlink(name), 0);
    kill(job.pid, SIGCONT);
    result_t r = run_finish(&job);
    assert_code(r, 128 + SIGKILL);
    assert_int_equal(run_marked(), 0);
    run_free(&r);
}

static void random_kills_leave_nothing(void **state)
{
    (void)state;
    const char *count = getenv("RUN_KILLS");
    unsigned seed = (unsigned)getpid();
    print_message("seed %u\n", seed);
    for (int i = count ? atoi(count) : 25; i > 0; i--) {
        const char *const words[] = {"-n", "4", PE, "tree", NULL};
        run_mark();
        running_t job = run_start(words);
        seed = seed * 1103515245u + 12345u;
        poll(NULL, 0, (int)((seed >> 16) % 25)); /* anywhere between the start and full run */
        pid_t victim = job.pid;
        if ((seed >> 8) % 3 == 0 && worker_of(job.pid) > 0)
            victim = worker_of(job.pid);
        kill(victim, SIGKILL);
        result_t r = run_finish(&job);
        run_expect_nothing_left();
        assert_true(r.code != 0);
        run_free(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grandchildren_go_with_a_failing_job),
        cmocka_unit_test(stubborn_grandchildren_go_after_grace),
        cmocka_unit_test(launcher_is_killed),
        cmocka_unit_test(stopped_launcher_is_killed),
        cmocka_unit_test(worker_is_killed),
        cmocka_unit_test(life_pipe_ends_with_the_launcher),
        cmocka_unit_test(random_kills_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
