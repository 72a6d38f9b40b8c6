/* SPDX-License-Identifier: Apache-2.0 */
/* What multi-PE tests share. A failed check prints where and ends the PE; the launcher then ends the job. */
#ifndef PE_H
#define PE_H

#include <stdio.h>
#include <stdlib.h>

#include "shmem.h"

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: PE %d: %s is false (last error: %s)\n", __FILE__, __LINE__,              \
                    aclshmem_my_pe(), #condition, aclshmemx_last_error(NULL));                               \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

#define CHECK_INT(expression, expected)                                                                      \
    do {                                                                                                     \
        long long got_ = (long long)(expression), want_ = (long long)(expected);                             \
        if (got_ != want_) {                                                                                 \
            fprintf(stderr, "%s:%d: PE %d: %s is %lld, expected %lld (last error: %s)\n", __FILE__,          \
                    __LINE__, aclshmem_my_pe(), #expression, got_, want_, aclshmemx_last_error(NULL));       \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

/* The statement must fail with this code, and say something. */
#define CHECK_ERROR(statement, code)                                                                         \
    do {                                                                                                     \
        int code_ = 0;                                                                                       \
        aclshmemx_clear_error();                                                                             \
        statement;                                                                                           \
        const char *text_ = aclshmemx_last_error(&code_);                                                    \
        if (code_ != (code) || text_[0] == '\0') {                                                           \
            fprintf(stderr, "%s:%d: PE %d: %s gave code %d \"%s\", expected %d\n", __FILE__, __LINE__,       \
                    aclshmem_my_pe(), #statement, code_, text_, (int)(code));                                \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

/* For tests of mistakes: the messages are wanted, but not on the terminal. */
static inline void pe_swallow(int level, const char *message)
{
    (void)level;
    (void)message;
}

static inline void pe_init(uint64_t heap_bytes)
{
    aclshmemx_init_attr_t attr = ACLSHMEMX_INIT_ATTR_INITIALIZER;
    attr.local_mem_size = heap_bytes;
    int rc = aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_LAUNCHER, &attr);
    if (rc != 0) {
        fprintf(stderr, "init failed: %d %s\n", rc, aclshmemx_last_error(NULL));
        exit(1);
    }
}

static inline void pe_finalize(void)
{
    CHECK_INT(aclshmem_finalize(), 0);
}

#endif
