/* SPDX-License-Identifier: Apache-2.0 */
/* Folders of log files: the default, those that are refused, and links in the way. */
#define LOG_MODULE "testing"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit/utils/log_fixture.h"

static void default_folder(void *argument)
{
    (void)argument;
    setenv("HOME", base, 1);
    to_directory(NULL);
    log_warn("one");
    t_check_int(files_in(in_base("shmem/log"), NULL), 1);
    aclshmemi_log_close();
}

static void default_is_in_the_home(void **state)
{
    (void)state;
    in_child(default_folder, NULL, NULL);
}

static void odd_folders(void *argument)
{
    (void)argument;
    char too_long[PATH_MAX + 200];
    setenv("HOME", base, 1);
    memset(too_long, 'a', sizeof too_long - 1);
    too_long[0] = '/';
    too_long[sizeof too_long - 1] = '\0';
    const char *const odd[] = {"", in_base("../x"), "..", "/tmp/../tmp/x", too_long};
    for (int i = 0; i < 5; i++) {
        to_directory(odd[i]);
        t_check_int(files_in(in_base("shmem/log"), NULL), i + 1); /* its WARN about the folder went there */
        aclshmemi_log_close();
    }
    to_directory(in_base("a..b")); /* two dots in a name are just a name */
    log_warn("one");
    t_check_int(files_in(in_base("a..b"), NULL), 1);
}

/* [L-13] */
static void unusable_texts_mean_the_default(void **state)
{
    (void)state;
    in_child(odd_folders, NULL, NULL);
}

static void say_into_bad(void *argument)
{
    (void)argument;
    to_directory(in_base("bad"));
    log_warn("first");
    log_warn("second");
}

/* One line about it on standard output, and the log on standard error. */
static void expect_refused(const char *why)
{
    t_child_t child;
    t_run_function(&child, say_into_bad, NULL, 30000);
    t_check_exit(&child, 0);
    t_check_contains(child.out, in_base("bad"));
    t_check_contains(child.out, why);
    t_check(strchr(child.out, '\n') == child.out + strlen(child.out) - 1);
    t_check_text(child.err, "WARN - testing: first\nWARN - testing: second\n");
    t_child_free(&child);
}

/* [L-14] [L-18] */
static void folders_that_are_refused(void **state)
{
    static const mode_t modes[] = {0770, 0707, 0777, 01777};
    (void)state;
    t_check_int(mkdir(in_base("bad"), 0700), 0);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        t_check_int(chmod(in_base("bad"), modes[i]), 0);
        expect_refused("may write to it");
        t_check_int(files_in(in_base("bad"), NULL), 0);
    }
    if (geteuid() == 0) {
        t_check_int(chmod(in_base("bad"), 0755), 0);
        t_check_int(chown(in_base("bad"), 12345, 12345), 0);
        expect_refused("belongs to another user");
    }
    t_check_int(rmdir(in_base("bad")), 0);

    t_check_int(mkdir(in_base("target"), 0700), 0);
    t_check_int(symlink(in_base("target"), in_base("bad")), 0);
    expect_refused("link");
    t_check_int(files_in(in_base("target"), NULL), 0);
    t_check_int(unlink(in_base("bad")), 0);

    t_file_write(in_base("bad"), "a file");
    expect_refused("no folder");
    expect_file(in_base("bad"), "a file");
}

static void say_behind_link(void *argument)
{
    (void)argument;
    to_directory(in_base("link/"));
    log_warn("one");
    to_directory(in_base("link/./"));
    log_warn("two");
}

/* [L-18] */
static void a_slash_does_not_follow_a_link(void **state)
{
    t_child_t child;
    (void)state;
    t_check_int(mkdir(in_base("target"), 0700), 0);
    t_check_int(symlink(in_base("target"), in_base("link")), 0);
    t_run_function(&child, say_behind_link, NULL, 30000);
    t_check_exit(&child, 0);
    t_check_text(child.err, "WARN - testing: one\nWARN - testing: two\n");
    t_check_int(files_in(in_base("target"), NULL), 0);
    t_child_free(&child);
}

static void sticky(void *argument)
{
    (void)argument;
    t_check_int(mkdir(in_base("tmp"), 0700), 0);
    t_check_int(chmod(in_base("tmp"), 01777), 0);
    to_pattern(in_base("tmp/mine")); /* as /tmp is: others cannot exchange what is ours in it */
    log_warn("one");
    expect_file(in_base("tmp/mine"), "WARN - testing: one\n");
}

static void sticky_folder_will_do_for_a_named_file(void **state)
{
    (void)state;
    in_child(sticky, NULL, NULL);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, clean_start, clean_end)
    const struct CMUnitTest tests[] = {
        TEST(default_is_in_the_home),
        TEST(unusable_texts_mean_the_default),
        TEST(folders_that_are_refused),
        TEST(a_slash_does_not_follow_a_link),
        TEST(sticky_folder_will_do_for_a_named_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
