/* SPDX-License-Identifier: Apache-2.0 */
/* Symbols by list, and where this file lies. */
#include "support/unit.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/utils/dl.h"

static void all_symbols(void **state)
{
    (void)state;
    int (*print)(const char *, ...) = NULL;
    void *nothing = &print;
    const aclshmemi_dl_symbol_t symbols[] = {
        {"puts", (void **)&print, true},
        {"aclshmem_no_such_function", &nothing, false},
    };
    t_unit_log_start(ACLSHMEMI_LOG_DEBUG);
    t_check_int(aclshmemi_dl_lookup(RTLD_DEFAULT, symbols, 2), 0);
    t_check((void *)print == dlsym(RTLD_DEFAULT, "puts"));
    t_check(nothing == NULL);
    t_log_expect_clean();
    t_unit_log_stop();
}

static void a_missing_one_is_named(void **state)
{
    (void)state;
    void *first = &first, *second = &second;
    const aclshmemi_dl_symbol_t symbols[] = {
        {"puts", &first, true},
        {"aclshmem_no_such_function", &second, true},
    };
    t_unit_log_start(ACLSHMEMI_LOG_DEBUG);
    t_check_int(aclshmemi_dl_lookup(RTLD_DEFAULT, symbols, 2), ACLSHMEM_DL_FUNC_FAILED);
    t_check_contains(aclshmemi_status_last_text(), "aclshmem_no_such_function");
    t_check(first == NULL && second == NULL); /* half a library is none */
    t_log_expect_clean();                     /* the caller may have another candidate */
    t_unit_log_stop();
}

static void own_directory(void **state)
{
    (void)state;
    char directory[PATH_MAX], expected[PATH_MAX];
    snprintf(expected, sizeof expected, "%s", t_own_path());
    *strrchr(expected, '/') = '\0';
    t_check_int(chdir("/"), 0); /* argv[0] may be relative: must not matter */
    t_check_int(aclshmemi_dl_own_directory(directory, sizeof directory), 0);
    t_check_text(directory, expected);
}

static void no_room_for_it(void **state)
{
    (void)state;
    char small[4] = "abc";
    t_unit_log_start(ACLSHMEMI_LOG_ERROR);
    t_check_int(aclshmemi_dl_own_directory(small, 1), ACLSHMEM_INVALID_VALUE);
    t_check_text(small, "abc");
    t_unit_log_stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_symbols),
        cmocka_unit_test(a_missing_one_is_named),
        cmocka_unit_test(own_directory),
        cmocka_unit_test(no_room_for_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
