/* SPDX-License-Identifier: Apache-2.0 */
/* What kernels of tests share: a check that fails ends the launch, and the host prints the text. */
#ifndef DEVICE_KERNEL_H
#define DEVICE_KERNEL_H

#include "shmem.h"

#define EXPECT(condition)                                                                                    \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            aicore_trap("%s:%d: %s is false", __FILE__, __LINE__, #condition);                               \
    } while (0)

#define EXPECT_INT(expression, expected)                                                                     \
    do {                                                                                                     \
        long long got_ = (long long)(expression), want_ = (long long)(expected);                             \
        if (got_ != want_)                                                                                   \
            aicore_trap("%s:%d: %s is %lld, expected %lld", __FILE__, __LINE__, #expression, got_, want_);   \
    } while (0)

#endif
