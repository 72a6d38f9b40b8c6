/* SPDX-License-Identifier: Apache-2.0 */
/* The log: form of a line, levels, callback, repeats. What is written is looked at in a child of its own. */
#define LOG_MODULE "testing"
#include "support/unit.h"

#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/utils/status.h"

static void configure(aclshmemi_log_options_t options)
{
    t_check_int(aclshmemi_log_configure(&options), 0);
}

static void expect_match(const char *text, const char *pattern)
{
    regex_t regex;
    t_check_int(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
    t_check_that(regexec(&regex, text, 0, NULL, 0) == 0, "\"%s\" does not match %s", text, pattern);
    regfree(&regex);
}

#define STAMP "^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{6} "

/* Runs function in a child and hands its output to look. */
static void in_child(void (*function)(void *), void *argument, void (*look)(const t_child_t *))
{
    t_child_t child;
    t_run_function(&child, function, argument, 60000);
    t_check_exit(&child, 0);
    if (look)
        look(&child);
    t_child_free(&child);
}

/* ---- form ---- */

static void say_a_line(void *argument)
{
    (void)argument;
    errno = ENOENT;
    log_warn("cannot open %s: %m", "door");
    t_check_int(errno, ENOENT);
    aclshmemi_log_set_pe(12);
    log_error("second\n");
    log_info("not at this level");
}

static void look_at_lines(const t_child_t *child)
{
    t_check_text(child->out, "");
    expect_match(child->err, STAMP "WARN - testing: cannot open door: No such file or directory\n");
    char *second = strchr(child->err, '\n') + 1;
    expect_match(second, STAMP "ERROR 12 testing: second\n$");
    t_check_text(strchr(second, '\n'), "\n");
}

static void form_of_a_line(void **state)
{
    (void)state;
    in_child(say_a_line, NULL, look_at_lines);
}

static void say_without_stamp(void *argument)
{
    configure((aclshmemi_log_options_t){.sink = 1, .timestamp = argument});
    log_warn("text");
}

static void look_none(const t_child_t *child)
{
    t_check_text(child->out, "WARN - testing: text\n");
    t_check_text(child->err, "");
}

static void look_mono(const t_child_t *child)
{
    expect_match(child->out, "^[0-9]+\\.[0-9]{6} WARN - testing: text\n$");
}

static void look_strftime(const t_child_t *child)
{
    expect_match(child->out, "^\\[[0-9]{2}h[0-9]{2}\\] WARN - testing: text\n$");
}

static void time_formats(void **state)
{
    (void)state;
    in_child(say_without_stamp, (void *)(uintptr_t) "none", look_none);
    in_child(say_without_stamp, (void *)(uintptr_t) "MONO", look_mono);
    in_child(say_without_stamp, (void *)(uintptr_t) "[%Hh%M]", look_strftime);
}

static void say_odd_texts(void *argument)
{
    (void)argument;
    configure((aclshmemi_log_options_t){.sink = 2, .timestamp = "none"});
    log_warn("a\nFATAL 0 fake: b\rc\td\033[31me\x7f");
    log_warn("%s", "100%s gr\xc3\xbc\xc3\x9f"
                   "e");
    char *big = malloc(100000);
    t_check(big != NULL);
    memset(big, 'x', 99999);
    big[99999] = '\0';
    log_warn("%s", big);
    log_warn("after");
    free(big);
}

static void look_odd(const t_child_t *child)
{
    char *line = strtok(child->err, "\n");
    t_check_text(line, "WARN - testing: a FATAL 0 fake: b c d?[31me?");
    t_check_text(strtok(NULL, "\n"), "WARN - testing: 100%s gr\xc3\xbc\xc3\x9f"
                                     "e");
    line = strtok(NULL, "\n");
    t_check(strlen(line) > 3000 && strlen(line) < 4096);
    t_check_text(line + strlen(line) - 5, "xx...");
    t_check_text(strtok(NULL, "\n"), "WARN - testing: after");
}

static void one_line_stays_one_line(void **state)
{
    (void)state;
    in_child(say_odd_texts, NULL, look_odd);
}

/* ---- levels ---- */

static void say_all_levels(void)
{
    log_trace("at trace");
    log_debug("at debug");
    log_info("at info");
    log_warn("at warn");
    log_error("at error");
    log_fatal("at fatal");
}

static void levels(void **state)
{
    (void)state;
    for (int level = ACLSHMEMI_LOG_DEBUG; level <= ACLSHMEMI_LOG_FATAL; level++) {
        t_unit_log_start(level);
        t_check_int(aclshmemi_log_get_level(), level);
        say_all_levels();
        for (int k = ACLSHMEMI_LOG_DEBUG; k <= ACLSHMEMI_LOG_FATAL; k++)
            t_check_uint(t_log_count(k), k >= level);
    }
    t_log_forget();
    configure((aclshmemi_log_options_t){.levels = "TRACE", .sink = 2});
    say_all_levels();
#ifdef NDEBUG
    t_check_uint(t_log_count(0), 1); /* trace is compiled out */
#else
    t_check_uint(t_log_count(0), 2); /* to a callback, trace is debug: it knows 0 to 4 */
#endif
    t_unit_log_stop();
}

/* [L-05] */
static void bad_levels(void **state)
{
    (void)state;
    t_unit_log_start(ACLSHMEMI_LOG_ERROR);
    static const int bad[] = {-2, -1, 5, 100, INT32_MIN, INT32_MAX};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        t_check_int(aclshmemi_log_set_level(bad[i]), ACLSHMEM_INVALID_VALUE);
        t_check_int(aclshmemi_log_get_level(), ACLSHMEMI_LOG_ERROR);
    }
    t_check_uint(t_log_count(ACLSHMEMI_LOG_ERROR), sizeof bad / sizeof *bad);
    aclshmemi_log_options_t options = {.levels = "loud", .sink = 2};
    t_check_int(aclshmemi_log_configure(&options), ACLSHMEM_INVALID_PARAM);
    t_check_contains(aclshmemi_status_last_text(), "loud");
    options = (aclshmemi_log_options_t){.subsystems = ",", .sink = 2};
    t_check_int(aclshmemi_log_configure(&options), ACLSHMEM_INVALID_PARAM);
    options = (aclshmemi_log_options_t){.sink = 3};
    t_check_int(aclshmemi_log_configure(&options), ACLSHMEM_INVALID_PARAM);
    t_check_int(aclshmemi_log_get_level(), ACLSHMEMI_LOG_ERROR);
    t_unit_log_stop();
}

/* [I-32] */
static void the_users_level_survives_init(void **state)
{
    (void)state;
    t_unit_log_start(ACLSHMEMI_LOG_DEBUG);
    configure((aclshmemi_log_options_t){.sink = 2});
    t_check_int(aclshmemi_log_get_level(), ACLSHMEMI_LOG_DEBUG);
    configure((aclshmemi_log_options_t){.levels = "ERROR", .sink = 2});
    t_check_int(aclshmemi_log_get_level(), ACLSHMEMI_LOG_ERROR);
    t_unit_log_stop();
}

static void modules(void **state)
{
    (void)state;
    t_unit_log_start(ACLSHMEMI_LOG_WARN);
    configure((aclshmemi_log_options_t){.levels = "ERROR,testing:DEBUG", .sink = 2});
    say_all_levels();
    t_check_uint(t_log_count(0), 1);
    t_log_forget();
    configure((aclshmemi_log_options_t){.levels = "DEBUG,testing:ERROR", .sink = 2});
    say_all_levels();
    t_check_uint(t_log_count(0) + t_log_count(1) + t_log_count(2), 0);
    t_check_uint(t_log_count(3), 1);
    t_log_forget();
    t_check_int(aclshmemi_log_set_level(ACLSHMEMI_LOG_INFO), 0); /* by call it means every module */
    log_info("at info");
    t_check_uint(t_log_count(1), 1);
    t_log_forget();
    configure((aclshmemi_log_options_t){.levels = "DEBUG", .subsystems = "^testing", .sink = 2});
    say_all_levels();
    t_check_uint(t_log_count(0) + t_log_count(1), 0);
    t_check_uint(t_log_count(2), 1);
    configure((aclshmemi_log_options_t){.levels = "DEBUG", .sink = 2}); /* the choice is not for ever */
    say_all_levels();
    t_check_uint(t_log_count(0), 1);
    t_unit_log_stop();
}

static void say_before_configure(void *argument)
{
    (void)argument;
    t_check_int(atomic_load(&aclshmemi_log_threshold), ACLSHMEMI_LOG_WARN);
    t_check_int(aclshmemi_log_get_level(), ACLSHMEMI_LOG_WARN);
    log_info("no");
    log_warn("yes");
}

static void look_before(const t_child_t *child)
{
    expect_match(child->err, STAMP "WARN - testing: yes\n$");
    t_check(!strstr(child->err, ": no"));
}

static void works_before_anything(void **state)
{
    (void)state;
    const char *const argv[] = {t_own_path(), "--before", NULL};
    t_child_t child;
    t_run(&child, argv, NULL, 30000);
    t_check_exit(&child, 0);
    look_before(&child);
    t_child_free(&child);
}

/* ---- callback ---- */

static int other_calls;

static void other_callback(int level, const char *message)
{
    (void)level;
    other_calls++;
    t_check_contains(message, "log_test.c");
    log_error("a line from inside the callback"); /* must not come back to it */
}

/* [L-09] [L-10] */
static void callbacks(void **state)
{
    (void)state;
    t_unit_log_start(ACLSHMEMI_LOG_WARN);
    int line = __LINE__ + 1;
    log_warn("number %d", 5);
    char expected[128];
    snprintf(expected, sizeof expected, "[SHM_SHMEM log_test.c:%d] number 5", line);
    t_log_expect_level(ACLSHMEMI_LOG_WARN, expected);
    t_check_uint(t_log_count(ACLSHMEMI_LOG_WARN), 1);
    log_info("filtered");
    t_check_uint(t_log_count(ACLSHMEMI_LOG_INFO), 0);
    aclshmemi_log_set_callback(other_callback);
    log_warn("to the other one");
    t_check_int(other_calls, 1);
    t_check_uint(t_log_count(ACLSHMEMI_LOG_WARN), 1);
    t_unit_log_stop();
}

static void restore_builtin(void *argument)
{
    (void)argument;
    aclshmemi_log_set_callback(t_log_callback);
    log_warn("into the callback");
    aclshmemi_log_set_callback(NULL);
    log_warn("out again");
}

static void look_restored(const t_child_t *child)
{
    t_check(!strstr(child->err, "into the callback"));
    t_check_contains(child->err, "testing: out again\n");
}

/* [L-09] */
static void null_restores_the_sink(void **state)
{
    (void)state;
    in_child(restore_builtin, NULL, look_restored);
}

/* ---- repeats ---- */

static void say_sparse(void)
{
    log_sparse(ACLSHMEMI_LOG_WARN, "again");
}

static void repeats(void **state)
{
    (void)state;
    t_unit_log_start(ACLSHMEMI_LOG_WARN);
    for (int i = 0; i < 10; i++)
        log_once(ACLSHMEMI_LOG_WARN, "only once");
    t_check_uint(t_log_count(ACLSHMEMI_LOG_WARN), 1);
    t_log_forget();
    uint64_t start = t_now_ms();
    uint32_t calls = 0;
    for (; t_log_count(ACLSHMEMI_LOG_WARN) < 2; calls++) {
        say_sparse();
        t_check(t_now_ms() - start < 30000);
    }
    t_check(t_now_ms() - start >= 1000 - 1);
    char expected[64];
    snprintf(expected, sizeof expected, "again (%u more like this left out)", calls - 2);
    t_log_expect(expected);
    t_unit_log_stop();
}

/* The flag of the other count must not stick to the next line of somebody else. */
static void sparse_counts_do_not_stray(void **state)
{
    (void)state;
    t_unit_log_start(ACLSHMEMI_LOG_ERROR);
    aclshmemi_log_sparse_t sparse = {.held = 5};
    t_check(aclshmemi_log_sparse_pass(&sparse));
    aclshmemi_log_write(ACLSHMEMI_LOG_INFO, "testing", __FILE__, __LINE__, "filtered out");
    log_error("clean");
    t_check(!t_log_contains("left out"));
    t_unit_log_stop();
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--before") == 0) {
        say_before_configure(NULL);
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(form_of_a_line),
        cmocka_unit_test(time_formats),
        cmocka_unit_test(one_line_stays_one_line),
        cmocka_unit_test(levels),
        cmocka_unit_test(bad_levels),
        cmocka_unit_test(the_users_level_survives_init),
        cmocka_unit_test(modules),
        cmocka_unit_test(works_before_anything),
        cmocka_unit_test(callbacks),
        cmocka_unit_test(null_restores_the_sink),
        cmocka_unit_test(repeats),
        cmocka_unit_test(sparse_counts_do_not_stray),
    };
    t_clean_environment();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
