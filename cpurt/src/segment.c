/* SPDX-License-Identifier: Apache-2.0 */
/* The segment register through which kernels built with AICORE_UB_SEGMENT see their buffer. User space leaves it alone
 * on x86-64, so every core thread has it for itself; elsewhere there is none and no such kernels. */
#include "core_state.h"

#if defined(__x86_64__)

#include <asm/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

void cpurt_segment_set(void *ub)
{
    /* By system call: the instruction is missing on older machines and in some tools. */
    (void)syscall(SYS_arch_prctl, ARCH_SET_GS, ub);
}

#else

void cpurt_segment_set(void *ub)
{
    (void)ub;
}

#endif
