/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every AscendCL header needs: handle types, the export mark, and the error codes this runtime returns.
 * Names and values are the vendor's, so that one source compiles against either runtime.
 */
#ifndef ACL_ACL_BASE_H
#define ACL_ACL_BASE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define ACL_FUNC_VISIBILITY __attribute__((visibility("default")))
#else
#define ACL_FUNC_VISIBILITY
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef int aclError;

/* Handles are opaque and never pointers to anything a program may look into; NULL is never one. */
typedef void *aclrtStream;
typedef void *aclrtEvent;
typedef void *aclrtContext;
typedef void *aclrtNotify;
typedef void *aclrtDrvMemHandle;
typedef void *aclrtBinHandle;
typedef void *aclrtFuncHandle;

#define ACL_SUCCESS    0
#define ACL_ERROR_NONE 0

/* Wrong use of the interface. */
#define ACL_ERROR_INVALID_PARAM           100000
#define ACL_ERROR_UNINITIALIZE            100001
#define ACL_ERROR_REPEAT_INITIALIZE       100002
#define ACL_ERROR_INVALID_FILE            100003
#define ACL_ERROR_BAD_ALLOC               200000
#define ACL_ERROR_API_NOT_SUPPORT         200001
#define ACL_ERROR_INVALID_DEVICE          200002
#define ACL_ERROR_RESOURCE_NOT_MATCH      200004
#define ACL_ERROR_INVALID_RESOURCE_HANDLE 200005
#define ACL_ERROR_FEATURE_UNSUPPORTED     200006
#define ACL_ERROR_STORAGE_OVER_LIMIT      300000
#define ACL_ERROR_INTERNAL_ERROR          500000
#define ACL_ERROR_FAILURE                 500001

/* Found by the runtime: arguments and handles. */
#define ACL_ERROR_RT_PARAM_INVALID           107000
#define ACL_ERROR_RT_INVALID_DEVICEID        107001
#define ACL_ERROR_RT_CONTEXT_NULL            107002
#define ACL_ERROR_RT_STREAM_CONTEXT          107003
#define ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID 107006
#define ACL_ERROR_RT_ADDR_UNALIGNED          107008
#define ACL_ERROR_RT_INVALID_HANDLE          107017
#define ACL_ERROR_RT_WAIT_TIMEOUT            107019
#define ACL_ERROR_RT_TASK_TIMEOUT            107020
#define ACL_ERROR_RT_STREAM_ABORT            107023

/* Captures. */
#define ACL_ERROR_RT_MODEL_CAPTURED              107026
#define ACL_ERROR_RT_STREAM_CAPTURED             107027
#define ACL_ERROR_RT_STREAM_NOT_CAPTURED         107029
#define ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT    107030
#define ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT     107031
#define ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD 107038
#define ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED  507903

/* Resources. FEATURE_NOT_SUPPORT is also what an import returns whose owner cannot be reached from here. */
#define ACL_ERROR_RT_FEATURE_NOT_SUPPORT 207000
#define ACL_ERROR_RT_MEMORY_ALLOCATION   207001
#define ACL_ERROR_RT_MEMORY_FREE         207002
#define ACL_ERROR_RT_NO_DEVICE           207004
#define ACL_ERROR_RT_RESOURCE_ALLOC_FAIL 207005
#define ACL_ERROR_RT_NO_PERMISSION       207006
#define ACL_ERROR_RT_NO_NOTIFY_RESOURCE  207009
#define ACL_ERROR_RT_OVER_LIMIT          207012

/* From the device: what a stream had to report. */
#define ACL_ERROR_RT_INTERNAL_ERROR             507000
#define ACL_ERROR_RT_REPORT_TIMEOUT             507012
#define ACL_ERROR_RT_AICORE_TIMEOUT             507014
#define ACL_ERROR_RT_AICORE_EXCEPTION           507015
#define ACL_ERROR_RT_VECTOR_CORE_TIMEOUT        507033
#define ACL_ERROR_RT_VECTOR_CORE_EXCEPTION      507034
#define ACL_ERROR_RT_VECTOR_CORE_TRAP_EXCEPTION 507035
#define ACL_ERROR_RT_STREAM_SYNC_TIMEOUT        507046
#define ACL_ERROR_RT_EVENT_SYNC_TIMEOUT         507047

/* Text of the last failure in this thread, "" when there was none. For a kernel it names kernel, block and reason.
 * Valid until the next AscendCL call of this thread. */
ACL_FUNC_VISIBILITY const char *aclGetRecentErrMsg(void);

#ifdef __cplusplus
}
#endif

#endif
