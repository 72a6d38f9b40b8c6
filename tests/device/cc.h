/* SPDX-License-Identifier: Apache-2.0 */
/* What cores count in, and the kinds of barriers. */
#ifndef DEVICE_CC_H
#define DEVICE_CC_H

#include <stdint.h>

typedef struct cc_words {
    int32_t cores; /* of this PE's launch */
    int32_t counts[64];
} cc_words_t;

enum { CC_BARRIER, CC_SYNC, CC_BARRIER_VEC, CC_BARRIER_ALL, CC_SYNC_ALL, CC_BARRIER_ALL_VEC, CC_KINDS };

#endif
