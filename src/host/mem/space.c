/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of one symmetric heap: made here, named for the peers, mapped slot by slot, handed to its allocator. */
#define LOG_MODULE "mem"
#include "host/mem/space.h"

#include <stdlib.h>
#include <string.h>

#include "host/bridge/bridge.h"
#include "host/sync/sync.h"

int aclshmemi_space_create(aclshmemi_instance_t *in, int which, uint64_t bytes)
{
    aclshmemi_space_t *space = &in->space[which];
    aclshmemi_npu_place_t place =
        which == ACLSHMEMI_SPACE_DEVICE ? ACLSHMEMI_NPU_ON_DEVICE : ACLSHMEMI_NPU_ON_HOST;
    TRY(aclshmemi_segment_create(&space->segment, place, bytes, &in->env));
    TRY(aclshmemi_heap_create(bytes, &space->heap));
    return 0;
}

int aclshmemi_space_map(aclshmemi_instance_t *in, int which, const void *blobs, size_t stride)
{
    aclshmemi_space_t *space = &in->space[which];
    aclshmemi_segment_t *segment = &space->segment;
    TRY(aclshmemi_segment_reserve(segment, in->slots, in->slot[in->pe]));
    TRY(aclshmemi_segment_map_own(segment));
    for (int pe = 0; pe < in->n_pes; pe++) {
        const void *blob = (const char *)blobs + (size_t)pe * stride;
        int slot = in->slot[pe];
        if (slot < 0)
            continue;
        if (pe != in->pe) {
            int rc = aclshmemi_segment_map_peer(segment, slot, blob);
            if (rc == ACLSHMEM_NOT_SUPPORTED) {
                log_info("PE %d runs on this host and shares no memory with PE %d: %s", pe, in->pe,
                         aclshmemi_status_last_text());
                continue;
            }
            TRY(rc);
        }
        space->peers[pe] = aclshmemi_segment_address(segment, slot);
    }
    space->bytes = segment->bytes;
    space->base = space->peers[in->pe];
    return 0;
}

void aclshmemi_space_fini(aclshmemi_instance_t *in, int which)
{
    aclshmemi_space_t *space = &in->space[which];
    space->base = NULL;
    space->bytes = 0;
    aclshmemi_heap_destroy(space->heap);
    space->heap = NULL;
    aclshmemi_segment_fini(&space->segment);
    if (space->peers != NULL)
        memset(space->peers, 0, (size_t)in->n_pes * sizeof *space->peers);
}

/* Whether each PE could make and name its memory travels with the blob, so that all of them stop together. */
typedef struct host_blob {
    aclshmemi_segment_blob_t memory;
    uint64_t made;
} host_blob_t;

static int map_host_space(aclshmemi_instance_t *in, const host_blob_t *all)
{
    for (int pe = 0; pe < in->n_pes; pe++)
        if (!all[pe].made)
            return fail(ACLSHMEM_SMEM_ERROR, "PE %d could not make its host heap of %llu bytes", pe,
                        (unsigned long long)in->space[ACLSHMEMI_SPACE_DEVICE].bytes);
    return aclshmemi_space_map(in, ACLSHMEMI_SPACE_HOST, all, sizeof *all);
}

int aclshmemi_host_space_create(aclshmemi_instance_t *in)
{
    host_blob_t own = {0};
    host_blob_t *all = calloc((size_t)in->n_pes, sizeof *all);
    if (all == NULL)
        return fail(ACLSHMEM_MALLOC_FAILED, "out of memory for the exchange with %d PEs", in->n_pes);
    own.made =
        aclshmemi_space_create(in, ACLSHMEMI_SPACE_HOST, in->space[ACLSHMEMI_SPACE_DEVICE].bytes) == 0 &&
        aclshmemi_segment_export(&in->space[ACLSHMEMI_SPACE_HOST].segment, &own.memory) == 0;
    int rc = aclshmemi_bootstrap_allgather(&in->bootstrap, &own, all, sizeof own);
    if (rc == 0) {
        uint64_t mapped = map_host_space(in, all) == 0;
        aclshmemi_fingerprint_t done = aclshmemi_fingerprint("host heap", "mapped", 1, &mapped);
        rc = aclshmemi_bootstrap_barrier(&in->bootstrap, &done);
        if (rc == 0 && !mapped)
            rc = ACLSHMEM_SMEM_ERROR;
        if (rc == 0)
            rc = aclshmemi_bridge_update(in);
    }
    free(all);
    if (rc != 0) {
        aclshmemi_await_end(in);
        aclshmemi_space_fini(in, ACLSHMEMI_SPACE_HOST);
    }
    return rc;
}
