/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors inside the library: 0, a code of ACLSHMEM_ERROR_MAP, or the runtime's own positive code.
 *
 *     return fail(ACLSHMEM_INVALID_PARAM, "pe %d is not in 0..%d", pe, n - 1);   whoever decides: logs once
 *     TRY(open_queue(q));                                                        everybody above: passes it on
 *
 * fail() also keeps the text for aclshmemx_last_error(), per thread. A text says what was wrong, which value, what
 * was allowed and what to do. Outputs are written only on success.
 */
#ifndef ACLSHMEMI_UTILS_STATUS_H
#define ACLSHMEMI_UTILS_STATUS_H

#include "host/shmem_host_def.h"
#include "host/utils/log.h"

#define ACLSHMEMI_MUST_CHECK __attribute__((warn_unused_result))

/*
 * fail() logs at error level, keeps the text and returns code; errno survives. fail_quietly() does not log: it is for a
 * failure that a caller may still turn into a success, e.g. the next candidate. An analyser sees the code itself,
 * since it cannot know that what comes back is what went in.
 */
#ifdef __clang_analyzer__
#define fail(code, ...)                                                                                      \
    ((void)aclshmemi_status_fail((code), LOG_MODULE, __FILE__, __LINE__, __VA_ARGS__), (code))
#define fail_quietly(code, ...) ((void)aclshmemi_status_fail_quietly((code), __VA_ARGS__), (code))
#else
#define fail(code, ...)         aclshmemi_status_fail((code), LOG_MODULE, __FILE__, __LINE__, __VA_ARGS__)
#define fail_quietly(code, ...) aclshmemi_status_fail_quietly((code), __VA_ARGS__)
#endif

/* The only macro that hides a return. */
#define TRY(expr)                                                                                            \
    do {                                                                                                     \
        int try_rc_ = (expr);                                                                                \
        if (__builtin_expect(try_rc_ != 0, 0))                                                               \
            return try_rc_;                                                                                  \
    } while (0)

int aclshmemi_status_fail(int code, const char *module, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 5, 6), cold));
int aclshmemi_status_fail_quietly(int code, const char *format, ...)
    __attribute__((format(printf, 2, 3), cold));

const char *aclshmemi_status_text(int code);  /* text of a code, never NULL */
const char *aclshmemi_status_last_text(void); /* text of this thread's last failure, "" if none */
int aclshmemi_status_last_code(void);         /* its code, 0 if none */
void aclshmemi_status_clear(void);

#endif
