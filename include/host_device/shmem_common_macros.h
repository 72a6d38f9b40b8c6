/* SPDX-License-Identifier: Apache-2.0 */
/* Limits and sizes that host programs and kernels share, as plain preprocessor numbers. */
#ifndef ACLSHMEM_COMMON_MACROS_H
#define ACLSHMEM_COMMON_MACROS_H

#define ACLSHMEM_MAX_PES        16384
#define ACLSHMEM_MAX_TEAMS      2048
#define ACLSHMEM_MAX_INSTANCES  255
#define ACLSHMEM_SIGNAL_SIZE    8
#define ACLSHMEM_MAX_LOCAL_SIZE (40UL * 1024 * 1024 * 1024) /* bytes of user heap per PE */
#define ACLSHMEM_PAGE_SIZE      (1024UL * 1024UL * 2)       /* heap sizes are multiples of this */

#ifndef TEAM_CONFIG_PADDING
#define TEAM_CONFIG_PADDING 48
#endif
#ifndef SCALAR_DATA_CACHELINE_SIZE
#define SCALAR_DATA_CACHELINE_SIZE 64
#endif
#ifndef L2_CACHELINE_SIZE
#define L2_CACHELINE_SIZE 512
#endif

#ifndef ALIGN_TO
#define ALIGN_TO(size, page) ((((size) + (page)-1) / (page)) * (page))
#endif
#ifndef ALIGH_TO
#define ALIGH_TO(size, page) ALIGN_TO(size, page)
#endif
#ifndef ALIGN_UP
#define ALIGN_UP(val, al) (((val) + ((al)-1)) & ~((al)-1))
#endif

/* Room for barriers: one line array per team, one running count per team, one line per core and round. */
#define ACLSHMEM_SYNCBIT_SIZE           SCALAR_DATA_CACHELINE_SIZE
#define ACLSHMEMI_SYNCBIT_SIZE          ACLSHMEM_SYNCBIT_SIZE
#define ACLSHMEM_BARRIER_TG_DISSEM_KVAL 8
#ifndef SYNC_LOG_MAX_PES
#define SYNC_LOG_MAX_PES 5
#endif
#ifndef SYNC_ARRAY_SIZE
#define SYNC_ARRAY_SIZE (ACLSHMEM_SYNCBIT_SIZE * SYNC_LOG_MAX_PES * ACLSHMEM_BARRIER_TG_DISSEM_KVAL)
#endif
#ifndef SYNC_COUNTER_SIZE
#define SYNC_COUNTER_SIZE ACLSHMEM_SYNCBIT_SIZE
#endif
#ifndef SYNC_POOL_SIZE
#define SYNC_POOL_SIZE (SYNC_ARRAY_SIZE * ACLSHMEM_MAX_TEAMS)
#endif
#ifndef SYNC_COUNTERS_SIZE
#define SYNC_COUNTERS_SIZE (SYNC_COUNTER_SIZE * ACLSHMEM_MAX_TEAMS)
#endif
#define ACLSHMEM_MAX_AIV_PER_NPU     48
#define ACLSHMEM_LOG_MAX_AIV_PER_NPU 6
#define ACLSHMEM_CORE_SYNC_POOL_SIZE                                                                         \
    (ACLSHMEM_MAX_AIV_PER_NPU * ACLSHMEM_LOG_MAX_AIV_PER_NPU * ACLSHMEM_SYNCBIT_SIZE)
#define ACLSHMEM_CORE_SYNC_COUNTER_SIZE ACLSHMEM_SYNCBIT_SIZE

/* Every heap is this much larger than asked for; the library's own words live in the difference. */
#define ACLSHMEM_EXTRA_SIZE_UNALIGNED SYNC_POOL_SIZE
#define ACLSHMEM_EXTRA_SIZE_UNALIGHED ACLSHMEM_EXTRA_SIZE_UNALIGNED
#define ACLSHMEM_EXTRA_SIZE           ALIGN_TO(ACLSHMEM_EXTRA_SIZE_UNALIGNED, ACLSHMEM_PAGE_SIZE)
#define ACLSHMEM_HEAP_ALIGNMENT_SIZE                                                                         \
    (UINT64_C(1) << 30) /* a PE's slot of address space is a multiple of this */

#define ACLSHMEM_CYCLE_PROF_MAX_BLOCK 64
#define ACLSHMEM_CYCLE_PROF_FRAME_CNT 1024

#define ACLSHMEM_STARS_NOTIFY_ADDR_OFFSET (14 * 1024)
#define ACLSHMEM_SDMA_FLAG_LENGTH         64
#define ACLSHMEM_UDMA_MTE_STAGING_UB_SIZE 128U
#define ACLSHMEM_RDMA_MTE_STAGING_UB_SIZE 128U

#endif
