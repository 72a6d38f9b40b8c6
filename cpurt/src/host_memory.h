/* SPDX-License-Identifier: Apache-2.0 */
/* Host memory the runtime has given out or been told of. */
#ifndef CPURT_HOST_MEMORY_H
#define CPURT_HOST_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* With cpurt_memory_lock held. */
bool cpurt_host_memory_has_locked(const void *address, size_t bytes);
void cpurt_host_memory_end_locked(void);

#endif
