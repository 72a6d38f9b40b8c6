/* SPDX-License-Identifier: Apache-2.0 */
/* The public calls about the log and about the library itself, against the settings of the environment. */
#define LOG_MODULE "test"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/init/shmem_host_init.h"
#include "host/utils/shmem_log.h"
#include "support/unit.h"

/* [L-01] [L-02] [L-03] [L-04] */
static void version_and_name(void **unused)
{
    (void)unused;
    int major = 0, minor = 0;
    char name[ACLSHMEM_MAX_NAME_LEN];
    aclshmem_info_get_version(&major, NULL);
    aclshmem_info_get_version(NULL, &minor);
    t_check(major == 0 && minor == 0);
    aclshmem_info_get_version(&major, &minor);
    t_check(major == 1 && minor == 1);
    memset(name, 'x', sizeof name);
    aclshmem_info_get_name(name);
    t_check_text(name, "ACLSHMEM v1.1.1");
    aclshmem_info_get_name(NULL);
}

/* [L-05] [L-06] [L-07] A known word in the environment wins, whatever the argument; other words do not count. */
static void levels(void **unused)
{
    (void)unused;
    static const char *const words[] = {"DEBUG", "INFO", "WARN", "ERROR", "FATAL"}, *const others[] = {
                                                                                        "debug", "foo", "",
                                                                                        " INFO", "1"};
    t_unit_log_start(ACLSHMEMI_LOG_WARN);
    unsetenv("SHMEM_LOG_LEVEL");
    t_check_int(aclshmemx_set_log_level(0), 0);
    t_check_int(aclshmemi_log_get_level(), 0);
    t_check_int(aclshmemx_set_log_level(5), ACLSHMEM_INVALID_VALUE);
    t_check_int(aclshmemx_set_log_level(-1), ACLSHMEM_INVALID_VALUE);
    t_check_int(aclshmemi_log_get_level(), 0);
    for (int i = 0; i < 5; i++) {
        setenv("SHMEM_LOG_LEVEL", words[i], 1);
        t_check_int(aclshmemx_set_log_level(-1), 0);
        t_check_int(aclshmemi_log_get_level(), i);
    }
    for (int i = 0; i < 5; i++) {
        setenv("SHMEM_LOG_LEVEL", others[i], 1);
        t_check_int(aclshmemx_set_log_level(1 + i % 2), 0);
        t_check_int(aclshmemi_log_get_level(), 1 + i % 2);
        t_check_int(aclshmemx_set_log_level(-1), ACLSHMEM_INVALID_VALUE);
    }
    unsetenv("SHMEM_LOG_LEVEL");
    t_unit_log_stop();
}

static void enter_and_leave(void)
{
    aclshmemx_init_attr_t attr = ACLSHMEMX_INIT_ATTR_INITIALIZER;
    attr.local_mem_size = 2 << 20;
    t_check_int(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_LAUNCHER, &attr), 0);
    t_check(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_LAUNCHER, &attr) != 0); /* says an error */
    t_check_int(aclshmem_finalize(), 0);
}

static int files_below(const char *folder)
{
    int count = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;)
        count += entry->d_name[0] != '.';
    if (dir != NULL)
        closedir(dir);
    return count;
}

/* [L-08] [I-32] The logger of the program gets it all, from before init, and at the level the program chose. */
static void program_listens(void *folder)
{
    setenv("SHMEM_LOG_PATH", folder, 1);
    t_check_int(aclshmemx_set_extern_logger(t_log_callback), 0);
    t_check_int(aclshmemx_set_log_level(1), 0);
    enter_and_leave();
    t_check_int(aclshmemi_log_get_level(), 1);
    t_log_expect_level(ACLSHMEMI_LOG_INFO, "[SHM_SHMEM build.c:");
    t_log_expect_level(ACLSHMEMI_LOG_ERROR, "already initialized");
    t_check_int(files_below(folder), 0);
    t_check_int(aclshmemx_set_extern_logger(NULL), 0); /* back to files */
    enter_and_leave();
    t_check_int(files_below(folder), 1);
}

static void an_external_logger(void **unused)
{
    (void)unused;
    char folder[256];
    t_child_t child;
    t_dir_make(folder, sizeof folder);
    t_run_function(&child, program_listens, folder, 60000);
    t_check_exit(&child, 0);
    t_check_text(child.out, "");
    t_child_free(&child);
    t_dir_remove(folder);
}

/* [L-11] */
static void say_on_output(void *home)
{
    setenv("HOME", home, 1);
    setenv("SHMEM_LOG_TO_STDOUT", "1", 1);
    enter_and_leave();
}

static void standard_output(void **unused)
{
    (void)unused;
    char home[256];
    t_child_t child;
    t_dir_make(home, sizeof home);
    t_run_function(&child, say_on_output, home, 60000);
    t_check_exit(&child, 0);
    t_check_contains(child.out, "ERROR 0 init: instance 0 is already initialized");
    t_check_text(child.err, "");
    t_child_free(&child);
    t_check_int(files_below(home), 0);
    t_dir_remove(home);
}

int main(void)
{
    t_clean_environment();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(version_and_name),
        cmocka_unit_test(levels),
        cmocka_unit_test(an_external_logger),
        cmocka_unit_test(standard_output),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
