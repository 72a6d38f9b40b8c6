/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of the operating system that would stop a segment, found before they do and named with both values. */
#ifndef ACLSHMEMI_HYBM_LIMITS_H
#define ACLSHMEMI_HYBM_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "host/utils/status.h"

/* Address space for bytes more. */
int aclshmemi_limits_address_space(uint64_t bytes) ACLSHMEMI_MUST_CHECK;
/* A memory file of bytes. Exceeding this limit would not fail but end the process by a signal. */
int aclshmemi_limits_file_size(uint64_t bytes) ACLSHMEMI_MUST_CHECK;
/* One more descriptor: for the moment after something failed that may have needed one. */
int aclshmemi_limits_descriptors(const char *what) ACLSHMEMI_MUST_CHECK;
/* Reserved huge pages of 2 MiB for bytes. */
int aclshmemi_limits_huge_pages(uint64_t bytes) ACLSHMEMI_MUST_CHECK;

/* What the pages behind an address of ours are or will be when touched. */
typedef struct aclshmemi_pages {
    uint64_t kernel_bytes; /* size of a page as the mapping has it: large only for reserved huge pages */
    bool grows_huge;       /* the kernel may use huge pages as they are touched */
} aclshmemi_pages_t;

/* False when the system does not tell. */
bool aclshmemi_limits_pages_of(const void *address, aclshmemi_pages_t *pages);

#endif
