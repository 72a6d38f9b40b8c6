/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output: whole lines, order, tags, files, and memory that does not grow however fast the PEs print.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run_support.h"

enum { WRITERS = 8 };

static char *read_file(const char *name)
{
    static char text[1 << 16];
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (fd >= 0)
        close(fd);
    text[got > 0 ? got : 0] = 0;
    return text;
}

/* Checks that text is nothing but whole lines "P: <P k payload>", each PE's in its order. */
static void check_lines(char *text, long lines_each)
{
    long next[WRITERS] = {0}, total = 0;
    for (char *line = text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        int tag, pe, at = 0;
        long number;
        *end = 0;
        if (sscanf(line, "%d: <%d %ld %n", &tag, &pe, &number, &at) != 3 || tag != pe || pe < 0 ||
            pe >= WRITERS || number != next[pe] || end[-1] != '>' ||
            (long)(end - line) - at - 1 != number % 97)
            fail_msg("torn or out of order: %s", line);
        next[pe]++;
        total++;
    }
    assert_int_equal(total, lines_each * WRITERS);
}

static void no_line_is_torn(void **state)
{
    (void)state;
    result_t r = run_job(NULL, "-n", "8", "--tag", PE, "lines", "100000", NULL);
    assert_int_equal(r.code, 0);
    check_lines(r.out, 100000);
    run_free(&r);
}

/* The same into one file for all. */
static void no_line_is_torn_in_a_file(void **state)
{
    (void)state;
    char name[] = "/tmp/run-lines-XXXXXX";
    int fd = mkstemp(name);
    assert_true(fd >= 0);
    result_t r = run_job(NULL, "-n", "8", "-l", "--output", name, PE, "lines", "5000", NULL);
    assert_code(r, 0);
    assert_string_equal(r.out, "");
    struct stat info;
    assert_int_equal(fstat(fd, &info), 0);
    char *text = calloc(1, (size_t)info.st_size + 1);
    assert_non_null(text);
    assert_int_equal(pread(fd, text, (size_t)info.st_size, 0), info.st_size);
    check_lines(text, 5000);
    free(text);
    close(fd);
    unlink(name);
    run_free(&r);
}

static long resident_kib(pid_t pid)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    const char *text = read_file(path), *at = strstr(text, "VmRSS:");
    return at ? strtol(at + 6, NULL, 10) : -1;
}

static pid_t child_of(pid_t pid)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
    return (pid_t)strtol(read_file(path), NULL, 10);
}

/* Nobody reads for a while: the PEs wait in their write, and our size stays. */
static void slow_reader_is_waited_for(void **state)
{
    (void)state;
    const char *const words[] = {"-n", "4", PE, "flood", "60", "lines", NULL};
    running_t job = run_start(words);
    pid_t keeper = 0;
    long first = 0, last = 0;
    for (int i = 0; i < 400 && !keeper; i++, poll(NULL, 0, 5))
        keeper = child_of(job.pid);
    assert_true(keeper > 0);
    for (int i = 0; i < 20; i++) { /* time for it to take 240 MiB if it were wrong */
        poll(NULL, 0, 20);
        last = resident_kib(keeper);
        if (!first)
            first = last;
    }
    assert_true(last > 0 && last < 65536);
    result_t r = run_finish(&job);
    assert_int_equal(r.code, 0);
    /* every MiB of a PE ends within a line; only its last one had to be completed for another PE's line */
    long bytes = 0;
    for (char *line = r.out, *end; *line; line = end + 1) {
        end = strchrnul(line, '\n');
        assert_true(end - line == 99 || end - line == 175 || end - line == 76);
        bytes += end - line + (end - line != 76);
        if (!*end)
            break;
    }
    assert_int_equal(bytes, 4L * 60 * 1024 * 1024);
    run_free(&r);
}

/* A line of 8 MiB among short ones stays in one piece while its writer keeps writing. */
static void long_line_stays_whole(void **state)
{
    (void)state;
    result_t r = run_job(NULL, "-n", "1", PE, "flood", "8", ":", "-n", "1", PE, "lines", "2000", NULL);
    assert_int_equal(r.code, 0);
    size_t longest = 0;
    int longs = 0;
    for (char *line = r.out, *end;; line = end + 1) {
        end = strchr(line, '\n');
        size_t length = end ? (size_t)(end - line) : strlen(line);
        if (length && line[0] == 'x') {
            longs++;
            assert_int_equal(strspn(line, "x"), length);
        } else if (length) {
            assert_int_equal(line[0], '<');
            assert_int_equal(line[length - 1], '>');
        }
        if (length > longest)
            longest = length;
        if (!end)
            break;
    }
    assert_true(longs >= 1);
    if (longs == 1)
        assert_int_equal(longest, 8 << 20);
    run_free(&r);
}

static void last_line_is_completed_for_the_next(void **state)
{
    (void)state;
    result_t r = run_job(NULL, "-n", "1", "printf", "no end", NULL);
    assert_string_equal(r.out, "no end");
    run_free(&r);
    const char *const words[] = {"--stdin", "1", "printf", "no end", ":", "sh", "-c", "read x; printf next",
                                 NULL};
    running_t job = run_start(words);
    run_until(&job, "no end", 1);
    assert_int_equal(write(job.in, "\n", 1), 1);
    r = run_finish(&job);
    assert_code(r, 0);
    assert_string_equal(r.out, "no end\nnext");
    run_free(&r);
}

/* A line in two parts with others' lines between its writes stays whole when nobody watches on a terminal. */
static void slow_line_is_not_torn(void **state)
{
    (void)state;
    char name[] = "/tmp/run-half-XXXXXX";
    const char *const words[] = {"sh",
                                 "-c",
                                 "printf 'first half, '; echo > $0/there; read x; echo second half",
                                 mkdtemp(name),
                                 ":",
                                 "sh",
                                 "-c",
                                 "until test -e $0/there; do sleep 0.01; done; rm -r $0; echo between",
                                 name,
                                 NULL};
    running_t job = run_start(words);
    run_until(&job, "between\n", 1);
    poll(NULL, 0, 300); /* a pause that would show an unfinished line on a terminal */
    assert_int_equal(write(job.in, "\n", 1), 1);
    result_t r = run_finish(&job);
    assert_code(r, 0);
    assert_string_equal(r.out, "between\nfirst half, second half\n");
    run_free(&r);
}

static void streams_stay_apart(void **state)
{
    (void)state;
    result_t r = run_job(NULL, "-n", "2", "sh", "-c", "echo out; echo err >&2", NULL);
    assert_string_equal(r.out, "out\nout\n");
    assert_string_equal(r.err, "err\nerr\n");
    run_free(&r);
}

static void tags(void **state)
{
    (void)state;
    char host[256];
    result_t r = run_job(NULL, "-n", "1", "-l", PE, "print", "a\nb", NULL);
    assert_string_equal(r.out, "0: a\n0: b\n");
    run_free(&r);
    r = run_job(NULL, "-n", "1", "--tag=[%p %s %h %% %q] ", "sh", "-c", "echo a; echo b >&2", NULL);
    assert_int_equal(gethostname(host, sizeof(host)), 0);
    assert_has(r.out, "[0 stdout ");
    assert_has(r.out, host);
    assert_has(r.out, " % %q] a\n");
    assert_has(r.err, "[0 stderr ");
    run_free(&r);
    r = run_job(NULL, "-n", "1", "--tag=%t ", PE, "print", "a", NULL);
    int hour, minute, second, milli, at = 0;
    assert_int_equal(sscanf(r.out, "%2d:%2d:%2d.%3d a\n%n", &hour, &minute, &second, &milli, &at), 4);
    assert_int_equal(at, (int)r.out_bytes);
    run_free(&r);
}

static void files_per_pe(void **state)
{
    (void)state;
    char folder[] = "/tmp/run-files-XXXXXX", out[128], err[128], name[160], command[256];
    assert_non_null(mkdtemp(folder));
    snprintf(out, sizeof(out), "%s/new/deep/%%p.out", folder);
    snprintf(err, sizeof(err), "%s/err", folder);
    result_t r = run_job(NULL, "-n", "2", "--output", out, "--error", err, "--tee", "sh", "-c",
                         "echo out $SHMEM_PE; echo err >&2", NULL);
    assert_code(r, 0);
    for (int pe = 0; pe < 2; pe++) {
        char wanted[32];
        snprintf(name, sizeof(name), "%s/new/deep/%d.out", folder, pe);
        snprintf(wanted, sizeof(wanted), "out %d\n", pe);
        assert_string_equal(read_file(name), wanted);
        assert_has(r.out, wanted); /* --tee */
    }
    assert_string_equal(read_file(err), "err\nerr\n");
    assert_string_equal(r.err, "err\nerr\n");
    run_free(&r);
    r = run_job(NULL, "-n", "1", "--output", "/proc/no/such/%p", "true", NULL);
    assert_code(r, 1);
    assert_has(r.err, "cannot write /proc/no/such/0: ");
    run_free(&r);
    snprintf(command, sizeof(command), "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

static void full_disk_is_said_and_survived(void **state)
{
    (void)state;
    result_t r =
        run_job(NULL, "-n", "2", "--output", "/dev/full", "sh", "-c", "echo lost; echo kept >&2", NULL);
    assert_has(r.err, "cannot write /dev/full: No space left on device");
    assert_int_equal(run_count(r.err, "cannot write"), 1);
    assert_int_equal(run_count(r.err, "kept\n"), 2);
    run_free(&r);
}

/* As in a pipeline: the PEs see that nobody reads any more. */
static void reader_goes_away(void **state)
{
    (void)state;
    run_mark();
    const char *const words[] = {"-n", "2", "yes", NULL};
    running_t job = run_start(words);
    run_until(&job, "y\n", 1);
    close(job.out);
    job.out = -1;
    result_t r = run_finish(&job);
    assert_code(r, 128 + SIGPIPE);
    run_expect_nothing_left();
    run_free(&r);
}

static int job_with_closed(int fd)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        close(fd);
        execl(run_launcher(), "aclshmemrun", "-n", "2", PE, "fds", NULL);
        _exit(98);
    }
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void standard_streams_may_be_closed(void **state)
{
    (void)state;
    for (int fd = 0; fd < 3; fd++)
        assert_int_equal(job_with_closed(fd), 0);
    result_t r =
        run_job(NULL, "-n", "1", "sh", "-c", "exec 0<&- 2>&-; exec $0 -n 2 $1 fds", run_launcher(), PE, NULL);
    assert_code(r, 0);
    assert_int_equal(run_count(r.out, "stranger"), 0);
    assert_int_equal(run_count(r.out, "secret\n"), 2);
    run_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_line_is_torn),
        cmocka_unit_test(no_line_is_torn_in_a_file),
        cmocka_unit_test(slow_reader_is_waited_for),
        cmocka_unit_test(long_line_stays_whole),
        cmocka_unit_test(last_line_is_completed_for_the_next),
        cmocka_unit_test(slow_line_is_not_torn),
        cmocka_unit_test(streams_stay_apart),
        cmocka_unit_test(tags),
        cmocka_unit_test(files_per_pe),
        cmocka_unit_test(full_disk_is_said_and_survived),
        cmocka_unit_test(reader_goes_away),
        cmocka_unit_test(standard_streams_may_be_closed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
