/* SPDX-License-Identifier: Apache-2.0 */
/* Optional libraries: symbols by list, and where our own file lies, so that an install can be moved as a whole. */
#include "host/utils/dl.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOG_MODULE "dl"

int aclshmemi_dl_lookup(void *handle, const aclshmemi_dl_symbol_t *symbols, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        dlerror();
        void *address = dlsym(handle, symbols[i].name);
        if (!address && symbols[i].required) {
            const char *why = dlerror();
            for (size_t k = 0; k < count; k++)
                *symbols[k].address = NULL;
            return fail_quietly(ACLSHMEM_DL_FUNC_FAILED, "function %s is missing: %s", symbols[i].name,
                                why ? why : "its address is null");
        }
        *symbols[i].address = address;
    }
    return ACLSHMEM_SUCCESS;
}

/* The main program has no name in the link map, and its argv[0] is relative to a directory long left. */
static int own_file(char path[PATH_MAX])
{
    Dl_info info;
    struct link_map *map = NULL;
    if (!dladdr1((const void *)(uintptr_t)&aclshmemi_dl_own_directory, &info, (void **)&map,
                 RTLD_DL_LINKMAP) ||
        !map)
        return fail(ACLSHMEM_DL_FUNC_FAILED,
                    "the dynamic linker does not know which file holds this library");
    char program[PATH_MAX];
    const char *name = map->l_name;
    if (!name || !name[0]) {
        /* Read, not followed: emulators answer for the link, but not for the file system's walk over it. */
        ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
        if (length < 0)
            return fail(ACLSHMEM_INNER_ERROR, "cannot read /proc/self/exe: %m");
        program[length] = '\0';
        name = program;
    }
    if (!realpath(name, path))
        return fail(ACLSHMEM_INNER_ERROR, "cannot find the file %s of this library: %m", name);
    return ACLSHMEM_SUCCESS;
}

int aclshmemi_dl_own_directory(char *out, size_t size)
{
    char path[PATH_MAX];
    TRY(own_file(path));
    char *slash = strrchr(path, '/');
    size_t length = slash == path ? 1 : (size_t)(slash - path);
    if (length >= size)
        return fail(ACLSHMEM_INVALID_VALUE,
                    "the folder of this library has a name of %zu bytes, room is for %zu", length,
                    size ? size - 1 : 0);
    memcpy(out, path, length);
    out[length] = '\0';
    return ACLSHMEM_SUCCESS;
}
