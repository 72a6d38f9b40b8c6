/* SPDX-License-Identifier: Apache-2.0 */
/* Launching a kernel by handle: checks, a copy of the arguments, a task on the stream. */
#include <stdlib.h>
#include <string.h>

#include "runtime/rt_ffts.h"

#include "kernel.h"
#include "pool.h"
#include "slot.h"
#include "stream.h"

#define MAX_BLOCKS 65535
#define ARGS_ALIGN 64 /* room for vector types among the arguments */

typedef struct launch {
    cpurt_task_t task;
    cpurt_function_t *function;
    uint32_t blocks;
    uint32_t slot;
    uint64_t timeout_ns;
    unsigned char *args; /* inside bytes */
    unsigned char bytes[];
} launch_t;

static aclError run(cpurt_task_t *task, cpurt_stream_t *stream)
{
    const launch_t *const launch = (const launch_t *)(const void *)task;
    cpurt_gang_t gang;

    (void)stream;
    cpurt_gang_init(&gang, launch->function->kernel, launch->args, launch->blocks, launch->slot,
                    launch->timeout_ns);
    aclError error = cpurt_pool_run(&gang);
    if (error == ACL_SUCCESS && gang.failure != ACL_SUCCESS) {
        cpurt_error_set(gang.text);
        error = gang.failure;
    }
    cpurt_gang_fini(&gang);
    return error;
}

static void release(cpurt_task_t *task)
{
    cpurt_function_put(((launch_t *)(void *)task)->function);
}

static aclError apply_attribute(const aclrtLaunchKernelAttr *attribute, launch_t *launch)
{
    const aclrtLaunchKernelAttrValue *const value = &attribute->value;

    switch (attribute->id) {
    case ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE:
    case ACL_RT_LAUNCH_KERNEL_ATTR_BLOCK_TASK_PREFETCH:
    case ACL_RT_LAUNCH_KERNEL_ATTR_DATA_DUMP:
        return ACL_SUCCESS;
    case ACL_RT_LAUNCH_KERNEL_ATTR_LOCAL_MEMORY_SIZE:
        if (value->localMemorySize > cpurt_config()->ub_bytes)
            return cpurt_fail(ACL_ERROR_INVALID_PARAM,
                              "a kernel cannot have %u bytes of local memory; a core has %u",
                              value->localMemorySize, cpurt_config()->ub_bytes);
        return ACL_SUCCESS;
    case ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE:
        if (value->engineType != ACL_RT_ENGINE_TYPE_AIV)
            return cpurt_fail(ACL_ERROR_FEATURE_UNSUPPORTED,
                              "kernels run on vector cores here, not on engine type %d",
                              (int)value->engineType);
        return ACL_SUCCESS;
    case ACL_RT_LAUNCH_KERNEL_ATTR_BLOCKDIM_OFFSET:
        if (value->blockDimOffset != 0)
            return cpurt_fail(ACL_ERROR_FEATURE_UNSUPPORTED, "blocks count from 0 here, not from %u",
                              value->blockDimOffset);
        return ACL_SUCCESS;
    case ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT:
        if (value->timeout != 0)
            launch->timeout_ns = (uint64_t)value->timeout * 1000000000;
        return ACL_SUCCESS;
    default:
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "launch attribute %d is not known here",
                          (int)attribute->id);
    }
}

static aclError apply_config(const aclrtLaunchKernelCfg *cfg, launch_t *launch)
{
    if (cfg == NULL)
        return ACL_SUCCESS;
    if (cfg->numAttrs > 0 && cfg->attrs == NULL)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "%zu launch attributes, but the pointer to them is NULL",
                          cfg->numAttrs);
    for (size_t i = 0; i < cfg->numAttrs; i++)
        TRY(apply_attribute(&cfg->attrs[i], launch));
    return ACL_SUCCESS;
}

/* Puts addresses of data that travels with the arguments into them. */
static aclError fill_placeholders(unsigned char *args, size_t bytes, const aclrtPlaceHolderInfo *holders,
                                  size_t count)
{
    if (count > 0 && holders == NULL)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "%zu placeholders, but the pointer to them is NULL",
                          count);
    for (size_t i = 0; i < count; i++) {
        const uint64_t address = (uint64_t)(uintptr_t)(args + holders[i].dataOffset);

        if (holders[i].dataOffset > bytes || (size_t)holders[i].addrOffset + sizeof address > bytes)
            return cpurt_fail(ACL_ERROR_INVALID_PARAM,
                              "placeholder %zu: offsets %u and %u are not inside %zu bytes of arguments", i,
                              holders[i].addrOffset, holders[i].dataOffset, bytes);
        memcpy(args + holders[i].addrOffset, &address, sizeof address);
    }
    return ACL_SUCCESS;
}

/* Packed structs of other languages may lack the padding at the end; data behind the arguments is the caller's. */
static aclError check_size(const aicore_kernel_t *kernel, const void *args, size_t bytes, bool data_behind)
{
    const size_t wanted = kernel->args_bytes;

    if (wanted != 0 && args == NULL)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM,
                          "kernel %.128s takes arguments, but the pointer to them is NULL", kernel->name);
    if ((bytes + 7) / 8 * 8 < wanted || (bytes > wanted && !data_behind))
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "kernel %.128s takes %zu bytes of arguments, not %zu",
                          kernel->name, wanted, bytes);
    return ACL_SUCCESS;
}

static launch_t *new_launch(cpurt_function_t *function, uint32_t blocks, const void *args, size_t bytes)
{
    launch_t *const launch = calloc(1, sizeof *launch + bytes + 8 + ARGS_ALIGN);

    if (launch == NULL)
        return NULL;
    launch->task = (cpurt_task_t){.category = "kernel",
                                  .name = function->kernel->name,
                                  .unit = "blocks",
                                  .amount = blocks,
                                  .run = run,
                                  .release = release,
                                  .repeats = true};
    launch->function = function;
    launch->blocks = blocks;
    launch->slot = cpurt_slot_selected();
    launch->timeout_ns = cpurt_config()->kernel_timeout_ns;
    launch->args = launch->bytes + (ARGS_ALIGN - (uintptr_t)launch->bytes % ARGS_ALIGN) % ARGS_ALIGN;
    if (bytes > 0)
        memcpy(launch->args, args, bytes);
    return launch;
}

aclError aclrtLaunchKernelWithHostArgs(aclrtFuncHandle funcHandle, uint32_t numBlocks, aclrtStream stream,
                                       aclrtLaunchKernelCfg *cfg, void *hostArgs, size_t argsSize,
                                       aclrtPlaceHolderInfo *placeHolderArray, size_t placeHolderNum)
{
    cpurt_function_t *function = NULL;
    cpurt_stream_t *on = NULL;
    launch_t *launch = NULL;

    TRY(cpurt_enter());
    if (numBlocks == 0 || numBlocks > MAX_BLOCKS)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "a launch of %u blocks; allowed are 1 to %d", numBlocks,
                          MAX_BLOCKS);
    TRY(cpurt_function_get(funcHandle, &function));
    aclError error = check_size(function->kernel, hostArgs, argsSize, placeHolderNum > 0);
    if (error == ACL_SUCCESS)
        error = cpurt_stream_get(stream, &on);
    if (error == ACL_SUCCESS && (launch = new_launch(function, numBlocks, hostArgs, argsSize)) == NULL)
        error = cpurt_fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
                           "out of memory for %zu bytes of kernel arguments", argsSize);
    if (error == ACL_SUCCESS)
        error = apply_config(cfg, launch);
    if (error == ACL_SUCCESS)
        error = fill_placeholders(launch->args, argsSize, placeHolderArray, placeHolderNum);
    if (error == ACL_SUCCESS) {
        error = cpurt_stream_submit(on, &launch->task); /* takes launch and function with it */
    } else {
        free(launch);
        cpurt_function_put(function);
    }
    cpurt_stream_put(on);
    return error;
}

aclError aclrtLaunchKernelV2(aclrtFuncHandle funcHandle, uint32_t numBlocks, const void *argsData,
                             size_t argsSize, aclrtLaunchKernelCfg *cfg, aclrtStream stream)
{
    return aclrtLaunchKernelWithHostArgs(funcHandle, numBlocks, stream, cfg, (void *)(uintptr_t)argsData,
                                         argsSize, NULL, 0);
}

aclError aclrtLaunchKernel(aclrtFuncHandle funcHandle, uint32_t blockDim, const void *argsData,
                           size_t argsSize, aclrtStream stream)
{
    return aclrtLaunchKernelWithHostArgs(funcHandle, blockDim, stream, NULL, (void *)(uintptr_t)argsData,
                                         argsSize, NULL, 0);
}

/* Cores of this runtime meet in words of their own, so the address is 0 and so is the length. */
rtError_t rtGetC2cCtrlAddr(uint64_t *addr, uint32_t *len)
{
    if (addr == NULL || len == NULL)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "rtGetC2cCtrlAddr: a pointer is NULL");
    *addr = 0;
    *len = 0;
    return ACL_SUCCESS;
}
