/* SPDX-License-Identifier: Apache-2.0 */
/* A ring put as a user would write it: each PE writes its number to the next one, and looks at what it got. */
/* */
#include <acl/acl.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int wanted = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 1;
    if (aclInit(NULL) != 0 || aclshmemx_init() != 0) {
        fprintf(stderr, "init: %s\n", aclshmemx_last_error(NULL));
        return 1;
    }
    int pe = aclshmem_my_pe(), n = aclshmem_n_pes();
    int32_t *slot = aclshmem_calloc(1, sizeof *slot);
    if (slot == NULL || n != wanted)
        return 1;
    aclshmem_int32_p(slot, pe + 100, (pe + 1) % n);
    aclshmem_barrier_all();
    int from = (pe + n - 1) % n;
    int32_t got = aclshmem_int32_g(slot, pe);
    if (got != from + 100) {
        fprintf(stderr, "PE %d of %d got %d from PE %d\n", pe, n, got, from);
        return 1;
    }
    aclshmem_free(slot);
    return aclshmem_finalize();
}
