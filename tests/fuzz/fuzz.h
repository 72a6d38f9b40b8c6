/* SPDX-License-Identifier: Apache-2.0 */
/* What the fuzz targets share: a check that stays in every build, a log that is looked at but not printed, the entries. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/utils/log.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define expect(condition)                                                                                    \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);                    \
            abort();                                                                                         \
        }                                                                                                    \
    } while (0)

/* There are millions of lines. Each has a level and stays one line, whatever the input was. */
static inline void swallow(int level, const char *message)
{
    expect(level >= 0 && level <= 4);
    expect(!strchr(message, '\n') && strlen(message) < 4096);
}

/* The entry of a target that needs nothing else set up. */
#define FUZZ_INITIALIZE                                                                                      \
    int LLVMFuzzerInitialize(int *argc, char ***argv)                                                        \
    {                                                                                                        \
        (void)argc;                                                                                          \
        (void)argv;                                                                                          \
        aclshmemi_log_set_callback(swallow);                                                                 \
        return 0;                                                                                            \
    }

#endif
