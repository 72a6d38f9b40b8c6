/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What device code needs first: marks of functions, buffer pointers, scalar types, constants. Included by every device
 * header.
 *
 * A source file is host code or device code. Device code is what is compiled with __CCE_AICORE__ (CANN's compiler) or
 * __CCE_KT_TEST__ (any compiler, for the CPU runtime) defined; a C file that sees both halves is refused, because 310
 * names exist on either side with different parameters.
 *
 * Device functions are static inline. In C a name that the vendor overloads has a suffix: _rows (non-contiguous copies),
 * _ub (one side in the unified buffer). Counts are size_t.
 */
#ifndef ACLSHMEM_DEVICE_DEF_H
#define ACLSHMEM_DEVICE_DEF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if !defined(__CCE_AICORE__) && !defined(__CCE_KT_TEST__)
#error                                                                                                       \
    "device headers are for kernels: compile with -D__CCE_KT_TEST__ for the CPU runtime, or with CANN's compiler"
#endif
#if defined(ACLSHMEM_HOST_DEF_H) && !defined(__cplusplus)
#error "this C file sees the host calls already; a C file is either host code or device code"
#endif

#include "aicore/aicore.h"
#include "host_device/shmem_common_types.h"

/* --- Marks --- */

/* A kernel is defined with ACLSHMEM_KERNEL (one vector core per block) or ACLSHMEM_KERNEL_MIXED (two): name, then pairs of
 * type and argument. ACLSHMEM_GLOBAL and ACLSHMEM_GLOBAL_VECTOR are the marks of kernels in the C++ dialect. */
#define ACLSHMEM_KERNEL       ACL_KERNEL_VECTOR
#define ACLSHMEM_KERNEL_MIXED ACL_KERNEL_MIXED
#ifndef ACLSHMEM_GLOBAL
#define ACLSHMEM_GLOBAL __global__ __aicore__
#endif
#ifndef ACLSHMEM_GLOBAL_VECTOR
#define ACLSHMEM_GLOBAL_VECTOR __global__ __aicore__
#endif
/* In front of every device function. Defined empty by the file that turns them into symbols. */
#ifndef ACLSHMEM_DEVICE
#define ACLSHMEM_DEVICE static inline __attribute__((unused))
#endif

/* --- Unified buffer --- */

/* Pointer type, pointer from an offset in bytes, offset of a pointer. The same source works in every mode of
 * aicore/aicore_ub.h and on a card. */
#define ACLSHMEM_UB_POINTER(type)  AICORE_UB_POINTER(type)
#define ACLSHMEM_UB(type, offset)  AICORE_UB(type, offset)
#define ACLSHMEM_UB_OFFSET(buffer) ((uint32_t)AICORE_UB_NUMBER(buffer))

#define ACLSHMEM_INTERNAL_UB_BUF_START_ADDR (188 * 1024)
#define UB_ALIGN_SIZE                       32
#define UB_ALIGN_SIZE_64                    64
#define ACLSHMEM_NUM_CQE_PER_POLL_CQ        100
#define ACLSHMEM_DATA_CACHE_LINE_SIZE       64

/* --- Types --- */

/* Moved as their bits; arithmetic on them happens in atomic adds only. */
#if !defined(__CCE_AICORE__) && !defined(ACLSHMEM_NO_HALF_TYPES)
#ifdef __cplusplus
#include "aicore/aicore_half.h"
using half = aclcpu::half_t;
using bfloat16_t = aclcpu::bfloat16_t;
#else
typedef uint16_t half;
typedef uint16_t bfloat16_t;
#endif
#endif

/* Rows of a non-contiguous copy, in elements. */
typedef struct non_contiguous_copy_param {
    uint32_t repeat; /* rows */
    uint32_t length; /* elements of a row */
    uint32_t src_ld; /* from the start of a row to the start of the next, in the source; at least length */
    uint32_t dst_ld; /* the same in the destination */
} non_contiguous_copy_param;

/* The 13 types of put and get, FUNC(NAME, TYPE), and the 10 of waits and tests. */
#define ACLSHMEM_TYPES_RMA(FUNC)                                                                             \
    FUNC(half, half)                                                                                         \
    FUNC(float, float)                                                                                       \
    FUNC(double, double)                                                                                     \
    FUNC(int8, int8_t)                                                                                       \
    FUNC(int16, int16_t)                                                                                     \
    FUNC(int32, int32_t)                                                                                     \
    FUNC(int64, int64_t)                                                                                     \
    FUNC(uint8, uint8_t)                                                                                     \
    FUNC(uint16, uint16_t)                                                                                   \
    FUNC(uint32, uint32_t)                                                                                   \
    FUNC(uint64, uint64_t)                                                                                   \
    FUNC(char, char)                                                                                         \
    FUNC(bfloat16, bfloat16_t)
#define ACLSHMEM_TYPES_P2P(FUNC)                                                                             \
    FUNC(float, float)                                                                                       \
    FUNC(int8, int8_t)                                                                                       \
    FUNC(int16, int16_t)                                                                                     \
    FUNC(int32, int32_t)                                                                                     \
    FUNC(int64, int64_t)                                                                                     \
    FUNC(uint8, uint8_t)                                                                                     \
    FUNC(uint16, uint16_t)                                                                                   \
    FUNC(uint32, uint32_t)                                                                                   \
    FUNC(uint64, uint64_t)                                                                                   \
    FUNC(char, char)
#define ACLSHMEM_TYPES_BITS(FUNC) FUNC(8) FUNC(16) FUNC(32) FUNC(64) FUNC(128)

#endif
