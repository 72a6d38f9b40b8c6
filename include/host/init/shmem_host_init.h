/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Life cycle: init, finalize, status, unique ids, TLS of the control plane, version, errors.
 *
 * Instances: a process may take part in up to 255 jobs side by side, ids 0 to 254. Each has its own PEs, numbers, heaps and
 * teams (team handles belong to the instance they were made in), and may consist of some of the processes only. Calls mean the
 * current one. An id names an instance within the process; the PEs of an instance use the same id so that they find the same
 * port. By address, an instance other than 0 takes port 0 in ip_port and SHMEM_INSTANCE_PORT_RANGE start:end; its port is
 * start + id, written to ip_port when init succeeds, so set ip_port again before the struct serves another instance.
 * Certificates set for the first instance serve those made while it lives.
 *
 * What returns an int returns 0 or a nonzero code of ACLSHMEM_ERROR_MAP; codes of the device runtime are passed through and
 * may be positive. The text of the last failure in this thread is aclshmemx_last_error(). "Collective" means every PE must
 * call it.
 *
 * Unless a call says otherwise:
 * @who one PE, local
 * @reuse on return
 * @done on return
 * @threads one life-cycle call at a time
 */
#ifndef ACLSHMEM_HOST_INIT_H
#define ACLSHMEM_HOST_INIT_H

#include "host/shmem_host_def.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Creates and connects an instance and makes it current. Collective, blocking.
 *
 * @param bootstrap_flags  how the PEs meet: one of ACLSHMEMX_INIT_WITH_*. With several bits the first of UNIQUEID, MPI,
 *                         DEFAULT, LAUNCHER decides.
 * @param attributes       equal on all PEs except my_pe; start from ACLSHMEMX_INIT_ATTR_INITIALIZER. Nothing in it is
 *                         read after the call. With LAUNCHER, n_pes 0 takes PE and count from the launcher and
 *                         local_mem_size 0 takes SHMEM_SYMMETRIC_SIZE.
 *
 * The device is the one current in the calling thread; with LAUNCHER and no current device, device local PE modulo
 * device count is made current. Reaching PE 0 may take option_attr.shm_init_timeout seconds, each collective step
 * option_attr.control_operation_timeout seconds. All PEs get the same verdict. After a failure everything is undone,
 * the port is free again and the call may be repeated at once.
 *
 * @return 0; INVALID_PARAM (NULL, my_pe >= n_pes, unknown mode, bad id or address text); INVALID_VALUE (PE count, size,
 *         time-out, engine or instance out of range); INNER_ERROR (already initialized, port in use, PE 0 not reached,
 *         TLS); SMEM_ERROR (a collective step failed or PEs differ; heap size not a multiple of 2 MiB).
 * @who every PE of the new instance
 * @reuse attributes, the id and the text of addresses: on return
 * @done on return, on every PE: the heaps are mapped, and every PE may reach every other
 */
ACLSHMEM_HOST_API int aclshmemx_init_attr(aclshmemx_bootstrap_t bootstrap_flags,
                                          aclshmemx_init_attr_t *attributes);

/**
 * Extension: the same with whatever started this job (aclshmemrun, torchrun, Slurm, mpirun; alone when nothing did),
 * and a heap of SHMEM_SYMMETRIC_SIZE bytes. Collective.
 * @who every PE of the job
 * @done as aclshmemx_init_attr()
 */
ACLSHMEM_HOST_API int aclshmemx_init(void);

/**
 * Releases the current instance; its symmetric memory is gone afterwards. Collective, blocking. Device work must have
 * been drained by the caller.
 *
 * @return 0, also when nothing was initialized; SMEM_ERROR when a PE does not arrive within the control time-out or is
 *         dead: then this PE's part is released all the same, and the process may go on or initialize again.
 * @who every PE of the instance
 * @done on return nobody touches memory of this PE any more; what was put before has arrived
 */
ACLSHMEM_HOST_API int aclshmem_finalize(void);

/**
 * The same for the instance named, whichever is current; afterwards instance 0 is current, also where there is none.
 * @return INNER_ERROR for an unknown id, with the current instance untouched; 0 for id 0 when it does not exist.
 * @who every PE of that instance
 * @done as aclshmem_finalize()
 */
ACLSHMEM_HOST_API int aclshmemx_finalize(uint64_t instance_id);

/**
 * Status of the current instance, an aclshmemx_init_status_t. Local, never fails.
 * @threads any thread at any time
 */
ACLSHMEM_HOST_API int aclshmemx_init_status(void);

/**
 * Draws a unique id on the PE that will be PE 0: picks an address (SHMEM_UID_SESSION_ID, else SHMEM_UID_SOCK_IFNAME, else
 * by itself), binds a socket there and keeps it for the init that uses the id. The program copies the 136 bytes to all
 * PEs over a channel it trusts: the id carries the secret that authenticates them. Local.
 *
 * @return 0; INVALID_PARAM (NULL, no usable address, port in use); INNER_ERROR (no random numbers).
 * @who the PE that will be PE 0
 */
ACLSHMEM_HOST_API int aclshmemx_get_uniqueid(aclshmemx_uniqueid_t *uid);

/**
 * Fills my_pe, n_pes, local_mem_size and comm_args of an initialised attribute struct, and nothing else. uid must live
 * until init returns. Local.
 * @return 0; INVALID_PARAM (NULL); INVALID_VALUE (size negative or above 40 GiB, PE or count above 16384).
 * @reuse uid: when init has returned
 */
ACLSHMEM_HOST_API int aclshmemx_set_attr_uniqueid_args(int my_pe, int n_pes, int64_t local_mem_size,
                                                       aclshmemx_uniqueid_t *uid,
                                                       aclshmemx_init_attr_t *aclshmem_attr);

/**
 * TLS of the control plane. Without any call TLS 1.3 is on, with a key that needs no configuration.
 *
 * @param enable        false: plain TCP for every later init of this process.
 * @param tls_info      with enable: "key : value ; ..." naming CA, certificate and so on (docs/security.md); copied
 * @param tls_info_len  its bytes, at most 10240; no terminator needed
 * @return 0; INVALID_PARAM (enable with NULL, 0 or too many bytes); INNER_ERROR while an instance exists. Local.
 * @done for the next init
 */
ACLSHMEM_HOST_API int32_t aclshmemx_set_conf_store_tls(bool enable, const char *tls_info,
                                                       const uint32_t tls_info_len);

/**
 * Private key (PEM content, not a path) and its pass phrase for the next init; copied, and wiped once that init has used
 * them. decrypt_handler NULL: the pass phrase is plain. Either length at most 10240 bytes; last call wins. Local.
 * @return as above.
 * @done for the next init
 */
ACLSHMEM_HOST_API int32_t aclshmemx_set_config_store_tls_key(const char *tls_pk, const uint32_t tls_pk_len,
                                                             const char *tls_pk_pw,
                                                             const uint32_t tls_pk_pw_len,
                                                             const aclshmem_decrypt_handler decrypt_handler);

/**
 * The current instance; never NULL. The object dies with its instance. Local.
 * @threads any thread at any time
 */
ACLSHMEM_HOST_API aclshmem_instance_ctx *aclshmemx_instance_ctx_get(void);

/**
 * Makes a known instance current for all following calls of the process; 0 is always known. @return INNER_ERROR when
 * unknown. Local; not while other threads use the library.
 * @threads while no other thread uses the library
 */
ACLSHMEM_HOST_API int aclshmemx_instance_ctx_set(uint64_t instance_id);

/**
 * Version of the interface; nothing is written when either pointer is NULL. Local.
 * @threads any thread at any time
 */
ACLSHMEM_HOST_API void aclshmem_info_get_version(int *major, int *minor);

/**
 * "ACLSHMEM v1.1.1", terminated, into a buffer of ACLSHMEM_MAX_NAME_LEN bytes. NULL: no effect. Local.
 * @threads any thread at any time
 */
ACLSHMEM_HOST_API void aclshmem_info_get_name(char *name);

/**
 * Ends every PE of the current instance, the caller included, with this exit status; 0 as well. May be called from any
 * thread at any time. Before init the caller alone exits. Does not return.
 * @who one PE, for all
 * @done does not return; the other PEs end within seconds
 * @threads any thread at any time
 */
ACLSHMEM_HOST_API void aclshmem_global_exit(int status) __attribute__((noreturn));

/**
 * Extension: text of a code; never NULL. Local.
 * @threads any thread at any time
 */
ACLSHMEM_HOST_API const char *aclshmemx_strerror(int code);

/**
 * Extension: text of the last failure in this thread, also of calls that return nothing; "" when there was none. The
 * text stays until the next failure in this thread. *code (may be NULL) gets the code. Local.
 * @threads any thread at any time; each has its own
 */
ACLSHMEM_HOST_API const char *aclshmemx_last_error(int *code);

/**
 * Extension: forgets the last failure of this thread. Local.
 * @threads any thread at any time
 */
ACLSHMEM_HOST_API void aclshmemx_clear_error(void);

/**
 * Extension: lowest PE known to have died, -1 when all live. Survivors run on with SHMEM_ON_PEER_DEATH=error. Local.
 * @threads any thread at any time
 */
ACLSHMEM_HOST_API int aclshmemx_failed_pe(void);

#ifdef __cplusplus
}
#endif

#endif
