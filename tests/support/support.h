/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Helpers for every test program, whether it sees the library's internals or only its public face: needs libc alone.
 *
 * A check that fails prints file and line and ends the program with 1; t_skip() ends it with 77. Helpers that can
 * fail for reasons of their own (no memory, no descriptor) end the program in the same way, so callers go on.
 */
#ifndef ACLSHMEM_TEST_SUPPORT_H
#define ACLSHMEM_TEST_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { T_PASS = 0, T_FAIL = 1, T_SKIP = 77 };

/* ---- checks ---- */

_Noreturn void t_fail_at(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
_Noreturn void t_skip(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define t_fail(...) t_fail_at(__FILE__, __LINE__, __VA_ARGS__)

#define t_check(condition)                                                                                   \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            t_fail("%s does not hold", #condition);                                                          \
    } while (0)

/* The same with words and values: t_check_that(x < y, "x is %d", x). */
#define t_check_that(condition, ...)                                                                         \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            t_fail(__VA_ARGS__);                                                                             \
    } while (0)

#define t_check_int(actual, expected)                                                                        \
    t_check_int_at(__FILE__, __LINE__, #actual, (long long)(actual), (long long)(expected))
#define t_check_uint(actual, expected)                                                                       \
    t_check_uint_at(__FILE__, __LINE__, #actual, (unsigned long long)(actual), (unsigned long long)(expected))
#define t_check_text(actual, expected) t_check_text_at(__FILE__, __LINE__, #actual, (actual), (expected))
#define t_check_contains(text, part)   t_check_contains_at(__FILE__, __LINE__, #text, (text), (part))
#define t_check_memory(actual, expected, size)                                                               \
    t_check_memory_at(__FILE__, __LINE__, #actual, (actual), (expected), (size))

void t_check_int_at(const char *file, int line, const char *what, long long actual, long long expected);
void t_check_uint_at(const char *file, int line, const char *what, unsigned long long actual,
                     unsigned long long expected);
void t_check_text_at(const char *file, int line, const char *what, const char *actual, const char *expected);
void t_check_contains_at(const char *file, int line, const char *what, const char *text, const char *part);
void t_check_memory_at(const char *file, int line, const char *what, const void *actual, const void *expected,
                       size_t size); /* tells the first byte that differs */

/* ---- log lines ---- */

/* The callback to hand to aclshmemx_set_extern_logger() (or see unit.h). Keeps every line until t_log_forget(). */
void t_log_callback(int level, const char *message);
void t_log_forget(void);
size_t t_log_count(int level); /* lines of exactly that level: 0 debug .. 4 fatal */
bool t_log_contains(const char *part);
void t_log_print(void); /* all of them to stderr */

#define t_log_expect(part)              t_log_expect_at(__FILE__, __LINE__, -1, (part)) /* some line contains it */
#define t_log_expect_level(level, part) t_log_expect_at(__FILE__, __LINE__, (level), (part))
#define t_log_expect_clean()            t_log_expect_clean_at(__FILE__, __LINE__) /* no warning, error or fatal line */

void t_log_expect_at(const char *file, int line, int level, const char *part);
void t_log_expect_clean_at(const char *file, int line);

/* ---- places ---- */

uint16_t t_free_port(int family); /* of the loopback address of AF_INET or AF_INET6; nobody holds it now */
bool t_has_ipv6(void);            /* ::1 can be bound */
void t_dir_make(char *path, size_t size);              /* private, empty, under TMPDIR */
void t_dir_remove(const char *path);                   /* with everything in it */
void t_file_write(const char *path, const char *text); /* mode 0600 */
char *t_file_read(const char *path);                   /* terminated; the caller frees it */
void t_clean_environment(void);                        /* no SHMEM_, HCCL_, PMI, launcher variable is left */

/* A network of its own with a loopback interface that is up; false where the system does not allow that. Only before
 * the program has a second thread. */
bool t_unshare_network(void);

/* ---- children ---- */

typedef struct t_child {
    pid_t pid;
    int out_fd;
    int err_fd;
    bool timed_out; /* and was killed */
    int exit_code;  /* 128 + n for signal n */
    char *out;      /* standard output and error, terminated */
    char *err;
} t_child_t;

/* Starts a program; environment: NULL or a NULL-terminated list of "NAME=value" to set and "NAME" to unset. Output is
 * collected without anybody having to read it. The child dies with us. */
void t_start(t_child_t *child, const char *const argv[], const char *const environment[]);
/* The same for a function, in a copy of this process; it should return, which is exit code 0. */
void t_start_function(t_child_t *child, void (*function)(void *), void *argument);
/* Waits; past the deadline the child and its process group are killed. */
void t_finish(t_child_t *child, int deadline_ms);
void t_run(t_child_t *child, const char *const argv[], const char *const environment[], int deadline_ms);
void t_run_function(t_child_t *child, void (*function)(void *), void *argument, int deadline_ms);
void t_child_free(t_child_t *child);
const char *t_own_path(void); /* of this program, to start it again in another role */

/* Ends in failure, with the child's output, unless it ended with that code. */
#define t_check_exit(child, code) t_check_exit_at(__FILE__, __LINE__, (child), (code))
void t_check_exit_at(const char *file, int line, const t_child_t *child, int code);

/* ---- time and resources ---- */

uint64_t t_now_ms(void);

typedef struct t_resources {
    size_t descriptors;
    size_t threads;
    size_t mappings;
    size_t resident_kib;
} t_resources_t;

t_resources_t t_resources_now(void);
/* Descriptors and threads must be the same, or be so within seconds, as other processes and threads of this one come
 * to rest; mappings and memory may have grown by that much. */
#define t_resources_expect(before, more_mappings, more_kib)                                                  \
    t_resources_expect_at(__FILE__, __LINE__, (before), (more_mappings), (more_kib))
void t_resources_expect_at(const char *file, int line, const t_resources_t *before, size_t more_mappings,
                           size_t more_kib);

#endif
