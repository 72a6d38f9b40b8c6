/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state an instance mirrors to its device: what kernels read. A contract between the host library and device code,
 * not user interface; layouts are fixed (LP64, little endian) and under test.
 */
#ifndef ACLSHMEM_STATE_TYPES_H
#define ACLSHMEM_STATE_TYPES_H

#include "host_device/shmem_common_types.h"

/* A team as a set of PEs: pe_mapping[0 .. size) is team index -> PE, [16384 .. 32768) is PE -> team index or -1. */
typedef struct aclshmemx_team_t {
    int mype;   /* index of this PE in the team */
    int start;  /* PE of member 0 */
    int stride; /* in PEs of the world */
    int size;
    int team_idx;
    aclshmem_team_config_t config;
    int32_t pe_mapping[2 * ACLSHMEM_MAX_PES];
} aclshmemx_team_t;

/* Scratch of one engine in the unified buffer. */
typedef struct aclshmem_ub_config_t {
    int64_t aclshmem_ub; /* offset in the unified buffer, bytes */
    uint32_t ub_size;    /* bytes */
    uint32_t sync_id;    /* event id */
} aclshmem_ub_config_t;

typedef aclshmem_ub_config_t aclshmem_mte_config_t;
typedef aclshmem_ub_config_t aclshmem_sdma_config_t;
typedef aclshmem_ub_config_t aclshmem_rdma_config_t;
typedef aclshmem_ub_config_t aclshmem_udma_config_t;

typedef struct aclshmem_prof_block_t {
    int64_t ccount[ACLSHMEM_CYCLE_PROF_FRAME_CNT]; /* passes */
    int64_t cycles[ACLSHMEM_CYCLE_PROF_FRAME_CNT];
} aclshmem_prof_block_t;

typedef struct aclshmem_prof_pe_t {
    int32_t pe_id;
    aclshmem_prof_block_t block_prof[ACLSHMEM_CYCLE_PROF_MAX_BLOCK];
} aclshmem_prof_pe_t;

typedef struct aclshmem_device_host_state_t {
    int version;
    int mype;
    int npes;
    void *heap_base;
    void *host_heap_base;
    void **p2p_device_heap_base; /* per PE, for loads and stores */
    void **rdma_device_heap_base;
    void **sdma_device_heap_base;
    void **p2p_host_heap_base;
    void **rdma_host_heap_base;
    void **sdma_host_heap_base;
    uint8_t topo_list[ACLSHMEM_MAX_PES]; /* per PE, OR of aclshmem_transport_t: the reach byte */
    size_t heap_size;                    /* user bytes + ACLSHMEM_EXTRA_SIZE */
    aclshmemx_team_t *team_pools[ACLSHMEM_MAX_TEAMS];
    uint64_t sync_pool;
    uint64_t sync_counter;
    uint64_t core_sync_pool;
    uint64_t core_sync_counter;
    bool is_aclshmem_initialized;
    bool is_aclshmem_created;
    aclshmem_ub_config_t mte_config;
    aclshmem_ub_config_t sdma_config;
    aclshmem_ub_config_t rdma_config;
    aclshmem_ub_config_t udma_config;
    uint64_t qp_info;
    uint64_t sdma_workspace_addr;
    aclshmem_prof_pe_t *profs;
    uint64_t signal_addr;
} aclshmem_device_host_state_t;

typedef struct aclshmem_host_state_t {
    void *default_stream;
    int8_t default_event_id;
    uint32_t default_block_num;
    void *notify_arr[ACLSHMEM_MAX_AIV_PER_NPU];
} aclshmem_host_state_t;

#endif
