/* SPDX-License-Identifier: Apache-2.0 */
/* The device port answered by AscendCL's C interface: a thin layer, one or two calls of the runtime per call of ours. */
#define LOG_MODULE "npu"

#include "host/npu/acl_table.h"

#include <inttypes.h>

#include "host/utils/clock.h"

enum {
    HUGE_RESERVATION = 1, /* flag of aclrtReserveMemAddress */
    WITHOUT_PID_LIST = 1  /* flag of the export: any process that holds the handle may import */
};

static int lacks(const char *function)
{
    return fail(ACLSHMEM_NOT_SUPPORTED, "the device runtime has no %s; a newer one is needed", function);
}

/* The value of one call of the runtime as a code of ours, with function and circumstances in the log when it fails. */
#define ACL(function, arguments, ...)                                                                        \
    (aclshmemi_acl.function ? aclshmemi_npu_result(aclshmemi_acl.function arguments, #function, __FILE__,    \
                                                   __LINE__, __VA_ARGS__)                                    \
                            : lacks(#function))

#define ENTER(name) aclshmemi_npu_enter(ACLSHMEMI_NPU_##name)

/* --- Devices --- */

int npu_device_count(int *count)
{
    TRY(ENTER(device_count));
    uint32_t found = 0;
    TRY(ACL(aclrtGetDeviceCount, (&found), "counting devices"));
    *count = found > INT32_MAX ? INT32_MAX : (int)found;
    return 0;
}

int npu_device_current(int *device)
{
    TRY(ENTER(device_current));
    int32_t found = -1;
    int code = aclshmemi_acl.aclrtGetDevice(&found);
    if (code != 0) {
        (void)aclshmemi_npu_runtime_text();
        return fail_quietly(code > 0 ? code : ACLSHMEM_DL_FUNC_FAILED,
                            "this thread has no device; aclrtSetDevice comes first (aclrtGetDevice: code %d)",
                            code);
    }
    *device = found;
    return 0;
}

int npu_device_set(int device)
{
    TRY(ENTER(device_set));
    return ACL(aclrtSetDevice, (device), "device %d", device);
}

int npu_device_reset(int device)
{
    TRY(ENTER(device_reset));
    return ACL(aclrtResetDevice, (device), "device %d", device);
}

int npu_device_memory(size_t *free_bytes, size_t *total_bytes)
{
    TRY(ENTER(device_memory));
    size_t unused = 0, total = 0;
    TRY(ACL(aclrtGetMemInfo, (ACL_HBM_MEM, &unused, &total), "asking for free device memory"));
    *free_bytes = unused;
    *total_bytes = total;
    return 0;
}

int npu_peer_enable(int device)
{
    TRY(ENTER(peer_enable));
    return ACL(aclrtDeviceEnablePeerAccess, (device, 0), "access to device %d", device);
}

/* --- Plain memory --- */

int npu_alloc(size_t bytes, void **address)
{
    TRY(ENTER(alloc));
    void *made = NULL;
    TRY(ACL(aclrtMalloc, (&made, bytes, ACL_MEM_MALLOC_HUGE_FIRST), "%zu bytes of device memory", bytes));
    *address = made;
    return 0;
}

void npu_free(void *address)
{
    if (address && aclshmemi_npu_is_open())
        aclshmemi_npu_noted(aclshmemi_acl.aclrtFree(address), "aclrtFree");
}

int npu_host_alloc(size_t bytes, void **address)
{
    TRY(ENTER(host_alloc));
    void *made = NULL;
    TRY(ACL(aclrtMallocHost, (&made, bytes), "%zu bytes of host memory", bytes));
    *address = made;
    return 0;
}

void npu_host_free(void *address)
{
    if (address && aclshmemi_npu_is_open())
        aclshmemi_npu_noted(aclshmemi_acl.aclrtFreeHost(address), "aclrtFreeHost");
}

static aclrtMemcpyKind copy_kind(aclshmemi_npu_copy_t kind)
{
    switch (kind) {
    case ACLSHMEMI_NPU_HOST_TO_HOST:
        return ACL_MEMCPY_HOST_TO_HOST;
    case ACLSHMEMI_NPU_HOST_TO_DEVICE:
        return ACL_MEMCPY_HOST_TO_DEVICE;
    case ACLSHMEMI_NPU_DEVICE_TO_HOST:
        return ACL_MEMCPY_DEVICE_TO_HOST;
    case ACLSHMEMI_NPU_DEVICE_TO_DEVICE:
        break;
    }
    return ACL_MEMCPY_DEVICE_TO_DEVICE;
}

int npu_copy(void *to, const void *from, size_t bytes, aclshmemi_npu_copy_t kind)
{
    TRY(ENTER(copy));
    return ACL(aclrtMemcpy, (to, bytes, from, bytes, copy_kind(kind)), "%zu bytes from %p to %p", bytes, from,
               to);
}

int npu_copy_async(void *to, const void *from, size_t bytes, aclshmemi_npu_copy_t kind,
                   aclshmemi_npu_stream_t stream)
{
    TRY(ENTER(copy_async));
    return ACL(aclrtMemcpyAsync, (to, bytes, from, bytes, copy_kind(kind), stream), "%zu bytes from %p to %p",
               bytes, from, to);
}

int npu_fill(void *address, int byte, size_t bytes)
{
    TRY(ENTER(fill));
    return ACL(aclrtMemset, (address, bytes, byte, bytes), "%zu bytes at %p", bytes, address);
}

int npu_fill_async(void *address, int byte, size_t bytes, aclshmemi_npu_stream_t stream)
{
    TRY(ENTER(fill_async));
    return ACL(aclrtMemsetAsync, (address, bytes, byte, bytes, stream), "%zu bytes at %p", bytes, address);
}

/* --- Address space and physical memory --- */

int npu_reserve(size_t bytes, void **address)
{
    TRY(ENTER(reserve));
    void *made = NULL;
    TRY(ACL(aclrtReserveMemAddress, (&made, bytes, ACLSHMEMI_NPU_GRANULARITY, NULL, HUGE_RESERVATION),
            "%zu bytes of address space", bytes));
    *address = made;
    return 0;
}

void npu_release(void *address)
{
    if (aclshmemi_npu_is_open())
        aclshmemi_npu_noted(aclshmemi_acl.aclrtReleaseMemAddress(address), "aclrtReleaseMemAddress");
}

int npu_mem_create(size_t bytes, aclshmemi_npu_place_t place, bool huge, aclshmemi_npu_mem_t *mem)
{
    TRY(ENTER(mem_create));
    bool on_device = place == ACLSHMEMI_NPU_ON_DEVICE;
    int32_t device = 0;
    TRY(ACL(aclrtGetDevice, (&device), "creating memory in a thread without a device"));
    aclrtPhysicalMemProp prop = {0};
    prop.handleType = ACL_MEM_HANDLE_TYPE_NONE;
    prop.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = on_device ? ACL_MEM_LOCATION_TYPE_DEVICE : ACL_MEM_LOCATION_TYPE_HOST;
    prop.location.id = on_device ? (uint32_t)device : 0;
    aclrtDrvMemHandle made = NULL;
    if (huge) {
        prop.memAttr = on_device ? ACL_HBM_MEM_HUGE : ACL_DDR_MEM_HUGE;
        int code = aclshmemi_acl.aclrtMallocPhysical(&made, bytes, &prop, 0);
        huge = code == 0;
        if (!huge)
            log_info("no huge pages for %zu bytes of %s memory, code %d: %s", bytes,
                     on_device ? "device" : "host", code, aclshmemi_npu_runtime_text());
    }
    if (!huge) {
        prop.memAttr = on_device ? ACL_HBM_MEM_NORMAL : ACL_DDR_MEM_NORMAL;
        TRY(ACL(aclrtMallocPhysical, (&made, bytes, &prop, 0), "%zu bytes of %s memory", bytes,
                on_device ? "device" : "host"));
    }
    *mem = made;
    return 0;
}

void npu_mem_destroy(aclshmemi_npu_mem_t mem)
{
    if (mem && aclshmemi_npu_is_open())
        aclshmemi_npu_noted(aclshmemi_acl.aclrtFreePhysical(mem), "aclrtFreePhysical");
}

/* Memory of the host, and of other devices, is within reach of our device only after this. A runtime without the call
 * or without the need for it maps everything readable and writable. */
static int grant_access(void *address, size_t bytes)
{
    if (!aclshmemi_acl.aclrtMemSetAccess)
        return 0;
    int32_t device = 0;
    TRY(ACL(aclrtGetDevice, (&device), "mapping memory in a thread without a device"));
    aclrtMemAccessDesc access = {0};
    access.flags = ACL_RT_MEM_ACCESS_FLAGS_READWRITE;
    access.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    access.location.id = (uint32_t)device;
    int code = aclshmemi_acl.aclrtMemSetAccess(address, bytes, &access, 1);
    if (code == ACL_ERROR_RT_FEATURE_NOT_SUPPORT) {
        log_debug("the runtime sets no access rights: %s", aclshmemi_npu_runtime_text());
        return 0;
    }
    return aclshmemi_npu_result(code, "aclrtMemSetAccess", __FILE__, __LINE__,
                                "%zu bytes at %p for device %d", bytes, address, (int)device);
}

int npu_map(void *address, size_t bytes, aclshmemi_npu_mem_t mem)
{
    TRY(ENTER(map));
    TRY(ACL(aclrtMapMem, (address, bytes, 0, mem, 0), "%zu bytes at %p", bytes, address));
    int rc = grant_access(address, bytes);
    if (rc != 0)
        npu_unmap(address);
    return rc;
}

void npu_unmap(void *address)
{
    if (aclshmemi_npu_is_open())
        aclshmemi_npu_noted(aclshmemi_acl.aclrtUnmapMem(address), "aclrtUnmapMem");
}

_Static_assert(sizeof(aclrtMemFabricHandle) == ACLSHMEMI_NPU_HANDLE_LEN, "the handle of npu.h is AscendCL's");

int npu_export(aclshmemi_npu_mem_t mem, aclshmemi_npu_handle_t *handle)
{
    TRY(ENTER(export));
    aclrtMemFabricHandle shared = {0};
    TRY(ACL(aclrtMemExportToShareableHandleV2,
            (mem, WITHOUT_PID_LIST, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, &shared), "exporting memory"));
    *handle = *(aclshmemi_npu_handle_t *)(void *)&shared;
    return 0;
}

/* Whether a failed import says that this road is closed, so that the caller may try another. The CPU runtime has codes
 * for that; a card's are not documented, there only a shortage on our side is known to be something else. */
static bool is_out_of_reach(int code)
{
    if (npu_host_can_touch())
        return code == ACL_ERROR_RT_FEATURE_NOT_SUPPORT || code == ACL_ERROR_RT_NO_PERMISSION;
    return code != ACL_ERROR_RT_MEMORY_ALLOCATION && code != ACL_ERROR_BAD_ALLOC;
}

int npu_import(const aclshmemi_npu_handle_t *handle, aclshmemi_npu_mem_t *mem)
{
    TRY(ENTER(import));
    if (!aclshmemi_acl.aclrtMemImportFromShareableHandleV2)
        return lacks("aclrtMemImportFromShareableHandleV2");
    aclshmemi_npu_handle_t copy = *handle; /* the runtime's parameter is not const */
    aclrtDrvMemHandle made = NULL;
    int code =
        aclshmemi_acl.aclrtMemImportFromShareableHandleV2(&copy, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, 0, &made);
    if (code != 0 && is_out_of_reach(code))
        return fail_quietly(ACLSHMEM_NOT_SUPPORTED,
                            "memory of another process cannot be imported, code %d: %s", code,
                            aclshmemi_npu_runtime_text());
    TRY(aclshmemi_npu_result(code, "aclrtMemImportFromShareableHandleV2", __FILE__, __LINE__,
                             "importing memory"));
    *mem = made;
    return 0;
}

/* --- Streams, events --- */

int npu_stream_create(aclshmemi_npu_stream_t *stream)
{
    TRY(ENTER(stream_create));
    aclrtStream made = NULL;
    TRY(ACL(aclrtCreateStream, (&made), "creating a stream"));
    *stream = made;
    return 0;
}

void npu_stream_destroy(aclshmemi_npu_stream_t stream)
{
    if (stream && aclshmemi_npu_is_open())
        aclshmemi_npu_noted(aclshmemi_acl.aclrtDestroyStream(stream), "aclrtDestroyStream");
}

/* One wait of the runtime, of a stream or (device) of all streams of the device. */
static int sync_once(aclshmemi_npu_stream_t stream, bool device, int timeout_ms)
{
    return device ? aclshmemi_acl.aclrtSynchronizeDeviceWithTimeout(timeout_ms)
                  : aclshmemi_acl.aclrtSynchronizeStreamWithTimeout(stream, timeout_ms);
}

static int sync_until(aclshmemi_npu_stream_t stream, bool device, uint64_t timeout_ms)
{
    const char *what = device ? "a device" : "a stream";
    aclshmemi_deadline_t deadline = aclshmemi_deadline_after_ms(timeout_ms);
    for (;;) { /* more than one round only past 24 days, which is what the runtime's number holds */
        int left_ms = aclshmemi_deadline_left_ms(deadline, INT32_MAX);
        int code = sync_once(stream, device, left_ms);
        if (code != ACL_ERROR_RT_STREAM_SYNC_TIMEOUT)
            return aclshmemi_npu_result(
                code, device ? "aclrtSynchronizeDeviceWithTimeout" : "aclrtSynchronizeStreamWithTimeout",
                __FILE__, __LINE__, "waiting for %s", what);
        (void)aclshmemi_npu_runtime_text();
        if (left_ms == 0 || aclshmemi_deadline_passed(deadline))
            return fail(ACLSHMEM_TIMEOUT_ERROR, "%s still has work after %" PRIu64 " ms", what, timeout_ms);
    }
}

int npu_device_sync(uint64_t timeout_ms)
{
    TRY(ENTER(device_sync));
    if (!aclshmemi_acl.aclrtSynchronizeDeviceWithTimeout)
        return 0; /* an older runtime; callers wait for their own streams too */
    return sync_until(NULL, true, timeout_ms);
}

int npu_stream_sync(aclshmemi_npu_stream_t stream, uint64_t timeout_ms)
{
    TRY(ENTER(stream_sync));
    return sync_until(stream, false, timeout_ms);
}

int npu_stream_call(aclshmemi_npu_stream_t stream, void (*function)(void *), void *argument)
{
    TRY(ENTER(stream_call));
    return ACL(aclrtLaunchHostFunc, (stream, function, argument), "enqueueing a host function");
}

int npu_event_create(aclshmemi_npu_event_t *event)
{
    TRY(ENTER(event_create));
    aclrtEvent made = NULL;
    TRY(ACL(aclrtCreateEvent, (&made), "creating an event"));
    *event = made;
    return 0;
}

void npu_event_destroy(aclshmemi_npu_event_t event)
{
    if (event && aclshmemi_npu_is_open())
        aclshmemi_npu_noted(aclshmemi_acl.aclrtDestroyEvent(event), "aclrtDestroyEvent");
}

int npu_event_record(aclshmemi_npu_event_t event, aclshmemi_npu_stream_t stream)
{
    TRY(ENTER(event_record));
    return ACL(aclrtRecordEvent, (event, stream), "recording an event");
}

int npu_event_wait(aclshmemi_npu_event_t event, aclshmemi_npu_stream_t stream)
{
    TRY(ENTER(event_wait));
    return ACL(aclrtStreamWaitEvent, (stream, event), "making a stream wait");
}

/* --- Kernels --- */

int npu_binary_load(const char *path, aclshmemi_npu_binary_t *binary)
{
    TRY(ENTER(binary_load));
    aclrtBinHandle made = NULL;
    TRY(ACL(aclrtBinaryLoadFromFile, (path, NULL, &made), "kernels of %s", path));
    *binary = made;
    return 0;
}

void npu_binary_unload(aclshmemi_npu_binary_t binary)
{
    if (binary && aclshmemi_npu_is_open() && aclshmemi_acl.aclrtBinaryUnLoad)
        aclshmemi_npu_noted(aclshmemi_acl.aclrtBinaryUnLoad(binary), "aclrtBinaryUnLoad");
}

int npu_kernel_get(aclshmemi_npu_binary_t binary, const char *name, aclshmemi_npu_kernel_t *kernel)
{
    TRY(ENTER(kernel_get));
    aclrtFuncHandle found = NULL;
    TRY(ACL(aclrtBinaryGetFunction, (binary, name, &found), "kernel %s", name));
    *kernel = found;
    return 0;
}

/* Our kernels wait for each other's blocks, so on a card all of them must run at the same time: that is what the
 * schedule mode asks for. The CPU runtime always does it. */
int npu_kernel_launch(aclshmemi_npu_kernel_t kernel, uint32_t blocks, const void *args, size_t args_bytes,
                      aclshmemi_npu_stream_t stream)
{
    TRY(ENTER(kernel_launch));
    if (!aclshmemi_acl.aclrtLaunchKernelV2)
        return ACL(aclrtLaunchKernel, (kernel, blocks, args, args_bytes, stream), "%" PRIu32 " blocks",
                   blocks);
    aclrtLaunchKernelAttr attribute = {0};
    attribute.id = ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE;
    attribute.value.schemMode = 1;
    aclrtLaunchKernelCfg config = {.attrs = &attribute, .numAttrs = 1};
    return ACL(aclrtLaunchKernelV2, (kernel, blocks, args, args_bytes, &config, stream), "%" PRIu32 " blocks",
               blocks);
}

uint64_t npu_sync_config(void)
{
    uint64_t address = 0;
    uint32_t length = 0;
    if (!aclshmemi_npu_is_open() || !aclshmemi_acl.rtGetC2cCtrlAddr)
        return 0;
    return aclshmemi_acl.rtGetC2cCtrlAddr(&address, &length) == 0 ? address : 0;
}

int npu_state_publish(uint32_t slot, void *address)
{
    TRY(ENTER(state_publish));
    if (aclshmemi_acl.aclcpuSlotPublish == NULL)
        return 0;
    return ACL(aclcpuSlotPublish, (slot, address), "the state of slot %u", slot);
}

void npu_state_select(uint32_t slot)
{
    if (aclshmemi_npu_is_open() && aclshmemi_acl.aclcpuSlotSelect != NULL)
        aclshmemi_npu_noted(aclshmemi_acl.aclcpuSlotSelect(slot), "aclcpuSlotSelect");
}

uint64_t npu_trace_begin(void)
{
    return aclshmemi_npu_is_open() && aclshmemi_acl.aclcpuTraceBegin && aclshmemi_acl.aclcpuTraceEnd
               ? aclshmemi_acl.aclcpuTraceBegin()
               : 0;
}

void npu_trace_end(uint64_t begin, const char *name, const char *key, uint64_t value)
{
    if (begin != 0 && aclshmemi_npu_is_open())
        aclshmemi_acl.aclcpuTraceEnd(begin, "shmem", name, key, value);
}
