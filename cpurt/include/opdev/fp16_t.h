/* SPDX-License-Identifier: Apache-2.0 */
/* op::fp16_t: an IEEE half for host programs in C++, stored as its bits and used as a float. */
#ifndef OPDEV_FP16_T_H
#define OPDEV_FP16_T_H

#include "aicore/aicore_half.h"

namespace op
{
using fp16_t = aclcpu::half_t;
}

#endif
