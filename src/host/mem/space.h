/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of one symmetric heap: made here, named for the peers, mapped slot by slot, handed to its allocator. */
#ifndef ACLSHMEMI_MEM_SPACE_H
#define ACLSHMEMI_MEM_SPACE_H

#include "host/instance.h"

/* which: ACLSHMEMI_SPACE_DEVICE or _HOST. In this order; fini undoes either or both. */
int aclshmemi_space_create(aclshmemi_instance_t *in, int which, uint64_t bytes) ACLSHMEMI_MUST_CHECK;
/* blobs: one per PE, stride bytes apart. Needs the slots of the instance. */
int aclshmemi_space_map(aclshmemi_instance_t *in, int which, const void *blobs,
                        size_t stride) ACLSHMEMI_MUST_CHECK;
void aclshmemi_space_fini(aclshmemi_instance_t *in, int which);
/* The host-side heap, made by the first allocation that wants it. Collective; on failure, which is the same on all PEs,
 * there is no host heap, as before. */
int aclshmemi_host_space_create(aclshmemi_instance_t *in) ACLSHMEMI_MUST_CHECK;

#endif
