/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels by name: what programs and loaded binaries have registered. */
#ifndef CPURT_KERNEL_H
#define CPURT_KERNEL_H

#include "aicore/aicore.h"
#include "handle.h"

typedef struct cpurt_binary cpurt_binary_t;

typedef struct cpurt_function {
    cpurt_object_t object;
    const aicore_kernel_t *kernel;
    cpurt_binary_t *binary; /* kept loaded by this; NULL for kernels linked in */
} cpurt_function_t;

aclError cpurt_function_get(const void *handle, cpurt_function_t **function); /* a new reference */
void cpurt_function_put(cpurt_function_t *function);
void cpurt_kernels_end(void);

#endif
