/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel that counts its cycles. */
#include "kernel.h"

ACLSHMEM_KERNEL(count_cycles, int, frame, uint32_t, passes)
{
    for (uint32_t i = 0; i < passes; i++) {
        SHMEMI_PROF_START(frame);
        uint64_t from = aicore_cycles();
        while (aicore_cycles() - from < 50) /* a microsecond */
            ;
        SHMEMI_PROF_END(frame);
    }
}
