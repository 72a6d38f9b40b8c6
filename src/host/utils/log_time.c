/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time stamps of the log.
 *
 * The C library guards its idea of the time zone with a lock that fork() leaves as it is: a child forked while another
 * thread asked for the local time waits for ever when it asks too. So the offset from UTC is kept here, asked for once
 * per quarter of an hour (no zone changes in between), and a forked child keeps the one it has.
 */
#include "host/utils/log_time.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <strings.h>
#include <time.h>

enum { QUARTER_S = 900, DAY_S = 86400, TEXT_LEN = ACLSHMEMI_LOG_STAMP_LEN - 16 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
    int64_t quarter; /* when offset_s was asked for, in quarters of an hour */
    int64_t offset_s;
    const char *name; /* the C library's, valid for ever */
    int daylight;
    bool known;
    bool forked;
} zone;

void aclshmemi_log_time_lock(void)
{
    pthread_mutex_lock(&lock);
}

void aclshmemi_log_time_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void aclshmemi_log_time_forked(void)
{
    zone.forked = true;
}

/* Local time: seconds since 1970 as the clocks on the wall show them, and the zone's part of out. */
static int64_t to_wall(time_t now, struct tm *out)
{
    struct tm local = {0};
    int64_t quarter = (int64_t)now / QUARTER_S;
    pthread_mutex_lock(&lock);
    if (!zone.known || (zone.quarter != quarter && !zone.forked)) {
        bool told = localtime_r(&now, &local) != NULL;
        zone.offset_s = told ? local.tm_gmtoff : 0;
        zone.name = told ? local.tm_zone : "UTC";
        zone.daylight = local.tm_isdst;
        zone.quarter = quarter;
        zone.known = true;
    }
    out->tm_gmtoff = zone.offset_s;
    out->tm_zone = zone.name;
    out->tm_isdst = zone.daylight;
    int64_t wall = (int64_t)now + zone.offset_s;
    pthread_mutex_unlock(&lock);
    return wall;
}

/* gmtime_r() takes the same lock. Days since 1970 to a date, in years that begin with March so that the odd day of a
 * leap year is the last one; 400 of them have 146097 days. */
void aclshmemi_log_time_split(int64_t seconds, struct tm *out)
{
    int64_t days = seconds / DAY_S, rest = seconds % DAY_S;
    if (rest < 0) {
        rest += DAY_S;
        days--;
    }
    int64_t since = days + 719468; /* 1 March of the year 0 */
    int64_t era = (since >= 0 ? since : since - 146096) / 146097;
    int64_t day_of_era = since - era * 146097;
    int64_t year = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * day_of_year + 2) / 153; /* 0 is March */
    out->tm_year = (int)(year + era * 400 + (month >= 10) - 1900);
    out->tm_mon = (int)(month < 10 ? month + 2 : month - 10);
    out->tm_mday = (int)(day_of_year - (153 * month + 2) / 5 + 1);
    out->tm_hour = (int)(rest / 3600);
    out->tm_min = (int)(rest / 60 % 60);
    out->tm_sec = (int)(rest % 60);
    out->tm_wday = (int)(((days + 4) % 7 + 7) % 7); /* 1 January 1970 was a Thursday */
    bool leap = out->tm_year % 4 == 0 && (out->tm_year % 100 != 0 || (out->tm_year + 1900) % 400 == 0);
    out->tm_yday = (int)(month < 10 ? day_of_year + 59 + leap : day_of_year - 306);
}

static void local_now(struct timespec *now, struct tm *out)
{
    clock_gettime(CLOCK_REALTIME, now);
    aclshmemi_log_time_split(to_wall(now->tv_sec, out), out);
}

void aclshmemi_log_time_compact(char out[16])
{
    struct timespec now;
    struct tm tm = {0};
    local_now(&now, &tm);
    snprintf(out, 16, "%04u%02u%02u%02u%02u%02u", (unsigned)(tm.tm_year + 1900) % 10000, tm.tm_mon + 1u,
             (unsigned)tm.tm_mday, (unsigned)tm.tm_hour, (unsigned)tm.tm_min, (unsigned)tm.tm_sec);
}

void aclshmemi_log_time_print(const char *format, char out[ACLSHMEMI_LOG_STAMP_LEN])
{
    struct timespec now;
    struct tm tm = {0};
    char text[TEXT_LEN] = "";
    out[0] = '\0';
    if (strcasecmp(format, "none") == 0)
        return;
    if (strcasecmp(format, "mono") == 0) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        snprintf(out, ACLSHMEMI_LOG_STAMP_LEN, "%lld.%06ld ", (long long)now.tv_sec, now.tv_nsec / 1000);
        return;
    }
    local_now(&now, &tm);
    if (format[0] == '\0') {
        snprintf(out, ACLSHMEMI_LOG_STAMP_LEN, "%04d-%02d-%02d %02d:%02d:%02d.%06ld ", tm.tm_year + 1900,
                 tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, now.tv_nsec / 1000);
        return;
    }
    /* strftime() looks at the zone as well; under our lock at least none of our threads is in there at a fork. */
    pthread_mutex_lock(&lock);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral" /* the user's own format is the point */
    size_t length = strftime(text, sizeof text, format, &tm);
#pragma GCC diagnostic pop
    pthread_mutex_unlock(&lock);
    if (length > 0)
        snprintf(out, ACLSHMEMI_LOG_STAMP_LEN, "%s ", text);
}
