/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Capture and replay: work that is queued on a stream is kept in a model instead of being run, and the model is run as
 * often as one likes.
 *
 * A model holds the work of one stream, in order: kernels, asynchronous copies and fills, cache hints, records and waits of
 * notifies, and other models. Argument values are those of the capture; addresses must be valid when the model runs.
 * Events and host functions cannot be held: the call that would queue one fails, and so does the end of that capture, so
 * that no model lacks something unnoticed.
 */
#ifndef ACL_ACL_MDL_H
#define ACL_ACL_MDL_H

#include "acl_base.h"
#include "acl_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef void *aclmdlRI;

/*
 * Who may not call what is unsafe while a capture is going on: aclrtMemcpy, aclrtMemset, and aclrtMemcpyAsync with host
 * memory that is neither from aclrtMallocHost nor registered.
 */
typedef enum aclmdlRICaptureMode {
    ACL_MODEL_RI_CAPTURE_MODE_GLOBAL = 0,       /* no thread */
    ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL = 1, /* not the thread that began the capture */
    ACL_MODEL_RI_CAPTURE_MODE_RELAXED = 2       /* every thread may */
} aclmdlRICaptureMode;

typedef enum aclmdlRICaptureStatus {
    ACL_MODEL_RI_CAPTURE_STATUS_NONE = 0,
    ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE = 1,
    ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED = 2 /* something could not be held */
} aclmdlRICaptureStatus;

/* From here on the stream keeps what is queued on it. Not for default streams. While it captures, a stream cannot be
 * waited for, asked whether it is done, or destroyed. */
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode);
/* By the thread that began, unless in mode RELAXED. Ends the capture also when it fails because something was refused
 * (ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED); there is no model then. */
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI *modelRI);
/* modelRI, which may be NULL, is the model being made, NULL when the stream does not capture. */
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus *status,
                                                    aclmdlRI *modelRI);
/* Sets the mode of the calling thread, GLOBAL at first, and hands back the one before. A thread in mode RELAXED may call
 * everything; one in mode THREAD_LOCAL heeds its own captures only. */
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode *mode);

/* Queues the model's work, which then runs in order and as one piece of work of the stream. The first failure inside is the
 * stream's. */
ACL_FUNC_VISIBILITY aclError aclmdlRIExecuteAsync(aclmdlRI modelRI, aclrtStream stream);
/* The same on the default stream, and waits; timeout in milliseconds, -1 for ever. */
ACL_FUNC_VISIBILITY aclError aclmdlRIExecute(aclmdlRI modelRI, int32_t timeout);
/* Prints what the model holds, a line each, to standard output. */
ACL_FUNC_VISIBILITY aclError aclmdlRIDebugPrint(aclmdlRI modelRI);
/* What is queued of it still runs. */
ACL_FUNC_VISIBILITY aclError aclmdlRIDestroy(aclmdlRI modelRI);

#ifdef __cplusplus
}
#endif

#endif
