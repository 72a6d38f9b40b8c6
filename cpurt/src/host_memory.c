/* SPDX-License-Identifier: Apache-2.0 */
/* Host memory: given out aligned, or registered by the program; the device reads it where it is. */
#include "host_memory.h"

#include <stdlib.h>

#include "memory.h"
#include "range.h"

#define ALIGNMENT ((size_t)64)

typedef struct piece {
    cpurt_range_t range;
    bool ours; /* allocated here, else registered */
} piece_t;

static cpurt_ranges_t pieces; /* guarded by cpurt_memory_lock */

static aclError remember(void *base, size_t bytes, bool ours)
{
    piece_t *const piece = malloc(sizeof *piece);
    aclError error = ACL_SUCCESS;

    if (piece == NULL)
        return cpurt_fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
                          "out of memory for the book-keeping of host memory");
    *piece = (piece_t){{base, bytes}, ours};
    (void)pthread_mutex_lock(&cpurt_memory_lock);
    const cpurt_range_t *const other = cpurt_range_overlap(&pieces, base, bytes);
    if (other != NULL)
        error = cpurt_fail(ACL_ERROR_INVALID_PARAM,
                           "host memory %p with %zu bytes overlaps %p, which is known already", base, bytes,
                           (const void *)other->base);
    else if (!cpurt_range_add(&pieces, &piece->range))
        error =
            cpurt_fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "out of memory for the book-keeping of host memory");
    (void)pthread_mutex_unlock(&cpurt_memory_lock);
    if (error != ACL_SUCCESS)
        free(piece);
    else
        cpurt_live_add(1);
    return error;
}

static bool forget(const void *base, bool ours)
{
    (void)pthread_mutex_lock(&cpurt_memory_lock);
    piece_t *const piece = (piece_t *)(void *)cpurt_range_find(&pieces, base);
    const bool found = piece != NULL && piece->range.base == base && piece->ours == ours;
    if (found)
        cpurt_range_remove(&pieces, &piece->range);
    (void)pthread_mutex_unlock(&cpurt_memory_lock);
    if (found) {
        free(piece);
        cpurt_live_add(-1);
    }
    return found;
}

aclError aclrtMallocHost(void **hostPtr, size_t size)
{
    TRY(cpurt_enter());
    if (hostPtr == NULL)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtMallocHost: hostPtr is NULL");
    if (size == 0 || size > SIZE_MAX / 4)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtMallocHost: cannot allocate %zu bytes", size);
    void *const base = aligned_alloc(ALIGNMENT, (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    if (base == NULL)
        return cpurt_fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
                          "out of memory: %zu bytes of host memory were asked for", size);
    const aclError error = remember(base, size, true);
    if (error != ACL_SUCCESS)
        free(base);
    else
        *hostPtr = base;
    return error;
}

aclError aclrtFreeHost(void *hostPtr)
{
    TRY(cpurt_enter());
    if (hostPtr == NULL)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtFreeHost: hostPtr is NULL");
    if (!forget(hostPtr, true))
        return cpurt_fail(ACL_ERROR_INVALID_PARAM,
                          "aclrtFreeHost: %p was not given out by aclrtMallocHost, or was freed before",
                          hostPtr);
    free(hostPtr);
    return ACL_SUCCESS;
}

aclError aclrtHostRegister(void *ptr, uint64_t size, aclrtHostRegisterType type, void **devPtr)
{
    TRY(cpurt_enter());
    if (ptr == NULL || devPtr == NULL || size == 0 || size > SIZE_MAX - (uintptr_t)ptr)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtHostRegister: %llu bytes at %p, address to %p",
                          (unsigned long long)size, ptr, (void *)devPtr);
    if (type != ACL_HOST_REGISTER_MAPPED)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtHostRegister: type %d; allowed is 0", (int)type);
    TRY(remember(ptr, (size_t)size, false));
    *devPtr = ptr;
    return ACL_SUCCESS;
}

aclError aclrtHostUnregister(void *ptr)
{
    TRY(cpurt_enter());
    if (ptr == NULL || !forget(ptr, false))
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtHostUnregister: %p is not registered", ptr);
    return ACL_SUCCESS;
}

bool cpurt_host_memory_has_locked(const void *address, size_t bytes)
{
    return cpurt_range_has(cpurt_range_find(&pieces, address), address, bytes);
}

void cpurt_host_memory_end_locked(void)
{
    for (piece_t *piece; (piece = (piece_t *)(void *)cpurt_range_any(&pieces)) != NULL;) {
        cpurt_range_remove(&pieces, &piece->range);
        if (piece->ours)
            free(piece->range.base);
        free(piece);
        cpurt_live_add(-1);
    }
}
