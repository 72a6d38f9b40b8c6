/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device memory: mappings of memory files that are closed at once, so that it costs no descriptor and leaves nothing
 * behind. Small requests share a 2 MiB arena; the rest have mappings of their own.
 */
#include "memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arena.h"
#include "device.h"
#include "host_memory.h"
#include "range.h"

#define MAX_DEVICES 4096
#define SMALL_BYTES ((size_t)256 << 10) /* up to this from an arena */
#define NORMAL_PAGE ((size_t)4096)
#define FILL_BYTE   0xa5
#define FILL_BYTES  ((size_t)16 << 20) /* not all of a large piece: memory is committed by that */

typedef struct block {
    cpurt_range_t range; /* the mapping */
    int device;
    size_t asked;         /* what the program may touch; 0 in arenas */
    cpurt_arena_t *arena; /* NULL for a mapping of its own */
    struct block *next;   /* arenas of all devices */
} block_t;

pthread_mutex_t cpurt_memory_lock = PTHREAD_MUTEX_INITIALIZER;
static size_t used[MAX_DEVICES];
static cpurt_ranges_t blocks;
static block_t *arenas;

/* --- Accounts; the lock is held in the functions named _locked --- */

static aclError charge_locked(int device, size_t bytes)
{
    const uint64_t total = cpurt_config()->hbm_bytes;

    if (bytes > total || used[device] > total - bytes)
        return cpurt_fail(
            ACL_ERROR_RT_MEMORY_ALLOCATION,
            "device %d has %llu bytes of memory, %zu of them in use, and %zu more were asked for; "
            "SHMEM_CPU_HBM_SIZE sets how much there is",
            device, (unsigned long long)total, used[device], bytes);
    used[device] += bytes;
    return ACL_SUCCESS;
}

aclError cpurt_charge(int device, size_t bytes)
{
    (void)pthread_mutex_lock(&cpurt_memory_lock);
    const aclError error = charge_locked(device, bytes);
    (void)pthread_mutex_unlock(&cpurt_memory_lock);
    return error;
}

void cpurt_uncharge(int device, size_t bytes)
{
    (void)pthread_mutex_lock(&cpurt_memory_lock);
    used[device] -= bytes;
    (void)pthread_mutex_unlock(&cpurt_memory_lock);
}

aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t *free_bytes, size_t *total)
{
    int device = 0;

    TRY(cpurt_enter());
    if (free_bytes == NULL || total == NULL)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetMemInfo: a pointer is NULL");
    if ((int)attr < ACL_DDR_MEM || attr > ACL_HBM_MEM_P2P_NORMAL)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetMemInfo: attribute %d; allowed are 0 to 9",
                          (int)attr);
    TRY(cpurt_device_current(&device));
    (void)pthread_mutex_lock(&cpurt_memory_lock);
    *total = (size_t)cpurt_config()->hbm_bytes;
    *free_bytes = *total - used[device];
    (void)pthread_mutex_unlock(&cpurt_memory_lock);
    return ACL_SUCCESS;
}

/* --- Blocks --- */

static void *map_memory(size_t bytes, size_t alignment, bool huge)
{
    const int fd = cpurt_memory_file("acl-hbm", bytes, false);

    if (fd < 0)
        return NULL;
    void *const base = cpurt_map_aligned(fd, bytes, alignment);
    if (base == NULL)
        (void)cpurt_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "cannot map %zu bytes of device memory: %s", bytes,
                         strerror(errno));
    else if (huge)
        (void)madvise(base, bytes, MADV_HUGEPAGE); /* a wish */
    (void)close(fd);
    return base;
}

static aclError new_block_locked(int device, size_t bytes, size_t alignment, bool huge, block_t **out)
{
    block_t *const block = calloc(1, sizeof *block);

    if (block == NULL)
        return cpurt_fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
                          "out of memory for the book-keeping of device memory");
    block->device = device;
    block->range.bytes = bytes;
    block->range.base = map_memory(bytes, alignment, huge);
    if (block->range.base == NULL) {
        free(block);
        return ACL_ERROR_RT_MEMORY_ALLOCATION;
    }
    if (!cpurt_range_add(&blocks, &block->range)) {
        (void)munmap(block->range.base, bytes);
        free(block);
        return cpurt_fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
                          "out of memory for the book-keeping of device memory");
    }
    cpurt_live_add(1);
    *out = block;
    return ACL_SUCCESS;
}

static void drop_block_locked(block_t *block)
{
    cpurt_range_remove(&blocks, &block->range);
    (void)munmap(block->range.base, block->range.bytes);
    free(block->arena);
    free(block);
    cpurt_live_add(-1);
}

static aclError add_arena_locked(int device, block_t **out)
{
    block_t *block = NULL;
    cpurt_arena_t *const arena = malloc(sizeof *arena);

    if (arena == NULL)
        return cpurt_fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
                          "out of memory for the book-keeping of device memory");
    const aclError error = new_block_locked(device, CPURT_ARENA_BYTES, CPURT_HUGE_PAGE, false, &block);
    if (error != ACL_SUCCESS) {
        free(arena);
        return error;
    }
    cpurt_arena_init(arena);
    block->arena = arena;
    block->next = arenas;
    arenas = block;
    *out = block;
    return ACL_SUCCESS;
}

static aclError take_small_locked(int device, size_t bytes, void **out)
{
    const uint32_t granules = (uint32_t)(bytes / CPURT_GRANULE);
    size_t offset = 0;
    block_t *block = arenas;

    while (block != NULL && (block->device != device || !cpurt_arena_take(block->arena, granules, &offset)))
        block = block->next;
    if (block == NULL) {
        TRY(add_arena_locked(device, &block));
        (void)cpurt_arena_take(block->arena, granules, &offset); /* an empty one has room */
    }
    *out = block->range.base + offset;
    return ACL_SUCCESS;
}

static size_t round_up(size_t bytes, size_t to)
{
    return (bytes + to - 1) / to * to;
}

static aclError allocate_locked(int device, size_t size, aclrtMemMallocPolicy policy, void **out)
{
    const bool small = size <= SMALL_BYTES;
    const size_t step = small ? CPURT_GRANULE : size < CPURT_HUGE_PAGE ? NORMAL_PAGE : CPURT_HUGE_PAGE;
    const size_t bytes = round_up(size, step);
    const bool huge = policy != ACL_MEM_MALLOC_NORMAL_ONLY && policy != ACL_MEM_MALLOC_NORMAL_ONLY_P2P;
    block_t *block = NULL;

    TRY(charge_locked(device, bytes));
    const aclError error =
        small ? take_small_locked(device, bytes, out)
              : new_block_locked(device, bytes, step, huge && step == CPURT_HUGE_PAGE, &block);
    if (error != ACL_SUCCESS) {
        used[device] -= bytes;
        return error;
    }
    if (!small) {
        block->asked = size;
        *out = block->range.base;
    }
    return ACL_SUCCESS;
}

aclError aclrtMalloc(void **devPtr, size_t size, aclrtMemMallocPolicy policy)
{
    int device = 0;
    void *address = NULL;

    TRY(cpurt_enter());
    if (devPtr == NULL)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtMalloc: devPtr is NULL");
    if (size == 0 || size > SIZE_MAX / 4)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtMalloc: cannot allocate %zu bytes", size);
    if ((int)policy < ACL_MEM_MALLOC_HUGE_FIRST || policy > ACL_MEM_MALLOC_NORMAL_ONLY_P2P)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtMalloc: policy %d; allowed are 0 to 5", (int)policy);
    TRY(cpurt_device_current(&device));
    (void)pthread_mutex_lock(&cpurt_memory_lock);
    const aclError error = allocate_locked(device, size, policy, &address);
    (void)pthread_mutex_unlock(&cpurt_memory_lock);
    TRY(error);
    if (cpurt_config()->check) /* on a card it is not zero either */
        memset(address, FILL_BYTE, size < FILL_BYTES ? size : FILL_BYTES);
    *devPtr = address;
    return ACL_SUCCESS;
}

static void unlink_arena_locked(const block_t *block)
{
    for (block_t **at = &arenas; *at != NULL; at = &(*at)->next)
        if (*at == block) {
            *at = block->next;
            return;
        }
}

static aclError free_locked(void *address)
{
    block_t *const block = (block_t *)(void *)cpurt_range_find(&blocks, address);
    const size_t offset = block == NULL ? 0 : (size_t)((char *)address - block->range.base);
    size_t start = 0, bytes = 0;

    if (block != NULL)
        bytes = block->arena == NULL ? block->range.bytes : cpurt_arena_piece(block->arena, offset, &start);
    if (bytes == 0 || start != offset)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM,
                          "aclrtFree: %p was not given out by aclrtMalloc, or was freed before", address);
    used[block->device] -= bytes;
    if (block->arena == NULL) {
        drop_block_locked(block);
    } else {
        (void)cpurt_arena_give(block->arena, offset);
        if (block->arena->used_count == 0) {
            unlink_arena_locked(block);
            drop_block_locked(block);
        }
    }
    return ACL_SUCCESS;
}

aclError aclrtFree(void *devPtr)
{
    TRY(cpurt_enter());
    if (devPtr == NULL)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtFree: devPtr is NULL");
    (void)pthread_mutex_lock(&cpurt_memory_lock);
    const aclError error = free_locked(devPtr);
    (void)pthread_mutex_unlock(&cpurt_memory_lock);
    return error;
}

/* Bytes from the address to the end of the piece of the block it is in. */
static size_t room_in(const block_t *block, const void *address)
{
    const size_t offset = (size_t)((const char *)address - block->range.base);
    size_t start = 0;
    const size_t piece =
        block->arena == NULL ? block->asked : cpurt_arena_piece(block->arena, offset, &start);

    return piece > offset - start ? piece - (offset - start) : 0;
}

aclError cpurt_memory_look(const void *address, size_t count, const char *what, bool *known)
{
    size_t room = SIZE_MAX;

    (void)pthread_mutex_lock(&cpurt_memory_lock);
    const block_t *const block = (const block_t *)(const void *)cpurt_range_find(&blocks, address);
    if (block != NULL)
        room = room_in(block, address);
    *known = block != NULL || cpurt_host_memory_has_locked(address, count);
    (void)pthread_mutex_unlock(&cpurt_memory_lock);
    if (count > room)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "%s: %zu bytes at %p, where device memory ends after %zu",
                          what, count, address, room);
    return ACL_SUCCESS;
}

aclError cpurt_memory_check(const void *address, size_t count, const char *what)
{
    bool known = false;

    return cpurt_memory_look(address, count, what, &known);
}

void cpurt_memory_end(void)
{
    (void)pthread_mutex_lock(&cpurt_memory_lock);
    arenas = NULL;
    for (block_t *block; (block = (block_t *)(void *)cpurt_range_any(&blocks)) != NULL;)
        drop_block_locked(block);
    cpurt_host_memory_end_locked();
    memset(used, 0, sizeof used);
    (void)pthread_mutex_unlock(&cpurt_memory_lock);
}
