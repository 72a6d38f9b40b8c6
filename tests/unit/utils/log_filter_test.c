/* SPDX-License-Identifier: Apache-2.0 */
/* Level lists and choices of modules. */
#include "support/unit.h"

#include <stdio.h>
#include <string.h>

#include "host/utils/log_filter.h"

static aclshmemi_log_filter_t with(const char *levels, const char *subsystems)
{
    aclshmemi_log_filter_t filter;
    aclshmemi_log_filter_init(&filter, ACLSHMEMI_LOG_WARN);
    t_check_int(aclshmemi_log_filter_set_levels(&filter, levels), 0);
    t_check_int(aclshmemi_log_filter_set_subsystems(&filter, subsystems), 0);
    return filter;
}

/* Least severe level the module prints. */
static int least_of(const aclshmemi_log_filter_t *filter, const char *module)
{
    int level = ACLSHMEMI_LOG_TRACE;
    while (level <= ACLSHMEMI_LOG_FATAL && !aclshmemi_log_filter_allows(filter, module, level))
        level++;
    for (int above = level; above <= ACLSHMEMI_LOG_FATAL; above++)
        t_check(aclshmemi_log_filter_allows(filter, module, above));
    return level;
}

static void every_word(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int level;
    } rows[] = {{"TRACE", -1}, {"debug", 0}, {"Info", 1},  {"WARN", 2},
                {"error", 3},  {"FATAL", 4}, {" warn ", 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        aclshmemi_log_filter_t filter = with(rows[i].text, "");
        t_check_int(least_of(&filter, "store"), rows[i].level);
        t_check_int(aclshmemi_log_filter_least(&filter), rows[i].level);
    }
}

static void modules_of_their_own(void **state)
{
    (void)state;
    aclshmemi_log_filter_t filter = with("ERROR,store:DEBUG, heap : trace", "");
    t_check_int(least_of(&filter, "store"), ACLSHMEMI_LOG_DEBUG);
    t_check_int(least_of(&filter, "heap"), ACLSHMEMI_LOG_TRACE);
    t_check_int(least_of(&filter, "tls"), ACLSHMEMI_LOG_ERROR);
    t_check_int(aclshmemi_log_filter_least(&filter), ACLSHMEMI_LOG_TRACE);

    filter = with("store:FATAL", ""); /* no word for the rest: the default */
    t_check_int(least_of(&filter, "store"), ACLSHMEMI_LOG_FATAL);
    t_check_int(least_of(&filter, "heap"), ACLSHMEMI_LOG_WARN);

    filter = with("BOOTSTRAP:INFO,store:ERROR", ""); /* a group, then one of it; the later one decides */
    t_check_int(least_of(&filter, "tls"), ACLSHMEMI_LOG_INFO);
    t_check_int(least_of(&filter, "store"), ACLSHMEMI_LOG_ERROR);
}

static void bad_levels(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      " ",
                                      "loud",
                                      "WARN,",
                                      ",WARN",
                                      "WARN,,store:INFO",
                                      "store:",
                                      ":WARN",
                                      "2",
                                      "WARN:store",
                                      "WARN INFO",
                                      "store:loud",
                                      "store:a:WARN",
                                      "averyveryveryveryverylongmodulename:WARN"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        aclshmemi_log_filter_t filter = with("FATAL,store:INFO", ""), before = filter;
        t_check_that(aclshmemi_log_filter_set_levels(&filter, bad[i]) == ACLSHMEM_INVALID_PARAM,
                     "\"%s\" is taken", bad[i]);
        t_check_memory(&filter, &before, sizeof filter);
    }
    aclshmemi_log_filter_t filter = with("WARN", "");
    t_check_int(aclshmemi_log_filter_set_levels(&filter, "store:loud"), ACLSHMEM_INVALID_PARAM);
    t_check_contains(aclshmemi_status_last_text(), "loud");
    t_check_contains(aclshmemi_status_last_text(), "TRACE DEBUG INFO WARN ERROR FATAL");
}

static void too_many_modules(void **state)
{
    (void)state;
    char list[1024] = "";
    for (int i = 0; i <= ACLSHMEMI_LOG_FILTER_ITEMS; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%sm%d:INFO", i ? "," : "", i);
    aclshmemi_log_filter_t filter = with("WARN", "");
    t_check_int(aclshmemi_log_filter_set_levels(&filter, list), ACLSHMEM_INVALID_PARAM);
    *strrchr(list, ',') = '\0';
    t_check_int(aclshmemi_log_filter_set_levels(&filter, list), 0);
}

static bool chats(const aclshmemi_log_filter_t *filter, const char *module)
{
    return aclshmemi_log_filter_allows(filter, module, ACLSHMEMI_LOG_INFO);
}

static void subsystems(void **state)
{
    (void)state;
    aclshmemi_log_filter_t filter = with("TRACE", "");
    t_check(chats(&filter, "store") && chats(&filter, "anything"));

    filter = with("TRACE", "BOOTSTRAP, team");
    t_check(chats(&filter, "store") && chats(&filter, "tls") && chats(&filter, "uid") &&
            chats(&filter, "team"));
    t_check(!chats(&filter, "heap") && !chats(&filter, "init"));

    filter = with("TRACE", "^MEM");
    t_check(!chats(&filter, "heap") && !chats(&filter, "hybm") && chats(&filter, "store"));

    filter = with("TRACE", "ALL,^store");
    t_check(!chats(&filter, "store") && chats(&filter, "tls") && chats(&filter, "heap"));

    filter = with("TRACE", "mem,^heap");
    t_check(chats(&filter, "hybm") && !chats(&filter, "heap") && !chats(&filter, "store"));

    filter = with("TRACE", "anything");
    t_check(chats(&filter, "anything") && !chats(&filter, "store"));
}

static void choices_of_modules_hide_no_trouble(void **state)
{
    (void)state;
    aclshmemi_log_filter_t filter = with("TRACE", "TEAM");
    t_check(aclshmemi_log_filter_allows(&filter, "heap", ACLSHMEMI_LOG_WARN));
    t_check(aclshmemi_log_filter_allows(&filter, "heap", ACLSHMEMI_LOG_ERROR));
    t_check(!aclshmemi_log_filter_allows(&filter, "heap", ACLSHMEMI_LOG_INFO));
}

static void bad_subsystems(void **state)
{
    (void)state;
    static const char *const bad[] = {",", "TEAM,", "^", "TEAM,^,MEM",
                                      "a_name_that_is_longer_than_thirty_one"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        aclshmemi_log_filter_t filter = with("FATAL", "TEAM"), before = filter;
        t_check_that(aclshmemi_log_filter_set_subsystems(&filter, bad[i]) == ACLSHMEM_INVALID_PARAM,
                     "\"%s\" is taken", bad[i]);
        t_check_memory(&filter, &before, sizeof filter);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_word),     cmocka_unit_test(modules_of_their_own),
        cmocka_unit_test(bad_levels),     cmocka_unit_test(too_many_modules),
        cmocka_unit_test(subsystems),     cmocka_unit_test(choices_of_modules_hide_no_trouble),
        cmocka_unit_test(bad_subsystems),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
