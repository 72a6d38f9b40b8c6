/* SPDX-License-Identifier: Apache-2.0 */
/* [L-20] Cycle counts with several PEs: on the PE that the setting names, and on no other. */
#include "pe.h"

int main(void)
{
    aclshmem_prof_pe_t *counts = (aclshmem_prof_pe_t *)(void *)&counts;
    pe_init(UINT64_C(2) << 20);
    int chosen = aclshmem_n_pes() > 1 ? 1 : 0;
    aclshmemx_clear_error();
    aclshmemx_get_prof(&counts, false);
    CHECK((counts != NULL) == (aclshmem_my_pe() == chosen));
    if (counts != NULL)
        CHECK_INT(counts->pe_id, chosen);
    int code = 0;
    aclshmemx_last_error(&code);
    CHECK_INT(code, 0);
    aclshmem_barrier_all();
    pe_finalize();
    return 0;
}
