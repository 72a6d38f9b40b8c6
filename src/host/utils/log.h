/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log. Every source file defines LOG_MODULE ("store", "heap" ...) before it includes this.
 *
 * fatal we stop; error we return a failure; warn we carry on and you should know; info a few lines per run; debug
 * per object; trace per operation, compiled out of release builds. Text is lower case, "queue 3" rather than
 * "queue=3", with the system's reason (%m) after each failed call. errno survives. Keys, pass phrases, secrets and
 * user data never appear, at any level. One write per line.
 */
#ifndef ACLSHMEMI_UTILS_LOG_H
#define ACLSHMEMI_UTILS_LOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum aclshmemi_log_level {
    ACLSHMEMI_LOG_TRACE = -1,
    ACLSHMEMI_LOG_DEBUG = 0, /* 0..4 are the numbers of aclshmemx_set_log_level() */
    ACLSHMEMI_LOG_INFO = 1,
    ACLSHMEMI_LOG_WARN = 2,
    ACLSHMEMI_LOG_ERROR = 3,
    ACLSHMEMI_LOG_FATAL = 4
} aclshmemi_log_level_t;

/* Least severe level that any module prints: the cheap test in front of everything. */
extern _Atomic int aclshmemi_log_threshold;

#define log_at(level, ...)                                                                                   \
    do {                                                                                                     \
        if (__builtin_expect(                                                                                \
                (int)(level) >= atomic_load_explicit(&aclshmemi_log_threshold, memory_order_relaxed), 0))    \
            aclshmemi_log_write((level), LOG_MODULE, __FILE__, __LINE__, __VA_ARGS__);                       \
    } while (0)

#define log_fatal(...) log_at(ACLSHMEMI_LOG_FATAL, __VA_ARGS__)
#define log_error(...) log_at(ACLSHMEMI_LOG_ERROR, __VA_ARGS__)
#define log_warn(...)  log_at(ACLSHMEMI_LOG_WARN, __VA_ARGS__)
#define log_info(...)  log_at(ACLSHMEMI_LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_at(ACLSHMEMI_LOG_DEBUG, __VA_ARGS__)
#ifdef NDEBUG
#define log_trace(...) ((void)0)
#else
#define log_trace(...) log_at(ACLSHMEMI_LOG_TRACE, __VA_ARGS__)
#endif

/* Once per place and process. */
#define log_once(level, ...)                                                                                 \
    do {                                                                                                     \
        static atomic_flag once_ = ATOMIC_FLAG_INIT;                                                         \
        if (!atomic_flag_test_and_set(&once_))                                                               \
            log_at((level), __VA_ARGS__);                                                                    \
    } while (0)

/* At most once per place and second; the next line tells how many were left out. */
#define log_sparse(level, ...)                                                                               \
    do {                                                                                                     \
        static aclshmemi_log_sparse_t sparse_;                                                               \
        if ((int)(level) >= atomic_load_explicit(&aclshmemi_log_threshold, memory_order_relaxed) &&          \
            aclshmemi_log_sparse_pass(&sparse_))                                                             \
            aclshmemi_log_write((level), LOG_MODULE, __FILE__, __LINE__, __VA_ARGS__);                       \
    } while (0)

typedef struct aclshmemi_log_sparse {
    _Atomic int64_t next_ns;
    _Atomic uint32_t held;
} aclshmemi_log_sparse_t;

bool aclshmemi_log_sparse_pass(aclshmemi_log_sparse_t *sparse);
void aclshmemi_log_write(aclshmemi_log_level_t level, const char *module, const char *file, int line,
                         const char *format, ...) __attribute__((format(printf, 5, 6), cold));

/* What init, the public setters and the tests use. */
typedef struct aclshmemi_log_options {
    const char *levels;     /* "WARN" or "WARN,transport:DEBUG"; NULL: leave as it is */
    const char *subsystems; /* "INIT,TEAM" or "^MEM"; NULL or "": all */
    int sink;               /* 0 files, 1 stdout, 2 stderr; 0 when file is given */
    const char *directory;  /* for sink 0; NULL: the default folder */
    const char *file;       /* pattern with %h %p %P %j, or NULL; wins over directory */
    const char *timestamp;  /* strftime text, "none", "mono"; NULL: date, time, microseconds */
} aclshmemi_log_options_t;

int aclshmemi_log_configure(const aclshmemi_log_options_t *options) __attribute__((warn_unused_result));
int aclshmemi_log_set_level(int level)
    __attribute__((warn_unused_result)); /* by number; a user's explicit wish */
int aclshmemi_log_get_level(void);
void aclshmemi_log_set_pe(int pe);                                                 /* -1: none yet */
void aclshmemi_log_set_callback(void (*callback)(int level, const char *message)); /* NULL: built-in sink */
void aclshmemi_log_close(void); /* closes the file, if any; the next line reopens */

#endif
