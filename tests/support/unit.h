/* SPDX-License-Identifier: Apache-2.0 */
/* What only tests inside the library can have. Includes what cmocka.h wants before itself. */
#ifndef ACLSHMEM_TEST_UNIT_H
#define ACLSHMEM_TEST_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

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

static inline void t_unit_log_stop(void)
{
    aclshmemi_log_set_callback(NULL);
    t_log_forget();
}

#endif
