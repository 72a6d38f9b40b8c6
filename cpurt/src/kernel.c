/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel registry. Kernels add themselves when the program or shared object that holds them is loaded; a binary
 * is such an object, and stays loaded while one of its kernels is queued or running.
 */
#include "kernel.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cpurt_binary {
    cpurt_object_t object;
    void *library;
    const struct link_map *map; /* tells which kernels are its own */
};

pthread_mutex_t cpurt_kernel_lock = PTHREAD_MUTEX_INITIALIZER;
static aicore_kernel_t *kernels; /* in the order they came: the program's own first */

void aicore_kernel_add(aicore_kernel_t *kernel)
{
    (void)pthread_mutex_lock(&cpurt_kernel_lock);
    aicore_kernel_t **last = &kernels;
    while (*last != NULL)
        last = &(*last)->next;
    *last = kernel;
    kernel->next = NULL;
    (void)pthread_mutex_unlock(&cpurt_kernel_lock);
}

int aicore_kernel_known(const char *name)
{
    bool known = false;

    (void)pthread_mutex_lock(&cpurt_kernel_lock);
    for (const aicore_kernel_t *kernel = kernels; kernel != NULL && !known; kernel = kernel->next)
        known = strcmp(kernel->name, name) == 0;
    (void)pthread_mutex_unlock(&cpurt_kernel_lock);
    return known;
}

static bool runs(const cpurt_object_t *object, const void *kernel)
{
    return ((const cpurt_function_t *)(const void *)object)->kernel == kernel;
}

void aicore_kernel_remove(aicore_kernel_t *kernel)
{
    (void)pthread_mutex_lock(&cpurt_kernel_lock);
    for (aicore_kernel_t **at = &kernels; *at != NULL; at = &(*at)->next)
        if (*at == kernel) {
            *at = kernel->next;
            break;
        }
    (void)pthread_mutex_unlock(&cpurt_kernel_lock);
    cpurt_object_t *object = NULL;
    while ((object = cpurt_handle_take_any(CPURT_FUNCTION, runs, kernel)) != NULL)
        cpurt_object_put(object);
}

/* --- Binaries --- */

static void destroy_binary(cpurt_object_t *object)
{
    cpurt_binary_t *const binary = (cpurt_binary_t *)(void *)object;

    if (binary->library != NULL)
        (void)dlclose(binary->library);
    free(binary);
}

static aclError open_library(const char *path, cpurt_binary_t *binary)
{
    char here[4096];

    /* A bare name is a file here, not something to be searched for in library folders. */
    if (snprintf(here, sizeof here, "%s%s", strchr(path, '/') == NULL ? "./" : "", path) >= (int)sizeof here)
        return cpurt_fail(ACL_ERROR_INVALID_FILE, "the path of the kernel binary is longer than %zu",
                          sizeof here - 1);
    binary->library = dlopen(here, RTLD_NOW | RTLD_LOCAL);
    if (binary->library == NULL)
        return cpurt_fail(ACL_ERROR_INVALID_FILE, "cannot load the kernel binary: %s", dlerror());
    struct link_map *map = NULL;
    if (dlinfo(binary->library, RTLD_DI_LINKMAP, &map) != 0)
        return cpurt_fail(ACL_ERROR_INVALID_FILE, "cannot look into the kernel binary %s: %s", here,
                          dlerror());
    binary->map = map;
    return ACL_SUCCESS;
}

aclError aclrtBinaryLoadFromFile(const char *binPath, aclrtBinaryLoadOptions *options,
                                 aclrtBinHandle *binHandle)
{
    TRY(cpurt_enter());
    (void)options; /* they choose between kinds of device code; there is one here */
    if (binPath == NULL || binHandle == NULL)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtBinaryLoadFromFile: a pointer is NULL");
    cpurt_binary_t *const binary = calloc(1, sizeof *binary);
    if (binary == NULL)
        return cpurt_fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "out of memory for a kernel binary");
    cpurt_object_init(&binary->object, CPURT_BINARY, destroy_binary);
    aclError error = open_library(binPath, binary);
    if (error == ACL_SUCCESS)
        error = cpurt_handle_create(&binary->object);
    if (error == ACL_SUCCESS)
        *binHandle = binary->object.handle;
    else
        cpurt_object_put(&binary->object);
    return error;
}

static bool of_binary(const cpurt_object_t *object, const void *binary)
{
    return ((const cpurt_function_t *)(const void *)object)->binary == binary;
}

static void forget_functions(const cpurt_binary_t *binary)
{
    cpurt_object_t *object = NULL;

    while ((object = cpurt_handle_take_any(CPURT_FUNCTION, of_binary, binary)) != NULL)
        cpurt_object_put(object);
}

aclError aclrtBinaryUnLoad(aclrtBinHandle binHandle)
{
    cpurt_object_t *object = NULL;

    TRY(cpurt_enter());
    TRY(cpurt_handle_take(binHandle, CPURT_BINARY, &object));
    forget_functions((const cpurt_binary_t *)(const void *)object);
    cpurt_object_put(object);
    return ACL_SUCCESS;
}

void cpurt_kernels_end(void)
{
    cpurt_object_t *object = NULL;

    while ((object = cpurt_handle_take_any(CPURT_FUNCTION, NULL, NULL)) != NULL)
        cpurt_object_put(object);
    while ((object = cpurt_handle_take_any(CPURT_BINARY, NULL, NULL)) != NULL)
        cpurt_object_put(object);
}

/* --- Functions --- */

static void destroy_function(cpurt_object_t *object)
{
    cpurt_function_t *const function = (cpurt_function_t *)(void *)object;
    cpurt_binary_t *const binary = function->binary;

    free(function);
    if (binary != NULL)
        cpurt_object_put(&binary->object);
}

aclError cpurt_function_get(const void *handle, cpurt_function_t **function)
{
    cpurt_object_t *object = NULL;

    TRY(cpurt_handle_get(handle, CPURT_FUNCTION, &object));
    *function = (cpurt_function_t *)(void *)object;
    return ACL_SUCCESS;
}

void cpurt_function_put(cpurt_function_t *function)
{
    if (function != NULL)
        cpurt_object_put(&function->object);
}

static bool belongs(const aicore_kernel_t *kernel, const struct link_map *map)
{
    Dl_info info;
    void *extra = NULL;

    return map == NULL || (dladdr1(kernel, &info, &extra, RTLD_DL_LINKMAP) != 0 && extra == map);
}

static aclError find_kernel(const cpurt_binary_t *binary, const char *name, const aicore_kernel_t **out)
{
    const aicore_kernel_t *found = NULL;

    (void)pthread_mutex_lock(&cpurt_kernel_lock);
    for (const aicore_kernel_t *kernel = kernels; kernel != NULL && found == NULL; kernel = kernel->next)
        if (strcmp(kernel->name, name) == 0 && belongs(kernel, binary == NULL ? NULL : binary->map))
            found = kernel;
    (void)pthread_mutex_unlock(&cpurt_kernel_lock);
    if (found == NULL)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "no kernel %.128s in %s", name,
                          binary == NULL ? "this program or a library it has loaded" : "the binary");
    if (found->abi != AICORE_ABI || found->subs < 1 || found->subs > 2)
        return cpurt_fail(ACL_ERROR_INVALID_FILE,
                          "kernel %.128s was built for version %u of the core interface; this is %u", name,
                          found->abi, AICORE_ABI);
    *out = found;
    return ACL_SUCCESS;
}

static bool is_function(const cpurt_object_t *object, const void *wanted)
{
    const cpurt_function_t *const function = (const cpurt_function_t *)(const void *)object;
    const cpurt_function_t *const other = wanted;

    return function->kernel == other->kernel && function->binary == other->binary;
}

static aclError new_function(cpurt_binary_t *binary, const aicore_kernel_t *kernel, void **handle)
{
    cpurt_function_t *const function = calloc(1, sizeof *function);

    if (function == NULL)
        return cpurt_fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "out of memory for a kernel");
    cpurt_object_init(&function->object, CPURT_FUNCTION, destroy_function);
    function->kernel = kernel;
    function->binary = binary;
    if (binary != NULL)
        cpurt_object_hold(&binary->object);
    const aclError error = cpurt_handle_create(&function->object);
    if (error == ACL_SUCCESS)
        *handle = function->object.handle;
    else
        cpurt_object_put(&function->object);
    return error;
}

/* The handle of a kernel, the same one for every caller. */
static aclError function_handle(cpurt_binary_t *binary, const aicore_kernel_t *kernel, void **handle)
{
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    const cpurt_function_t wanted = {.kernel = kernel, .binary = binary};
    cpurt_object_t *object = NULL;
    aclError error = ACL_SUCCESS;

    (void)pthread_mutex_lock(&one_at_a_time);
    if (cpurt_handle_list(CPURT_FUNCTION, is_function, &wanted, &object, 1) > 0)
        *handle = object->handle;
    else
        error = new_function(binary, kernel, handle);
    (void)pthread_mutex_unlock(&one_at_a_time);
    cpurt_object_put(object);
    return error;
}

aclError aclrtBinaryGetFunction(const aclrtBinHandle binHandle, const char *kernelName,
                                aclrtFuncHandle *funcHandle)
{
    cpurt_object_t *object = NULL;
    const aicore_kernel_t *kernel = NULL;

    TRY(cpurt_enter());
    if (kernelName == NULL || funcHandle == NULL)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "aclrtBinaryGetFunction: a pointer is NULL");
    if (binHandle != NULL)
        TRY(cpurt_handle_get(binHandle, CPURT_BINARY, &object));
    cpurt_binary_t *const binary = (cpurt_binary_t *)(void *)object;
    aclError error = find_kernel(binary, kernelName, &kernel);
    if (error == ACL_SUCCESS)
        error = function_handle(binary, kernel, funcHandle);
    cpurt_object_put(object);
    return error;
}
