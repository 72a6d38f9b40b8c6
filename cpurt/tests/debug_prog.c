/* SPDX-License-Identifier: Apache-2.0 */
/* A program with kernels for debuggers and checkers to look at: one that is right, and ordinary mistakes of C. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl.h"
#include "aicore/aicore.h"

enum { WORDS = 64, BLOCKS = 4 };

/* Words through the buffer, each block its own. */
ACL_KERNEL(debug_fine, int32_t *, data, uint32_t, words)
{
    int32_t *const mine = data + aicore_block_index() * words;

    aicore_copy_in(0, mine, words * sizeof *mine);
    aicore_flag_set(AICORE_PIPE_MTE2, AICORE_PIPE_S, 0);
    aicore_flag_wait(AICORE_PIPE_MTE2, AICORE_PIPE_S, 0);
    for (uint32_t i = 0; i < words; i++)
        AICORE_UB(int32_t, 0)[i] += 1;
    aicore_flag_set(AICORE_PIPE_S, AICORE_PIPE_MTE3, 0);
    aicore_flag_wait(AICORE_PIPE_S, AICORE_PIPE_MTE3, 0);
    aicore_copy_out(mine, 0, words * sizeof *mine);
}

ACL_KERNEL(debug_overrun, int32_t *, data, uint32_t, words)
{
    data[aicore_block_count() * words] = 1; /* one past the end */
}

/* The same by a copy out of the buffer, inside the runtime. */
ACL_KERNEL(debug_copy_overrun, int32_t *, data, uint32_t, words)
{
    aicore_copy_out(data, 0, (aicore_block_count() * words + 1) * sizeof *data);
}

ACL_KERNEL(debug_undefined, int32_t *, data, uint32_t, words)
{
    data[0] = INT_MAX;
    for (uint32_t i = 1; i < words; i++)
        data[i] = data[i - 1] + (int32_t)i;
}

ACL_KERNEL(debug_race, int32_t *, data, uint32_t, words)
{
    for (uint32_t i = 0; i < words; i++)
        data[i]++; /* all blocks the same words */
    aicore_sync_all();
}

static int run(const char *name, int32_t *data)
{
    const struct debug_fine_args args = {data, WORDS};
    aclrtFuncHandle kernel = NULL;

    if (aclInit(NULL) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS ||
        aclrtBinaryGetFunction(NULL, name, &kernel) != ACL_SUCCESS ||
        aclrtLaunchKernel(kernel, BLOCKS, &args, sizeof args, NULL) != ACL_SUCCESS ||
        aclrtSynchronizeStream(NULL) != ACL_SUCCESS || aclrtResetDevice(0) != ACL_SUCCESS ||
        aclFinalize() != ACL_SUCCESS) {
        (void)fprintf(stderr, "%s\n", aclGetRecentErrMsg());
        return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    int32_t *const data = calloc(BLOCKS * WORDS, sizeof *data);
    int status = argc == 2 && data != NULL ? run(argv[1], data) : 2;

    for (int i = 0; status == 0 && strcmp(argv[1], "debug_fine") == 0 && i < BLOCKS * WORDS; i++)
        status = data[i] == 1 ? 0 : 3;
    free(data);
    return status;
}
