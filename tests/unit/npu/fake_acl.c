/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every function of the device port's table, doing nothing. Weak, so that fake_acl_own.c can do more. As the headers
 * declare the same functions, this file compiles only while the table's prototypes are the headers'.
 *
 * FAKE_ACL_OLD leaves out what the table calls optional; FAKE_ACL_LACKING one function that it calls required.
 */
#include "fake_acl.h"

#include "host/npu/acl_table.h"
#include "runtime/rt_ffts.h"

#include <stdio.h>
#include <string.h>

fake_acl_t fake_acl = {.soc_name = "Ascend910B1"};

int fake_acl_answer(const char *function)
{
    snprintf(fake_acl.last_function, sizeof fake_acl.last_function, "%s", function);
    if (!fake_acl.fail_function || strcmp(fake_acl.fail_function, function) != 0 || fake_acl.fail_times == 0)
        return 0;
    if (fake_acl.fail_times > 0)
        fake_acl.fail_times--;
    return fake_acl.fail_code;
}

#ifdef FAKE_ACL_LACKING
#define aclrtMalloc fake_acl_has_no_malloc
#endif

#ifdef FAKE_ACL_OLD
#define KEEP_false(...)
#else
#define KEEP_false(...) __VA_ARGS__
#endif
#define KEEP_true(...) __VA_ARGS__

#pragma GCC diagnostic ignored "-Wunused-parameter"
#define FUNCTION(required, result, name, parameters)                                                         \
    KEEP_##required(FAKE_ACL_EXPORT __attribute__((weak)) result name parameters;                            \
                    result name parameters { return (result)(intptr_t)fake_acl_answer(#name); })
ACLSHMEMI_ACL_MAP(FUNCTION)
