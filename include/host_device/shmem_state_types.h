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
    int mype;                                 /* index of this PE in the team */
    int start;                                /* PE of member 0 */
    int stride;                               /* in PEs of the world */
    int size;                                 /* members */
    int team_idx;                             /* handle */
    aclshmem_team_config_t config;            /* as asked for */
    int32_t pe_mapping[2 * ACLSHMEM_MAX_PES]; /* both directions, see above */
} aclshmemx_team_t;

/* Scratch of one engine in the unified buffer. */
typedef struct aclshmem_ub_config_t {
    int64_t aclshmem_ub; /* offset in the unified buffer, bytes */
    uint32_t ub_size;    /* bytes */
    uint32_t sync_id;    /* event id */
} aclshmem_ub_config_t;

typedef aclshmem_ub_config_t aclshmem_mte_config_t;  /* its older name */
typedef aclshmem_ub_config_t aclshmem_sdma_config_t; /* its older name */
typedef aclshmem_ub_config_t aclshmem_rdma_config_t; /* its older name */
typedef aclshmem_ub_config_t aclshmem_udma_config_t; /* its older name */

/* Cycle counts of one block, by frame. */
typedef struct aclshmem_prof_block_t {
    int64_t ccount[ACLSHMEM_CYCLE_PROF_FRAME_CNT]; /* passes */
    int64_t cycles[ACLSHMEM_CYCLE_PROF_FRAME_CNT]; /* of all passes together */
} aclshmem_prof_block_t;

/* Cycle counts of a PE, see aclshmemx_get_prof(). */
typedef struct aclshmem_prof_pe_t {
    int32_t pe_id;    /* the PE that counts */
    uint32_t dropped; /* passes without a place: of blocks from 64 on, or of other frames */
    aclshmem_prof_block_t block_prof[ACLSHMEM_CYCLE_PROF_MAX_BLOCK]; /* by block of the kernel */
} aclshmem_prof_pe_t;

/* What kernels read. */
typedef struct aclshmem_device_host_state_t {
    int version;                                      /* (1 << 16) + sizeof */
    int mype;                                         /* this PE */
    int npes;                                         /* number of PEs */
    void *heap_base;                                  /* own device heap */
    void *host_heap_base;                             /* own host heap, or NULL */
    void **p2p_device_heap_base;                      /* per PE, for loads and stores */
    void **rdma_device_heap_base;                     /* per PE, for RDMA */
    void **sdma_device_heap_base;                     /* per PE, for the DMA engine */
    void **p2p_host_heap_base;                        /* the same of the host heaps */
    void **rdma_host_heap_base;                       /* the same */
    void **sdma_host_heap_base;                       /* the same */
    uint8_t topo_list[ACLSHMEM_MAX_PES];              /* per PE, OR of aclshmem_transport_t: the reach byte */
    size_t heap_size;                                 /* user bytes + ACLSHMEM_EXTRA_SIZE */
    aclshmemx_team_t *team_pools[ACLSHMEM_MAX_TEAMS]; /* by handle; device addresses */
    uint64_t sync_pool;                               /* address of the barrier words of teams */
    uint64_t sync_counter;                            /* address of the running counts of teams */
    uint64_t core_sync_pool;                          /* address of the barrier words of cores */
    uint64_t core_sync_counter;                       /* address of the running counts of cores */
    bool is_aclshmem_initialized;                     /* between init and finalize */
    bool is_aclshmem_created;                         /* heaps are mapped */
    aclshmem_ub_config_t mte_config;                  /* scratch of MTE */
    aclshmem_ub_config_t sdma_config;                 /* scratch of SDMA */
    aclshmem_ub_config_t rdma_config;                 /* scratch of RDMA */
    aclshmem_ub_config_t udma_config;                 /* scratch of UDMA */
    uint64_t qp_info;                                 /* address of the queue pairs of RDMA */
    uint64_t sdma_workspace_addr;                     /* address of the queues of SDMA */
    aclshmem_prof_pe_t *profs;                        /* cycle counts, NULL unless this PE counts */
    uint64_t signal_addr;                             /* address of a spare signal word in the heap */
} aclshmem_device_host_state_t;

/* What the host keeps beside it. */
typedef struct aclshmem_host_state_t {
    void *default_stream;                       /* the library's own stream */
    int8_t default_event_id;                    /* reserved */
    uint32_t default_block_num;                 /* blocks of a kernel the host launches */
    void *notify_arr[ACLSHMEM_MAX_AIV_PER_NPU]; /* reserved */
} aclshmem_host_state_t;

#endif
