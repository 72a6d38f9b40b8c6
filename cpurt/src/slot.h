/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses the host program leaves for kernels. */
#ifndef CPURT_SLOT_H
#define CPURT_SLOT_H

#include <stdint.h>

/* The slot that a launch enqueued now starts with. */
uint32_t cpurt_slot_selected(void);
void cpurt_slots_end(void);

#endif
