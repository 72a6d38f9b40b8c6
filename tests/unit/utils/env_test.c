/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of settings as a whole: defaults, limits, a bad-value table over every row, origins, and values as text.
 * The bad values are made from the rows, so a new row is under test without a new line here.
 * [R-26]
 */
#include "support/unit.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/utils/env.h"

static char home[PATH_MAX];

/* Nothing of the machine's settings may reach the tests. */
static int clean_start(void **state)
{
    (void)state;
    t_clean_environment();
    t_check_int(setenv("HOME", home, 1), 0);
    t_check_int(unsetenv("XDG_CONFIG_HOME"), 0);
    t_check_int(chdir(home), 0);
    t_unit_log_start(ACLSHMEMI_LOG_DEBUG);
    return 0;
}

static int clean_end(void **state)
{
    (void)state;
    t_unit_log_stop();
    return 0;
}

static const aclshmemi_env_row_t *row_at(int i)
{
    return &aclshmemi_env_rows()[i];
}

static bool is_type(int i, const char *type)
{
    return strcmp(row_at(i)->type, type) == 0;
}

/* Returns init's code; prints row i of what came out into value. */
static int init_with(int i, const char *text, char value[256])
{
    aclshmemi_env_t env;
    t_check_int(setenv(row_at(i)->name, text, 1), 0);
    int rc = aclshmemi_env_init(&env);
    t_check_int(unsetenv(row_at(i)->name), 0);
    if (rc == 0) {
        size_t printed = aclshmemi_env_print(&env, i, value, 256);
        t_check_that(printed < 256 || printed == strlen(text), "%s", row_at(i)->name);
        aclshmemi_env_fini(&env);
    } else {
        t_check_that(env.storage == NULL, "a failed init leaves something behind");
    }
    return rc;
}

static void defaults(void **state)
{
    (void)state;
    aclshmemi_env_t env;
    char value[256];
    t_check_int(aclshmemi_env_init(&env), 0);
    t_log_expect_clean();
    for (int i = 0; i < ACLSHMEMI_ENV_COUNT; i++) {
        t_check_int(env.origin[i], ACLSHMEMI_ORIGIN_DEFAULT);
        aclshmemi_env_print(&env, i, value, sizeof value);
        t_check_that(strcmp(value, row_at(i)->flags & ACLSHMEMI_ENV_SECRET ? "(hidden)" : row_at(i)->dflt) ==
                         0,
                     "%s prints as %s, its default is %s", row_at(i)->name, value, row_at(i)->dflt);
    }
    t_check_uint(env.symmetric_size, UINT64_C(1) << 30);
    t_check_uint(env.init_timeout_ms, 120000);
    t_check_int(env.spin_us, -1);
    t_check(env.conf_store_tls);
    t_check_text(env.log_level, "WARN");
    t_check_text(env.log_path, "");
    t_check_text(env.file, "");
    aclshmemi_env_fini(&env);
    t_check(env.storage == NULL);
    aclshmemi_env_fini(&env); /* twice is fine */
    aclshmemi_env_fini(NULL);
}

static void names_are_unique_and_described(void **state)
{
    (void)state;
    for (int i = 0; i < ACLSHMEMI_ENV_COUNT; i++) {
        bool foreign = row_at(i)->flags & ACLSHMEMI_ENV_FOREIGN;
        t_check_that((strncmp(row_at(i)->name, "SHMEM_", 6) == 0) != foreign, "%s", row_at(i)->name);
        t_check_that(strlen(row_at(i)->text) > 4, "%s is not described", row_at(i)->name);
        for (int k = 0; k < i; k++)
            t_check_that(strcmp(row_at(i)->name, row_at(k)->name) != 0, "%s stands twice", row_at(i)->name);
    }
}

/* ---- every row against values that are none ---- */

static void expect_refused(int i, const char *text)
{
    char value[256];
    const aclshmemi_env_row_t *row = row_at(i);
    t_log_forget();
    int rc = init_with(i, text, value);
    if (row->flags & ACLSHMEMI_ENV_FOREIGN) {
        t_check_that(rc == 0 && strcmp(value, row->dflt) == 0, "%s=%s gives %d and %s", row->name, text, rc,
                     value);
        t_log_expect_level(ACLSHMEMI_LOG_WARN, row->name);
        t_log_expect_level(ACLSHMEMI_LOG_WARN, "is used");
        t_check_uint(t_log_count(ACLSHMEMI_LOG_ERROR), 0);
        return;
    }
    t_check_that(rc == ACLSHMEM_INVALID_PARAM || rc == ACLSHMEM_INVALID_VALUE, "%s=%s gives %d", row->name,
                 text, rc);
    t_check_int(aclshmemi_status_last_code(), rc);
    t_check_uint(t_log_count(ACLSHMEMI_LOG_ERROR), 1);
    t_log_expect_level(ACLSHMEMI_LOG_ERROR, row->name);
    const char *said = aclshmemi_status_last_text();
    t_check_contains(said, row->name);
    t_check_contains(said, "in the environment");
    t_check_contains(said, "allowed is");
    if (row->flags & ACLSHMEMI_ENV_SECRET)
        t_check_that(*text == '\0' || !strstr(said, text) || strlen(text) < 3, "a secret shows in: %s", said);
    else if (strlen(text) <= 100 && !strchr(text, ' '))
        t_check_contains(said, text);
    if (strcmp(row->type, "choice") == 0) {
        char words[256];
        snprintf(words, sizeof words, "%s", row->range);
        for (char *word = strtok(words, "|"); word; word = strtok(NULL, "|"))
            t_check_contains(said, word);
    } else if (strstr(row->range, "..")) {
        t_check_contains(said, strstr(row->range, "..") + 2);
    }
}

static void limits_of(int i, char low[64], char high[64])
{
    const char *dots = strstr(row_at(i)->range, "..");
    t_check_that(dots != NULL, "%s has no limits", row_at(i)->name);
    snprintf(low, 64, "%.*s", (int)(dots - row_at(i)->range), row_at(i)->range);
    snprintf(high, 64, "%s", dots + 2);
}

static void refuse_all(int i, const char *const texts[], size_t count)
{
    for (size_t k = 0; k < count; k++)
        expect_refused(i, texts[k]);
}

#define REFUSE_ALL(i, ...)                                                                                   \
    refuse_all(i, (const char *const[]){__VA_ARGS__},                                                        \
               sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static void bad_int(int i)
{
    char low[64], high[64], text[80];
    limits_of(i, low, high);
    REFUSE_ALL(i, "", " ", "secretword", "1x", "x1", "1.5", "0x1", "--1", "1e2", "99999999999999999999999");
    snprintf(text, sizeof text, "%lld", strtoll(low, NULL, 10) - 1);
    expect_refused(i, text);
    snprintf(text, sizeof text, "%lld", strtoll(high, NULL, 10) + 1);
    expect_refused(i, text);
    snprintf(text, sizeof text, "%s,%s", low, high);
    expect_refused(i, text);
}

static void bad_size(int i)
{
    char low[64], high[64], text[80];
    uint64_t number;
    limits_of(i, low, high);
    REFUSE_ALL(i, "", "lots", "-1", "1Q", "1.5", "1GG", "G", "1 G", "0x10", "99999999999999999999T");
    t_check_int(aclshmemi_parse_size(high, 0, UINT64_MAX, &number), 0);
    snprintf(text, sizeof text, "%" PRIu64, number + 1);
    expect_refused(i, text);
    t_check_int(aclshmemi_parse_size(low, 0, UINT64_MAX, &number), 0);
    if (number > 0) {
        snprintf(text, sizeof text, "%" PRIu64, number - 1);
        expect_refused(i, text);
    }
}

static void bad_seconds(int i)
{
    char low[64], high[64], text[80];
    uint64_t ms;
    limits_of(i, low, high);
    REFUSE_ALL(i, "", "soon", "-1", "1s", "1e3", ".", "5.", "1,5", "inf", "99999999999999999999999");
    snprintf(text, sizeof text, "%s.001", high);
    expect_refused(i, text);
    t_check_int(aclshmemi_parse_seconds(low, 0, UINT64_MAX, &ms), 0);
    if (ms > 0) {
        snprintf(text, sizeof text, "%" PRIu64 ".%03u", (ms - 1) / 1000, (unsigned)((ms - 1) % 1000));
        expect_refused(i, text);
    }
}

static void bad_text(int i)
{
    char low[64], high[64];
    if (!strstr(row_at(i)->range, ".."))
        return; /* every text is one */
    limits_of(i, low, high);
    size_t length = (size_t)strtoul(high, NULL, 10) + 1;
    char *text = malloc(length + 1);
    t_check(text != NULL);
    memset(text, 'a', length);
    text[length] = '\0';
    expect_refused(i, text);
    char value[256];
    text[length - 1] = '\0';
    t_check_int(init_with(i, text, value), 0);
    if (length <= 256)
        t_check_text(value, text);
    free(text);
}

static void bad_values_of_every_row(void **state)
{
    (void)state;
    int tried = 0;
    for (int i = 0; i < ACLSHMEMI_ENV_COUNT; i++) {
        tried++;
        if (is_type(i, "int"))
            bad_int(i);
        else if (is_type(i, "size"))
            bad_size(i);
        else if (is_type(i, "seconds"))
            bad_seconds(i);
        else if (is_type(i, "bool"))
            REFUSE_ALL(i, "", "2", "maybe", "truetrue", "0x1", "-1");
        else if (is_type(i, "choice"))
            REFUSE_ALL(i, "", "nonsense", "99", "-1", row_at(i)->range);
        else if (is_type(i, "text"))
            bad_text(i);
        else
            t_fail("%s has the type %s, which nobody tests", row_at(i)->name, row_at(i)->type);
    }
    t_check_int(tried, ACLSHMEMI_ENV_COUNT);
}

static void limits_of_every_row_are_allowed(void **state)
{
    (void)state;
    for (int i = 0; i < ACLSHMEMI_ENV_COUNT; i++) {
        char ends[2][64], padded[80], value[256];
        if (is_type(i, "text") || is_type(i, "bool") || is_type(i, "choice"))
            continue;
        limits_of(i, ends[0], ends[1]);
        for (int k = 0; k < 2; k++) {
            if (i == ACLSHMEMI_ENV_rdma_tc && k == 1)
                snprintf(ends[k], sizeof ends[k], "252"); /* 255 is no multiple of 4 */
            if (i == ACLSHMEMI_ENV_cert_check_period && k == 1)
                t_check_int(setenv("ACCLINK_CERT_CHECK_AHEAD_DAYS", "180", 1), 0);
            snprintf(padded, sizeof padded, "\t %s ", ends[k]);
            t_log_forget();
            t_check_that(init_with(i, padded, value) == 0, "%s=%s", row_at(i)->name, padded);
            t_log_expect_clean();
            if (row_at(i)->flags & ACLSHMEMI_ENV_SECRET)
                t_check_text(value, "(hidden)");
            else
                t_check_text(value, ends[k]);
            unsetenv("ACCLINK_CERT_CHECK_AHEAD_DAYS");
        }
    }
}

static void every_choice_is_its_index(void **state)
{
    (void)state;
    for (int i = 0; i < ACLSHMEMI_ENV_COUNT; i++) {
        if (!is_type(i, "choice"))
            continue;
        char words[256], value[256];
        snprintf(words, sizeof words, "%s", row_at(i)->range);
        char *rest = words;
        for (char *word; (word = strsep(&rest, "|"));) {
            t_check_int(init_with(i, word, value), 0);
            t_check_text(value, word);
        }
    }
    aclshmemi_env_t env;
    t_check_int(setenv("SHMEM_LAUNCHER", "PMIx", 1), 0);
    t_check_int(setenv("SHMEM_LOG_TO_STDOUT", "1", 1), 0);
    t_check_int(aclshmemi_env_init(&env), 0);
    t_check_int(env.launcher, 4);
    t_check_int(env.log_to_stdout, 1);
    aclshmemi_env_fini(&env);
}

/* ---- rules beyond the rows ---- */

static void log_levels(void **state)
{
    (void)state;
    char value[256];
    static const char *const good[] = {"TRACE", "debug", "WARN,store:DEBUG", "error, tls:trace", "ALL:INFO"};
    for (size_t k = 0; k < sizeof good / sizeof *good; k++) {
        t_check_int(init_with(ACLSHMEMI_ENV_log_level, good[k], value), 0);
        t_check_text(value, good[k]);
    }
    t_check_int(init_with(ACLSHMEMI_ENV_log_level, "  ", value), 0); /* says nothing: the default */
    t_check_text(value, "WARN");
    t_log_expect_clean();
    t_check_int(init_with(ACLSHMEMI_ENV_log_level, "loud", value), ACLSHMEM_INVALID_PARAM);
    t_check_contains(aclshmemi_status_last_text(), "SHMEM_LOG_LEVEL is \"loud\" in the environment");
    t_check_contains(aclshmemi_status_last_text(), "TRACE DEBUG INFO WARN ERROR FATAL");
    t_check_int(init_with(ACLSHMEMI_ENV_debug_subsys, "TEAM,,MEM", value), ACLSHMEM_INVALID_PARAM);
    t_check_contains(aclshmemi_status_last_text(), "SHMEM_DEBUG_SUBSYS");
}

static void all_mistakes_are_told(void **state)
{
    (void)state;
    aclshmemi_env_t env;
    t_check_int(setenv("SHMEM_SYMMETRIC_SIZE", "big", 1), 0);
    t_check_int(setenv("SHMEM_WAIT_TIMEOUT", "long", 1), 0);
    t_check_int(setenv("SHMEM_LOG_LEVEL", "loud", 1), 0);
    t_check_int(setenv("SHMEM_DEBUG_SUBSYS", ",", 1), 0);
    t_check_int(aclshmemi_env_init(&env), ACLSHMEM_INVALID_PARAM);
    t_check_uint(t_log_count(ACLSHMEMI_LOG_ERROR), 4);
    t_check_contains(aclshmemi_status_last_text(), "SHMEM_SYMMETRIC_SIZE is \"big\"");
}

/* [D-34] [T-24] */
static void foreign_rules(void **state)
{
    (void)state;
    aclshmemi_env_t env;
    t_check_int(setenv("HCCL_RDMA_TC", "130", 1), 0);
    t_check_int(setenv("HCCL_RDMA_SL", "5", 1), 0);
    t_check_int(setenv("ACCLINK_CHECK_PERIOD_HOURS", "720", 1), 0);
    t_check_int(setenv("ACCLINK_CERT_CHECK_AHEAD_DAYS", "29", 1), 0);
    t_check_int(aclshmemi_env_init(&env), 0);
    t_check_int(env.rdma_tc, 132);
    t_check_int(env.origin[ACLSHMEMI_ENV_rdma_tc], ACLSHMEMI_ORIGIN_DEFAULT);
    t_check_int(env.rdma_sl, 5);
    t_check_int(env.origin[ACLSHMEMI_ENV_rdma_sl], ACLSHMEMI_ORIGIN_ENVIRONMENT);
    t_check_int(env.cert_check_period, 720);
    t_check_int(env.cert_check_ahead, 30);
    t_log_expect_level(ACLSHMEMI_LOG_WARN, "multiple of 4");
    t_log_expect_level(ACLSHMEMI_LOG_WARN, "shorter than");
    t_check_uint(t_log_count(ACLSHMEMI_LOG_WARN), 2);
    aclshmemi_env_fini(&env);
}

/* [E-09] */
static void values_outlive_the_environment(void **state)
{
    (void)state;
    aclshmemi_env_t env;
    char value[8];
    t_check_int(setenv("SHMEM_UID_SESSION_ID", " 10.0.0.1:4000 ", 1), 0);
    t_check_int(setenv("SHMEM_WAIT_TIMEOUT", "0.25", 1), 0);
    t_check_int(aclshmemi_env_init(&env), 0);
    t_check_int(setenv("SHMEM_UID_SESSION_ID", "xxxxxxxxxxxxxx", 1), 0);
    t_check_text(env.uid_session_id, "10.0.0.1:4000");
    t_check_int(env.origin[ACLSHMEMI_ENV_uid_session_id], ACLSHMEMI_ORIGIN_ENVIRONMENT);
    t_check_uint(env.wait_timeout_ms, 250);
    t_check_uint(aclshmemi_env_print(&env, ACLSHMEMI_ENV_uid_session_id, value, sizeof value), 13);
    t_check_text(value, "10.0.0."); /* cut and terminated */
    aclshmemi_env_print(&env, ACLSHMEMI_ENV_wait_timeout, value, sizeof value);
    t_check_text(value, "0.25");
    aclshmemi_env_fini(&env);
}

static void raw_variables(void **state)
{
    (void)state;
    t_check(aclshmemi_env_raw("NO_SUCH_VARIABLE_HERE") == NULL);
    t_check_int(setenv("NO_SUCH_VARIABLE_HERE", "", 1), 0);
    t_check_text(aclshmemi_env_raw("NO_SUCH_VARIABLE_HERE"), "");
    unsetenv("NO_SUCH_VARIABLE_HERE");
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, clean_start, clean_end)
    const struct CMUnitTest tests[] = {
        TEST(defaults),
        TEST(names_are_unique_and_described),
        TEST(bad_values_of_every_row),
        TEST(limits_of_every_row_are_allowed),
        TEST(every_choice_is_its_index),
        TEST(log_levels),
        TEST(all_mistakes_are_told),
        TEST(foreign_rules),
        TEST(values_outlive_the_environment),
        TEST(raw_variables),
    };
    t_dir_make(home, sizeof home);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    t_check_int(chdir("/"), 0);
    t_dir_remove(home);
    return failed;
}
