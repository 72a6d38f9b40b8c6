/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The smallest job: every PE says who it is.
 *
 *     aclshmemrun -n 4 hello
 */
#include <stdio.h>

#include "shmem.h"

int main(void)
{
    if (aclshmemx_init() != 0)
        return 1; /* the library has said why */
    printf("hello from PE %d of %d\n", aclshmem_my_pe(), aclshmem_n_pes());
    return aclshmem_finalize() == 0 ? 0 : 1;
}
