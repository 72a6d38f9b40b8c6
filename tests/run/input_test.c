/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Standard input: who reads it, that nothing of it is lost or taken unread, and what a terminal changes.
 */
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "run_support.h"

static void default_reader_is_pe_0(void **state)
{
    (void)state;
    result_t r = run_job("12345", "-n", "3", PE, "cat", NULL);
    assert_code(r, 0);
    assert_has(r.out, "PE 0 read 5\n");
    assert_has(r.out, "PE 1 read 0\n");
    assert_has(r.out, "PE 2 read 0\n");
    run_free(&r);
}

static void other_readers(void **state)
{
    (void)state;
    result_t r = run_job("12345", "-n", "3", "--stdin", "2", PE, "cat", NULL);
    assert_has(r.out, "PE 0 read 0\n");
    assert_has(r.out, "PE 2 read 5\n");
    run_free(&r);
    r = run_job("12345", "-n", "3", "--stdin=none", PE, "cat", NULL);
    assert_int_equal(run_count(r.out, "read 0\n"), 3);
    run_free(&r);
    r = run_job("12345", "-n", "3", "--stdin=all", PE, "cat", NULL);
    assert_int_equal(run_count(r.out, "read 5\n"), 3);
    run_free(&r);
    r = run_job("12345", "-n", "3", "--stdin=3", PE, "cat", NULL);
    assert_code(r, 2);
    assert_has(r.err, "--stdin: \"3\" is not allowed; give none, all or a PE from 0 to 2");
    run_free(&r);
}

/* More than any buffer, from a pipe and from a file, to all; one reader is slow, one never reads at all. */
static void much_input_for_all(void **state)
{
    (void)state;
    const char *const words[] = {"--stdin=all", "-n", "1",  "sh", "-c", "sleep 0.3; wc -c", ":", "true", ":",
                                 "-n",          "2",  "wc", "-c", NULL};
    running_t job = run_start(words);
    static char block[1 << 16];
    memset(block, 'i', sizeof(block));
    for (int i = 0; i < 64; i++)
        for (size_t at = 0; at < sizeof(block);) {
            ssize_t done = write(job.in, block + at, sizeof(block) - at);
            assert_true(done > 0);
            at += (size_t)done;
        }
    result_t r = run_finish(&job);
    assert_code(r, 0);
    assert_int_equal(run_count(r.out, "4194304\n"), 3);
    run_free(&r);
}

static void file_for_all(void **state)
{
    (void)state;
    char name[] = "/tmp/run-input-XXXXXX", command[128];
    int fd = mkstemp(name);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, 3000000), 0);
    close(fd);
    snprintf(command, sizeof(command), "exec $0 --stdin all -n 3 wc -c < %s", name);
    result_t r = run_job(NULL, "-n", "1", "sh", "-c", command, run_launcher(), NULL);
    unlink(name);
    assert_code(r, 0);
    assert_int_equal(run_count(r.out, "3000000\n"), 3);
    run_free(&r);
}

/* "while read line; do aclshmemrun ...; done < list": the launcher leaves the list to the loop. */
static void input_is_not_read_ahead(void **state)
{
    (void)state;
    result_t r = run_job("a\nb\nc\n", "-n", "1", "sh", "-c", "while read x; do $0 -n 2 echo $x; done",
                         run_launcher(), NULL);
    assert_code(r, 0);
    assert_string_equal(r.out, "a\na\nb\nb\nc\nc\n");
    run_free(&r);
}

/* --- On a terminal --- */

typedef struct terminal {
    pid_t pid;
    int fd;
    char text[1 << 14];
    size_t bytes;
} terminal_t;

/* A session whose terminal is ours to type on, with the launcher as its only process. */
static void open_terminal(terminal_t *terminal, const char *const *words)
{
    struct winsize size = {.ws_row = 24, .ws_col = 80};
    memset(terminal, 0, sizeof(*terminal));
    terminal->pid = forkpty(&terminal->fd, NULL, NULL, &size);
    assert_true(terminal->pid >= 0);
    if (terminal->pid == 0) {
        execv(words[0], (char *const *)(uintptr_t)words);
        _exit(98);
    }
}

static void expect_on(terminal_t *terminal, const char *word, int count)
{
    double end = run_now() + 30;
    while (run_count(terminal->text, word) < count) {
        struct pollfd ready = {.fd = terminal->fd, .events = POLLIN};
        if (run_now() > end || poll(&ready, 1, 30000) <= 0)
            fail_msg("\"%s\" did not come %d times: %s", word, count, terminal->text);
        size_t room = sizeof(terminal->text) - 1 - terminal->bytes;
        ssize_t got = read(terminal->fd, terminal->text + terminal->bytes, room);
        if (got <= 0)
            fail_msg("\"%s\" did not come %d times: %s", word, count, terminal->text);
        terminal->bytes += (size_t)got;
        terminal->text[terminal->bytes] = 0;
    }
}

static int close_terminal(terminal_t *terminal)
{
    int status = 0;
    char rest[4096];
    while (read(terminal->fd, rest, sizeof(rest)) > 0)
        ;
    assert_int_equal(waitpid(terminal->pid, &status, 0), terminal->pid);
    close(terminal->fd);
    return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void type(const terminal_t *terminal, const char *text)
{
    assert_int_equal(write(terminal->fd, text, strlen(text)), (ssize_t)strlen(text));
}

/* One PE has the terminal to itself, with everything that belongs to it. */
static void single_pe_keeps_the_terminal(void **state)
{
    (void)state;
    terminal_t terminal;
    const char *const words[] = {
        run_launcher(),
        "-n",
        "1",
        "sh",
        "-c",
        "test -t 0 && test -t 1 && test -t 2 && printf 'name? ' && read x && echo hello $x",
        NULL};
    open_terminal(&terminal, words);
    expect_on(&terminal, "name? ", 1);
    type(&terminal, "you\n");
    expect_on(&terminal, "hello you", 1);
    assert_int_equal(close_terminal(&terminal), 0);
}

static void interrupt_key_reaches_the_single_pe(void **state)
{
    (void)state;
    terminal_t terminal;
    const char *const words[] = {run_launcher(), "-n", "1", "sh", "-c", "echo ready; exec sleep 100", NULL};
    open_terminal(&terminal, words);
    expect_on(&terminal, "ready", 1);
    type(&terminal, "\003");
    expect_on(&terminal, "signal 2", 1);
    assert_int_equal(close_terminal(&terminal), 130);
}

/* With several the launcher keeps it: prompts are shown, lines are typed to PE 0, ^C ends all. */
static void several_pes_on_a_terminal(void **state)
{
    (void)state;
    terminal_t terminal;
    run_mark();
    const char *const words[] = {
        run_launcher(),
        "-n",
        "2",
        "sh",
        "-c",
        "test $SHMEM_PE = 1 && exec sleep 100; printf 'name? '; read x; echo hello $x; exec sleep 100",
        NULL};
    open_terminal(&terminal, words);
    expect_on(&terminal, "name? ", 1);
    type(&terminal, "you\n");
    expect_on(&terminal, "hello you", 1);
    type(&terminal, "\003");
    expect_on(&terminal, "ended by signal 2", 1);
    assert_int_equal(close_terminal(&terminal), 130);
    run_expect_nothing_left();
}

/* ^Z and fg under a shell with job control, for one PE that has the terminal and for several that have not. */
static void stop_key_and_foreground(void **state)
{
    (void)state;
    for (int count = 1; count <= 2; count++) {
        terminal_t terminal;
        char script[600];
        run_mark();
        snprintf(script, sizeof(script),
                 "set -m; %s -n %d sh -c 'echo ready $SHMEM_PE; test $SHMEM_PE = 0 && read x; echo got $x'; "
                 "echo back; fg; echo code $?",
                 run_launcher(), count);
        const char *const words[] = {"/bin/bash", "-c", script, NULL};
        open_terminal(&terminal, words);
        expect_on(&terminal, "ready 0", 1);
        if (count == 2)
            expect_on(&terminal, "ready 1", 1);
        type(&terminal, "\032");
        expect_on(&terminal, "back", 1);
        type(&terminal, "line\n");
        expect_on(&terminal, "got line", 1);
        expect_on(&terminal, "code 0", 1);
        (void)close_terminal(&terminal);
        run_expect_nothing_left();
    }
}

/* Started in the background: nobody reads the terminal until we are brought to the front. */
static void reading_waits_for_the_foreground(void **state)
{
    (void)state;
    for (int count = 1; count <= 2; count++) {
        terminal_t terminal;
        char script[600];
        run_mark();
        /* one PE that has the terminal is stopped by reading it, and we with it; among several only we read it */
        snprintf(script, sizeof(script),
                 "set -m; %s -n %d sh -c 'test $SHMEM_PE = 0 && { echo ready; read x; }; echo got $x' & "
                 "read y; echo shell $y; %s fg; echo code $?",
                 run_launcher(), count, count == 1 ? "until jobs -s | grep -q .; do sleep 0.02; done;" : "");
        const char *const words[] = {"/bin/bash", "-c", script, NULL};
        open_terminal(&terminal, words);
        expect_on(&terminal, "ready", 1);
        type(&terminal, "mine\n");
        expect_on(&terminal, "shell mine", 1);
        type(&terminal, "yours\n");
        expect_on(&terminal, "got yours", 1);
        expect_on(&terminal, "code 0", 1);
        (void)close_terminal(&terminal);
        run_expect_nothing_left();
    }
}

/* The terminal goes away while we wait in its background: that is the end of the input, not a wait for ever. */
static void lost_terminal_ends_the_input(void **state)
{
    (void)state;
    terminal_t terminal;
    char script[600];
    run_mark();
    snprintf(script, sizeof(script),
             "trap '' HUP; set -m; %s -n 2 sh -c 'test $SHMEM_PE = 1 || { echo ready; cat; }' & read y",
             run_launcher());
    const char *const words[] = {"/bin/bash", "-c", script, NULL};
    open_terminal(&terminal, words);
    expect_on(&terminal, "ready", 1);
    close(terminal.fd);
    assert_int_equal(waitpid(terminal.pid, NULL, 0), terminal.pid);
    run_expect_nothing_left();
}

static void terminal_is_not_for_others(void **state)
{
    (void)state;
    terminal_t terminal;
    const char *const words[] = {run_launcher(),
                                 "-n",
                                 "2",
                                 "--grace",
                                 "1",
                                 "sh",
                                 "-c",
                                 "test $SHMEM_PE = 0 || read x < /dev/tty; exec sleep 100",
                                 NULL};
    open_terminal(&terminal, words);
    expect_on(&terminal, "PE 1 wants to use the terminal and has been stopped; --pty", 1);
    type(&terminal, "\003");
    assert_int_equal(close_terminal(&terminal), 130);
}

static void pty_for_pe_0_of_several(void **state)
{
    (void)state;
    terminal_t terminal;
    const char *const words[] = {run_launcher(),
                                 "--pty",
                                 "-n",
                                 "2",
                                 "sh",
                                 "-c",
                                 "test $SHMEM_PE = 1 && exec cat; test -t 0 && read x && echo got $x",
                                 NULL};
    open_terminal(&terminal, words);
    type(&terminal, "line\n");
    expect_on(&terminal, "got line", 1);
    assert_int_equal(close_terminal(&terminal), 0);
    result_t r = run_job(NULL, "--pty", "-n", "2", "true", NULL);
    assert_code(r, 2);
    assert_has(r.err, "--pty needs a terminal");
    run_free(&r);
}

/* A frozen terminal (^S) must not freeze us: an interrupt still ends the job. */
static void frozen_terminal(void **state)
{
    (void)state;
    terminal_t terminal;
    run_mark();
    const char *const words[] = {run_launcher(), "-n", "2", "--grace", "1", "yes", NULL};
    open_terminal(&terminal, words);
    expect_on(&terminal, "y\r\n", 10);
    type(&terminal, "\023");
    poll(NULL, 0, 100);
    kill(terminal.pid, SIGTERM);
    double end = run_now() + 20;
    while (run_marked() > 2 && run_now() < end) /* the launcher itself waits for its reader */
        poll(NULL, 0, 5);
    assert_true(run_marked() <= 2);
    type(&terminal, "\021");
    assert_int_equal(close_terminal(&terminal), 143);
    run_expect_nothing_left();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(default_reader_is_pe_0),
        cmocka_unit_test(other_readers),
        cmocka_unit_test(much_input_for_all),
        cmocka_unit_test(file_for_all),
        cmocka_unit_test(input_is_not_read_ahead),
        cmocka_unit_test(single_pe_keeps_the_terminal),
        cmocka_unit_test(interrupt_key_reaches_the_single_pe),
        cmocka_unit_test(several_pes_on_a_terminal),
        cmocka_unit_test(stop_key_and_foreground),
        cmocka_unit_test(reading_waits_for_the_foreground),
        cmocka_unit_test(lost_terminal_ends_the_input),
        cmocka_unit_test(terminal_is_not_for_others),
        cmocka_unit_test(pty_for_pe_0_of_several),
        cmocka_unit_test(frozen_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
