/* SPDX-License-Identifier: Apache-2.0 */
/* op::bfloat16: the upper half of a float for host programs in C++, stored as its bits and used as a float. */
#ifndef OPDEV_BFLOAT16_H
#define OPDEV_BFLOAT16_H

#include "aicore/aicore_half.h"

namespace op
{
using bfloat16 = aclcpu::bfloat16_t;
}

#endif
