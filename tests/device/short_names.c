/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels written with the short names. */
#include "device.h"

int main(void)
{
    struct {
        void *words, *small;
    } args;
    CHECK_ACL(aclInit(NULL));
    CHECK_ACL(aclrtSetDevice(0));
    pe_init(8 << 20);
    args.words = aclshmem_calloc(1, 4096);
    args.small = aclshmem_calloc(1, 4096);
    CHECK(args.words != NULL && args.small != NULL);
    device_run("short_names", 1, &args, sizeof args);
    aclshmem_barrier_all();
    pe_finalize();
    return 0;
}
