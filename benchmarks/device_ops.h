/* SPDX-License-Identifier: Apache-2.0 */
/* What the host and the kernels of device_ops agree on. */
#ifndef DEVICE_OPS_H
#define DEVICE_OPS_H

#include <stdint.h>

typedef struct device_ops {
    char *to, *from; /* to: symmetric */
    uint64_t bytes;
    uint64_t *cycles; /* what the repeats took, written by block 0 */
    int32_t repeats;
    int32_t pe;
} device_ops_t;

#endif
