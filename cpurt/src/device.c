/* SPDX-License-Identifier: Apache-2.0 */
/* Devices: how many there are, which one a thread has set, and what they say about themselves. */
#include "device.h"

#include "context.h"
#include "dma.h"
#include "stream.h"

#define MAX_DEVICES 4096

typedef struct device {
    int sets;      /* aclrtSetDevice minus aclrtResetDevice */
    void *context; /* its default context while sets > 0 */
} device_t;

pthread_mutex_t cpurt_device_lock = PTHREAD_MUTEX_INITIALIZER;
static device_t devices[MAX_DEVICES];

aclError cpurt_device_check(int64_t device)
{
    const int count = cpurt_config()->devices;

    if (device < 0 || device >= count)
        return cpurt_fail(
            ACL_ERROR_RT_INVALID_DEVICEID,
            "device %lld does not exist: there are %d, from 0 to %d; SHMEM_CPU_DEVICES sets how many",
            (long long)device, count, count - 1);
    return ACL_SUCCESS;
}

aclError cpurt_device_current(int *device)
{
    cpurt_context_t *context = NULL;

    TRY(cpurt_context_current(&context));
    *device = context->device;
    cpurt_object_put(&context->object);
    return ACL_SUCCESS;
}

aclError aclrtGetDeviceCount(uint32_t *count)
{
    TRY(cpurt_enter());
    if (count == NULL)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetDeviceCount: count is NULL");
    *count = (uint32_t)cpurt_config()->devices;
    return ACL_SUCCESS;
}

aclError aclrtSetDevice(int32_t deviceId)
{
    aclError error = ACL_SUCCESS;

    TRY(cpurt_enter());
    TRY(cpurt_device_check(deviceId));
    device_t *const device = &devices[deviceId];
    (void)pthread_mutex_lock(&cpurt_device_lock);
    if (device->sets == 0)
        error = cpurt_context_make(deviceId, &device->context);
    if (error == ACL_SUCCESS) {
        device->sets++;
        cpurt_context_adopt(device->context);
    }
    (void)pthread_mutex_unlock(&cpurt_device_lock);
    return error;
}

/* Undoes one set; true when it was the last one. */
static aclError count_down(int32_t deviceId, bool force, bool *last)
{
    device_t *const device = &devices[deviceId];
    aclError error = ACL_SUCCESS;

    (void)pthread_mutex_lock(&cpurt_device_lock);
    if (device->sets == 0) {
        error = cpurt_fail(ACL_ERROR_RT_INVALID_DEVICEID, "device %d is not set", deviceId);
    } else if (device->sets == 1 && cpurt_on_worker()) {
        error = cpurt_fail(
            ACL_ERROR_FAILURE,
            "the last aclrtResetDevice waits for the streams of the device; a function that runs on one "
            "cannot call it");
    } else {
        device->sets = force ? 0 : device->sets - 1;
        *last = device->sets == 0;
        if (*last)
            device->context = NULL;
    }
    (void)pthread_mutex_unlock(&cpurt_device_lock);
    return error;
}

aclError aclrtResetDevice(int32_t deviceId)
{
    bool last = false;

    TRY(cpurt_enter());
    TRY(cpurt_device_check(deviceId));
    TRY(count_down(deviceId, false, &last));
    if (last) {
        cpurt_contexts_end(deviceId); /* first: its kernels may use the queues */
        cpurt_dma_end(deviceId);
    }
    return ACL_SUCCESS;
}

void cpurt_devices_end(void)
{
    for (int i = 0; i < MAX_DEVICES; i++) {
        bool last = false;

        if (devices[i].sets > 0)
            (void)count_down(i, true, &last);
    }
    cpurt_contexts_end(-1);
}

aclError aclrtGetDevice(int32_t *deviceId)
{
    int device = 0;

    TRY(cpurt_enter());
    if (deviceId == NULL)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetDevice: deviceId is NULL");
    TRY(cpurt_device_current(&device));
    *deviceId = device;
    return ACL_SUCCESS;
}

aclError aclrtGetRunMode(aclrtRunMode *runMode)
{
    TRY(cpurt_enter());
    if (runMode == NULL)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetRunMode: runMode is NULL");
    *runMode = ACL_HOST;
    return ACL_SUCCESS;
}

const char *aclrtGetSocName(void)
{
    return cpurt_enter() == ACL_SUCCESS ? cpurt_config()->soc_name : NULL;
}

aclError aclrtGetVersion(int32_t *majorVersion, int32_t *minorVersion, int32_t *patchVersion)
{
    TRY(cpurt_enter());
    if (majorVersion == NULL || minorVersion == NULL || patchVersion == NULL)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetVersion: a pointer is NULL");
    *majorVersion = ACL_MAJOR_VERSION;
    *minorVersion = ACL_MINOR_VERSION;
    *patchVersion = ACL_PATCH_VERSION;
    return ACL_SUCCESS;
}

aclError aclrtGetDeviceInfo(uint32_t deviceId, aclrtDevAttr attr, int64_t *value)
{
    TRY(cpurt_enter());
    TRY(cpurt_device_check(deviceId));
    if (value == NULL)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetDeviceInfo: value is NULL");
    switch (attr) {
    case ACL_DEV_ATTR_VECTOR_CORE_NUM:
        *value = cpurt_config()->cores;
        return ACL_SUCCESS;
    case ACL_DEV_ATTR_AICORE_CORE_NUM: /* two vector cores belong to one */
    case ACL_DEV_ATTR_CUBE_CORE_NUM:
        *value = (cpurt_config()->cores + 1) / 2;
        return ACL_SUCCESS;
    case ACL_DEV_ATTR_UBUF_PER_VECTOR_CORE:
        *value = cpurt_config()->ub_bytes;
        return ACL_SUCCESS;
    case ACL_DEV_ATTR_AICPU_CORE_NUM:
        *value = cpurt_cpus();
        return ACL_SUCCESS;
    default:
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetDeviceInfo: attribute %d is not known here",
                          (int)attr);
    }
}

static bool on_device(const cpurt_object_t *object, const void *device)
{
    return ((const cpurt_stream_t *)(const void *)object)->device == *(const int *)device;
}

aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout)
{
    int device = 0;
    aclError error = ACL_SUCCESS;

    TRY(cpurt_enter());
    TRY(cpurt_device_current(&device));
    if (timeout < -1)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM,
                          "aclrtSynchronizeDeviceWithTimeout: timeout %d; allowed are -1 and up", timeout);
    const uint64_t deadline = cpurt_deadline_ms(timeout);
    cpurt_object_t **list = NULL;
    size_t count = 0;
    TRY(cpurt_streams_list(on_device, &device, &list, &count));
    for (size_t i = 0; i < count; i++) {
        const aclError one = cpurt_stream_synchronise((cpurt_stream_t *)(void *)list[i], deadline);

        if (error == ACL_SUCCESS)
            error = one;
    }
    cpurt_streams_list_free(list, count);
    return error;
}

aclError aclrtSynchronizeDevice(void)
{
    return aclrtSynchronizeDeviceWithTimeout(-1);
}

aclError aclrtDeviceCanAccessPeer(int32_t *canAccessPeer, int32_t deviceId, int32_t peerDeviceId)
{
    TRY(cpurt_enter());
    if (canAccessPeer == NULL)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtDeviceCanAccessPeer: canAccessPeer is NULL");
    TRY(cpurt_device_check(deviceId));
    TRY(cpurt_device_check(peerDeviceId));
    *canAccessPeer = deviceId != peerDeviceId;
    return ACL_SUCCESS;
}

/* All devices share the host's memory, so there is nothing to switch; wrong arguments are still errors. */
aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags)
{
    int device = 0;

    TRY(cpurt_enter());
    TRY(cpurt_device_check(peerDeviceId));
    TRY(cpurt_device_current(&device));
    if (flags != 0)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtDeviceEnablePeerAccess: flags %u; allowed is 0",
                          flags);
    return ACL_SUCCESS;
}

aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId)
{
    int device = 0;

    TRY(cpurt_enter());
    TRY(cpurt_device_check(peerDeviceId));
    return cpurt_device_current(&device);
}
