/* SPDX-License-Identifier: Apache-2.0 */
/* What the host files of kernel tests share: launching kernels by name, and failures that are wanted. */
#ifndef DEVICE_H
#define DEVICE_H

#include <stdbool.h>
#include <string.h>

#include "pe/pe.h"
#include "acl/acl.h"

#define CHECK_ACL(call) CHECK_INT(call, ACL_SUCCESS)

/* Runs a kernel on blocks cores and waits for it; the result of that, with the runtime's text in text[512]. */
static inline aclError device_try(const char *kernel, uint32_t blocks, const void *args, size_t args_bytes,
                                  char *text)
{
    aclrtFuncHandle function = NULL;
    aclrtStream stream = NULL;
    CHECK_ACL(aclrtBinaryGetFunction(NULL, kernel, &function));
    CHECK_ACL(aclrtCreateStream(&stream));
    aclError error = aclrtLaunchKernel(function, blocks, args, args_bytes, stream);
    if (error == ACL_SUCCESS)
        error = aclrtSynchronizeStream(stream);
    const char *said = aclGetRecentErrMsg();
    snprintf(text, 512, "%s", error != ACL_SUCCESS && said != NULL ? said : "");
    CHECK_ACL(aclrtDestroyStream(stream));
    return error;
}

static inline void device_run(const char *kernel, uint32_t blocks, const void *args, size_t args_bytes)
{
    char text[512];
    aclError error = device_try(kernel, blocks, args, args_bytes, text);
    if (error != ACL_SUCCESS) {
        fprintf(stderr, "PE %d: kernel %s failed with code %d: %s\n", aclshmem_my_pe(), kernel, (int)error,
                text);
        exit(1);
    }
}

/* The launch must fail, and its text hold the name of the kernel and these words. */
static inline void device_fails(const char *kernel, const void *args, size_t args_bytes, const char *words)
{
    char text[512];
    aclError error = device_try(kernel, 1, args, args_bytes, text);
    if (error == ACL_SUCCESS || strstr(text, words) == NULL || strstr(text, kernel) == NULL) {
        fprintf(stderr, "PE %d: kernel %s gave code %d: \"%s\", wanted: \"%s\"\n", aclshmem_my_pe(), kernel,
                (int)error, text, words);
        exit(1);
    }
}

#endif
