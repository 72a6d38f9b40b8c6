/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pointers into the unified buffer. The buffer's addresses are numbers from 0, also for the primitives of
 * aicore_pipe.h; what a pointer is made of depends on how the kernel is compiled:
 *
 *   plain    (default)           an ordinary pointer: base of the core's buffer plus the number. Any C compiler and CPU.
 *   segment  AICORE_UB_SEGMENT   the number itself, relative to the GS base, which every core thread points at its
 *                                buffer. x86-64: clang in C and C++, GCC in C with GNU extensions. Sanitizers do not
 *                                see these accesses.
 *   class    AICORE_UB_CLASS     C++ only: ub<T>, which holds the number. Any compiler and CPU; kernel_operator.h
 *                                defines it.
 *
 * A kernel that spells its buffer pointers AICORE_UB_POINTER(T) and makes them with AICORE_UB(T, number) compiles in all
 * three.
 */
#ifndef AICORE_AICORE_UB_H
#define AICORE_AICORE_UB_H

#ifndef AICORE_AICORE_H
#error "include aicore/aicore.h"
#endif

#if defined(AICORE_UB_CLASS)

#ifndef __cplusplus
#error "AICORE_UB_CLASS is for C++; C kernels are compiled plain or with AICORE_UB_SEGMENT"
#endif
#include "aicore_ub_class.h"
#define AICORE_UB_POINTER(type)  aicore_ub_class<type>
#define AICORE_UB(type, number)  aicore_ub_class<type>((uint64_t)(number))
#define AICORE_UB_NUMBER(buffer) ((buffer).number())
/* The byte of this machine behind a buffer pointer. */
#define AICORE_UB_HERE(buffer) ((void *)((char *)aicore_ub() + AICORE_UB_NUMBER(buffer)))

#elif defined(AICORE_UB_SEGMENT)

#if !defined(__x86_64__)
#error "AICORE_UB_SEGMENT needs x86-64"
#elif defined(__clang__)
#define __ubuf__ __attribute__((address_space(256)))
#elif defined(__SEG_GS) && !defined(__STRICT_ANSI__) && !defined(__cplusplus)
#define __ubuf__ __seg_gs
#else
#error "AICORE_UB_SEGMENT needs clang, or GCC compiling C with GNU extensions (-std=gnu11)"
#endif
#define AICORE_UB_POINTER(type)  __ubuf__ type *
#define AICORE_UB(type, number)  ((__ubuf__ type *)(uintptr_t)(number))
#define AICORE_UB_NUMBER(buffer) ((uint64_t)(uintptr_t)(buffer))
#define AICORE_UB_HERE(buffer)   ((void *)((char *)aicore_ub() + AICORE_UB_NUMBER(buffer)))

#else

#define __ubuf__
#define AICORE_UB_POINTER(type)  type *
#define AICORE_UB(type, number)  ((type *)(void *)((char *)aicore_ub() + (number)))
#define AICORE_UB_NUMBER(buffer) ((uint64_t)((uintptr_t)(buffer) - (uintptr_t)aicore_ub()))
#define AICORE_UB_HERE(buffer)   ((void *)(buffer))

#endif

#endif
