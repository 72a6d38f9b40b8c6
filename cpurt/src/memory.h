/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory: what each device has given out, memory files, and where copies may go. */
#ifndef CPURT_MEMORY_H
#define CPURT_MEMORY_H

#include "runtime.h"

/* Device memory is counted per device against the configured size; nothing is committed by that. */
aclError cpurt_charge(int device, size_t bytes);
void cpurt_uncharge(int device, size_t bytes);

/* A memory file without a name anywhere. huge asks for reserved huge pages and fails quietly with -1 when there are
 * none; other failures leave a text. */
int cpurt_memory_file(const char *label, size_t bytes, bool huge);
/* Shared mapping of a file at an address that is a multiple of alignment; NULL on failure, with errno. */
void *cpurt_map_aligned(int fd, size_t bytes, size_t alignment);

/* Refuses count bytes at address when they pass the end of memory this runtime has given out. */
aclError cpurt_memory_check(const void *address, size_t count, const char *what);
/* The same; *known tells whether the bytes lie in memory the runtime has given out or was told of, so that touching them
 * is safe. Memory that is reserved and mapped is not counted (vmm.h). */
aclError cpurt_memory_look(const void *address, size_t count, const char *what, bool *known);
void cpurt_memory_end(void);

#endif
