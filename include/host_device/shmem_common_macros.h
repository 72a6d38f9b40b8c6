/* SPDX-License-Identifier: Apache-2.0 */
/* Limits and sizes that host programs and kernels share, as plain preprocessor numbers. */
#ifndef ACLSHMEM_COMMON_MACROS_H
#define ACLSHMEM_COMMON_MACROS_H

#define ACLSHMEM_MAX_PES        16384 /* PEs of an instance, at most */
#define ACLSHMEM_MAX_TEAMS      2048  /* teams of an instance at a time, the world included */
#define ACLSHMEM_MAX_INSTANCES  255   /* instances of a process */
#define ACLSHMEM_SIGNAL_SIZE    8     /* bytes of room for a signal */
#define ACLSHMEM_MAX_LOCAL_SIZE (40UL * 1024 * 1024 * 1024) /* bytes of user heap per PE */
#define ACLSHMEM_PAGE_SIZE      (1024UL * 1024UL * 2)       /* heap sizes are multiples of this */

#ifndef TEAM_CONFIG_PADDING
#define TEAM_CONFIG_PADDING 48 /* bytes */
#endif
#ifndef SCALAR_DATA_CACHELINE_SIZE
#define SCALAR_DATA_CACHELINE_SIZE 64 /* bytes */
#endif
#ifndef L2_CACHELINE_SIZE
#define L2_CACHELINE_SIZE 512 /* bytes */
#endif

#ifndef ALIGN_TO
/* size, rounded up to a multiple of page */
#define ALIGN_TO(size, page) ((((size) + (page)-1) / (page)) * (page))
#endif
#ifndef ALIGH_TO
#define ALIGH_TO(size, page) ALIGN_TO(size, page) /* its older name */
#endif
#ifndef ALIGN_UP
#define ALIGN_UP(val, al) (((val) + ((al)-1)) & ~((al)-1)) /* the same for al, a power of two */
#endif

/* Room for barriers: one line array per team, one running count per team, one line per core and round. */
#define ACLSHMEM_SYNCBIT_SIZE           SCALAR_DATA_CACHELINE_SIZE /* bytes of a line */
#define ACLSHMEMI_SYNCBIT_SIZE          ACLSHMEM_SYNCBIT_SIZE      /* its older name */
#define ACLSHMEM_BARRIER_TG_DISSEM_KVAL 8                          /* partners of a round of a barrier */
#ifndef SYNC_LOG_MAX_PES
#define SYNC_LOG_MAX_PES 5 /* rounds of a barrier, at most */
#endif
#ifndef SYNC_ARRAY_SIZE
/* bytes of a team */
#define SYNC_ARRAY_SIZE (ACLSHMEM_SYNCBIT_SIZE * SYNC_LOG_MAX_PES * ACLSHMEM_BARRIER_TG_DISSEM_KVAL)
#endif
#ifndef SYNC_COUNTER_SIZE
#define SYNC_COUNTER_SIZE ACLSHMEM_SYNCBIT_SIZE /* bytes of a team */
#endif
#ifndef SYNC_POOL_SIZE
#define SYNC_POOL_SIZE (SYNC_ARRAY_SIZE * ACLSHMEM_MAX_TEAMS) /* bytes of all teams */
#endif
#ifndef SYNC_COUNTERS_SIZE
#define SYNC_COUNTERS_SIZE (SYNC_COUNTER_SIZE * ACLSHMEM_MAX_TEAMS) /* bytes of all teams */
#endif
#define ACLSHMEM_MAX_AIV_PER_NPU     48 /* vector cores of a device */
#define ACLSHMEM_LOG_MAX_AIV_PER_NPU 6  /* rounds of a barrier of its cores */
/* Bytes for barriers between the cores of a device. */
#define ACLSHMEM_CORE_SYNC_POOL_SIZE                                                                         \
    (ACLSHMEM_MAX_AIV_PER_NPU * ACLSHMEM_LOG_MAX_AIV_PER_NPU * ACLSHMEM_SYNCBIT_SIZE)
#define ACLSHMEM_CORE_SYNC_COUNTER_SIZE ACLSHMEM_SYNCBIT_SIZE /* bytes */

/* Every heap is this much larger than asked for; the library's own words live in the difference. */
#define ACLSHMEM_EXTRA_SIZE_UNALIGNED SYNC_POOL_SIZE                /* bytes before rounding */
#define ACLSHMEM_EXTRA_SIZE_UNALIGHED ACLSHMEM_EXTRA_SIZE_UNALIGNED /* its older name */
/* bytes */
#define ACLSHMEM_EXTRA_SIZE ALIGN_TO(ACLSHMEM_EXTRA_SIZE_UNALIGNED, ACLSHMEM_PAGE_SIZE)
#define ACLSHMEM_HEAP_ALIGNMENT_SIZE                                                                         \
    (UINT64_C(1) << 30) /* a PE's slot of address space is a multiple of this */

#define ACLSHMEM_CYCLE_PROF_MAX_BLOCK 64   /* blocks of a kernel that are counted */
#define ACLSHMEM_CYCLE_PROF_FRAME_CNT 1024 /* frames of a block */

#define ACLSHMEM_STARS_NOTIFY_ADDR_OFFSET (14 * 1024) /* bytes, of the notify registers */
#define ACLSHMEM_SDMA_FLAG_LENGTH         64          /* bytes of scratch */
#define ACLSHMEM_UDMA_MTE_STAGING_UB_SIZE 128U        /* bytes of scratch */
#define ACLSHMEM_RDMA_MTE_STAGING_UB_SIZE 128U        /* bytes of scratch */

#endif
