/* SPDX-License-Identifier: Apache-2.0 */
/* The user's secret file: where it is, how it comes to be, and every state in which it is not trusted. */
#include "tls_support.h"

#include <dirent.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/bootstrap/tls/secret.h"

static char dir[200];
static char path[ACLSHMEMI_SECRET_PATH_LEN];
static uint8_t secret[ACLSHMEMI_SECRET_LEN];

static int setup(void **state)
{
    (void)state;
    t_clean_environment();
    t_dir_make(dir, sizeof dir);
    unsetenv("XDG_CONFIG_HOME");
    assert_int_equal(setenv("HOME", dir, 1), 0);
    t_unit_log_start(ACLSHMEMI_LOG_INFO);
    memset(secret, 0, sizeof secret);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    t_unit_log_stop();
    t_dir_remove(dir);
    return 0;
}

static const char *below(const char *name)
{
    static char full[2][400];
    static int next;
    next ^= 1;
    snprintf(full[next], sizeof full[next], "%s/%s", dir, name);
    return full[next];
}

static int ask(const char *file)
{
    aclshmemi_env_t env = t_tls_env(file);
    return aclshmemi_secret_of_user(&env, secret, path);
}

static void expect_refusal(const char *file, const char *words)
{
    uint8_t none[ACLSHMEMI_SECRET_LEN] = {0};
    memset(secret, 0, sizeof secret);
    t_check_int(ask(file), ACLSHMEM_INNER_ERROR);
    t_check_contains(aclshmemi_status_last_text(), words);
    t_check_memory(secret, none, sizeof none);
}

static mode_t mode_of(const char *file)
{
    struct stat st;
    assert_int_equal(lstat(file, &st), 0);
    return st.st_mode & 07777;
}

static size_t entries_of(const char *folder)
{
    size_t count = 0;
    DIR *open = opendir(folder);
    assert_non_null(open);
    for (struct dirent *entry; (entry = readdir(open));)
        count += entry->d_name[0] != '.';
    closedir(open);
    return count;
}

/* ---- where ---- */

/* [T-01b] */
static void test_made_at_first_use(void **state)
{
    (void)state;
    uint8_t first[ACLSHMEMI_SECRET_LEN], none[ACLSHMEMI_SECRET_LEN] = {0};
    mode_t old = umask(0); /* the worst one */
    t_check_int(ask(""), 0);
    umask(old);
    t_check_text(path, below(".config/shmem/secret"));
    assert_int_equal(mode_of(path), 0600);
    assert_int_equal(mode_of(below(".config/shmem")), 0700);
    assert_int_equal(mode_of(below(".config")), 0700);
    assert_memory_not_equal(secret, none, sizeof none);
    t_log_expect_level(ACLSHMEMI_LOG_INFO, "hosts that do not share it need a copy");
    memcpy(first, secret, sizeof first);
    memset(secret, 0, sizeof secret);
    t_check_int(ask(""), 0);
    t_check_memory(secret, first, sizeof first);
    assert_int_equal(entries_of(below(".config/shmem")), 1);
    t_log_expect_clean();
}

static void test_the_configuration_home(void **state)
{
    (void)state;
    assert_int_equal(setenv("XDG_CONFIG_HOME", below("config"), 1), 0);
    t_check_int(ask(""), 0);
    t_check_text(path, below("config/shmem/secret"));
    assert_int_equal(setenv("XDG_CONFIG_HOME", "relative", 1), 0); /* ignored, as the conventions ask */
    t_check_int(ask(""), 0);
    t_check_text(path, below(".config/shmem/secret"));
    unsetenv("XDG_CONFIG_HOME");
    t_check_int(ask(below("mine")), 0);
    t_check_text(path, below("mine"));
    assert_int_equal(chdir(dir), 0);
    t_check_int(ask("mine"), 0); /* in the present folder */
    assert_int_equal(chdir("/"), 0);
}

/* Without HOME the system's user data tell where it is. Users without a home make nothing anywhere. */
static void ask_without_home(void *words)
{
    uid_t user = words ? 65534 : 12345;
    unsetenv("HOME");
    t_check_int(setenv("XDG_CONFIG_HOME", "", 1), 0);
    t_check_int(setgid(user), 0);
    t_check_int(setuid(user), 0);
    expect_refusal("", words ? words : "user 12345 has no home directory for the secret file; set HOME");
}

static void test_without_home(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip(); /* needs to become users without a home */
    struct passwd *nobody = getpwuid(65534);
    char words[300];
    bool homeless = nobody && access(nobody->pw_dir, F_OK) != 0;
    snprintf(words, sizeof words, "folder %s/.config for the secret file cannot be made",
             homeless ? nobody->pw_dir : "");
    for (int i = homeless ? 0 : 1; i < 2; i++) {
        t_child_t child;
        t_run_function(&child, ask_without_home, i ? NULL : words, 30000);
        t_check_exit(&child, 0);
        t_child_free(&child);
    }
}

static void test_names_that_are_too_long(void **state)
{
    (void)state;
    char name[2000];
    memset(name, 'x', sizeof name);
    name[0] = '/';
    name[sizeof name - 1] = '\0';
    expect_refusal(name, "SHMEM_SECRET_FILE has 1999 bytes, allowed are");
    assert_int_equal(setenv("HOME", name, 1), 0);
    expect_refusal("", "the name of the configuration folder has 2007 bytes, allowed are");
}

/* ---- files that are not trusted ---- */

static void make_file(const char *name, size_t size, mode_t mode)
{
    char bytes[64] = "0123456789abcdef0123456789abcdef0123456789abcdef";
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), size);
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
}

static void test_a_good_file(void **state)
{
    (void)state;
    make_file(below("good"), 32, 0600);
    t_check_int(ask(below("good")), 0);
    t_check_memory(secret, "0123456789abcdef0123456789abcdef", 32);
    make_file(below("good"), 32, 0400);
    t_check_int(ask(below("good")), 0);
}

/* [T-01b] */
static void test_wrong_modes(void **state)
{
    (void)state;
    const mode_t modes[] = {0644, 0640, 0660, 0604, 0602, 0601, 0666};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        char words[64];
        make_file(below("open"), 32, modes[i]);
        snprintf(words, sizeof words, "has mode %04o, others may have read it", modes[i]);
        expect_refusal(below("open"), words);
        t_check_contains(aclshmemi_status_last_text(), below("open"));
        t_check_contains(aclshmemi_status_last_text(), "chmod 600");
    }
}

/* [T-01b] */
static void test_wrong_sizes(void **state)
{
    (void)state;
    const size_t sizes[] = {0, 1, 31, 33, 48};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char words[64];
        make_file(below("size"), sizes[i], 0600);
        snprintf(words, sizeof words, "has %zu bytes, it must have 32; remove it and start again", sizes[i]);
        expect_refusal(below("size"), words);
    }
}

/* [T-01b] */
static void test_things_that_are_no_files(void **state)
{
    (void)state;
    make_file(below("target"), 32, 0600);
    assert_int_equal(symlink(below("target"), below("link")), 0);
    expect_refusal(below("link"), "is a symbolic link; remove it and start again");
    assert_int_equal(symlink(below("nowhere"), below("dangling")), 0);
    expect_refusal(below("dangling"), "is a symbolic link");
    assert_int_equal(access(below("nowhere"), F_OK), -1);
    assert_int_equal(mkfifo(below("fifo"), 0600), 0);
    expect_refusal(below("fifo"), "is not a regular file");
    assert_int_equal(mkdir(below("folder"), 0700), 0);
    expect_refusal(below("folder"), "is not a regular file");
}

/* [T-01b] */
static void test_files_of_others(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip(); /* only root can give files away */
    make_file(below("theirs"), 32, 0600);
    assert_int_equal(chown(below("theirs"), 12345, 0), 0);
    expect_refusal(below("theirs"),
                   "belongs to user 12345, not to user 0 who runs this; remove it and start again, or "
                   "name another file in SHMEM_SECRET_FILE");
    t_check_int(ask(""), 0);
    assert_int_equal(chown(below(".config/shmem"), 12345, 0), 0);
    expect_refusal("", "belongs to user 12345, not to user 0 who runs this");
}

/* The same seen from the other side: a user meets a file of root, which cannot even be opened. */
static void meet_roots_file(void *name)
{
    t_check_int(setgid(12345), 0);
    t_check_int(setuid(12345), 0);
    expect_refusal(name, "belongs to user 0, not to user 12345 who runs this");
}

static void test_a_file_of_root(void **state)
{
    (void)state;
    char name[64] = "/tmp/aclshmem_secret_XXXXXX";
    t_child_t child;
    if (geteuid() != 0)
        skip();
    int fd = mkostemp(name, O_CLOEXEC);
    assert_true(fd >= 0);
    close(fd);
    t_run_function(&child, meet_roots_file, name, 30000);
    unlink(name);
    t_check_exit(&child, 0);
    t_child_free(&child);
}

/* ---- folders ---- */

static void test_folders_that_are_not_trusted(void **state)
{
    (void)state;
    t_check_int(ask(""), 0);
    const mode_t modes[] = {0755, 0750, 0710, 0777};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        char words[64];
        assert_int_equal(chmod(below(".config/shmem"), modes[i]), 0);
        snprintf(words, sizeof words, "has mode %04o, it must be 0700: run chmod 700", modes[i]);
        expect_refusal("", words);
    }
    assert_int_equal(chmod(below(".config/shmem"), 0700), 0);
    t_check_int(ask(""), 0);
    assert_int_equal(rename(below(".config/shmem"), below("moved")), 0);
    assert_int_equal(symlink(below("moved"), below(".config/shmem")), 0);
    expect_refusal("", "is not a directory");
    /* A folder the user named may be readable, but nobody else may swap the file in it. */
    assert_int_equal(mkdir(below("named"), 0755), 0);
    t_check_int(ask(below("named/secret")), 0);
    assert_int_equal(chmod(below("named"), 0775), 0);
    expect_refusal(below("named/secret"), "can be written by others (mode 0775): run chmod go-w");
    assert_int_equal(chmod(below("named"), 01777), 0); /* as /tmp is: names are safe there */
    t_check_int(ask(below("named/secret")), 0);
    expect_refusal(below("nowhere/secret"), "cannot be looked at: No such file or directory");
    make_file(below("file"), 3, 0600);
    expect_refusal(below("file/secret"), "is not a directory");
}

static void make_in_readonly_folder(void *name)
{
    t_check_int(setgid(12345), 0);
    t_check_int(setuid(12345), 0);
    expect_refusal(name, "cannot be made: Permission denied");
}

static void test_a_folder_that_takes_no_file(void **state)
{
    (void)state;
    t_child_t child;
    char name[] = "/usr/aclshmem_secret_test";
    if (geteuid() != 0)
        skip();
    t_run_function(&child, make_in_readonly_folder, name, 30000);
    t_check_exit(&child, 0);
    t_child_free(&child);
}

/* ---- many at once ---- */

enum { RACERS = 16, ROUNDS = 10 };

static _Noreturn void race(int start_fd, int result_fd)
{
    char go;
    if (read(start_fd, &go, 1) != 0) /* returns when the other end is closed, for all at once */
        _exit(1);
    if (ask("") != 0)
        _exit(2);
    _exit(write(result_fd, secret, sizeof secret) == sizeof secret ? 0 : 3);
}

static void test_all_processes_agree(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        int start_fds[2], result_fds[2];
        pid_t pids[RACERS];
        assert_int_equal(setenv("HOME", below(""), 1), 0);
        assert_int_equal(pipe2(start_fds, O_CLOEXEC), 0);
        assert_int_equal(pipe2(result_fds, O_CLOEXEC), 0);
        for (int i = 0; i < RACERS; i++) {
            pids[i] = fork();
            assert_true(pids[i] >= 0);
            if (pids[i] == 0) {
                close(start_fds[1]);
                race(start_fds[0], result_fds[1]);
            }
        }
        close(start_fds[0]);
        close(start_fds[1]);
        close(result_fds[1]);
        for (int i = 0; i < RACERS; i++) {
            int status = -1;
            assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
            assert_int_equal(status, 0);
        }
        uint8_t first[ACLSHMEMI_SECRET_LEN], other[ACLSHMEMI_SECRET_LEN];
        assert_int_equal(read(result_fds[0], first, sizeof first), sizeof first);
        for (int i = 1; i < RACERS; i++) {
            assert_int_equal(read(result_fds[0], other, sizeof other), sizeof other);
            t_check_memory(other, first, sizeof first);
        }
        close(result_fds[0]);
        assert_int_equal(entries_of(below(".config/shmem")), 1); /* no temporary file is left */
        assert_int_equal(unlink(below(".config/shmem/secret")), 0);
        if (round % 2)
            assert_int_equal(rmdir(below(".config/shmem")), 0); /* the folder is raced for as well */
    }
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_made_at_first_use),
        TEST(test_the_configuration_home),
        TEST(test_without_home),
        TEST(test_names_that_are_too_long),
        TEST(test_a_good_file),
        TEST(test_wrong_modes),
        TEST(test_wrong_sizes),
        TEST(test_things_that_are_no_files),
        TEST(test_files_of_others),
        TEST(test_a_file_of_root),
        TEST(test_folders_that_are_not_trusted),
        TEST(test_a_folder_that_takes_no_file),
        TEST(test_all_processes_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
