/* SPDX-License-Identifier: Apache-2.0 */
/* Who am I, and how many are we. Local, any thread. */
#ifndef ACLSHMEM_HOST_TEAM_H
#define ACLSHMEM_HOST_TEAM_H

#include "host/shmem_host_def.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Number of this PE in the current instance; -1 before init and after finalize. */
ACLSHMEM_HOST_API int aclshmem_my_pe(void);
/** Number of PEs of the current instance; -1 before init and after finalize. */
ACLSHMEM_HOST_API int aclshmem_n_pes(void);

#ifdef __cplusplus
}
#endif

#endif
