/* SPDX-License-Identifier: Apache-2.0 */
/* The settings file: where it is looked for, which one may be trusted, how its lines read, and who wins. */
#include "support/unit.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/utils/env.h"

static char base[PATH_MAX - 300];
static char config[PATH_MAX], local[PATH_MAX], user[PATH_MAX], user_xdg[PATH_MAX];

static int clean_start(void **state)
{
    char path[PATH_MAX];
    (void)state;
    t_clean_environment();
    unsetenv("XDG_CONFIG_HOME");
    t_dir_make(base, sizeof base);
    static const char *const folders[] = {"cwd", "home",     "home/.config", "home/.config/shmem",
                                          "xdg", "xdg/shmem"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "%s/%s", base, folders[i]);
        t_check_int(mkdir(path, 0700), 0);
    }
    snprintf(path, sizeof path, "%s/home", base);
    t_check_int(setenv("HOME", path, 1), 0);
    snprintf(path, sizeof path, "%s/cwd", base);
    t_check_int(chdir(path), 0);
    snprintf(config, sizeof config, "%s/my settings", base);
    snprintf(local, sizeof local, "%s/cwd/shmem.conf", base);
    snprintf(user, sizeof user, "%s/home/.config/shmem/shmem.conf", base);
    snprintf(user_xdg, sizeof user_xdg, "%s/xdg/shmem/shmem.conf", base);
    t_unit_log_start(ACLSHMEMI_LOG_INFO);
    return 0;
}

static int clean_end(void **state)
{
    (void)state;
    t_unit_log_stop();
    t_check_int(chdir("/"), 0);
    t_dir_remove(base);
    return 0;
}

static void use_config(const char *text)
{
    t_file_write(config, text);
    t_check_int(setenv("SHMEM_CONFIG_FILE", config, 1), 0);
}

/* Reads the settings; the symmetric size in MiB and its origin are what the tests look at. */
static void expect_size(uint64_t mib, aclshmemi_env_origin_t origin, const char *file)
{
    aclshmemi_env_t env;
    t_check_int(aclshmemi_env_init(&env), 0);
    t_check_uint(env.symmetric_size, mib << 20);
    t_check_int(env.origin[ACLSHMEMI_ENV_symmetric_size], origin);
    t_check_text(env.file, file);
    aclshmemi_env_fini(&env);
}

static void who_wins(void **state)
{
    (void)state;
    char xdg[PATH_MAX];
    expect_size(1024, ACLSHMEMI_ORIGIN_DEFAULT, "");
    t_file_write(user, "SHMEM_SYMMETRIC_SIZE=16M\n");
    expect_size(16, ACLSHMEMI_ORIGIN_FILE, user);
    t_file_write(user_xdg, "SHMEM_SYMMETRIC_SIZE=32M\n");
    snprintf(xdg, sizeof xdg, "%s/xdg", base);
    t_check_int(setenv("XDG_CONFIG_HOME", xdg, 1), 0);
    expect_size(32, ACLSHMEMI_ORIGIN_FILE, user_xdg);
    t_check_int(setenv("XDG_CONFIG_HOME", "../xdg", 1), 0); /* relative ones do not count */
    expect_size(16, ACLSHMEMI_ORIGIN_FILE, user);
    t_file_write(local, "SHMEM_SYMMETRIC_SIZE=64M\n");
    expect_size(64, ACLSHMEMI_ORIGIN_FILE, "shmem.conf");
    use_config("SHMEM_SYMMETRIC_SIZE=128M\n");
    expect_size(128, ACLSHMEMI_ORIGIN_FILE, config);
    t_check_int(setenv("SHMEM_SYMMETRIC_SIZE", "256M", 1), 0);
    expect_size(256, ACLSHMEMI_ORIGIN_ENVIRONMENT, config);
    use_config("# nothing\n"); /* the first file found is the only one */
    t_check_int(unsetenv("SHMEM_SYMMETRIC_SIZE"), 0);
    expect_size(1024, ACLSHMEMI_ORIGIN_DEFAULT, config);
    t_log_expect_clean();
}

static void how_lines_read(void **state)
{
    (void)state;
    aclshmemi_env_t env;
    use_config("# a comment\n"
               "\n"
               "   \t\n"
               "SHMEM_SYMMETRIC_SIZE = 2G   # behind a value\r\n"
               "  SHMEM_HUGE_PAGES=off\n"
               "SHMEM_LOG_PATH=\"/tmp/with blank # and more\"  # comment\n"
               "SHMEM_LOG_FILE='a\"b'\n"
               "SHMEM_JOURNEY=\n"
               "SHMEM_UID_SESSION_ID=host#1:4000\n"
               "SHMEM_SECRET_FILE=\n"
               "SHMEM_LOG_TIMESTAMP=#none\n"
               "HCCL_RDMA_TC=128\n"
               "SHMEM_INFO=yes");
    t_check_int(aclshmemi_env_init(&env), 0);
    t_check_uint(env.symmetric_size, UINT64_C(2) << 30);
    t_check_int(env.huge_pages, 1);
    t_check_text(env.log_path, "/tmp/with blank # and more");
    t_check_text(env.log_file, "a\"b");
    t_check_text(env.uid_session_id, "host#1:4000"); /* only a # behind a blank starts a comment */
    t_check_text(env.secret_file, "");
    t_check_text(env.log_timestamp, "");
    t_check_int(env.rdma_tc, 128);
    t_check(env.info);
    aclshmemi_env_fini(&env);
}

static void bad_lines_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int line;
        const char *said;
    } rows[] = {
        {"SHMEM_INFO=1\nnonsense\n", 2, "NAME=value"},
        {"=5\n", 1, "NAME=value"},
        {"\n\n\nSHMEM INFO=1\n", 4, "no name"},
        {"export SHMEM_INFO=1\n", 1, "no name"},
        {"SHMEM_LOG_PATH=\"open\n", 1, "not closed"},
        {"SHMEM_LOG_PATH='a' b\n", 1, "behind the closing quote"},
        {"SHMEM_INFO=1\nSHMEM_INFO=0\n", 2, "already"},
        {"SHMEM_PE=3\n", 1, "only in the environment"},
        {"SHMEM_CONFIG_FILE=/etc/other\n", 1, "only in the environment"},
        {"\nSHMEM_SYMMETRIC_SIZE=many\n", 2, "\"many\""},
        {"SHMEM_SYMMETRIC_SIZE=\n", 1, "2M to 40G"},
        {"SHMEM_LOG_LEVEL=loud\n", 1, "TRACE DEBUG INFO WARN ERROR FATAL"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        aclshmemi_env_t env;
        char where[PATH_MAX + 16];
        use_config(rows[i].text);
        t_check_that(aclshmemi_env_init(&env) != 0, "taken: %s", rows[i].text);
        snprintf(where, sizeof where, "%s:%d", config, rows[i].line);
        t_check_contains(aclshmemi_status_last_text(), where);
        t_check_contains(aclshmemi_status_last_text(), rows[i].said);
    }
}

static void no_text_file(void **state)
{
    (void)state;
    aclshmemi_env_t env;
    use_config("");
    FILE *file = fopen(config, "w");
    t_check(file != NULL);
    t_check_uint(fwrite("SHMEM_INFO=1\0\n", 1, 14, file), 14);
    t_check_int(fclose(file), 0);
    t_check_int(aclshmemi_env_init(&env), ACLSHMEM_INVALID_PARAM);
    t_check_contains(aclshmemi_status_last_text(), "zero bytes");
    t_check_int(truncate(config, (1 << 20) + 1), 0);
    t_check_int(aclshmemi_env_init(&env), ACLSHMEM_INVALID_PARAM);
    t_check_contains(aclshmemi_status_last_text(), "larger");
    t_check_int(unlink(config), 0);
    t_check_int(mkdir(config, 0700), 0);
    t_check_int(aclshmemi_env_init(&env), ACLSHMEM_INVALID_PARAM);
    t_check_contains(aclshmemi_status_last_text(), "no regular file");
    t_check_int(rmdir(config), 0);
    t_check_int(mkfifo(config, 0600), 0);
    t_check_int(aclshmemi_env_init(&env), ACLSHMEM_INVALID_PARAM); /* and does not wait for a writer */
    t_check_contains(aclshmemi_status_last_text(), "no regular file");
    t_check_int(unlink(config), 0);
    t_check_int(aclshmemi_env_init(&env), ACLSHMEM_INVALID_PARAM);
    t_check_contains(aclshmemi_status_last_text(), "does not exist");
    t_check_contains(aclshmemi_status_last_text(), config);
}

static void files_others_can_write(void **state)
{
    (void)state;
    aclshmemi_env_t env;
    static const mode_t modes[] = {0602, 0620, 0666};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        use_config("SHMEM_SYMMETRIC_SIZE=16M\n");
        t_check_int(chmod(config, modes[i]), 0);
        t_check_int(aclshmemi_env_init(&env), ACLSHMEM_INVALID_PARAM);
        t_check_contains(aclshmemi_status_last_text(), "may write to it");
    }
    t_check_int(chmod(config, 0644), 0);
    expect_size(16, ACLSHMEMI_ORIGIN_FILE, config);
}

static void found_file_is_skipped(void *argument)
{
    (void)argument;
    t_log_forget();
    t_check_int(chmod(local, 0666), 0);
    expect_size(32, ACLSHMEMI_ORIGIN_FILE, user); /* the next one in line */
    t_log_expect_level(ACLSHMEMI_LOG_WARN, "shmem.conf is not read");
    t_check_uint(t_log_count(ACLSHMEMI_LOG_WARN), 1);
    expect_size(32, ACLSHMEMI_ORIGIN_FILE, user);
    t_check_uint(t_log_count(ACLSHMEMI_LOG_WARN), 1); /* once per process */
}

static void a_planted_file_is_skipped(void **state)
{
    (void)state;
    t_child_t child;
    t_file_write(local, "SHMEM_SYMMETRIC_SIZE=16M\n");
    t_file_write(user, "SHMEM_SYMMETRIC_SIZE=32M\n");
    t_run_function(&child, found_file_is_skipped, NULL, 30000);
    t_check_exit(&child, 0);
    t_child_free(&child);
}

static void files_of_others(void **state)
{
    (void)state;
    aclshmemi_env_t env;
    if (geteuid() != 0)
        skip(); /* only root can give a file away */
    use_config("SHMEM_SYMMETRIC_SIZE=16M\n");
    t_check_int(chown(config, 12345, 12345), 0);
    t_check_int(aclshmemi_env_init(&env), ACLSHMEM_INVALID_PARAM);
    t_check_contains(aclshmemi_status_last_text(), "belongs to another user");
}

static void unknown_names(void *argument)
{
    (void)argument;
    aclshmemi_env_t env;
    t_log_forget();
    use_config("SHMEM_SYMETRIC_SIZE=16M\n\nSHMEM_NOTHING_LIKE_IT=1\nSHMEM_RUN_PPN=2\nOTHER=1\n");
    t_check_int(aclshmemi_env_init(&env), 0);
    aclshmemi_env_fini(&env);
    t_check_int(aclshmemi_env_init(&env), 0);
    aclshmemi_env_fini(&env);
    t_log_expect_level(ACLSHMEMI_LOG_WARN, "settings:1: the variable SHMEM_SYMETRIC_SIZE");
    t_log_expect_level(ACLSHMEMI_LOG_WARN, "did you mean SHMEM_SYMMETRIC_SIZE");
    t_log_expect_level(ACLSHMEMI_LOG_WARN, "settings:3: the variable SHMEM_NOTHING_LIKE_IT");
    t_log_expect_level(ACLSHMEMI_LOG_WARN, "settings:5: the variable OTHER");
    t_check_uint(t_log_count(ACLSHMEMI_LOG_WARN), 3); /* not of the launcher's name, and once per process */
}

static void unknown_names_are_told_once(void **state)
{
    (void)state;
    t_child_t child;
    t_run_function(&child, unknown_names, NULL, 30000);
    t_check_exit(&child, 0);
    t_child_free(&child);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, clean_start, clean_end)
    const struct CMUnitTest tests[] = {
        TEST(unknown_names_are_told_once), /* first: it counts on nobody having been told yet */
        TEST(a_planted_file_is_skipped),
        TEST(who_wins),
        TEST(how_lines_read),
        TEST(bad_lines_are_named),
        TEST(no_text_file),
        TEST(files_others_can_write),
        TEST(files_of_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
