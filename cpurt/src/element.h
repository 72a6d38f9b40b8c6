/* SPDX-License-Identifier: Apache-2.0 */
/* Adding to elements in memory that others add to, too. */
#ifndef CPURT_ELEMENT_H
#define CPURT_ELEMENT_H

#include "aicore/aicore.h"

uint32_t cpurt_element_bytes(aicore_element_t element);
/* bytes and the address in memory are multiples of the element's size. */
void cpurt_element_add(aicore_element_t element, void *memory, const void *values, uint64_t bytes);

#endif
