/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of the fake AscendCL that hand something out or remember their arguments. */
#include "fake_acl.h"

#define SOMETHING ((void *)(uintptr_t)0x1000)

aclError aclInit(const char *config)
{
    (void)config;
    fake_acl.inits++;
    return fake_acl_answer("aclInit");
}

aclError aclFinalize(void)
{
    fake_acl.finalizes++;
    return fake_acl_answer("aclFinalize");
}

aclError aclrtGetDevice(int32_t *device)
{
    *device = 3;
    return fake_acl_answer("aclrtGetDevice");
}

aclError aclrtMapMem(void *address, size_t size, size_t offset, aclrtDrvMemHandle handle, uint64_t flags)
{
    (void)address, (void)size, (void)offset, (void)handle, (void)flags;
    fake_acl.maps++;
    return fake_acl_answer("aclrtMapMem");
}

aclError aclrtUnmapMem(void *address)
{
    (void)address;
    fake_acl.unmaps++;
    return fake_acl_answer("aclrtUnmapMem");
}

aclError aclrtMallocPhysical(aclrtDrvMemHandle *handle, size_t size, const aclrtPhysicalMemProp *prop,
                             uint64_t flags)
{
    (void)size, (void)flags;
    fake_acl.property = *prop;
    *handle = SOMETHING;
    return fake_acl_answer("aclrtMallocPhysical");
}

aclError aclrtMemcpy(void *to, size_t room, const void *from, size_t count, aclrtMemcpyKind kind)
{
    (void)to, (void)from, (void)count;
    fake_acl.kind = kind;
    return room == count ? fake_acl_answer("aclrtMemcpy") : 100000;
}

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout_ms)
{
    (void)stream;
    fake_acl.timeout_ms = timeout_ms;
    fake_acl.sync_calls++;
    return fake_acl_answer("aclrtSynchronizeStreamWithTimeout");
}

#ifndef FAKE_ACL_OLD
aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout_ms)
{
    fake_acl.timeout_ms = timeout_ms;
    return fake_acl_answer("aclrtSynchronizeDeviceWithTimeout");
}

const char *aclGetRecentErrMsg(void)
{
    return fake_acl.text;
}

const char *aclrtGetSocName(void)
{
    return fake_acl.soc_name;
}

aclError aclrtLaunchKernelV2(aclrtFuncHandle function, uint32_t blocks, const void *args, size_t size,
                             aclrtLaunchKernelCfg *config, aclrtStream stream)
{
    (void)function, (void)blocks, (void)args, (void)size, (void)stream;
    fake_acl.schedule_mode = config->numAttrs == 1 ? config->attrs[0].value.schemMode : -1;
    return fake_acl_answer("aclrtLaunchKernelV2");
}
#endif
