/* SPDX-License-Identifier: Apache-2.0 */
/* Host memory the runtime has given out or been told of. */
#ifndef CPURT_HOST_MEMORY_H
#define CPURT_HOST_MEMORY_H

void cpurt_host_memory_end_locked(void); /* with cpurt_memory_lock held */

#endif
