/* SPDX-License-Identifier: Apache-2.0 */
/* The helpers themselves: a check that cannot fail would make every test pass. */
#include "support/unit.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static void run_check(void *argument)
{
    switch (*(const int *)argument) {
    case 0:
        t_check(1 + 1 == 3);
        break;
    case 1:
        t_check_int(2, 3);
        break;
    case 2:
        t_check_uint(2, 3);
        break;
    case 3:
        t_check_text("a", "b");
        break;
    case 4:
        t_check_contains("abc", "d");
        break;
    case 5:
        t_check_memory("abc", "abd", 3);
        break;
    case 6:
        t_log_expect("never said");
        break;
    case 7:
        t_log_callback(2, "a warning");
        t_log_expect_clean();
        break;
    case 8:
        t_check_text(NULL, "b");
        break;
    case 9: {
        t_resources_t before = t_resources_now();
        if (dup(1) >= 0)
            t_resources_expect(&before, 100, 1 << 20);
        break;
    }
    case 10:
        t_check_that(1 > 2, "one is %d", 1);
        break;
    }
}

static void every_check_can_fail(void **state)
{
    (void)state;
    static const char *const words[] = {"1 + 1 == 3", "expected 3",  "expected 3", "expected \"b\"",
                                        "\"d\"",      "byte 2",      "never said", "a warning",
                                        "(null)",     "descriptors", "one is 1"};
    for (int i = 0; i < (int)(sizeof words / sizeof *words); i++) {
        t_child_t child;
        t_run_function(&child, run_check, &i, 30000);
        t_check_exit(&child, T_FAIL);
        t_check_contains(child.err, "support_test.c:");
        t_check_contains(child.err, words[i]);
        t_child_free(&child);
    }
}

static void checks_can_pass(void **state)
{
    (void)state;
    t_resources_t before = t_resources_now();
    t_check(1);
    t_check_int(-3, -3);
    t_check_text("a", "a");
    t_check_memory("abc", "abd", 2);
    t_log_forget();
    t_log_callback(1, "an info");
    t_log_callback(3, "an error");
    t_log_expect("an info");
    t_log_expect_level(3, "an err");
    t_check_uint(t_log_count(3), 1);
    t_log_forget();
    t_log_expect_clean();
    t_resources_expect(&before, 10, 4096);
}

static void skips(void *argument)
{
    (void)argument;
    t_skip("no %s here", "card");
}

static void sleep_for_ever(void *argument)
{
    (void)argument;
    for (;;)
        pause();
}

static void crash(void *argument)
{
    (void)argument;
    abort();
}

static void children(void **state)
{
    (void)state;
    t_child_t child;
    t_run_function(&child, skips, NULL, 30000);
    t_check_exit(&child, T_SKIP);
    t_check_text(child.out, "skipped: no card here\n");
    t_child_free(&child);

    t_run_function(&child, sleep_for_ever, NULL, 50);
    t_check(child.timed_out);
    t_check_int(child.exit_code, 128 + 9);
    t_child_free(&child);

    t_run_function(&child, crash, NULL, 30000);
    t_check_int(child.exit_code, 128 + 6);
    t_child_free(&child);

    const char *const argv[] = {"/bin/sh", "-c", "echo \"$T_ONE-$T_TWO\"; echo oops >&2; exit 5", NULL};
    const char *const environment[] = {"T_ONE=1=1", "T_TWO", NULL};
    t_check_int(setenv("T_TWO", "two", 1), 0);
    t_run(&child, argv, environment, 30000);
    t_check_exit(&child, 5);
    t_check_text(child.out, "1=1-\n");
    t_check_text(child.err, "oops\n");
    t_child_free(&child);

    const char *const nowhere[] = {"/no/such/program", NULL};
    t_run(&child, nowhere, NULL, 30000);
    t_check_exit(&child, 127);
    t_child_free(&child);
}

static void places(void **state)
{
    (void)state;
    char directory[PATH_MAX], path[PATH_MAX];
    struct stat st;
    t_dir_make(directory, sizeof directory);
    t_check_int(stat(directory, &st), 0);
    t_check_uint(st.st_mode & 07777, 0700);
    snprintf(path, sizeof path, "%s/sub", directory);
    t_check_int(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/sub/file", directory);
    t_file_write(path, "some\ntext");
    char *text = t_file_read(path);
    t_check_text(text, "some\ntext");
    free(text);
    t_dir_remove(directory);
    t_check_int(stat(directory, &st), -1);
    t_check(t_free_port(AF_INET) > 1024);

    t_check_int(setenv("SHMEM_PE", "3", 1), 0);
    t_check_int(setenv("WORLD_SIZE", "3", 1), 0);
    t_check_int(setenv("OMPI_COMM_WORLD_RANK", "3", 1), 0);
    t_clean_environment();
    t_check(!getenv("SHMEM_PE") && !getenv("WORLD_SIZE") && !getenv("OMPI_COMM_WORLD_RANK"));
    t_check(getenv("PATH") != NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_check_can_fail),
        cmocka_unit_test(checks_can_pass),
        cmocka_unit_test(children),
        cmocka_unit_test(places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
