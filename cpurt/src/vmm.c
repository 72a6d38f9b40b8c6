/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reserved address space and what is mapped into it. A reservation is a mapping nobody may touch; memory goes in over
 * it and comes out by putting the reservation back, in one step each, so nothing else can slip in between.
 */
#include "vmm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif
#define RESERVE_FLAGS (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)

typedef struct mapping {
    cpurt_range_t range;
    cpurt_physical_t *physical; /* a reference */
} mapping_t;

typedef struct reservation {
    cpurt_range_t range;
    cpurt_ranges_t mappings;
} reservation_t;

static cpurt_ranges_t reservations; /* guarded by cpurt_vmm_lock */

/* --- Reserving --- */

static char *reserve_at(char *wanted, size_t bytes)
{
    char *const got = mmap(wanted, bytes, PROT_NONE, RESERVE_FLAGS | MAP_FIXED_NOREPLACE, -1, 0);

    if (got == MAP_FAILED || got == wanted)
        return got == MAP_FAILED ? NULL : got;
    (void)munmap(got, bytes); /* a kernel that takes the flag for a hint */
    return NULL;
}

static char *reserve_anywhere(size_t bytes, size_t alignment)
{
    char *const area = mmap(NULL, bytes + alignment, PROT_NONE, RESERVE_FLAGS, -1, 0);

    if (area == MAP_FAILED)
        return NULL;
    char *const base = area + (alignment - (uintptr_t)area % alignment) % alignment;
    if (base > area)
        (void)munmap(area, (size_t)(base - area));
    (void)munmap(base + bytes, (size_t)(area + alignment - base));
    return base;
}

static aclError add_reservation(char *base, size_t bytes)
{
    reservation_t *const reservation = calloc(1, sizeof *reservation);
    bool added = false;

    if (reservation != NULL) {
        reservation->range = (cpurt_range_t){base, bytes};
        (void)pthread_mutex_lock(&cpurt_vmm_lock);
        added = cpurt_range_add(&reservations, &reservation->range);
        (void)pthread_mutex_unlock(&cpurt_vmm_lock);
    }
    if (!added) {
        free(reservation);
        (void)munmap(base, bytes);
        return cpurt_fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
                          "out of memory for the book-keeping of address space");
    }
    cpurt_live_add(1);
    return ACL_SUCCESS;
}

aclError aclrtReserveMemAddress(void **virPtr, size_t size, size_t alignment, void *expectPtr, uint64_t flags)
{
    TRY(cpurt_enter());
    if (virPtr == NULL || size == 0 || size > SIZE_MAX / 4)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM,
                          "aclrtReserveMemAddress: cannot reserve %zu bytes for pointer %p", size,
                          (void *)virPtr);
    if ((alignment & (alignment - 1)) != 0 || alignment > SIZE_MAX / 4)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtReserveMemAddress: alignment %zu is no power of two",
                          alignment);
    if (flags > 1)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtReserveMemAddress: flags %llu; allowed are 0 and 1",
                          (unsigned long long)flags);
    const size_t step = alignment < CPURT_HUGE_PAGE ? CPURT_HUGE_PAGE : alignment;
    const size_t bytes = (size + CPURT_HUGE_PAGE - 1) / CPURT_HUGE_PAGE * CPURT_HUGE_PAGE;
    char *base = NULL;
    if (expectPtr != NULL && (uintptr_t)expectPtr % step == 0)
        base = reserve_at(expectPtr, bytes);
    if (base == NULL)
        base = reserve_anywhere(bytes, step);
    if (base == NULL)
        return cpurt_fail(
            ACL_ERROR_RT_MEMORY_ALLOCATION,
            "cannot reserve %zu bytes of address space: %s; look at the limit on it (ulimit -v)", bytes,
            strerror(errno));
    TRY(add_reservation(base, bytes));
    *virPtr = base;
    return ACL_SUCCESS;
}

aclError aclrtReleaseMemAddress(void *virPtr)
{
    aclError error = ACL_SUCCESS;

    TRY(cpurt_enter());
    (void)pthread_mutex_lock(&cpurt_vmm_lock);
    reservation_t *const reservation = (reservation_t *)(void *)cpurt_range_find(&reservations, virPtr);
    if (reservation == NULL || reservation->range.base != virPtr) {
        error = cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtReleaseMemAddress: no reservation starts at %p",
                           virPtr);
    } else if (cpurt_range_any(&reservation->mappings) != NULL) {
        error = cpurt_fail(
            ACL_ERROR_INVALID_PARAM,
            "aclrtReleaseMemAddress: memory is still mapped at %p in the range at %p; unmap it first",
            (void *)cpurt_range_any(&reservation->mappings)->base, virPtr);
    } else {
        cpurt_range_remove(&reservations, &reservation->range);
        (void)munmap(reservation->range.base, reservation->range.bytes);
        free(reservation);
        cpurt_live_add(-1);
    }
    (void)pthread_mutex_unlock(&cpurt_vmm_lock);
    return error;
}

/* --- Mapping; the lock is held in the functions named _locked --- */

static aclError find_place_locked(const char *call, char *at, size_t size, reservation_t **out)
{
    reservation_t *const reservation = (reservation_t *)(void *)cpurt_range_find(&reservations, at);

    if (size == 0 || size % CPURT_HUGE_PAGE != 0 || (uintptr_t)at % CPURT_HUGE_PAGE != 0)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "%s: %zu bytes at %p; both must be multiples of 2 MiB",
                          call, size, (void *)at);
    if (reservation == NULL || size > reservation->range.bytes - (size_t)(at - reservation->range.base))
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "%s: %zu bytes at %p are not inside one reservation", call,
                          size, (void *)at);
    const cpurt_range_t *const other = cpurt_range_overlap(&reservation->mappings, at, size);
    if (other != NULL)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "%s: %zu bytes at %p overlap what is mapped at %p", call,
                          size, (void *)at, (const void *)other->base);
    *out = reservation;
    return ACL_SUCCESS;
}

static bool put_reservation_back(char *base, size_t bytes)
{
    return mmap(base, bytes, PROT_NONE, RESERVE_FLAGS | MAP_FIXED, -1, 0) != MAP_FAILED;
}

/* Maps the file, or doubles the mapping at source where the file is closed already. */
static aclError map_locked(char *at, size_t size, char *source, const cpurt_physical_t *physical)
{
    void *got = MAP_FAILED;

    if (physical->fd >= 0)
        got = mmap(at, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, physical->fd, 0);
    else if (source != NULL)
        got = mremap(source, 0, size, MREMAP_MAYMOVE | MREMAP_FIXED, at);
    else
        errno = EBADF;
    if (got == MAP_FAILED) {
        const int failed = errno;

        (void)put_reservation_back(at, size); /* most failures come before anything has changed */
        return cpurt_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "cannot map %zu bytes at %p: %s", size, (void *)at,
                          failed == EBADF ? "the memory has been freed" : strerror(failed));
    }
    if (physical->wants_huge)
        (void)madvise(at, size, MADV_HUGEPAGE); /* a wish */
    return ACL_SUCCESS;
}

/* On success the caller's reference to physical has gone into the mapping. */
static aclError add_mapping_locked(reservation_t *reservation, char *at, size_t size, char *source,
                                   cpurt_physical_t *physical)
{
    mapping_t *const mapping = malloc(sizeof *mapping);

    if (mapping == NULL)
        return cpurt_fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
                          "out of memory for the book-keeping of a mapping");
    *mapping = (mapping_t){{at, size}, physical};
    if (!cpurt_range_add(&reservation->mappings, &mapping->range)) {
        free(mapping);
        return cpurt_fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
                          "out of memory for the book-keeping of a mapping");
    }
    const aclError error = map_locked(at, size, source, physical);
    if (error != ACL_SUCCESS) {
        cpurt_range_remove(&reservation->mappings, &mapping->range);
        free(mapping);
    }
    return error;
}

aclError aclrtMapMem(void *virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle, uint64_t flags)
{
    cpurt_physical_t *physical = NULL;
    reservation_t *reservation = NULL;

    TRY(cpurt_enter());
    if (offset != 0 || flags != 0)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtMapMem: offset %zu and flags %llu; both must be 0",
                          offset, (unsigned long long)flags);
    TRY(cpurt_physical_get(handle, &physical));
    (void)pthread_mutex_lock(&cpurt_vmm_lock);
    aclError error =
        size <= physical->bytes
            ? find_place_locked("aclrtMapMem", virPtr, size, &reservation)
            : cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtMapMem: %zu bytes asked for, the memory has %zu",
                         size, physical->bytes);
    if (error == ACL_SUCCESS)
        error = add_mapping_locked(reservation, virPtr, size, NULL, physical);
    (void)pthread_mutex_unlock(&cpurt_vmm_lock);
    if (error != ACL_SUCCESS)
        cpurt_physical_put(physical);
    return error;
}

static mapping_t *find_mapping_locked(const void *address, reservation_t **in)
{
    reservation_t *const reservation = (reservation_t *)(void *)cpurt_range_find(&reservations, address);

    if (in != NULL)
        *in = reservation;
    return reservation == NULL ? NULL
                               : (mapping_t *)(void *)cpurt_range_find(&reservation->mappings, address);
}

static aclError unmap_locked(void *address, cpurt_physical_t **physical)
{
    reservation_t *reservation = NULL;
    mapping_t *const mapping = find_mapping_locked(address, &reservation);

    if (mapping == NULL || mapping->range.base != address)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtUnmapMem: nothing that was mapped starts at %p",
                          address);
    if (!put_reservation_back(mapping->range.base, mapping->range.bytes))
        return cpurt_fail(ACL_ERROR_RT_MEMORY_FREE, "cannot unmap %zu bytes at %p: %s", mapping->range.bytes,
                          address, strerror(errno));
    cpurt_range_remove(&reservation->mappings, &mapping->range);
    *physical = mapping->physical;
    free(mapping);
    return ACL_SUCCESS;
}

aclError aclrtUnmapMem(void *virPtr)
{
    cpurt_physical_t *physical = NULL;

    TRY(cpurt_enter());
    (void)pthread_mutex_lock(&cpurt_vmm_lock);
    const aclError error = unmap_locked(virPtr, &physical);
    (void)pthread_mutex_unlock(&cpurt_vmm_lock);
    cpurt_physical_put(physical); /* not under the lock: the last one takes it */
    return error;
}

aclError aclrtMemMapSelectedLink(void *virPtr2, size_t size, void *virPtr1, uint32_t linkIdx2)
{
    reservation_t *reservation = NULL;

    TRY(cpurt_enter());
    (void)linkIdx2; /* there is one way to the memory of this machine */
    (void)pthread_mutex_lock(&cpurt_vmm_lock);
    mapping_t *const source = find_mapping_locked(virPtr1, NULL);
    aclError error = ACL_SUCCESS;
    if (source == NULL || source->range.base != virPtr1 || size > source->range.bytes)
        error = cpurt_fail(ACL_ERROR_INVALID_PARAM,
                           "aclrtMemMapSelectedLink: no mapping of %zu bytes starts at %p", size, virPtr1);
    else
        error = find_place_locked("aclrtMemMapSelectedLink", virPtr2, size, &reservation);
    if (error == ACL_SUCCESS)
        error = add_mapping_locked(reservation, virPtr2, size, virPtr1, source->physical);
    if (error == ACL_SUCCESS)
        cpurt_object_hold(&source->physical->object);
    (void)pthread_mutex_unlock(&cpurt_vmm_lock);
    return error;
}

aclError cpurt_vmm_check(const void *address, size_t count, const char *what, bool *known)
{
    const char *at = address;
    const char *const end = at + count;

    (void)pthread_mutex_lock(&cpurt_vmm_lock);
    *known = cpurt_range_overlap(&reservations, address, count) != NULL;
    if (*known)
        for (const mapping_t *mapping = NULL; at < end; at = mapping->range.base + mapping->range.bytes)
            if ((mapping = find_mapping_locked(at, NULL)) == NULL)
                break;
    (void)pthread_mutex_unlock(&cpurt_vmm_lock);
    if (*known && at < end)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "%s: %zu bytes at %p, and nothing is mapped at %p", what,
                          count, address, (const void *)at);
    return ACL_SUCCESS;
}

static aclError check_access(const aclrtMemAccessDesc *desc)
{
    if (desc->flags != ACL_RT_MEM_ACCESS_FLAGS_NONE && desc->flags != ACL_RT_MEM_ACCESS_FLAGS_READ &&
        desc->flags != ACL_RT_MEM_ACCESS_FLAGS_READWRITE)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtMemSetAccess: access %d; allowed are 0, 1 and 3",
                          (int)desc->flags);
    if ((int)desc->location.type < ACL_MEM_LOCATION_TYPE_HOST ||
        desc->location.type > ACL_MEM_LOCATION_TYPE_HOST_NUMA)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtMemSetAccess: location type %d; allowed are 0 to 2",
                          (int)desc->location.type);
    return desc->location.type == ACL_MEM_LOCATION_TYPE_DEVICE ? cpurt_device_check(desc->location.id)
                                                               : ACL_SUCCESS;
}

aclError aclrtMemSetAccess(void *virPtr, size_t size, aclrtMemAccessDesc *desc, size_t count)
{
    const char *at = virPtr;
    const char *const end = (const char *)((uintptr_t)virPtr + size);

    TRY(cpurt_enter());
    if (virPtr == NULL || size == 0 || desc == NULL || count == 0 || end < at)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtMemSetAccess: a pointer is NULL, or a size is 0");
    for (size_t i = 0; i < count; i++)
        TRY(check_access(&desc[i]));
    (void)pthread_mutex_lock(&cpurt_vmm_lock);
    for (const mapping_t *mapping = NULL; at < end; at = mapping->range.base + mapping->range.bytes)
        if ((mapping = find_mapping_locked(at, NULL)) == NULL)
            break;
    (void)pthread_mutex_unlock(&cpurt_vmm_lock);
    return at >= end ? ACL_SUCCESS
                     : cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtMemSetAccess: nothing is mapped at %p",
                                  (const void *)at);
}
