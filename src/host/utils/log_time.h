/* SPDX-License-Identifier: Apache-2.0 */
/* Time stamps of the log. Of utils alone. */
#ifndef ACLSHMEMI_UTILS_LOG_TIME_H
#define ACLSHMEMI_UTILS_LOG_TIME_H

#include <stdint.h>
#include <time.h>

#define ACLSHMEMI_LOG_STAMP_LEN 128

/* The time now and a blank behind it. format: strftime text, "none", "mono", or "" for date, time and microseconds. */
void aclshmemi_log_time_print(const char *format, char out[ACLSHMEMI_LOG_STAMP_LEN]);
/* YYYYmmddHHMMSS, for names of files. */
void aclshmemi_log_time_compact(char out[16]);

/* Seconds since 1970 to date and time of day; leaves what tells the zone alone. */
void aclshmemi_log_time_split(int64_t seconds, struct tm *out);

/* For fork(), as in log_file.h. */
void aclshmemi_log_time_lock(void);
void aclshmemi_log_time_unlock(void);
void aclshmemi_log_time_forked(void);

#endif
