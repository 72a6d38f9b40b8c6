/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of the device port: which functions of AscendCL it calls, and how a call is entered and its failure is
 * reported. The prototypes stand here too, so that the library builds against any AscendCL headers and a runtime that
 * lacks a newer function costs that function only.
 */
#ifndef ACLSHMEMI_ACL_TABLE_H
#define ACLSHMEMI_ACL_TABLE_H

#include "host/npu/npu.h"

#include "acl/acl.h"
#include "acl/acl_cpu.h"

/* clang-format off */
/* XX(required, result, name, parameters) */
#define ACLSHMEMI_ACL_MAP(XX)                                                                                \
    XX(true, aclError, aclInit, (const char *config))                                                        \
    XX(true, aclError, aclFinalize, (void))                                                                  \
    XX(false, const char *, aclGetRecentErrMsg, (void))                                                      \
    XX(false, const char *, aclrtGetSocName, (void))                                                         \
    XX(true, aclError, aclrtGetDeviceCount, (uint32_t *count))                                               \
    XX(true, aclError, aclrtGetDevice, (int32_t *device))                                                    \
    XX(true, aclError, aclrtSetDevice, (int32_t device))                                                     \
    XX(true, aclError, aclrtResetDevice, (int32_t device))                                                   \
    XX(false, aclError, aclrtGetMemInfo, (aclrtMemAttr attr, size_t *free, size_t *total))                   \
    XX(false, aclError, aclrtSynchronizeDeviceWithTimeout, (int32_t timeout_ms))                             \
    XX(false, aclError, aclrtDeviceEnablePeerAccess, (int32_t device, uint32_t flags))                       \
    XX(true, aclError, aclrtMalloc, (void **address, size_t size, aclrtMemMallocPolicy policy))              \
    XX(true, aclError, aclrtFree, (void *address))                                                           \
    XX(true, aclError, aclrtMallocHost, (void **address, size_t size))                                       \
    XX(true, aclError, aclrtFreeHost, (void *address))                                                       \
    XX(true, aclError, aclrtMemcpy,                                                                          \
       (void *to, size_t room, const void *from, size_t count, aclrtMemcpyKind kind))                        \
    XX(true, aclError, aclrtMemcpyAsync,                                                                     \
       (void *to, size_t room, const void *from, size_t count, aclrtMemcpyKind kind, aclrtStream stream))    \
    XX(true, aclError, aclrtMemset, (void *address, size_t room, int32_t value, size_t count))               \
    XX(false, aclError, aclrtMemsetAsync,                                                                    \
       (void *address, size_t room, int32_t value, size_t count, aclrtStream stream))                        \
    XX(true, aclError, aclrtReserveMemAddress,                                                               \
       (void **address, size_t size, size_t alignment, void *wanted, uint64_t flags))                        \
    XX(true, aclError, aclrtReleaseMemAddress, (void *address))                                              \
    XX(true, aclError, aclrtMallocPhysical,                                                                  \
       (aclrtDrvMemHandle *handle, size_t size, const aclrtPhysicalMemProp *prop, uint64_t flags))           \
    XX(true, aclError, aclrtFreePhysical, (aclrtDrvMemHandle handle))                                        \
    XX(true, aclError, aclrtMapMem,                                                                          \
       (void *address, size_t size, size_t offset, aclrtDrvMemHandle handle, uint64_t flags))                \
    XX(true, aclError, aclrtUnmapMem, (void *address))                                                       \
    XX(false, aclError, aclrtMemSetAccess,                                                                   \
       (void *address, size_t size, aclrtMemAccessDesc *access, size_t count))                               \
    XX(false, aclError, aclrtMemExportToShareableHandleV2,                                                   \
       (aclrtDrvMemHandle handle, uint64_t flags, aclrtMemSharedHandleType type, void *shared))              \
    XX(false, aclError, aclrtMemImportFromShareableHandleV2,                                                 \
       (void *shared, aclrtMemSharedHandleType type, uint64_t flags, aclrtDrvMemHandle *handle))             \
    XX(true, aclError, aclrtCreateStream, (aclrtStream *stream))                                             \
    XX(true, aclError, aclrtDestroyStream, (aclrtStream stream))                                             \
    XX(true, aclError, aclrtSynchronizeStreamWithTimeout, (aclrtStream stream, int32_t timeout_ms))          \
    XX(false, aclError, aclrtLaunchHostFunc, (aclrtStream stream, void (*function)(void *), void *argument)) \
    XX(true, aclError, aclrtCreateEvent, (aclrtEvent *event))                                                \
    XX(true, aclError, aclrtDestroyEvent, (aclrtEvent event))                                                \
    XX(true, aclError, aclrtRecordEvent, (aclrtEvent event, aclrtStream stream))                             \
    XX(true, aclError, aclrtStreamWaitEvent, (aclrtStream stream, aclrtEvent event))                         \
    XX(false, aclError, aclrtBinaryLoadFromFile,                                                             \
       (const char *path, aclrtBinaryLoadOptions *options, aclrtBinHandle *binary))                          \
    XX(false, aclError, aclrtBinaryUnLoad, (aclrtBinHandle binary))                                          \
    XX(false, aclError, aclrtBinaryGetFunction,                                                              \
       (const aclrtBinHandle binary, const char *name, aclrtFuncHandle *function))                           \
    XX(false, aclError, aclrtLaunchKernel,                                                                   \
       (aclrtFuncHandle function, uint32_t blocks, const void *args, size_t size, aclrtStream stream))       \
    XX(false, aclError, aclrtLaunchKernelV2,                                                                 \
       (aclrtFuncHandle function, uint32_t blocks, const void *args, size_t size, aclrtLaunchKernelCfg *cfg, \
        aclrtStream stream))                                                                                 \
    XX(false, aclError, aclrtCreateNotify, (aclrtNotify *notify, uint64_t flag))                             \
    XX(false, aclError, aclrtDestroyNotify, (aclrtNotify notify))                                            \
    XX(false, aclError, aclrtGetNotifyId, (aclrtNotify notify, uint32_t *id))                                \
    XX(false, int, rtGetC2cCtrlAddr, (uint64_t *address, uint32_t *length))                                  \
    XX(false, aclError, aclcpuSlotPublish, (uint32_t slot, void *address))                                   \
    XX(false, aclError, aclcpuSlotSelect, (uint32_t slot))                                                   \
    XX(false, aclError, aclcpuDmaQueueCreate, (aclcpuDmaQueue *queue, aclcpuDmaQueueInfo *info))             \
    XX(false, aclError, aclcpuDmaQueueDestroy, (aclcpuDmaQueue queue))                                       \
    XX(false, uint64_t, aclcpuTraceBegin, (void))                                                            \
    XX(false, void, aclcpuTraceEnd,                                                                          \
       (uint64_t begin, const char *category, const char *name, const char *key, uint64_t value))

typedef struct aclshmemi_acl {
#define ACLSHMEMI_ACL_FIELD(required, result, name, parameters) result(*name) parameters;
    ACLSHMEMI_ACL_MAP(ACLSHMEMI_ACL_FIELD)
#undef ACLSHMEMI_ACL_FIELD
} aclshmemi_acl_t;

extern aclshmemi_acl_t aclshmemi_acl; /* filled by npu_open; NULL where this runtime has no such function */

/* Every call of npu.h that can fail, under its name without npu_: what the setting NPU_FAIL may name. */
#define ACLSHMEMI_NPU_CALL_MAP(XX)                                                                           \
    XX(open) XX(device_count) XX(device_current) XX(device_set) XX(device_reset) XX(device_memory)           \
    XX(device_sync) XX(peer_enable) XX(alloc) XX(host_alloc) XX(copy) XX(copy_async) XX(fill)                \
    XX(fill_async) XX(reserve) XX(mem_create) XX(map) XX(export) XX(import) XX(stream_create)                \
    XX(stream_sync) XX(stream_call) XX(event_create) XX(event_record) XX(event_wait) XX(binary_load)         \
    XX(kernel_get) XX(kernel_launch) XX(state_publish) XX(notify_create) XX(dma_queue_create)
/* clang-format on */

typedef enum aclshmemi_npu_call {
#define NPU_CALL_ENUM(name) ACLSHMEMI_NPU_##name,
    ACLSHMEMI_NPU_CALL_MAP(NPU_CALL_ENUM)
#undef NPU_CALL_ENUM
        ACLSHMEMI_NPU_CALLS
} aclshmemi_npu_call_t;

/* First line of every call: fails when the port is not open, or when NPU_FAIL wants this call to fail. */
int aclshmemi_npu_enter(aclshmemi_npu_call_t call) ACLSHMEMI_MUST_CHECK;
bool aclshmemi_npu_is_open(void);

/* 0, or the runtime's code after an error line with function, code, the runtime's own text and what was asked for. */
int aclshmemi_npu_result(int code, const char *function, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 5, 6))) ACLSHMEMI_MUST_CHECK;
/* The same for calls whose failure nobody can act on: a warning. */
void aclshmemi_npu_noted(int code, const char *function);
/* Text the runtime has for this thread's last failure, "" if none. Reading it empties it. */
const char *aclshmemi_npu_runtime_text(void);

#endif
