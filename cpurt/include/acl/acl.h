/* SPDX-License-Identifier: Apache-2.0 */
/* The front door of AscendCL: start, end, and everything of the runtime. */
#ifndef ACL_ACL_H
#define ACL_ACL_H

#include "acl_base.h"
#include "acl_mdl.h"
#include "acl_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The interface version this runtime follows. */
#define ACL_MAJOR_VERSION 1
#define ACL_MINOR_VERSION 15
#define ACL_PATCH_VERSION 0

/* Once per process; a second call returns ACL_ERROR_REPEAT_INITIALIZE and changes nothing. The path is ignored and may
 * be NULL. Reads the SHMEM_CPU_ variables; one that does not parse is an error. */
ACL_FUNC_VISIBILITY aclError aclInit(const char *configPath);
/* Waits for queued work, joins every thread, closes every descriptor and frees plain memory. Reserved address ranges
 * that were not released stay until aclrtReleaseMemAddress, which works afterwards too. */
ACL_FUNC_VISIBILITY aclError aclFinalize(void);

#ifdef __cplusplus
}
#endif

#endif
