/* SPDX-License-Identifier: Apache-2.0 */
/* A site of two PEs whose heaps are arrays of this process, and transports opened on it. */
#ifndef ROAD_H
#define ROAD_H

#include "host/transport/queue/queue.h"
#include "host_device/sync.h"
#include "support/unit.h"

enum { ROAD_HEAP_BYTES = 8 << 20, ROAD_PES = 2, ROAD_DEADLINE_MS = 60000 };

typedef struct road {
    aclshmemi_env_t env;
    char *heap
        [ROAD_PES]; /* device heaps; the host heap of PE 0 is the second half of the same memory, PE 1 has none */
    const char *device_base[ROAD_PES];
    const char *host_base[ROAD_PES];
    uint64_t control_offset;
    aclshmemi_transport_site_t site;
} road_t;

/* Device runtime, device 0, empty heaps. */
void road_open(road_t *road);
void road_close(road_t *road);

/* A transport by its table, opened and introduced to both PEs. */
void road_transport_open(road_t *road, aclshmemi_transport_t *t, const aclshmemi_transport_ops_t *ops);

static inline aclshmemi_remote_t road_at(int pe, uint64_t offset)
{
    return (aclshmemi_remote_t){pe, ACLSHMEMI_NPU_ON_DEVICE, offset};
}

#endif
