/* SPDX-License-Identifier: Apache-2.0 */
/* Address space, physical memory, and the mappings between them. */
#ifndef CPURT_VMM_H
#define CPURT_VMM_H

#include "handle.h"
#include "range.h"

/* Physical memory: a memory file. */
typedef struct cpurt_physical {
    cpurt_object_t object;
    int fd; /* -1 once freed; guarded by cpurt_vmm_lock, as the links are */
    size_t bytes;
    int device;        /* whose account it is on, -1: nobody's (host memory, imported memory) */
    bool wants_huge;   /* transparent huge pages, where the system gives them */
    bool hugetlb;      /* made of reserved huge pages */
    bool host;         /* placed on the host */
    uint8_t token[16]; /* what an importer must know; all zero until exported; guarded by cpurt_share_lock */
    struct cpurt_physical *next, *previous; /* all of this process, so that a forked child can close them */
} cpurt_physical_t;

/* Takes the descriptor, also on failure. */
aclError cpurt_physical_make(int fd, const cpurt_physical_t *like, void **handle);
aclError cpurt_physical_get(const void *handle, cpurt_physical_t **physical);
void cpurt_physical_put(cpurt_physical_t *physical);
/* Refuses bytes in reserved space that nothing is mapped to. *known tells whether they lie in such space at all. */
aclError cpurt_vmm_check(const void *address, size_t count, const char *what, bool *known);
/* Gives up handles and descriptors; what is mapped stays mapped. */
void cpurt_vmm_end(void);

#endif
