/* SPDX-License-Identifier: Apache-2.0 */
/* Time stamps: our calendar against the C library's, time zones, and forks in the wrong moment. */
#include "support/unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "host/utils/log_time.h"

/* In place of the C library's, so that a quarter of an hour can pass in no time. */
static _Atomic int64_t skew_s;

int clock_gettime(clockid_t clock, struct timespec *now)
{
    long rc = syscall(SYS_clock_gettime, clock, now);
    if (rc == 0 && clock == CLOCK_REALTIME)
        now->tv_sec += (time_t)atomic_load(&skew_s);
    return (int)rc;
}

static void expect_same(int64_t seconds)
{
    struct tm ours = {0}, theirs;
    time_t when = (time_t)seconds;
    t_check(gmtime_r(&when, &theirs) != NULL);
    aclshmemi_log_time_split(seconds, &ours);
    bool same = ours.tm_year == theirs.tm_year && ours.tm_mon == theirs.tm_mon &&
                ours.tm_mday == theirs.tm_mday && ours.tm_hour == theirs.tm_hour &&
                ours.tm_min == theirs.tm_min && ours.tm_sec == theirs.tm_sec &&
                ours.tm_wday == theirs.tm_wday && ours.tm_yday == theirs.tm_yday;
    t_check_that(same, "%lld is %d-%d-%d, day %d of the year and %d of the week, not %d-%d-%d, %d, %d",
                 (long long)seconds, ours.tm_year, ours.tm_mon, ours.tm_mday, ours.tm_yday, ours.tm_wday,
                 theirs.tm_year, theirs.tm_mon, theirs.tm_mday, theirs.tm_yday, theirs.tm_wday);
}

static void calendar(void **state)
{
    (void)state;
    for (int64_t day = -800000; day < 800000; day++) { /* from before Christ to the year 4160 */
        expect_same(day * 86400);
        expect_same(day * 86400 + 86399);
    }
    for (int64_t second = -100000; second < 100000; second += 7)
        expect_same(second);
}

/* Compares what we print with what the C library says before and after. */
static void expect_local(void *argument)
{
    char before[64], ours[ACLSHMEMI_LOG_STAMP_LEN], compact[16], after[64];
    setenv("TZ", argument, 1);
    tzset();
    for (int i = 0; i < 1000; i++) {
        struct tm tm;
        time_t now = time(NULL);
        strftime(before, sizeof before, "%Y%m%d%H%M%S %Z %z %j %a ", localtime_r(&now, &tm));
        aclshmemi_log_time_print("%Y%m%d%H%M%S %Z %z %j %a", ours);
        aclshmemi_log_time_compact(compact);
        now = time(NULL);
        strftime(after, sizeof after, "%Y%m%d%H%M%S %Z %z %j %a ", localtime_r(&now, &tm));
        if (strcmp(before, after) == 0) {
            t_check_text(ours, before);
            t_check_that(strncmp(compact, before, 14) == 0 && strlen(compact) == 14, "%s is not %s", compact,
                         before);
            return;
        }
    }
    t_fail("a second never lasts long enough");
}

static void zones(void **state)
{
    (void)state;
    static const char *const names[] = {"UTC", "XYZ-14", "ABC+11:30", "EST5EDT,M3.2.0,M11.1.0", ""};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        t_child_t child;
        t_run_function(&child, expect_local, (void *)(uintptr_t)names[i], 30000);
        t_check_exit(&child, 0);
        t_child_free(&child);
    }
}

static atomic_bool stop;

static void *ask_for_the_time(void *argument)
{
    (void)argument;
    while (!atomic_load(&stop)) {
        struct tm tm;
        time_t now = time(NULL);
        localtime_r(&now, &tm);
    }
    return NULL;
}

static void print_in_child(void *argument)
{
    char out[ACLSHMEMI_LOG_STAMP_LEN];
    (void)argument;
    aclshmemi_log_time_forked();
    atomic_store(&skew_s, 2000); /* what the parent knew is old by now, and has to do */
    aclshmemi_log_time_print("", out);
    t_check_uint(strlen(out), 27);
}

/* The application's threads, which know nothing of our locks, may be inside the C library's at a fork. */
static void a_forked_child_does_not_ask(void **state)
{
    pthread_t thread;
    char out[ACLSHMEMI_LOG_STAMP_LEN];
    (void)state;
    aclshmemi_log_time_print("", out);
    t_check_int(pthread_create(&thread, NULL, ask_for_the_time, NULL), 0);
    for (int i = 0; i < 50; i++) {
        t_child_t child;
        t_run_function(&child, print_in_child, NULL, 20000);
        t_check_exit(&child, 0);
        t_child_free(&child);
    }
    atomic_store(&stop, true);
    t_check_int(pthread_join(thread, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calendar),
        cmocka_unit_test(zones),
        cmocka_unit_test(a_forked_child_does_not_ask),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
