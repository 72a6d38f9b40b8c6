/* SPDX-License-Identifier: Apache-2.0 */
/* Who we are: this build, this host, and how much of it we may use. */
#ifndef ACLSHMEMI_INIT_IDENTITY_H
#define ACLSHMEMI_INIT_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/shmem_host_def.h"

/* Equal on PEs that may share memory: same kernel, same network namespace. */
uint64_t aclshmemi_host_identity(void);
/* Cores a process may run on, a bit for each. All zero: the system has more than fit, or does not say. */
typedef struct aclshmemi_cores {
    uint64_t word[16];
} aclshmemi_cores_t;

void aclshmemi_cores_of_process(aclshmemi_cores_t *cores);
/* How many the control group may keep busy at a time; INT_MAX: no limit. */
int aclshmemi_cores_quota(void);
/* May the process with the cores `own` keep one busy? True when the `count` processes of this host, itself among them, fit
 * the cores they may use, as far as they could meet it there, and the quota. */
bool aclshmemi_cores_suffice(const aclshmemi_cores_t *own, const aclshmemi_cores_t *all, size_t count,
                             int quota);
/* Different for different versions of the library and of the layouts PEs share. */
uint64_t aclshmemi_build_hash(void);
const char *aclshmemi_build_text(void);

#endif
