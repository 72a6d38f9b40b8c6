/* SPDX-License-Identifier: Apache-2.0 */
/* Failures: a code for the caller, a text per thread for whoever wants to know. */
#include <stdarg.h>
#include <stdio.h>

#include "runtime.h"

static _Thread_local char text[CPURT_TEXT_LEN];

aclError cpurt_fail(aclError code, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return code;
}

void cpurt_error_set(const char *other)
{
    (void)snprintf(text, sizeof text, "%s", other);
}

const char *cpurt_error_text(void)
{
    return text;
}

const char *aclGetRecentErrMsg(void)
{
    return text;
}
