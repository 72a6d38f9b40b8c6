/* SPDX-License-Identifier: Apache-2.0 */
/* What only tests inside the library can have. Includes what cmocka.h wants before itself. */
#ifndef ACLSHMEM_TEST_UNIT_H
#define ACLSHMEM_TEST_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka has a fail() of its own; here the name means what it means in the library, and t_fail() ends a test. */
#pragma push_macro("fail")
#undef fail
#include <cmocka.h>
#undef fail
#pragma pop_macro("fail")

#include "host/utils/log.h"
#include "support/support.h"

/* From here on log lines are kept for t_log_expect() and its kin, down to level. */
static inline void t_unit_log_start(int level)
{
    t_log_forget();
    if (aclshmemi_log_set_level(level) != 0)
        t_fail("level %d", level);
    aclshmemi_log_set_callback(t_log_callback);
}

/* Back to how a process starts. */
static inline void t_unit_log_stop(void)
{
    if (aclshmemi_log_set_level(ACLSHMEMI_LOG_WARN) != 0)
        t_fail("the level cannot be set");
    aclshmemi_log_set_callback(NULL);
    t_log_forget();
}

#endif
