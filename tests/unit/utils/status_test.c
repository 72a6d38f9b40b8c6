/* SPDX-License-Identifier: Apache-2.0 */
/* Failures: one log line where it was decided, silence above, the text afterwards, per thread. */
#define LOG_MODULE "status_test"
#include "support/unit.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "host/utils/status.h"

static int decides(int n)
{
    return fail(ACLSHMEM_INVALID_VALUE, "%d is too many", n);
}

static int passes_on(int n)
{
    TRY(decides(n));
    t_fail("TRY went on");
}

static void one_line_and_the_text(void **state)
{
    (void)state;
    t_unit_log_start(ACLSHMEMI_LOG_DEBUG);
    errno = EXDEV;
    t_check_int(passes_on(7), ACLSHMEM_INVALID_VALUE);
    t_check_int(errno, EXDEV);
    t_check_uint(t_log_count(ACLSHMEMI_LOG_ERROR), 1);
    t_log_expect_level(ACLSHMEMI_LOG_ERROR, "] 7 is too many");
    t_check_text(aclshmemi_status_last_text(), "7 is too many");
    t_check_int(aclshmemi_status_last_code(), ACLSHMEM_INVALID_VALUE);
    t_unit_log_stop();
}

static void quiet_failure(void **state)
{
    (void)state;
    t_unit_log_start(ACLSHMEMI_LOG_DEBUG);
    errno = ENOSPC;
    t_check_int(fail_quietly(ACLSHMEM_NOT_SUPPORTED, "no %s: %m", "way"), ACLSHMEM_NOT_SUPPORTED);
    t_check_int(errno, ENOSPC);
    t_log_expect_clean();
    t_check_text(aclshmemi_status_last_text(), "no way: No space left on device");
    aclshmemi_status_clear();
    t_check_text(aclshmemi_status_last_text(), "");
    t_check_int(aclshmemi_status_last_code(), 0);
    t_unit_log_stop();
}

static void text_may_quote_the_last_text(void **state)
{
    (void)state;
    t_check_int(fail_quietly(-1, "inner"), -1);
    t_check_int(fail_quietly(-2, "outer: %s", aclshmemi_status_last_text()), -2);
    t_check_text(aclshmemi_status_last_text(), "outer: inner");
}

static void *other_thread(void *argument)
{
    (void)argument;
    t_check_text(aclshmemi_status_last_text(), "");
    t_check_int(fail_quietly(-5, "theirs"), -5);
    return NULL;
}

static void texts_belong_to_threads(void **state)
{
    (void)state;
    pthread_t thread;
    t_check_int(fail_quietly(-4, "mine"), -4);
    t_check_int(pthread_create(&thread, NULL, other_thread, NULL), 0);
    t_check_int(pthread_join(thread, NULL), 0);
    t_check_text(aclshmemi_status_last_text(), "mine");
    t_check_int(aclshmemi_status_last_code(), -4);
}

static void long_texts_are_cut(void **state)
{
    (void)state;
    char big[5000];
    memset(big, 'a', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    t_check_int(fail_quietly(-4, "%s", big), -4);
    size_t length = strlen(aclshmemi_status_last_text());
    t_check(length > 500 && length < sizeof big - 1);
}

static void every_code_has_a_text(void **state)
{
    (void)state;
    const char *unknown = aclshmemi_status_text(-12345);
#define CHECK_TEXT(name, value, words)                                                                       \
    t_check_text(aclshmemi_status_text(value), words);                                                       \
    t_check(strcmp(aclshmemi_status_text(value), unknown) != 0);
    ACLSHMEM_ERROR_MAP(CHECK_TEXT)
#undef CHECK_TEXT
    t_check(aclshmemi_status_text(507899) != NULL);
    t_check(strcmp(aclshmemi_status_text(507899), unknown) != 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_line_and_the_text),        cmocka_unit_test(quiet_failure),
        cmocka_unit_test(text_may_quote_the_last_text), cmocka_unit_test(texts_belong_to_threads),
        cmocka_unit_test(long_texts_are_cut),           cmocka_unit_test(every_code_has_a_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
