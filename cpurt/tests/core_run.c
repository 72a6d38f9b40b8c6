/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels out of a binary. */
#include "core_run.h"

aclrtBinHandle core_binary;
static const char *path;

bool core_arguments(int argc, char **argv)
{
    if (argc != 2)
        return false;
    path = argv[1];
    return true;
}

int core_begin(void **state)
{
    return t_begin(state) == 0 && aclrtBinaryLoadFromFile(path, NULL, &core_binary) == ACL_SUCCESS ? 0 : -1;
}

void core_launch(const char *name, uint32_t blocks, const void *args, size_t bytes)
{
    aclrtFuncHandle function = NULL;

    ok(aclrtBinaryGetFunction(core_binary, name, &function));
    ok(aclrtLaunchKernel(function, blocks, args, bytes, NULL));
}

void core_run(const char *name, uint32_t blocks, const void *args, size_t bytes)
{
    core_launch(name, blocks, args, bytes);
    ok(aclrtSynchronizeStream(NULL));
}

uint64_t core_random(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *seed >> 33;
}
