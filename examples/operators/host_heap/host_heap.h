/* SPDX-License-Identifier: Apache-2.0 */
/* What host and kernel of the host heap example agree on. */
#ifndef HOST_HEAP_H
#define HOST_HEAP_H

#include <stdint.h>

typedef struct host_heap_params {
    char *device;   /* source, device memory of mine */
    char *host;     /* host memory, symmetric: n blocks, block p comes from PE p */
    char *back;     /* device memory of mine: n blocks, what was fetched from the others */
    int32_t *flags; /* n, a line apart: blocks that are here; symmetric, device memory */
    uint64_t bytes;
} host_heap_params_t;

#endif
