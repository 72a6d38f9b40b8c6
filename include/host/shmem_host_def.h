/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every host header needs first: export macro, version, error codes, bootstrap flags, init attributes.
 *
 * The layouts and numbers here are the ones programs for Ascend's SHMEM are compiled against; they may grow at
 * the end, never change. Valid as C11 and as C++17.
 */
#ifndef ACLSHMEM_HOST_DEF_H
#define ACLSHMEM_HOST_DEF_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(ACLSHMEM_DEVICE_DEF_H) && !defined(__cplusplus)
#error "this C file sees the calls of kernels already; a C file is either host code or device code"
#endif

#include "acl/acl.h"
#include "host_device/shmem_common_types.h"
#include "host_device/shmem_state_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ACLSHMEM_HOST_API
/* In front of every declaration: the function is exported. */
#if defined(__cplusplus) && defined(ACLSHMEM_DEVICE_DEF_H)
/* Some of the calls are defined by device headers already, and an attribute may not come after that. */
#define ACLSHMEM_HOST_API
#else
#define ACLSHMEM_HOST_API __attribute__((visibility("default")))
#endif
#endif

#define ACLSHMEM_MAJOR_VERSION    1 /* of the interface, see aclshmem_info_get_version() */
#define ACLSHMEM_MINOR_VERSION    1 /* the same */
#define ACLSHMEM_VENDOR_MAJOR_VER 1 /* of the library, see aclshmem_info_get_name() */
#define ACLSHMEM_VENDOR_MINOR_VER 1 /* the same */
#define ACLSHMEM_VENDOR_PATCH_VER 1 /* the same */

#define ACLSHMEM_MAX_NAME_LEN        256 /* bytes, terminator included */
#define ACLSHMEM_MAX_IP_PORT_LEN     64  /* bytes, terminator included */
#define ACLSHMEM_UNIQUE_ID_INNER_LEN 124 /* bytes of opaque payload in a unique id */

#define ACLSHMEM_DEFAULT_TIMEOUT 120 /* seconds */
#ifndef DEFAULT_TIMEOUT
#define DEFAULT_TIMEOUT ACLSHMEM_DEFAULT_TIMEOUT /* its older name */
#endif

/*
 * The one list of error codes: name, value, text. The enum, aclshmemx_strerror() and the documentation grow from it.
 * Codes that come from the device runtime are passed through and may be positive: test for != 0.
 */
#define ACLSHMEM_ERROR_MAP(XX)                                                                               \
    XX(SUCCESS, 0, "success")                                                                                \
    XX(INVALID_PARAM, -1, "invalid argument")                                                                \
    XX(INVALID_VALUE, -2, "value out of range")                                                              \
    XX(SMEM_ERROR, -3, "shared memory or a control-plane collective failed")                                 \
    XX(INNER_ERROR, -4, "internal failure, or the call does not fit the present state")                      \
    XX(NOT_INITED, -5, "not initialized")                                                                    \
    XX(BOOTSTRAP_ERROR, -6, "bootstrap failed")                                                              \
    XX(TIMEOUT_ERROR, -7, "deadline passed")                                                                 \
    XX(MALLOC_FAILED, -8, "out of memory")                                                                   \
    XX(DL_FUNC_FAILED, -9, "a function of a loaded library failed")                                          \
    XX(INNER_TIMEOUT, -10, "internal deadline passed")                                                       \
    XX(UNDER_API_UNLOAD, -11, "a library below could not be loaded")                                         \
    XX(NOT_SUPPORTED, -100, "not supported in this mode or build")

/* The codes of ACLSHMEM_ERROR_MAP. */
typedef enum aclshmem_error_code_t {
#define ACLSHMEM_ERROR_ENUM(name, value, text) ACLSHMEM_##name = (value),
    ACLSHMEM_ERROR_MAP(ACLSHMEM_ERROR_ENUM)
#undef ACLSHMEM_ERROR_ENUM
} aclshmem_error_code_t;

/* How the PEs meet; exactly one of these. */
typedef uint32_t aclshmemx_bootstrap_t;
#define ACLSHMEMX_INIT_WITH_DEFAULT                                                                          \
    (UINT32_C(1) << 0) /* ip_port of PE 0; a unique id in comm_args as fallback */
#define ACLSHMEMX_INIT_WITH_MPI      (UINT32_C(1) << 1) /* an MPI communicator */
#define ACLSHMEMX_INIT_WITH_UNIQUEID (UINT32_C(1) << 3) /* a unique id in comm_args */
#define ACLSHMEMX_INIT_WITH_LAUNCHER                                                                         \
    (UINT32_C(1) << 4)                         /* extension: whatever started the job, found by itself */
#define ACLSHMEMX_INIT_MAX (UINT32_C(1) << 31) /* above every mode */

/* How far the current instance is. */
typedef enum aclshmemx_init_status_t {
    ACLSHMEM_STATUS_NOT_INITIALIZED = 0, /* there is none */
    ACLSHMEM_STATUS_SHM_CREATED = 1,     /* heaps are mapped; seen inside init only */
    ACLSHMEM_STATUS_IS_INITIALIZED = 2,  /* between init and finalize */
    ACLSHMEM_STATUS_INVALID = INT_MAX    /* never returned */
} aclshmemx_init_status_t;

/* Optional attributes of init; always embedded in aclshmemx_init_attr_t. 24 bytes. */
typedef struct aclshmem_init_optional_attr_t {
    int version;                               /* (1 << 16) + sizeof, see the initialiser */
    data_op_engine_type_t data_op_engine_type; /* OR of engine bits to enable; MTE is always enabled */
    uint32_t shm_init_timeout;                 /* seconds to reach PE 0, at least 1 */
    uint32_t shm_create_timeout;               /* reserved */
    uint32_t control_operation_timeout; /* seconds per control-plane barrier or allgather, at least 1 */
    int32_t sockFd;                     /* bound socket PE 0 shall listen on; <= 0: none */
} aclshmem_init_optional_attr_t;

/* Value of aclshmem_init_optional_attr_t.version. */
#define ACLSHMEM_INIT_OPTIONAL_ATTR_VERSION ((1 << 16) + (int)sizeof(aclshmem_init_optional_attr_t))

/* Arguments of aclshmemx_init_attr(). Nothing in it, nor behind its pointers, is read after that call. 120 bytes. */
typedef struct aclshmemx_init_attr_t {
#ifdef __cplusplus
    int my_pe = 0;
    int n_pes = 0;
    char ip_port[ACLSHMEM_MAX_IP_PORT_LEN] = {};
    uint64_t local_mem_size = 0;
    aclshmem_init_optional_attr_t option_attr = {ACLSHMEM_INIT_OPTIONAL_ATTR_VERSION,
                                                 ACLSHMEM_DATA_OP_MTE,
                                                 ACLSHMEM_DEFAULT_TIMEOUT,
                                                 ACLSHMEM_DEFAULT_TIMEOUT,
                                                 ACLSHMEM_DEFAULT_TIMEOUT,
                                                 0};
    void *comm_args = nullptr;
    uint64_t instance_id = 0;
#else
    int my_pe;                              /* this PE, 0 .. n_pes - 1 */
    int n_pes;                              /* number of PEs, 1 .. 16384 */
    char ip_port[ACLSHMEM_MAX_IP_PORT_LEN]; /* tcp://host:port or tcp6://[host]:port, where PE 0 listens */
    uint64_t local_mem_size; /* bytes of symmetric heap per PE: multiple of 2 MiB, up to 40 GiB */
    aclshmem_init_optional_attr_t option_attr; /* may stay as the initialiser made it */
    void *comm_args;      /* aclshmemx_uniqueid_t *, or MPI_Comm * (NULL: MPI_COMM_WORLD) */
    uint64_t instance_id; /* 0 .. 254 */
#endif
} aclshmemx_init_attr_t;

/* Defaults for C; C++ has them as member initialisers, where {} is enough. */
#ifdef __cplusplus
#define ACLSHMEMX_INIT_ATTR_INITIALIZER                                                                      \
    {                                                                                                        \
    }
#else
#define ACLSHMEMX_INIT_ATTR_INITIALIZER                                                                      \
    {                                                                                                        \
        .my_pe = 0, .n_pes = 0, .ip_port = {0}, .local_mem_size = 0,                                         \
        .option_attr = {ACLSHMEM_INIT_OPTIONAL_ATTR_VERSION,                                                 \
                        ACLSHMEM_DATA_OP_MTE,                                                                \
                        ACLSHMEM_DEFAULT_TIMEOUT,                                                            \
                        ACLSHMEM_DEFAULT_TIMEOUT,                                                            \
                        ACLSHMEM_DEFAULT_TIMEOUT,                                                            \
                        0},                                                                                  \
        .comm_args = NULL, .instance_id = 0                                                                  \
    }
#endif

/* An opaque ticket that lets the PEs of one init find and trust each other. Copy all 136 bytes to every PE. */
typedef struct aclshmemx_uniqueid_t {
    int32_t version;                             /* ACLSHMEM_UNIQUEID_VERSION */
    int my_pe;                                   /* of the library */
    int n_pes;                                   /* of the library */
    char internal[ACLSHMEM_UNIQUE_ID_INNER_LEN]; /* of the library */
} aclshmemx_uniqueid_t;

#define ACLSHMEM_UNIQUEID_VERSION ((int32_t)((1 << 16) + sizeof(aclshmemx_uniqueid_t))) /* 65672 */
/* An id that is none yet. */
#define ACLSHMEM_UNIQUEID_INITIALIZER                                                                        \
    {                                                                                                        \
        ACLSHMEM_UNIQUEID_VERSION, 0, 0,                                                                     \
        {                                                                                                    \
            0                                                                                                \
        }                                                                                                    \
    }

/* The current instance, as aclshmemx_instance_ctx_get() shows it. */
typedef struct aclshmem_instance_ctx {
    uint64_t id;    /* 0 .. 254 */
    void *instance; /* reserved, NULL */
} aclshmem_instance_ctx;

/*
 * Turns the cipher text of a pass phrase into plain text. On entry *plainTextLen is the capacity of plainText; on
 * return the length written. Returns 0 on success. Called once per TLS context, in the thread that calls init.
 */
#ifdef __cplusplus
typedef int (*aclshmem_decrypt_handler)(const char *cipherText, size_t cipherTextLen, char *plainText,
                                        size_t &plainTextLen);
#else
typedef int (*aclshmem_decrypt_handler)(const char *cipherText, size_t cipherTextLen, char *plainText,
                                        size_t *plainTextLen);
#endif

#ifdef __cplusplus
}
#endif

#endif
