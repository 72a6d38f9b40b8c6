/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting the launcher from a test, talking to it, and looking at what it leaves behind.
 */
#ifndef RUN_SUPPORT_H
#define RUN_SUPPORT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <setjmp.h>
#include <sys/types.h>
#include <cmocka.h>

#define PE run_pe() /* the program the tests start */

typedef struct result {
    int code; /* exit code, 1000+n when ended by signal n */
    char *out, *err;
    size_t out_bytes, err_bytes;
    double seconds;
} result_t;

/* A launcher that is running. in, out and err are our ends; -1 when closed. */
typedef struct running {
    pid_t pid;
    int in, out, err;
    char *text; /* what run_until has read */
    size_t bytes;
} running_t;

const char *run_pe(void);
char *run_launcher(void);
/* Runs to the end; the arguments after input are the launcher's, closed by NULL. input NULL: /dev/null. */
result_t run_job(const char *input, ...) __attribute__((sentinel));
result_t run_words(const char *input, char **argv); /* argv[0] is filled in */
void run_free(result_t *result);
running_t run_start(const char *const *arguments);
/* Reads standard output until word has come count times, within 30 s. */
void run_until(running_t *job, const char *word, int count);
result_t run_finish(running_t *job); /* reads the rest and waits, at most 60 s */
int run_count(const char *text, const char *word);
double run_now(void);
/* Processes that carry our mark in their environment: everything started since run_mark. */
void run_mark(void);
int run_marked(void);
void run_expect_nothing_left(void); /* within 10 s */

#define assert_code(result, wanted)                                                                          \
    do {                                                                                                     \
        if ((result).code != (wanted))                                                                       \
            fail_msg("exit code %d instead of %d\nstdout: %s\nstderr: %s", (result).code, (wanted),          \
                     (result).out, (result).err);                                                            \
    } while (0)
#define assert_has(text, word)                                                                               \
    do {                                                                                                     \
        if (!strstr((text), (word)))                                                                         \
            fail_msg("\"%s\" is not in: %s", (word), (text));                                                \
    } while (0)
#define assert_has_not(text, word)                                                                           \
    do {                                                                                                     \
        if (strstr((text), (word)))                                                                          \
            fail_msg("\"%s\" is in: %s", (word), (text));                                                    \
    } while (0)

#endif
