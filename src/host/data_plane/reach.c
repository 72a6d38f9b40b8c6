/* SPDX-License-Identifier: Apache-2.0 */
/* The slow half of address translation, and the words for every way it can go wrong. */
#define LOG_MODULE "rma"
#include "host/data_plane/reach.h"

#include "host/data_plane/shmem_host_rma.h"

static const aclshmemi_space_t *space_of(const aclshmemi_instance_t *in, const void *address)
{
    for (int i = 0; i < ACLSHMEMI_SPACE_COUNT; i++) {
        const aclshmemi_space_t *space = &in->space[i];
        if (space->base != NULL && (uintptr_t)address - (uintptr_t)space->base < space->bytes)
            return space;
    }
    return NULL;
}

int aclshmemi_reach_slowly(const aclshmemi_instance_t *in, const char *call, const void *address,
                           size_t bytes, int pe, aclshmemi_target_t *target)
{
    if (in->n_pes == 0)
        return aclshmemi_instance_missing(call);
    if (pe < 0 || pe >= in->n_pes)
        return fail(ACLSHMEM_INVALID_PARAM, "%s: PE %d does not exist, PEs are 0..%d", call, pe,
                    in->n_pes - 1);
    const aclshmemi_space_t *space = space_of(in, address);
    if (space == NULL)
        return fail(
            ACLSHMEM_INVALID_PARAM,
            "%s: %p is not in the symmetric heap (%p, %llu bytes); the operand on PE %d must come from "
            "aclshmem_malloc",
            call, address, (void *)in->space[ACLSHMEMI_SPACE_DEVICE].base,
            (unsigned long long)in->space[ACLSHMEMI_SPACE_DEVICE].bytes, pe);
    uint64_t offset = (uintptr_t)address - (uintptr_t)space->base;
    if (bytes > space->bytes - offset)
        return fail(ACLSHMEM_INVALID_PARAM,
                    "%s: %zu bytes at heap offset %llu pass the end of the heap of %llu bytes", call, bytes,
                    (unsigned long long)offset, (unsigned long long)space->bytes);
    aclshmemi_transport_t *transport = in->transports.by_pe[pe];
    if (transport == NULL)
        return fail(ACLSHMEM_NOT_SUPPORTED,
                    "%s: PE %d shares no memory with this PE and no engine that reaches other hosts is open",
                    call, pe);
    bool on_device = space == &in->space[ACLSHMEMI_SPACE_DEVICE];
    *target = (aclshmemi_target_t){
        .transport = transport,
        .remote = {pe, on_device ? ACLSHMEMI_NPU_ON_DEVICE : ACLSHMEMI_NPU_ON_HOST, offset},
    };
    /* Host memory can be touched on every runtime; device memory where the runtime says so. */
    if (space->peers[pe] != NULL && in->mte)
        target->mapped = space->peers[pe] + offset;
    if (in->touch || !on_device)
        target->address = target->mapped;
    return 0;
}

void *aclshmem_ptr(void *ptr, int pe)
{
    const aclshmemi_instance_t *in = aclshmemi_current();
    const aclshmemi_space_t *space = pe >= 0 && pe < in->n_pes ? space_of(in, ptr) : NULL;
    if (space == NULL || space->peers[pe] == NULL)
        return NULL;
    return space->peers[pe] + ((uintptr_t)ptr - (uintptr_t)space->base);
}
