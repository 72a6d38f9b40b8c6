/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A first put: every PE writes its number into the memory of the next one, and checks what it got from the previous.
 *
 *     aclshmemrun -n 4 ring
 */
#include <stdio.h>

#include "shmem.h"

int main(void)
{
    if (aclshmemx_init() != 0)
        return 1;
    int me = aclshmem_my_pe(), n = aclshmem_n_pes();

    /* The same call on every PE gives a block at the same offset; its local address names the remote one. */
    int32_t *slot = aclshmem_malloc(sizeof *slot);
    if (slot == NULL)
        return 1;
    *slot = -1;
    aclshmem_barrier_all(); /* nobody writes before everybody has cleared its slot */

    aclshmem_int32_p(slot, me, (me + 1) % n);
    aclshmem_barrier_all(); /* all writes are visible after this */

    int expected = (me + n - 1) % n;
    printf("PE %d got %d from PE %d%s\n", me, (int)*slot, expected, *slot == expected ? "" : " - WRONG");
    int wrong = *slot != expected;

    aclshmem_free(slot);
    return aclshmem_finalize() != 0 || wrong;
}
