/* SPDX-License-Identifier: Apache-2.0 */
/* An AscendCL that does nothing but remember and answer as told, for tests of the device port. The symbol fake_acl of
 * the library is one of these. */
#ifndef FAKE_ACL_H
#define FAKE_ACL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acl/acl.h"

typedef struct fake_acl {
    /* What to answer. */
    const char *fail_function; /* this one fails, NULL: none */
    int fail_code;
    int fail_times; /* so often, then it works again; negative: always */
    const char *text;
    const char *soc_name;

    /* What was asked. */
    char last_function[64];
    int inits, finalizes, maps, unmaps;
    aclrtPhysicalMemProp property;
    aclrtMemcpyKind kind;
    int32_t timeout_ms;
    int sync_calls;
    int schedule_mode;
} fake_acl_t;

/* Remembers the function and says what it has to return. */
int fake_acl_answer(const char *function);

#define FAKE_ACL_EXPORT __attribute__((visibility("default")))

extern fake_acl_t fake_acl FAKE_ACL_EXPORT;

#endif
