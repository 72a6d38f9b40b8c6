/* SPDX-License-Identifier: Apache-2.0 */
/* Memory ordering, from kernels. Both are about what the calling core issued itself; neither is collective. */
#ifndef ACLSHMEM_DEVICE_MO_H
#define ACLSHMEM_DEVICE_MO_H

#include "device/shmem_def.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Everything this core issued is complete: puts, gets, signals and atomics on all engines it used, the copies of its pipes,
 * and what its scalar unit stored. Sources may be changed, and the other PEs see the data once they look (with an
 * acquire: a wait, a test, a barrier).
 */
ACLSHMEM_DEVICE void aclshmem_quiet(void);

/** What this core issued before is delivered to each PE before what it issues afterwards. Nothing is waited for where an
 * engine keeps order by itself. */
ACLSHMEM_DEVICE void aclshmem_fence(void);

#include "device/gm2gm/mo.inl"

#ifdef __cplusplus
}
#endif

#endif
