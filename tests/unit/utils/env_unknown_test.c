/* SPDX-License-Identifier: Apache-2.0 */
/* Misspelt variables are pointed out once; names that are nobody's mistake are not. */
/* */
#include "support/unit.h"

#include <stdlib.h>

#include "host/utils/env_table.h"

static void nearest_names(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *nearest;
    } rows[] = {
        {"SHMEM_SYMETRIC_SIZE", "SHMEM_SYMMETRIC_SIZE"},
        {"SHMEM_SYMMETRIC_SIEZ", "SHMEM_SYMMETRIC_SIZE"},
        {"SHMEM_SYMMETRIC_SIZES", "SHMEM_SYMMETRIC_SIZE"},
        {"SHEMM_LOG_LEVEL", "SHMEM_LOG_LEVEL"},
        {"SHMEM_LOGLEVEL", "SHMEM_LOG_LEVEL"},
        {"SHMEM_LOG_LEVLE", "SHMEM_LOG_LEVEL"},
        {"SHMEM_LOG_LVL", "SHMEM_LOG_LEVEL"},
        {"SHMEM_DEBUF", "SHMEM_DEBUG"},
        {"SHMEM_LGO_LEVLE", "SHMEM_LOG_LEVEL"},
        {"SHMEM_PX", "SHMEM_PE"},
        {"SHMEM_AB", NULL},
        {"SHMEM_X", NULL},
        {"SHMEM_", NULL},
        {"SHMEM_LOG", NULL},
        {"SHMEM_SYM_SIZE", NULL},
        {"", NULL},
        {"HCCL_RDMA_TX", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *nearest = aclshmemi_env_nearest(rows[i].name);
        if (rows[i].nearest)
            t_check_text(nearest, rows[i].nearest);
        else
            t_check_that(nearest == NULL, "%s is taken for %s", rows[i].name, nearest);
    }
}

/* In a child each, since it is said once per process. */
static void warn(void *argument)
{
    t_clean_environment();
    t_check_int(setenv((const char *)argument, "hunter2", 1), 0);
    t_unit_log_start(ACLSHMEMI_LOG_INFO);
    aclshmemi_env_warn_unknown();
    t_check(!t_log_contains("hunter2")); /* what it holds is none of our business */
}

static void warns(void *name)
{
    warn(name);
    t_check_uint(t_log_count(ACLSHMEMI_LOG_WARN), 1);
    t_log_expect_level(ACLSHMEMI_LOG_WARN, (const char *)name);
    t_log_expect_level(ACLSHMEMI_LOG_WARN, "did you mean SHMEM_");
    aclshmemi_env_warn_unknown();
    t_check_uint(t_log_count(ACLSHMEMI_LOG_WARN), 1);
}

static void informs(void *name)
{
    warn(name);
    t_log_expect_clean();
    t_check_uint(t_log_count(ACLSHMEMI_LOG_INFO), 1);
    t_log_expect_level(ACLSHMEMI_LOG_INFO, (const char *)name);
}

static void is_silent(void *name)
{
    warn(name);
    t_log_expect_clean();
    t_check_uint(t_log_count(ACLSHMEMI_LOG_INFO), 0);
}

static void each(void (*function)(void *), const char *const names[], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        t_child_t child;
        t_run_function(&child, function, (void *)(uintptr_t)names[i], 30000);
        t_check_exit(&child, 0);
        t_child_free(&child);
    }
}

#define EACH(function, ...)                                                                                  \
    each(function, (const char *const[]){__VA_ARGS__},                                                       \
         sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static void near_misses_warn(void **state)
{
    (void)state;
    EACH(warns, "SHMEM_LOG_LEVLE", "SHMEM_SYMETRIC_SIZE", "SHEMM_LOG_LEVEL", "ACLSHMEM_LOG_LEVEL",
         "shmem_log_level", "ACLSHMEM_DEBUG");
}

static void strangers_inform(void **state)
{
    (void)state;
    EACH(informs, "SHMEM_COMPLETELY_DIFFERENT", "SHMEM_SYMMETRIC_HEAP_SIZE");
}

static void known_names_are_silent(void **state)
{
    (void)state;
    EACH(is_silent, "SHMEM_LOG_LEVEL", "SHMEM_RUN_PPN", "SHMEM_RUN_ANYTHING", "SHMEM_CPU_DEVICES",
         "SHMEM_CPU_CHECKED", "SHMEM_HOME_PATH", "HCCL_RDMA_TX", "OTHER_SHMEM_LOG_LEVEL", "SHELL", "SHLVL",
         "ACLOCAL_PATH");
    for (int i = 0; i < ACLSHMEMI_ENV_COUNT; i++) {
        const char *name = aclshmemi_env_rows()[i].name;
        each(is_silent, &name, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nearest_names),
        cmocka_unit_test(near_misses_warn),
        cmocka_unit_test(strangers_inform),
        cmocka_unit_test(known_names_are_silent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
