/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Log files: names and modes, folders that are refused, turning over, thinning out, full disks, and that nothing that
 * exists is written to or followed. Each case runs in a child with a folder of its own.
 */
#define LOG_MODULE "testing"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/utils/log_fixture.h"

static unsigned mode_of(const char *path)
{
    struct stat st;
    t_check_that(lstat(path, &st) == 0, "%s: %s", path, strerror(errno));
    return st.st_mode & 07777;
}

/* ---- names and modes ---- */

static void names_and_modes(void *argument)
{
    (void)argument;
    char name[NAME_MAX + 1], path[PATH_MAX], pid[32];
    to_directory(in_base("new/log/"));
    t_check_int(files_in(in_base("new/log"), NULL),
                -1); /* nothing is made before there is something to say */
    log_warn("one");
    t_check_int(files_in(in_base("new/log"), name), 1);
    t_check_uint(mode_of(in_base("new/log")), 0750);
    t_check_uint(mode_of(in_base("new")), 0750);
    snprintf(pid, sizeof pid, "aclshmem_%d_2", (int)getpid());
    t_check_that(strncmp(name, pid, strlen(pid)) == 0, "the file is called %s", name);
    t_check_uint(strlen(name), strlen(pid) - 1 + 14 + 4);
    t_check_text(name + strlen(name) - 4, ".log");
    snprintf(path, sizeof path, "%s/%s", in_base("new/log"), name);
    t_check_uint(mode_of(path), 0640);
    log_error("two");
    aclshmemi_log_close();
    t_check_uint(mode_of(path), 0440);
    expect_file(path, "WARN - testing: one\nERROR - testing: two\n");
    log_warn("three"); /* a new one, within the same second or not */
    t_check_int(files_in(in_base("new/log"), NULL), 2);
    expect_file(path, "WARN - testing: one\nERROR - testing: two\n");
    aclshmemi_log_close();
    aclshmemi_log_close();
}

/* [L-12] */
static void file_modes(void **state)
{
    (void)state;
    in_child(names_and_modes, NULL, NULL);
}

static void private_umask(void *argument)
{
    (void)argument;
    char name[NAME_MAX + 1], path[PATH_MAX];
    umask(077);
    to_directory(in_base("log"));
    log_warn("one");
    t_check_int(files_in(in_base("log"), name), 1);
    snprintf(path, sizeof path, "%s/%s", in_base("log"), name);
    t_check_uint(mode_of(path), 0600);
    aclshmemi_log_close();
    t_check_uint(mode_of(path), 0400);
}

/* [E-05] */
static void umask_is_obeyed(void **state)
{
    (void)state;
    in_child(private_umask, NULL, NULL);
}

/* ---- LOG_FILE ---- */

static void pattern(void *argument)
{
    (void)argument;
    char path[PATH_MAX], host[256], expected[PATH_MAX];
    setenv("SHMEM_JOB_ID", "a/b", 1);
    aclshmemi_log_set_pe(7);
    to_pattern(in_base("deep/%j/x-%P-%p-%h-%%-%q.txt"));
    log_warn("one");
    t_check_int(gethostname(host, sizeof host), 0);
    snprintf(expected, sizeof expected, "deep/a_b/x-7-%d-%s-%%-%%q.txt", (int)getpid(), host);
    snprintf(path, sizeof path, "%s", in_base(expected));
    expect_file(path, "WARN 7 testing: one\n");
    t_check_uint(mode_of(path), 0640);
    aclshmemi_log_close();
    t_check_uint(mode_of(path), 0440);
}

static void names_from_patterns(void **state)
{
    (void)state;
    in_child(pattern, NULL, NULL);
}

static void existing_files(void *argument)
{
    (void)argument;
    t_file_write(in_base("victim"), "precious");
    t_check_int(symlink(in_base("victim"), in_base("log")), 0);
    t_check_int(symlink(in_base("not there"), in_base("log.1")), 0);
    t_file_write(in_base("log.2"), "old");
    to_pattern(in_base("log"));
    log_warn("one");
    expect_file(in_base("victim"), "precious");
    expect_file(in_base("log.2"), "old");
    expect_file(in_base("log.3"), "WARN - testing: one\n");
    t_check_int(access(in_base("not there"), F_OK), -1);
}

/* [L-17] [L-18] */
static void nothing_that_exists_is_touched(void **state)
{
    (void)state;
    in_child(existing_files, NULL, NULL);
}

static void bad_patterns(void *argument)
{
    (void)argument;
    char *const bad = calloc(1, PATH_MAX);
    t_check(bad != NULL);
    snprintf(bad, PATH_MAX, "%s/", base);
    memset(bad + strlen(bad), 'n', 300);
    to_pattern(bad);
    log_warn("one");
    to_pattern(in_base("folder/"));
    log_warn("two");
    to_pattern("%");
    free(bad);
    _exit(0);
}

static void names_that_are_none(void **state)
{
    (void)state;
    t_child_t child;
    t_run_function(&child, bad_patterns, NULL, 30000);
    t_check_exit(&child, 0);
    t_check_text(child.err, "WARN - testing: one\nWARN - testing: two\n");
    t_child_free(&child);
}

static void device(void *argument)
{
    (void)argument;
    to_pattern("/dev/null");
    log_warn("one");
    aclshmemi_log_close();
    t_check_int(access("/dev/null.1", F_OK), -1);
    struct stat st;
    t_check_int(stat("/dev/null", &st), 0);
    t_check(S_ISCHR(st.st_mode) && (st.st_mode & 0222));
}

static void devices_stay_what_they_are(void **state)
{
    (void)state;
    in_child(device, NULL, NULL);
}

/* ---- turning over, thinning out, full disks ---- */

static void many_files(void *argument)
{
    (void)argument;
    aclshmemi_log_file_limits.file_bytes = 110;
    aclshmemi_log_file_limits.files = 5;
    to_directory(in_base("log"));
    t_check_int(mkdir(in_base("log"), 0700), 0);
    t_file_write(in_base("log/aclshmem_precious.log"), "not one of ours");
    t_file_write(in_base("log/aclshmem_1_20250101000000.txt"), "not one of ours");
    for (int i = 0; i < 60; i++)
        log_warn("line %02d of nearly forty characters", i); /* 51 bytes: two per file */
    char name[NAME_MAX + 1];
    t_check_int(files_in(in_base("log"), name), 5 + 2);
    DIR *dir = opendir(in_base("log"));
    t_check(dir != NULL);
    int open_files = 0;
    char all[8192] = "";
    for (struct dirent *entry; (entry = readdir(dir));) {
        char path[PATH_MAX];
        if (!strstr(entry->d_name, ".log") || strstr(entry->d_name, "precious"))
            continue;
        snprintf(path, sizeof path, "%s/%s", in_base("log"), entry->d_name);
        open_files += mode_of(path) == 0640;
        char *text = t_file_read(path);
        t_check(strlen(text) <= 110 && strlen(text) > 0);
        strncat(all, text, sizeof all - strlen(all) - 1);
        free(text);
    }
    closedir(dir);
    t_check_int(open_files, 1);     /* those that were turned over are read-only */
    for (int i = 50; i < 60; i++) { /* the last five files hold the last ten lines */
        char line[32];
        snprintf(line, sizeof line, "line %02d", i);
        t_check_contains(all, line);
    }
    t_check(!strstr(all, "line 49"));
    t_check_int(access(in_base("log/aclshmem_precious.log"), F_OK), 0);
}

/* [L-15] */
static void turned_over_and_thinned_out(void **state)
{
    (void)state;
    in_child(many_files, NULL, NULL);
}

static void gigabyte(void *argument)
{
    (void)argument;
    char name[NAME_MAX + 1], path[PATH_MAX];
    t_check_uint(aclshmemi_log_file_limits.file_bytes, 1u << 30);
    t_check_uint(aclshmemi_log_file_limits.files, 50);
    t_check_uint(aclshmemi_log_file_limits.free_bytes, UINT64_C(10) << 30);
    to_directory(in_base("log"));
    log_warn("one");
    t_check_int(files_in(in_base("log"), name), 1);
    snprintf(path, sizeof path, "%s/%s", in_base("log"), name);
    t_check_int(truncate(path, (1 << 30) - 19), 0); /* a hole, not a full disk */
    log_warn("two");                                /* 20 bytes */
    t_check_int(files_in(in_base("log"), NULL), 2);
    struct stat st;
    t_check_int(stat(path, &st), 0);
    t_check_uint(st.st_size, (1 << 30) - 19);
}

/* [L-15] */
static void a_file_ends_at_a_gibibyte(void **state)
{
    (void)state;
    in_child(gigabyte, NULL, NULL);
}

static void other_process(void *argument)
{
    (void)argument;
    aclshmemi_log_file_limits.files = 1;
    to_directory(in_base("log"));
    log_warn("from the other one");
    aclshmemi_log_close();
    to_pattern(in_base("log/named"));
    log_warn("from the other one");
    aclshmemi_log_close();
}

static void thin_out_beside_another(void *argument)
{
    (void)argument;
    char first[NAME_MAX + 1], path[PATH_MAX];
    t_child_t child;
    to_directory(in_base("log"));
    log_warn("one");
    t_check_int(files_in(in_base("log"), first), 1);
    snprintf(path, sizeof path, "%s/%s", in_base("log"), first);
    t_run_function(&child, other_process, NULL, 30000);
    t_check_exit(&child, 0);
    t_child_free(&child);
    t_check_int(access(path, F_OK), 0); /* it is older, and there is one too many, but we write to it */
    log_warn("two");
    expect_file(path, "WARN - testing: one\nWARN - testing: two\n");
    aclshmemi_log_close();
    t_run_function(&child, other_process, NULL, 30000);
    t_check_exit(&child, 0);
    t_child_free(&child);
    t_check_int(access(path, F_OK), -1);
}

static void files_in_use_are_kept(void **state)
{
    (void)state;
    in_child(thin_out_beside_another, NULL, NULL);
}

static void full(void *argument)
{
    (void)argument;
    to_directory(in_base("log"));
    aclshmemi_log_file_limits.free_bytes = UINT64_MAX;
    log_warn("lost");
    log_error("not lost");
    log_fatal("nor this");
    char name[NAME_MAX + 1], path[PATH_MAX];
    t_check_int(files_in(in_base("log"), name), 1);
    snprintf(path, sizeof path, "%s/%s", in_base("log"), name);
    expect_file(path, "");
    aclshmemi_log_file_limits.free_bytes = 0;
    aclshmemi_log_options_t options = {.sink = 0, .directory = in_base("log"), .timestamp = "none"};
    t_check_int(aclshmemi_log_configure(&options), 0); /* looks again at once */
    log_warn("room");
    expect_file(path, "WARN - testing: room\n");
}

/* [L-16] */
static void full_disk(void **state)
{
    (void)state;
    t_child_t child;
    t_run_function(&child, full, NULL, 30000);
    t_check_exit(&child, 0);
    t_check_contains(child.err, "ERROR - testing: not lost\nFATAL - testing: nor this\n");
    t_check_contains(child.err, "only errors are shown");
    t_check(!strstr(child.err, "WARN - testing: lost"));
    t_child_free(&child);
}

/* A write that fails, not one that is avoided. */
static void device_full(void *argument)
{
    (void)argument;
    if (access("/dev/full", W_OK) != 0)
        _exit(0);
    to_pattern("/dev/full");
    log_warn("lost");
    log_error("not lost");
}

static void failed_writes(void **state)
{
    (void)state;
    in_child(device_full, NULL, access("/dev/full", W_OK) == 0 ? "ERROR - testing: not lost\n" : NULL);
}

/* ---- several processes ---- */

static void say_in_own_file(void *argument)
{
    to_pattern(argument);
    log_warn("process %d", (int)getpid());
    log_warn("process %d", (int)getpid());
}

/* [L-17] */
static void two_processes_one_name(void **state)
{
    enum { PROCESSES = 8 };
    t_child_t children[PROCESSES];
    char name[PATH_MAX], expected[128];
    (void)state;
    snprintf(name, sizeof name, "%s", in_base("log/shared"));
    for (int i = 0; i < PROCESSES; i++)
        t_start_function(&children[i], say_in_own_file, name);
    pid_t pids[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        pids[i] = children[i].pid;
        t_finish(&children[i], 30000);
        t_check_exit(&children[i], 0);
        t_child_free(&children[i]);
    }
    t_check_int(files_in(in_base("log"), NULL), PROCESSES);
    int found = 0;
    for (int i = 0; i < PROCESSES; i++) {
        char path[PATH_MAX + 16];
        snprintf(path, sizeof path, i ? "%s.%d" : "%s", name, i);
        char *text = t_file_read(path);
        for (int k = 0; k < PROCESSES; k++) {
            snprintf(expected, sizeof expected, "WARN - testing: process %d\nWARN - testing: process %d\n",
                     (int)pids[k], (int)pids[k]);
            found += strcmp(text, expected) == 0;
        }
        free(text);
    }
    t_check_int(found, PROCESSES);
}

static void grandchild(void *argument)
{
    (void)argument;
    log_warn("in the child");
}

static void forked(void *argument)
{
    (void)argument;
    t_child_t child;
    to_pattern(in_base("log/%p"));
    log_warn("before");
    char mine[64], theirs[64];
    snprintf(mine, sizeof mine, "log/%d", (int)getpid());
    t_start_function(&child, grandchild, NULL);
    snprintf(theirs, sizeof theirs, "log/%d", (int)child.pid);
    t_finish(&child, 30000);
    t_check_exit(&child, 0);
    t_child_free(&child);
    log_warn("after");
    expect_file(in_base(mine), "WARN - testing: before\nWARN - testing: after\n");
    expect_file(in_base(theirs), "WARN - testing: in the child\n");
}

static void a_fork_has_a_file_of_its_own(void **state)
{
    (void)state;
    in_child(forked, NULL, NULL);
}

static void closed_stdio(void *argument)
{
    (void)argument;
    to_pattern(in_base("log"));
    close(0);
    close(1);
    close(2);
    log_warn("one");
    if (fcntl(0, F_GETFD) >= 0 || fcntl(1, F_GETFD) >= 0 || fcntl(2, F_GETFD) >= 0)
        _exit(3);
    aclshmemi_log_close();
    to_directory("/proc/nowhere"); /* the complaint has nowhere to go either */
    log_warn("two");
}

static void standard_descriptors_are_left_alone(void **state)
{
    (void)state;
    in_child(closed_stdio, NULL, NULL);
    expect_file(in_base("log"), "WARN - testing: one\n");
}

static void callback_only(void *argument)
{
    (void)argument;
    to_directory(in_base("log"));
    aclshmemi_log_set_callback(t_log_callback);
    log_error("one");
    t_log_expect("one");
    t_check_int(files_in(in_base("log"), NULL), -1);
}

/* [L-08] */
static void no_file_with_a_callback(void **state)
{
    (void)state;
    in_child(callback_only, NULL, NULL);
}

static void rounds(void *argument)
{
    (void)argument;
    aclshmemi_log_file_limits.files = 3;
    to_directory(in_base("log"));
    log_warn("one");
    aclshmemi_log_close();
    t_resources_t before = t_resources_now();
    for (int i = 0; i < 100; i++) {
        log_warn("round %d", i);
        aclshmemi_log_close();
        to_directory(i % 2 ? in_base("log") : in_base("other"));
    }
    t_check_int(files_in(in_base("log"), NULL), 3);
    t_resources_expect(&before, 2, 2048);
}

static void nothing_leaks(void **state)
{
    (void)state;
    in_child(rounds, NULL, NULL);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, clean_start, clean_end)
    const struct CMUnitTest tests[] = {
        TEST(file_modes),
        TEST(umask_is_obeyed),
        TEST(names_from_patterns),
        TEST(nothing_that_exists_is_touched),
        TEST(names_that_are_none),
        TEST(devices_stay_what_they_are),
        TEST(turned_over_and_thinned_out),
        TEST(a_file_ends_at_a_gibibyte),
        TEST(files_in_use_are_kept),
        TEST(full_disk),
        TEST(failed_writes),
        TEST(two_processes_one_name),
        TEST(a_fork_has_a_file_of_its_own),
        TEST(standard_descriptors_are_left_alone),
        TEST(no_file_with_a_callback),
        TEST(nothing_leaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
