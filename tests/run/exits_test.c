/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exit codes and reports: each way a job can end, the code that the outside sees, and what is said about it.
 * [R-21]
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run_support.h"

#define INIT "cmd=init pmi_version=1 pmi_subversion=1"

static void clean_job_says_nothing(void **state)
{
    (void)state;
    result_t r = run_job(NULL, "-n", "3", PE, "exit-all", "0", "0", "0", NULL);
    assert_code(r, 0);
    assert_string_equal(r.out, "");
    assert_string_equal(r.err, "");
    run_free(&r);
}

static void code_of_the_failing_pe(void **state)
{
    (void)state;
    run_mark();
    result_t r = run_job(NULL, "-n", "3", "--grace", "60", PE, "exit", "1", "7", NULL);
    assert_code(r, 7);
    assert_has(r.err, "aclshmemrun: PE 1 on ");
    assert_has(r.err, "failed: exit code 7 after");
    assert_has(r.err, "PEs 0 2 ended by aclshmemrun (TERM); job exit code 7\n");
    assert_true(run_count(r.err, "\n") <= 5);
    assert_true(r.seconds < 30); /* the others were asked to end, not waited for */
    run_expect_nothing_left();
    run_free(&r);
}

static void signal_becomes_128_and_more(void **state)
{
    (void)state;
    const int numbers[] = {SIGSEGV, SIGABRT, SIGKILL, SIGUSR1};
    for (size_t i = 0; i < 4; i++) {
        char text[16];
        snprintf(text, sizeof(text), "%d", numbers[i]);
        result_t r = run_job(NULL, "-n", "2", PE, "die", "1", text, NULL);
        assert_code(r, 128 + numbers[i]);
        assert_has(r.err, "PE 1 on ");
        assert_has(r.err, "died: signal ");
        assert_has(r.err, strsignal(numbers[i]));
        assert_has(r.err, "last words of PE 1: of signal ");
        assert_true(run_count(r.err, "aclshmemrun: ") <= 5);
        run_free(&r);
    }
}

static void last_words_without_newline(void **state)
{
    (void)state;
    result_t r = run_job(NULL, "-n", "2", PE, "last-words", "0", "never\033ended", NULL);
    assert_code(r, 3);
    assert_has(r.err, "first\nnever\033ended\naclshmemrun: PE 0");
    assert_has(r.err, "last words of PE 0: never?ended\n"); /* our own line carries no control characters */
    run_free(&r);
}

static void core_file_is_named(void **state)
{
    (void)state;
    struct rlimit limit, old;
    char folder[] = "/tmp/run-core-XXXXXX", command[256];
    char pattern[64] = "";
    int fd = open("/proc/sys/kernel/core_pattern", O_RDONLY | O_CLOEXEC);
    assert_true(fd < 0 || read(fd, pattern, sizeof(pattern) - 1) > 0);
    assert_int_equal(getrlimit(RLIMIT_CORE, &old), 0);
    limit = old;
    limit.rlim_cur = limit.rlim_max;
    if (fd < 0 || pattern[0] == '|' || pattern[0] == '/' || limit.rlim_max == 0 ||
        setrlimit(RLIMIT_CORE, &limit)) {
        print_message("no core files here\n");
        skip();
    }
    close(fd);
    assert_non_null(mkdtemp(folder));
    result_t r = run_job(NULL, "-n", "1", "sh", "-c", "ulimit -c", NULL);
    bool none = strcmp(r.out, "0\n") == 0; /* sanitizers take the limit away */
    run_free(&r);
    if (none) {
        rmdir(folder);
        assert_int_equal(setrlimit(RLIMIT_CORE, &old), 0);
        print_message("no core files in this build\n");
        skip();
    }
    r = run_job(NULL, "-n", "1", "--wdir", folder, "sh", "-c", "kill -SEGV $$", NULL);
    assert_int_equal(setrlimit(RLIMIT_CORE, &old), 0);
    assert_code(r, 128 + SIGSEGV);
    assert_has(r.err, ", core file ");
    assert_has(r.err, folder);
    run_free(&r);
    snprintf(command, sizeof(command), "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

static void programs_that_cannot_be_started(void **state)
{
    (void)state;
    result_t r = run_job(NULL, "-n", "2", "no-such-program-anywhere", NULL);
    assert_code(r, 127);
    assert_has(r.err, "program no-such-program-anywhere not found in PATH");
    run_free(&r);
    r = run_job(NULL, "-n", "2", "./no/such/file", NULL);
    assert_code(r, 127);
    run_free(&r);
    r = run_job(NULL, "-n", "2", "/etc/passwd", NULL);
    assert_code(r, 126);
    assert_has(r.err, "not executable");
    run_free(&r);
    r = run_job(NULL, "-n", "1", "/", NULL);
    assert_code(r, 126);
    run_free(&r);
    r = run_job(NULL, "-n", "1", PE, "print", "a", ":", "-n", "1", "no-such-program-anywhere", NULL);
    assert_code(r, 127); /* nothing is started when a part of the job cannot be */
    assert_string_equal(r.out, "");
    run_free(&r);
}

/* An interpreter that does not exist is seen by exec alone. */
static void interpreter_that_does_not_exist(void **state)
{
    (void)state;
    char name[] = "/tmp/run-script-XXXXXX";
    int fd = mkstemp(name);
    assert_true(fd >= 0 && dprintf(fd, "#!/no/such/interpreter\n") > 0);
    assert_int_equal(fchmod(fd, 0700), 0);
    close(fd);
    result_t r = run_job(NULL, "-n", "2", "--restart", "3", name, NULL);
    unlink(name);
    assert_code(r, 127);
    assert_has(r.err, "could not be started: No such file or directory");
    assert_int_equal(run_count(r.err, "could not be started"), 1); /* and starting again would not help */
    run_free(&r);
}

static void no_finalize(void **state)
{
    (void)state;
    result_t r = run_job(NULL, "-n", "1", PE, "pmi", INIT, "?", "exit0", ":", "-n", "1", PE, "ready", NULL);
    assert_code(r, 1);
    assert_has(r.err, "PE 0 on ");
    assert_has(r.err, "exited with code 0 without finalize while others run");
    run_free(&r);
    /* alone, nobody is left in the lurch */
    r = run_job(NULL, "-n", "1", PE, "pmi", INIT, "?", "exit0", NULL);
    assert_code(r, 0);
    run_free(&r);
    /* with finalize, and without ever having started, leaving early is fine */
    r = run_job(NULL, "-n", "1", PE, "pmi", INIT, "?", "cmd=finalize", "?", ":", "-n", "2", "sleep", "0.2",
                NULL);
    assert_code(r, 0);
    assert_string_equal(r.err, "");
    run_free(&r);
}

/* Also in the middle of an unread answer, and with no time between the word and the end. */
static void finalize_just_before_the_end(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        result_t r = run_job(NULL, "-n", "4", PE, "pmi", INIT, "?", "cmd=finalize", "exit0", NULL);
        assert_code(r, 0);
        run_free(&r);
    }
}

static void global_exit(void **state)
{
    (void)state;
    run_mark();
    result_t r = run_job(NULL, "-n", "1", PE, "pmi", INIT, "?", "cmd=abort exitcode=0", "wait", ":", "-n",
                         "3", PE, "ready", NULL);
    assert_code(r, 0);
    assert_string_equal(r.err, "");
    run_free(&r);
    r = run_job(NULL, "-n", "1", PE, "pmi", "cmd=abort exitcode=300", "exit0", ":", "-n", "3", PE, "ready",
                NULL);
    assert_code(r, 300 & 255);
    assert_has(r.err, "PE 0 on ");
    assert_has(r.err, "ended the job with code 44");
    run_free(&r);
    r = run_job(NULL, "-n", "1", PE, "pmi", "cmd=abort exitcode=9 message=out of patience", "exit0", ":",
                "-n", "1", PE, "ready", NULL);
    assert_code(r, 9);
    assert_has(r.err, "out of patience");
    run_expect_nothing_left();
    run_free(&r);
}

static void time_limit(void **state)
{
    (void)state;
    run_mark();
    result_t r = run_job(NULL, "-n", "2", "--timeout", "0.3", PE, "ready", NULL);
    assert_code(r, 124);
    assert_has(r.err, "--timeout");
    assert_true(r.seconds >= 0.3);
    run_expect_nothing_left();
    run_free(&r);
}

/* TERM is not heard: KILL comes after the grace time, and the report tells. */
static void grace(void **state)
{
    (void)state;
    run_mark();
    const char *const words[] = {"--grace", "0.5", "--stdin",        "1", PE, "listen", ":",
                                 "sh",      "-c",  "read x; exit 4", NULL};
    running_t job = run_start(words);
    run_until(&job, "ready", 1);
    assert_int_equal(write(job.in, "\n", 1), 1);
    double begin = run_now();
    result_t r = run_finish(&job);
    assert_code(r, 4);
    assert_has(r.err, "KILL after ");
    assert_has(r.err, " s: 0); job exit code 4");
    assert_true(run_now() - begin >= 0.45);
    run_expect_nothing_left();
    run_free(&r);
}

static void keep_going(void **state)
{
    (void)state;
    result_t r = run_job(NULL, "-n", "3", "--keep-going", "sh", "-c",
                         "test $SHMEM_PE = 1 && exit 6; sleep 0.2; echo done", NULL);
    assert_code(r, 6);
    assert_int_equal(run_count(r.out, "done\n"), 2);
    assert_int_equal(run_count(r.err, "exit code 0 after"), 2);
    assert_has(r.err, "failed: exit code 6 after");
    assert_has(r.err, "job exit code 6, from PE 1");
    run_free(&r);
}

static void restart(void **state)
{
    (void)state;
    result_t r = run_job(NULL, "-n", "2", "--restart", "3", PE, "restart", "2", NULL);
    assert_code(r, 0);
    assert_has(r.out, "attempt 0");
    assert_has(r.out, "attempt 1");
    assert_int_equal(run_count(r.out, "attempt 2"), 2);
    assert_has(r.err, "starting the job again (2 of 3)");
    run_free(&r);
    r = run_job(NULL, "-n", "1", "--restart", "2", PE, "restart", "9", NULL);
    assert_code(r, 5);
    assert_int_equal(run_count(r.out, "attempt"), 3);
    run_free(&r);
}

/* What cannot get its processes says which limit it was, and leaves none of those it got. Root has no such limit. */
static void process_limit(void **state)
{
    (void)state;
    char script[4400];
    if (geteuid() != 0 || system("setpriv --reuid 65533 --clear-groups true 2> /dev/null")) {
        print_message("needs root, to become a user of no processes\n");
        skip();
    }
    snprintf(script, sizeof(script), "ulimit -u 12 && exec %s -n 30 sleep 60", run_launcher());
    run_mark();
    result_t r =
        run_job(NULL, "-n", "1", "setpriv", "--reuid", "65533", "--clear-groups", "bash", "-c", script, NULL);
    if (strstr(r.err, "Permission denied")) {
        run_free(&r);
        print_message("that user cannot reach the launcher here\n");
        skip();
    }
    assert_code(r, 1);
    assert_has(r.err, "cannot start PE ");
    assert_has(r.err, "the limit of processes is reached");
    assert_has(r.err, "job exit code 1");
    assert_int_equal(run_marked(), 0);
    run_free(&r);
}

static void many_pes(void **state)
{
    (void)state;
    result_t r = run_job(NULL, "-n", "64", "true", NULL);
    assert_code(r, 0);
    assert_string_equal(r.err, "");
    run_free(&r);
}

static void few_descriptors(void **state)
{
    (void)state;
    struct rlimit old, few = {.rlim_cur = 20, .rlim_max = 100};
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    few.rlim_max = old.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    result_t r = run_job(NULL, "-n", "40", "sh", "-c", "ulimit -n", NULL);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    assert_code(r, 0); /* ours is raised, theirs is as it was */
    assert_int_equal(run_count(r.out, "20\n"), 40);
    run_free(&r);
    r = run_job(NULL, "-n", "1", "sh", "-c", "ulimit -n 100 && exec $0 -n 64 true", run_launcher(), NULL);
    assert_code(r, 1);
    assert_has(r.err, "64 PEs need 384 descriptors, the hard limit is 100");
    run_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clean_job_says_nothing),
        cmocka_unit_test(code_of_the_failing_pe),
        cmocka_unit_test(signal_becomes_128_and_more),
        cmocka_unit_test(last_words_without_newline),
        cmocka_unit_test(core_file_is_named),
        cmocka_unit_test(programs_that_cannot_be_started),
        cmocka_unit_test(interpreter_that_does_not_exist),
        cmocka_unit_test(no_finalize),
        cmocka_unit_test(finalize_just_before_the_end),
        cmocka_unit_test(global_exit),
        cmocka_unit_test(time_limit),
        cmocka_unit_test(grace),
        cmocka_unit_test(keep_going),
        cmocka_unit_test(restart),
        cmocka_unit_test(process_limit),
        cmocka_unit_test(many_pes),
        cmocka_unit_test(few_descriptors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
