/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state block of an instance: everything a kernel reads. The host writes it, once at init and again when a setting
 * changes, to memory that kernels reach, and publishes its address under the number of the instance. The part that the
 * interface documents comes first; what follows is ours and grows at the end.
 */
#ifndef ACLSHMEMI_HOST_DEVICE_STATE_H
#define ACLSHMEMI_HOST_DEVICE_STATE_H

#include <assert.h>

#include "host_device/shmem_state_types.h"
#include "host_device/sync.h"

/* Lent to cores for transfers that an engine cannot take as they are; in the device heap. */
#define ACLSHMEMI_BOUNCES      32u
#define ACLSHMEMI_BOUNCE_BYTES 4096u
typedef struct aclshmemi_bounce {
    alignas(ACLSHMEMI_LINE) uint32_t taken;
    alignas(ACLSHMEMI_LINE) char bytes[ACLSHMEMI_BOUNCE_BYTES];
} aclshmemi_bounce_t;

#define ACLSHMEMI_STATE_ROOM 65536u /* bytes an instance may use for it */

/* Engines by number, where a table has a row for each. The bits of the reach byte are 1 << of these. */
typedef enum aclshmemi_engine_index {
    ACLSHMEMI_ENGINE_MTE,
    ACLSHMEMI_ENGINE_ROCE,
    ACLSHMEMI_ENGINE_SDMA,
    ACLSHMEMI_ENGINE_UDMA,
    ACLSHMEMI_ENGINES
} aclshmemi_engine_index_t;

typedef struct aclshmemi_state_block {
    aclshmem_device_host_state_t seen;
    uint64_t instance_id;
    uint64_t host_heap_size; /* as seen.heap_size, of the host heap; 0: there is none */
    uint64_t control_offset; /* of aclshmemi_control_t in every device heap */
    uint64_t sync_offset;    /* of the sync arrays, SYNC_ARRAY_SIZE bytes for each team */
    uint64_t counter_offset; /* of the counters, SYNC_COUNTER_SIZE bytes for each team */
    uint64_t bounce_offset;  /* of ACLSHMEMI_BOUNCES buffers */
    uint64_t wait_timeout_ms;
    uint64_t udma_info; /* address of what seen.qp_info is for RDMA */
} aclshmemi_state_t;

static_assert(sizeof(aclshmemi_state_t) <= ACLSHMEMI_STATE_ROOM, "fits the room of an instance");

#endif
