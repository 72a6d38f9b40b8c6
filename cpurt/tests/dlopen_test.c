/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime as a guest: opened with dlopen, used, closed while its threads live, opened again, and never finalised.
 * Takes the path of the library.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "acl/acl.h"

typedef struct calls {
    aclError (*init)(const char *);
    aclError (*set_device)(int32_t);
    aclError (*fill)(void *, size_t, int32_t, size_t, aclrtStream);
    aclError (*synchronise)(aclrtStream);
} calls_t;

static int look_up(void *library, calls_t *calls)
{
    const char *const names[] = {"aclInit", "aclrtSetDevice", "aclrtMemsetAsync", "aclrtSynchronizeStream"};
    void *const found[] = {dlsym(library, names[0]), dlsym(library, names[1]), dlsym(library, names[2]),
                           dlsym(library, names[3])};

    _Static_assert(sizeof found == sizeof *calls, "as many pointers as names");
    for (int i = 0; i < 4; i++)
        if (found[i] == NULL)
            return -1;
    memcpy(calls, found, sizeof found);
    return 0;
}

int main(int argc, char **argv)
{
    calls_t calls;
    char byte = 0;

    if (argc < 2)
        return 1;
    for (int round = 0; round < 3; round++) {
        void *const library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);

        if (library == NULL || look_up(library, &calls) != 0) {
            (void)fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
        if (calls.init(NULL) != (round == 0 ? ACL_SUCCESS : ACL_ERROR_REPEAT_INITIALIZE) ||
            calls.set_device(0) != ACL_SUCCESS || calls.fill(&byte, 1, round + 1, 1, NULL) != ACL_SUCCESS ||
            calls.synchronise(NULL) != ACL_SUCCESS || byte != round + 1) {
            (void)fprintf(stderr, "round %d failed\n", round);
            return 1;
        }
        if (dlclose(library) != 0)
            return 1;
    }
    return 0;
}
