/* SPDX-License-Identifier: Apache-2.0 */
/* Where failures are written down: one log line, and the text a caller can ask for afterwards. */
#include "host/utils/status.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TEXT_LEN 1024

static _Thread_local struct {
    int code;
    char text[TEXT_LEN];
} last;

static void __attribute__((format(printf, 2, 0))) keep(int code, const char *format, va_list args)
{
    char text[TEXT_LEN]; /* first here: the arguments may include the text of an earlier failure */
    vsnprintf(text, sizeof text, format, args);
    last.code = code;
    memcpy(last.text, text, sizeof text);
}

int aclshmemi_status_fail(int code, const char *module, const char *file, int line, const char *format, ...)
{
    int saved_errno = errno;
    va_list args;
    va_start(args, format);
    keep(code, format, args);
    va_end(args);
    if (ACLSHMEMI_LOG_ERROR >= atomic_load_explicit(&aclshmemi_log_threshold, memory_order_relaxed))
        aclshmemi_log_write(ACLSHMEMI_LOG_ERROR, module, file, line, "%s", last.text);
    errno = saved_errno;
    return code;
}

int aclshmemi_status_fail_quietly(int code, const char *format, ...)
{
    int saved_errno = errno;
    va_list args;
    va_start(args, format);
    keep(code, format, args);
    va_end(args);
    errno = saved_errno;
    return code;
}

const char *aclshmemi_status_text(int code)
{
    switch (code) {
#define TEXT_CASE(name, value, text)                                                                         \
    case value:                                                                                              \
        return text;
        ACLSHMEM_ERROR_MAP(TEXT_CASE)
#undef TEXT_CASE
    default:
        return code > 0 ? "code of the device runtime" : "unknown code";
    }
}

const char *aclshmemi_status_last_text(void)
{
    return last.text;
}

int aclshmemi_status_last_code(void)
{
    return last.code;
}

void aclshmemi_status_clear(void)
{
    last.code = 0;
    last.text[0] = '\0';
}
