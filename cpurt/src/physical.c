/* SPDX-License-Identifier: Apache-2.0 */
/* Physical memory: memory files of a fixed size, on reserved huge pages where asked for and given. */
#include <stdlib.h>
#include <unistd.h>

#include "device.h"
#include "memory.h"
#include "share.h"
#include "vmm.h"

pthread_mutex_t cpurt_vmm_lock = PTHREAD_MUTEX_INITIALIZER;
static cpurt_physical_t *all;

static void destroy(cpurt_object_t *object)
{
    cpurt_physical_t *const physical = (cpurt_physical_t *)(void *)object;

    (void)pthread_mutex_lock(&cpurt_vmm_lock);
    if (physical->previous != NULL)
        physical->previous->next = physical->next;
    else
        all = physical->next;
    if (physical->next != NULL)
        physical->next->previous = physical->previous;
    if (physical->fd >= 0)
        (void)close(physical->fd);
    const int device = physical->device;
    (void)pthread_mutex_unlock(&cpurt_vmm_lock);
    if (device >= 0)
        cpurt_uncharge(device, physical->bytes);
    free(physical);
}

aclError cpurt_physical_make(int fd, const cpurt_physical_t *like, void **handle)
{
    cpurt_physical_t *const physical = calloc(1, sizeof *physical);

    if (physical == NULL) {
        (void)close(fd);
        return cpurt_fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
                          "out of memory for the book-keeping of physical memory");
    }
    cpurt_object_init(&physical->object, CPURT_PHYSICAL, destroy);
    physical->fd = fd;
    physical->bytes = like->bytes;
    physical->device = like->device;
    physical->wants_huge = like->wants_huge;
    physical->hugetlb = like->hugetlb;
    physical->host = like->host;
    (void)pthread_mutex_lock(&cpurt_vmm_lock);
    physical->next = all;
    if (all != NULL)
        all->previous = physical;
    all = physical;
    (void)pthread_mutex_unlock(&cpurt_vmm_lock);
    const aclError error = cpurt_handle_create(&physical->object);
    if (error != ACL_SUCCESS) {
        physical->device = -1; /* the caller undoes the charge */
        cpurt_physical_put(physical);
        return error;
    }
    *handle = physical->object.handle;
    return ACL_SUCCESS;
}

aclError cpurt_physical_get(const void *handle, cpurt_physical_t **physical)
{
    cpurt_object_t *object = NULL;

    TRY(cpurt_handle_get(handle, CPURT_PHYSICAL, &object));
    *physical = (cpurt_physical_t *)(void *)object;
    return ACL_SUCCESS;
}

void cpurt_physical_put(cpurt_physical_t *physical)
{
    if (physical != NULL)
        cpurt_object_put(&physical->object);
}

static bool asks_for_huge(aclrtMemAttr attr)
{
    return attr == ACL_DDR_MEM_HUGE || attr == ACL_HBM_MEM_HUGE || attr == ACL_DDR_MEM_P2P_HUGE ||
           attr == ACL_HBM_MEM_P2P_HUGE;
}

static aclError check_properties(size_t size, const aclrtPhysicalMemProp *prop)
{
    if (size == 0 || size % CPURT_HUGE_PAGE != 0)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM,
                          "aclrtMallocPhysical: %zu bytes; the size must be a multiple of 2 MiB", size);
    if (prop->handleType != ACL_MEM_HANDLE_TYPE_NONE ||
        prop->allocationType != ACL_MEM_ALLOCATION_TYPE_PINNED)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM,
                          "aclrtMallocPhysical: handle type %d and allocation type %d; allowed are 0 and 0",
                          (int)prop->handleType, (int)prop->allocationType);
    if ((int)prop->memAttr < ACL_DDR_MEM || prop->memAttr > ACL_HBM_MEM_P2P_NORMAL)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtMallocPhysical: attribute %d; allowed are 0 to 9",
                          (int)prop->memAttr);
    if ((int)prop->location.type < ACL_MEM_LOCATION_TYPE_HOST ||
        prop->location.type > ACL_MEM_LOCATION_TYPE_HOST_NUMA)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM,
                          "aclrtMallocPhysical: location type %d; allowed are 0 to 2",
                          (int)prop->location.type);
    return prop->location.type == ACL_MEM_LOCATION_TYPE_DEVICE ? cpurt_device_check(prop->location.id)
                                                               : ACL_SUCCESS;
}

aclError aclrtMallocPhysical(aclrtDrvMemHandle *handle, size_t size, const aclrtPhysicalMemProp *prop,
                             uint64_t flags)
{
    cpurt_physical_t like = {.bytes = size, .device = -1};

    TRY(cpurt_enter());
    if (handle == NULL || prop == NULL || flags != 0)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM,
                          "aclrtMallocPhysical: a pointer is NULL, or flags are not 0");
    TRY(check_properties(size, prop));
    like.host = prop->location.type != ACL_MEM_LOCATION_TYPE_DEVICE;
    if (!like.host)
        like.device = (int)prop->location.id;
    if (like.device >= 0)
        TRY(cpurt_charge(like.device, size));
    const char *const label = like.host ? "acl-host" : "acl-hbm";
    int fd = -1;
    if (asks_for_huge(prop->memAttr)) {
        fd = cpurt_memory_file(label, size, true);
        like.hugetlb = fd >= 0;
        like.wants_huge = !like.hugetlb;
    }
    if (fd < 0)
        fd = cpurt_memory_file(label, size, false);
    const aclError error = fd < 0 ? ACL_ERROR_RT_MEMORY_ALLOCATION : cpurt_physical_make(fd, &like, handle);
    if (error != ACL_SUCCESS && like.device >= 0)
        cpurt_uncharge(like.device, size);
    return error;
}

/* The memory lives on in its mappings; what goes is every way to make new ones. */
static void give_up(cpurt_physical_t *physical)
{
    (void)pthread_mutex_lock(&cpurt_vmm_lock);
    if (physical->fd >= 0)
        (void)close(physical->fd);
    physical->fd = -1;
    (void)pthread_mutex_unlock(&cpurt_vmm_lock);
    cpurt_physical_put(physical);
}

aclError aclrtFreePhysical(aclrtDrvMemHandle handle)
{
    cpurt_object_t *object = NULL;

    TRY(cpurt_enter());
    TRY(cpurt_handle_take(handle, CPURT_PHYSICAL, &object));
    give_up((cpurt_physical_t *)(void *)object);
    return ACL_SUCCESS;
}

void cpurt_vmm_end(void)
{
    cpurt_object_t *object = NULL;

    while ((object = cpurt_handle_take_any(CPURT_PHYSICAL, NULL, NULL)) != NULL)
        give_up((cpurt_physical_t *)(void *)object);
    /* Accounts begin anew; memory that is still mapped is on none. */
    (void)pthread_mutex_lock(&cpurt_vmm_lock);
    for (cpurt_physical_t *physical = all; physical != NULL; physical = physical->next)
        physical->device = -1;
    (void)pthread_mutex_unlock(&cpurt_vmm_lock);
}

void cpurt_vmm_after_fork(void)
{
    for (cpurt_physical_t *physical = all; physical != NULL; physical = physical->next)
        if (physical->fd >= 0) {
            (void)close(physical->fd);
            physical->fd = -1;
        }
}

aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp *prop, aclrtMemGranularityOptions option,
                                          size_t *granularity)
{
    TRY(cpurt_enter());
    if (prop == NULL || granularity == NULL)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtMemGetAllocationGranularity: a pointer is NULL");
    if (option != ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM && option != ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM,
                          "aclrtMemGetAllocationGranularity: option %d; allowed are 0 and 1", (int)option);
    *granularity = CPURT_HUGE_PAGE;
    return ACL_SUCCESS;
}
