/* SPDX-License-Identifier: Apache-2.0 */
/* Who we are: this build, this host, and how much of it we may use. */
#ifndef ACLSHMEMI_INIT_IDENTITY_H
#define ACLSHMEMI_INIT_IDENTITY_H

#include <stddef.h>
#include <stdint.h>

#include "host/shmem_host_def.h"

/* Equal on PEs that may share memory: same kernel, same network namespace. */
uint64_t aclshmemi_host_identity(void);
/* Cores the process may run on: affinity and cgroup quota counted; at least 1. */
int aclshmemi_usable_cores(void);
/* Different for different versions of the library and of the layouts PEs share. */
uint64_t aclshmemi_build_hash(void);
const char *aclshmemi_build_text(void);

#endif
