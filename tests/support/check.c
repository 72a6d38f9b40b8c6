/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that end the program, and the lines the library logged. */
#include "support/support.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES_MAX 4096

void t_fail_at(const char *file, int line, const char *format, ...)
{
    va_list args;
    fflush(stdout);
    fprintf(stderr, "%s:%d: ", file, line);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    t_log_print();
    fflush(stderr);
    /* Not exit(): other threads may run, and what they use must not be torn down under them. */
    _Exit(T_FAIL);
}

void t_skip(const char *format, ...)
{
    va_list args;
    fputs("skipped: ", stdout);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
    fflush(stdout);
    _Exit(T_SKIP);
}

void t_check_int_at(const char *file, int line, const char *what, long long actual, long long expected)
{
    if (actual != expected)
        t_fail_at(file, line, "%s is %lld, expected %lld", what, actual, expected);
}

void t_check_uint_at(const char *file, int line, const char *what, unsigned long long actual,
                     unsigned long long expected)
{
    if (actual != expected)
        t_fail_at(file, line, "%s is %llu (0x%llx), expected %llu (0x%llx)", what, actual, actual, expected,
                  expected);
}

void t_check_text_at(const char *file, int line, const char *what, const char *actual, const char *expected)
{
    if (!actual || strcmp(actual, expected) != 0)
        t_fail_at(file, line, "%s is \"%s\", expected \"%s\"", what, actual ? actual : "(null)", expected);
}

void t_check_contains_at(const char *file, int line, const char *what, const char *text, const char *part)
{
    if (!text || !strstr(text, part))
        t_fail_at(file, line, "%s is \"%s\", expected to contain \"%s\"", what, text ? text : "(null)", part);
}

void t_check_memory_at(const char *file, int line, const char *what, const void *actual, const void *expected,
                       size_t size)
{
    const unsigned char *a = actual, *e = expected;
    for (size_t i = 0; i < size; i++) {
        if (a[i] != e[i])
            t_fail_at(file, line, "%s differs at byte %zu of %zu: 0x%02x, expected 0x%02x", what, i, size,
                      a[i], e[i]);
    }
}

/* ---- log lines ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static size_t line_count;
static size_t lines_dropped;
static struct {
    int level;
    char *text;
} lines[LINES_MAX];

void t_log_callback(int level, const char *message)
{
    pthread_mutex_lock(&lock);
    char *copy = line_count < LINES_MAX ? strdup(message) : NULL;
    if (copy) {
        lines[line_count].level = level;
        lines[line_count++].text = copy;
    } else {
        lines_dropped++;
    }
    pthread_mutex_unlock(&lock);
}

void t_log_forget(void)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < line_count; i++)
        free(lines[i].text);
    line_count = lines_dropped = 0;
    pthread_mutex_unlock(&lock);
}

size_t t_log_count(int level)
{
    size_t count = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < line_count; i++)
        count += lines[i].level == level;
    pthread_mutex_unlock(&lock);
    return count;
}

static bool contains(int level, const char *part)
{
    bool found = false;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < line_count && !found; i++)
        found = (level < 0 || lines[i].level == level) && strstr(lines[i].text, part);
    pthread_mutex_unlock(&lock);
    return found;
}

bool t_log_contains(const char *part)
{
    return contains(-1, part);
}

void t_log_print(void)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < line_count; i++)
        fprintf(stderr, "  logged at level %d: %s\n", lines[i].level, lines[i].text);
    if (lines_dropped)
        fprintf(stderr, "  and %zu lines more\n", lines_dropped);
    pthread_mutex_unlock(&lock);
}

void t_log_expect_at(const char *file, int line, int level, const char *part)
{
    if (!contains(level, part))
        t_fail_at(file, line, "no line with \"%s\" was logged", part);
}

void t_log_expect_clean_at(const char *file, int line)
{
    size_t bad = t_log_count(2) + t_log_count(3) + t_log_count(4);
    if (bad)
        t_fail_at(file, line, "%zu warnings or errors were logged", bad);
}
