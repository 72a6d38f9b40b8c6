/* SPDX-License-Identifier: Apache-2.0 */
/* Cycle counts of kernels: on the chosen PE alone, by core and frame, and a number for what had no place. */
#include "device.h"

enum { BLOCKS = 70, PASSES = 3, MICROSECOND = 50 /* cycles */ };

static void run(int frame)
{
    struct {
        int frame;
        uint32_t passes;
    } args = {frame, PASSES};
    device_run("count_cycles", BLOCKS, &args, sizeof args);
}

int main(void)
{
    CHECK_ACL(aclInit(NULL));
    CHECK_ACL(aclrtSetDevice(0));
    pe_init(4 << 20);
    run(0);
    run(1023);
    run(1024);
    run(-1);
    aclshmem_prof_pe_t *counts = NULL;
    aclshmemx_get_prof(&counts, false);
    CHECK((counts != NULL) == (aclshmem_my_pe() == 0));
    if (counts != NULL) {
        for (int block = 0; block < ACLSHMEM_CYCLE_PROF_MAX_BLOCK; block++)
            for (int frame = 0; frame < ACLSHMEM_CYCLE_PROF_FRAME_CNT; frame++) {
                bool used = frame == 0 || frame == 1023;
                CHECK_INT(counts->block_prof[block].ccount[frame], used ? PASSES : 0);
                CHECK(counts->block_prof[block].cycles[frame] >= (used ? PASSES * MICROSECOND : 0));
                CHECK(used || counts->block_prof[block].cycles[frame] == 0);
            }
        CHECK_INT(counts->dropped, PASSES * (2 * (BLOCKS - ACLSHMEM_CYCLE_PROF_MAX_BLOCK) + 2 * BLOCKS));
        aclshmemx_show_prof();
    }
    pe_finalize();
    CHECK_ACL(aclrtResetDevice(0));
    CHECK_ACL(aclFinalize());
    return 0;
}
