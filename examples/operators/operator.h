/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the host programs of these operators share: a job, memory, launches, and a result that every PE agrees on. Whatever
 * goes wrong ends the program with a line that says what.
 *
 * Device memory is read and written with aclrtMemcpy, as on a card.
 */
#ifndef OPERATOR_H
#define OPERATOR_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "acl/acl.h"
#include "shmem.h"

#define OP_BLOCKS 16 /* cores of each PE that the operators use, unless they say otherwise */

typedef struct op {
    const char *name;
    int me, n;
    aclrtStream stream;
    long long wrong; /* elements that are not what they should be */
} op_t;

static inline _Noreturn __attribute__((format(printf, 2, 3))) void op_fail(const op_t *op, const char *format,
                                                                           ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "%s: PE %d: %s\n", op->name, op->me, text);
    exit(1); /* the others are told */
}

static inline void op_acl(const op_t *op, aclError error, const char *call)
{
    const char *text = error == ACL_SUCCESS ? NULL : aclGetRecentErrMsg();
    if (error != ACL_SUCCESS)
        op_fail(op, "%s failed with code %d, %s", call, (int)error, text == NULL ? "" : text);
}
#define OP_ACL(op, call) op_acl(op, call, #call)

/* The job; before it, aclshmemx_init or aclshmemx_init_attr has succeeded. */
static inline op_t op_begin(const char *name)
{
    op_t op = {.name = name, .me = aclshmem_my_pe(), .n = aclshmem_n_pes()};
    OP_ACL(&op, aclrtCreateStream(&op.stream));
    return op;
}

static inline op_t op_begin_job(const char *name)
{
    if (aclshmemx_init() != 0)
        exit(1); /* the library has said why */
    return op_begin(name);
}

/* Symmetric memory, all zero. Every PE calls. */
static inline void *op_symmetric(const op_t *op, size_t bytes)
{
    void *memory = aclshmem_calloc(1, bytes);
    if (memory == NULL)
        op_fail(op, "no symmetric memory: %s", aclshmemx_last_error(NULL));
    return memory;
}

/* Memory of the host. */
static inline void *op_host(const op_t *op, size_t bytes)
{
    void *memory = calloc(1, bytes);
    if (memory == NULL)
        op_fail(op, "no memory for %zu bytes", bytes);
    return memory;
}

static inline void op_write(const op_t *op, void *device, const void *host, size_t bytes)
{
    OP_ACL(op, aclrtMemcpy(device, bytes, host, bytes, ACL_MEMCPY_HOST_TO_DEVICE));
}

static inline void op_read(const op_t *op, void *host, const void *device, size_t bytes)
{
    OP_ACL(op, aclrtMemcpy(host, bytes, device, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
}

/* Enqueues a kernel of this program, by name. */
static inline void op_launch(const op_t *op, const char *kernel, uint32_t blocks, const void *args,
                             size_t bytes)
{
    aclrtFuncHandle function = NULL;
    OP_ACL(op, aclrtBinaryGetFunction(NULL, kernel, &function));
    OP_ACL(op, aclrtLaunchKernel(function, blocks, args, bytes, op->stream));
}

static inline void op_sync(const op_t *op)
{
    OP_ACL(op, aclrtSynchronizeStream(op->stream));
}

static inline double op_now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* A number that looks random and is the same wherever it is asked for. */
static inline uint32_t op_random(uint32_t stream, uint32_t index)
{
    uint64_t x = ((uint64_t)stream << 32 | index) + UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((x ^ (x >> 31)) >> 16);
}

/* All PEs: adds up what was wrong, says so on PE 0, ends the job. What main returns. */
static inline int op_end(op_t *op)
{
    int64_t *sum = op_symmetric(op, 2 * sizeof *sum);
    int64_t wrong = op->wrong;
    op_write(op, &sum[0], &wrong, sizeof wrong);
    if (aclshmem_int64_sum_reduce(ACLSHMEM_TEAM_WORLD, &sum[1], &sum[0], 1) != 0)
        op_fail(op, "%s", aclshmemx_last_error(NULL));
    op_read(op, &wrong, &sum[1], sizeof wrong);
    aclshmem_free(sum);
    if (op->me == 0)
        printf("%s: %d PEs, %s\n", op->name, op->n, wrong == 0 ? "every element right" : "WRONG elements");
    OP_ACL(op, aclrtDestroyStream(op->stream));
    return aclshmem_finalize() != 0 || wrong != 0;
}

#endif
