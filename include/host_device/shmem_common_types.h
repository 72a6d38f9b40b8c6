/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Types, constants and limits that host programs and kernels share. Values are fixed by the interface of Ascend's
 * SHMEM; unprefixed names exist there too and can be taken by somebody else, hence the guards around them.
 */
#ifndef ACLSHMEM_COMMON_TYPES_H
#define ACLSHMEM_COMMON_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host_device/shmem_common_macros.h"

typedef int aclshmem_team_t; /* small integer, the same on every member */

/* Handles that are known beforehand. */
typedef enum aclshmem_team_index_t {
    ACLSHMEM_TEAM_INVALID = -1, /* no team, or one this PE is not in */
    ACLSHMEM_TEAM_WORLD = 0     /* all PEs of the instance */
} aclshmem_team_index_t;

/* Engines asked for at init: a set of bits. The order of SDMA and ROCE differs from aclshmem_transport_t. */
typedef enum data_op_engine_type_t {
    ACLSHMEM_DATA_OP_MTE = 0x01,  /* loads and stores; always enabled */
    ACLSHMEM_DATA_OP_SDMA = 0x02, /* DMA engine of the device */
    ACLSHMEM_DATA_OP_ROCE = 0x04, /* RDMA network */
    ACLSHMEM_DATA_OP_UDMA = 0x08, /* RDMA of the UB interconnect */
    ACLSHMEM_DATA_OP_MAX = 0x08   /* the highest of them */
} data_op_engine_type_t;

/* Roads to one peer, as the reach table stores them: a set of bits in one byte. */
typedef uint8_t aclshmem_transport_t;
#define ACLSHMEM_TRANSPORT_MTE  ((aclshmem_transport_t)(1u << 0)) /* loads and stores reach the peer */
#define ACLSHMEM_TRANSPORT_ROCE ((aclshmem_transport_t)(1u << 1)) /* the RDMA network does */
#define ACLSHMEM_TRANSPORT_SDMA ((aclshmem_transport_t)(1u << 2)) /* the DMA engine does */
#define ACLSHMEM_TRANSPORT_UDMA ((aclshmem_transport_t)(1u << 3)) /* the UB interconnect does */

/* Which heap. */
typedef enum aclshmem_mem_type_t {
    HOST_SIDE = 0,  /* host memory that peers reach */
    DEVICE_SIDE = 1 /* device memory */
} aclshmem_mem_type_t;

/* What a signal does to its word. */
typedef enum aclshmem_signal_op_type_t {
    ACLSHMEM_SIGNAL_SET = 0, /* store */
    ACLSHMEM_SIGNAL_ADD = 1  /* atomic add */
} aclshmem_signal_op_type_t;

/* Comparisons of waits and tests: the word on the left. */
typedef enum aclshmem_cmp_op_type_t {
    ACLSHMEM_CMP_EQ = 0, /* equal */
    ACLSHMEM_CMP_NE = 1, /* not equal */
    ACLSHMEM_CMP_GT = 2, /* greater than */
    ACLSHMEM_CMP_GE = 3, /* greater or equal */
    ACLSHMEM_CMP_LT = 4, /* less than */
    ACLSHMEM_CMP_LE = 5  /* less or equal */
} aclshmem_cmp_op_type_t;

/* Whether an operation is complete on return. */
typedef enum aclshmem_block_mode_t {
    NO_NBI = 0, /* it is */
    NBI = 1     /* after a quiet */
} aclshmem_block_mode_t;

typedef uint64_t aclshmemx_team_uniqueid_t; /* reserved */

/* Configuration of a team; all of it is reserved, and 0. 64 bytes. */
typedef struct aclshmem_team_config_t {
    int32_t version;                    /* reserved */
    int32_t num_contexts;               /* reserved */
    aclshmemx_team_uniqueid_t uniqueid; /* reserved */
    char padding[TEAM_CONFIG_PADDING];  /* reserved */
} aclshmem_team_config_t;

/* What aclshmemx_handle_wait() waits for. */
typedef struct aclshmem_handle_t {
    aclshmem_team_t team_id; /* the team whose transfers are meant */
} aclshmem_handle_t;

typedef int32_t aclshmemx_sync_bit[ACLSHMEM_SYNCBIT_SIZE / sizeof(int32_t)]; /* one cache line */
#define aclshmemi_sync_bit aclshmemx_sync_bit                                /* its older name */

#ifdef __cplusplus
static_assert(sizeof(aclshmem_team_config_t) == 64, "part of the binary interface");
#else
_Static_assert(sizeof(aclshmem_team_config_t) == 64, "part of the binary interface");
#endif

#endif
