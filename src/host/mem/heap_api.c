/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The symmetric heap's front. Each allocating call takes its block, then meets the peers in one control barrier that
 * carries what was asked for; a call whose arguments differ, or that some PE cannot serve, gives the block back and
 * returns NULL everywhere. The allocator's lock is never held across the barrier.
 */
#define LOG_MODULE "mem"
#include "host/mem/shmem_host_heap.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "host/mem/space.h"
#include "host/sync/sync.h"

/* One request, as the user made it. */
typedef struct request {
    const char *call;
    size_t count; /* calloc: elements; 1 otherwise */
    size_t size;
    size_t alignment;
    aclshmem_mem_type_t type;
    bool zeroed;
} request_t;

static int space_index(aclshmem_mem_type_t type)
{
    return type == DEVICE_SIDE ? ACLSHMEMI_SPACE_DEVICE : ACLSHMEMI_SPACE_HOST;
}

/* needed: size of a heap that would have served the request after the same calls. */
static void explain_no_room(const request_t *request, uint64_t bytes, uint64_t needed,
                            const aclshmemi_heap_stats_t *stats)
{
    char advice[128] = "no heap can be that large";
    if (needed <= stats->size)
        snprintf(advice, sizeof advice, "this process has no memory for the record of a block");
    else if (needed <= ACLSHMEM_MAX_LOCAL_SIZE)
        snprintf(advice, sizeof advice, "local_mem_size or SHMEM_SYMMETRIC_SIZE of %" PRIu64 " would do",
                 (uint64_t)ALIGN_TO(needed - ACLSHMEM_EXTRA_SIZE, ACLSHMEM_PAGE_SIZE));
    (void)!fail(ACLSHMEM_MALLOC_FAILED,
                "%s: no block of %" PRIu64 " bytes (alignment %zu): %" PRIu64
                " bytes are free, the largest block is %" PRIu64 ", heap size %" PRIu64 ", peak %" PRIu64
                "; %s",
                request->call, bytes, request->alignment, stats->free, stats->largest_free, stats->size,
                stats->peak, advice);
}

/* The local half: a block, or ACLSHMEMI_HEAP_NONE with the reason logged (size 0 is no mistake, only no block). */
static uint64_t take_block(aclshmemi_instance_t *in, const request_t *request)
{
    size_t bytes;
    if (request->count == 0 || request->size == 0)
        return ACLSHMEMI_HEAP_NONE;
    if (__builtin_mul_overflow(request->count, request->size, &bytes)) {
        (void)!fail(ACLSHMEM_INVALID_VALUE, "%s: %zu elements of %zu bytes are more than memory can hold",
                    request->call, request->count, request->size);
        return ACLSHMEMI_HEAP_NONE;
    }
    if (request->alignment == 0 || (request->alignment & (request->alignment - 1)) != 0) {
        (void)!fail(ACLSHMEM_INVALID_PARAM, "%s: alignment %zu is not a power of two", request->call,
                    request->alignment);
        return ACLSHMEMI_HEAP_NONE;
    }
    aclshmemi_space_t *space = &in->space[space_index(request->type)];
    aclshmemi_heap_stats_t stats;
    pthread_mutex_lock(&in->heap_lock);
    uint64_t offset = aclshmemi_heap_alloc(space->heap, bytes, request->alignment);
    uint64_t needed = 0;
    if (offset == ACLSHMEMI_HEAP_NONE) {
        aclshmemi_heap_stats(space->heap, &stats);
        needed = aclshmemi_heap_size_for(space->heap, bytes, request->alignment);
    }
    pthread_mutex_unlock(&in->heap_lock);
    if (offset == ACLSHMEMI_HEAP_NONE)
        explain_no_room(request, bytes, needed, &stats);
    return offset;
}

static int give_back(aclshmemi_instance_t *in, aclshmemi_space_t *space, uint64_t offset)
{
    pthread_mutex_lock(&in->heap_lock);
    int rc = aclshmemi_heap_free(space->heap, offset);
    pthread_mutex_unlock(&in->heap_lock);
    return rc;
}

static int zero_block(const aclshmemi_instance_t *in, const request_t *request, char *address)
{
    size_t bytes = request->count * request->size;
    if (request->type == DEVICE_SIDE && !in->touch)
        return npu_fill(address, 0, bytes);
    memset(address, 0, bytes);
    return 0;
}

/* The common half: everybody is here and asked for the same, and everybody got it. */
static int agree(aclshmemi_instance_t *in, const request_t *request, bool served)
{
    uint64_t args[] = {request->count, request->size, request->alignment, (uint64_t)request->type, served};
    aclshmemi_fingerprint_t asked =
        aclshmemi_fingerprint(request->call, "count size alignment heap served", 5, args);
    aclshmemi_activity_set(in, ACLSHMEMI_CALL_MALLOC);
    int rc = aclshmemi_bootstrap_barrier(&in->bootstrap, &asked);
    aclshmemi_activity_set(in, ACLSHMEMI_CALL_NONE);
    if (rc != 0)
        aclshmemi_await_end(in);
    return rc;
}

static void *allocate(const request_t *request)
{
    aclshmemi_instance_t *in = aclshmemi_current();
    if (in->n_pes == 0) {
        (void)!aclshmemi_instance_missing(request->call);
        return NULL;
    }
    if (request->type != DEVICE_SIDE && request->type != HOST_SIDE) {
        (void)!fail(ACLSHMEM_INVALID_PARAM,
                    "%s: memory type %d is unknown, HOST_SIDE (0) and DEVICE_SIDE (1) are allowed",
                    request->call, (int)request->type);
        (void)!agree(in, request, false);
        return NULL;
    }
    aclshmemi_space_t *space = &in->space[space_index(request->type)];
    if (space->base == NULL && aclshmemi_host_space_create(in) != 0)
        return NULL;
    uint64_t offset = take_block(in, request);
    bool served = offset != ACLSHMEMI_HEAP_NONE;
    if (served && request->zeroed && zero_block(in, request, space->base + offset) != 0)
        served = false;
    int rc = agree(in, request, served);
    if (rc == 0 && served)
        return space->base + offset;
    if (offset != ACLSHMEMI_HEAP_NONE)
        (void)!give_back(in, space, offset);
    return NULL;
}

void *aclshmemx_malloc(size_t size, aclshmem_mem_type_t mem_type)
{
    return allocate(&(request_t){"malloc", 1, size, ACLSHMEMI_HEAP_GRANULARITY, mem_type, false});
}

void *aclshmemx_calloc(size_t count, size_t size, aclshmem_mem_type_t mem_type)
{
    return allocate(&(request_t){"calloc", count, size, ACLSHMEMI_HEAP_GRANULARITY, mem_type, true});
}

void *aclshmemx_align(size_t alignment, size_t size, aclshmem_mem_type_t mem_type)
{
    return allocate(&(request_t){"align", 1, size, alignment, mem_type, false});
}

void *aclshmem_malloc(size_t size)
{
    return aclshmemx_malloc(size, DEVICE_SIDE);
}

void *aclshmem_calloc(size_t nmemb, size_t size)
{
    return aclshmemx_calloc(nmemb, size, DEVICE_SIDE);
}

void *aclshmem_align(size_t alignment, size_t size)
{
    return aclshmemx_align(alignment, size, DEVICE_SIDE);
}

/* Offset of an address in its heap, or ACLSHMEMI_HEAP_NONE, which no live block has. */
static uint64_t offset_in(const aclshmemi_space_t *space, const void *address)
{
    uint64_t offset = (uintptr_t)address - (uintptr_t)space->base;
    return space->base != NULL && offset < space->bytes ? offset : ACLSHMEMI_HEAP_NONE;
}

void aclshmemx_free(void *ptr, aclshmem_mem_type_t mem_type)
{
    aclshmemi_instance_t *in = aclshmemi_current();
    if (ptr == NULL)
        return;
    if (in->n_pes == 0) {
        (void)!aclshmemi_instance_missing("free");
        return;
    }
    bool known = mem_type == DEVICE_SIDE || mem_type == HOST_SIDE;
    aclshmemi_space_t *space = &in->space[space_index(mem_type)];
    uint64_t offset = known ? offset_in(space, ptr) : ACLSHMEMI_HEAP_NONE;
    uint64_t args[] = {offset, (uint64_t)mem_type};
    aclshmemi_fingerprint_t asked = aclshmemi_fingerprint("free", "offset heap", 2, args);
    aclshmemi_activity_set(in, ACLSHMEMI_CALL_FREE);
    int rc = aclshmemi_quiet(in);
    if (rc == 0)
        rc = aclshmemi_bootstrap_barrier(&in->bootstrap, &asked);
    aclshmemi_activity_set(in, ACLSHMEMI_CALL_NONE);
    if (rc != 0) {
        aclshmemi_await_end(in);
        return;
    }
    if (offset == ACLSHMEMI_HEAP_NONE)
        (void)!fail(ACLSHMEM_INVALID_PARAM, "free: %p is not in the %s heap; nothing is freed", ptr,
                    !known                    ? "(unknown)"
                    : mem_type == DEVICE_SIDE ? "device"
                                              : "host");
    else if (give_back(in, space, offset) != 0)
        (void)!fail(ACLSHMEM_INVALID_PARAM,
                    "free: %p (offset %" PRIu64 ") is not the start of a live block; nothing is freed", ptr,
                    offset);
}

void aclshmem_free(void *ptr)
{
    aclshmemx_free(ptr, DEVICE_SIDE);
}

void *aclshmemx_get_heap_base(aclshmem_mem_type_t mem_type)
{
    const aclshmemi_instance_t *in = aclshmemi_current();
    if (mem_type != DEVICE_SIDE && mem_type != HOST_SIDE)
        return NULL;
    return in->space[space_index(mem_type)].base;
}

int aclshmemx_heap_info(aclshmem_mem_type_t mem_type, aclshmemx_heap_info_t *info)
{
    aclshmemi_instance_t *in = aclshmemi_current();
    if (info == NULL || (mem_type != DEVICE_SIDE && mem_type != HOST_SIDE))
        return fail(ACLSHMEM_INVALID_PARAM, "heap_info: memory type %d or the place for the answer is wrong",
                    (int)mem_type);
    if (in->n_pes == 0)
        return aclshmemi_instance_missing("heap_info");
    const aclshmemi_space_t *space = &in->space[space_index(mem_type)];
    if (space->base == NULL)
        return fail(ACLSHMEM_NOT_INITED,
                    "heap_info: there is no host heap yet; the first HOST_SIDE allocation makes it");
    aclshmemi_heap_stats_t stats;
    pthread_mutex_lock(&in->heap_lock);
    aclshmemi_heap_stats(space->heap, &stats);
    pthread_mutex_unlock(&in->heap_lock);
    *info = (aclshmemx_heap_info_t){stats.size,         stats.used, stats.free,
                                    stats.largest_free, stats.peak, stats.blocks};
    return 0;
}
