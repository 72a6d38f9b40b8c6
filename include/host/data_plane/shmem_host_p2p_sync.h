/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting for a word of the own symmetric memory to change.
 *
 * A wait spins briefly, then gives way, then sleeps; it costs almost nothing while it lasts. When it returns
 * normally, everything its signal promised is visible. It gives up after SHMEM_WAIT_TIMEOUT seconds or when a PE has
 * died, with an error that says who waits for what and the value seen; aclshmemx_last_error() tells.
 */
#ifndef ACLSHMEM_HOST_P2P_SYNC_H
#define ACLSHMEM_HOST_P2P_SYNC_H

#include "host/shmem_host_def.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Returns when *sig_addr cmp cmp_val holds. cmp is an aclshmem_cmp_op_type_t. Any thread, not collective. */
ACLSHMEM_HOST_API void aclshmem_signal_wait_until(int32_t *sig_addr, int cmp, int32_t cmp_val);

/**
 * Extension: the same with a limit of its own, and a verdict.
 * @return 0 when the condition holds; TIMEOUT_ERROR after timeout_ms; SMEM_ERROR when a PE died; INVALID_PARAM,
 *         NOT_INITED. *value (may be NULL) gets the value that decided.
 */
ACLSHMEM_HOST_API int aclshmemx_signal_wait_until_timeout(int32_t *sig_addr, int cmp, int32_t cmp_val,
                                                          uint64_t timeout_ms, int32_t *value);

#ifdef __cplusplus
}
#endif

#endif
