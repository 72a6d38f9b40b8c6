/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel dialect of the vendor's C++ compiler, for cores that are threads of this machine: the classes, copies, flags
 * and vector operations that communication kernels use, thin over aicore/aicore.h. Kernels written in it are compiled with
 * aclcpu-cc, which turns <<< >>> and buffer declarations into C++; main and kernel may share a file.
 *
 * Needs C++17. Buffer pointers are segments (clang, x86-64) or ub<T> (any compiler): aicore/aicore_ub.h.
 */
#ifndef KERNEL_OPERATOR_H
#define KERNEL_OPERATOR_H

#ifndef __cplusplus
#error "kernel_operator.h is C++; C kernels include aicore/aicore.h"
#endif
#ifndef __CCE_KT_TEST__
#error "compile kernels for the CPU runtime with aclcpu-cc, or define __CCE_KT_TEST__"
#endif

#include "acl/acl.h"

#include "ascendc/core.h"
#include "ascendc/tensor.h"
#include "ascendc/copy.h"
#include "ascendc/queue.h"
#include "ascendc/launch.h"

#endif
