/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels for the test of checked mode: right with bug 0, with one planted mistake else. */
#ifndef CPURT_TESTS_CHECK_KERNELS_H
#define CPURT_TESTS_CHECK_KERNELS_H

#include <stdint.h>

#include "aicore/aicore.h"

enum {
    CHECK_WORDS = 4096,                       /* 32-bit words in each area */
    CHECK_CHUNK = 256,                        /* of them a kernel handles at a time */
    CHECK_CHUNK_BYTES = CHECK_CHUNK * 4,      /* and their bytes */
    CHECK_CHUNKS = CHECK_WORDS / CHECK_CHUNK, /* shared out between blocks */
    CHECK_LINE = 16                           /* 32-bit words from one signal to the next */
};

/* Areas of CHECK_WORDS words each: in holds numbers, out and words hold zeroes. */
typedef struct check_request {
    const uint32_t *in;
    uint32_t *out;
    uint32_t *words;
    uint32_t bug;
} check_request_t;

#endif
