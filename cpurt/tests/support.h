/* SPDX-License-Identifier: Apache-2.0 */
/* What the runtime's tests share. */
#ifndef CPURT_TESTS_SUPPORT_H
#define CPURT_TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "acl/acl.h"

/* Fails with the runtime's own words. */
#define ok(call) t_ok((call), #call, __FILE__, __LINE__)
/* The call fails with that code, and its text holds the words. */
#define fails(call, code, words) t_fails((call), (code), (words), #call, __FILE__, __LINE__)

void t_ok(aclError error, const char *call, const char *file, int line);
void t_fails(aclError error, aclError wanted, const char *words, const char *call, const char *file,
             int line);

/* Set-up and tear-down of a test on device 0. */
int t_begin(void **state);
int t_end(void **state);

/* What a process holds. */
typedef struct t_holdings {
    size_t descriptors, threads, mappings;
    size_t inheritable; /* descriptors that a program started from here would get */
} t_holdings_t;
t_holdings_t t_holdings(void);

uint64_t t_now_ms(void);
/* Runs body in a fork; returns its exit code, or -1 when it died of a signal. */
int t_fork(int (*body)(void *), void *argument);

#endif
