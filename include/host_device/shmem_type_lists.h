/* SPDX-License-Identifier: Apache-2.0 */
/* The type lists that typed calls grow from. Each expands FUNC once per row, separated by semicolons. */
#ifndef ACLSHMEM_TYPE_LISTS_H
#define ACLSHMEM_TYPE_LISTS_H

/* The integers of fixed width, part of most lists below. FUNC(NAME, TYPE) */
#define ACLSHMEM_INTEGER_FUNC(FUNC)                                                                          \
    FUNC(int8, int8_t);                                                                                      \
    FUNC(int16, int16_t);                                                                                    \
    FUNC(int32, int32_t);                                                                                    \
    FUNC(int64, int64_t);                                                                                    \
    FUNC(uint8, uint8_t);                                                                                    \
    FUNC(uint16, uint16_t);                                                                                  \
    FUNC(uint32, uint32_t);                                                                                  \
    FUNC(uint64, uint64_t)

/* RMA and put-with-signal. FUNC(NAME, TYPE) */
#define ACLSHMEM_TYPE_FUNC(FUNC)                                                                             \
    FUNC(float, float);                                                                                      \
    FUNC(double, double);                                                                                    \
    ACLSHMEM_INTEGER_FUNC(FUNC);                                                                             \
    FUNC(char, char)

/* Waiting and testing: the same without double. FUNC(NAME, TYPE) */
#define ACLSHMEM_P2P_SYNC_TYPE_FUNC(FUNC)                                                                    \
    FUNC(float, float);                                                                                      \
    ACLSHMEM_INTEGER_FUNC(FUNC);                                                                             \
    FUNC(char, char)

/* Host atomics: integers have every operation, the others set, fetch, swap and add. FUNC(NAME, TYPE) */
#define ACLSHMEM_AMO_INTEGER_FUNC(FUNC)                                                                      \
    FUNC(int32, int32_t);                                                                                    \
    FUNC(int64, int64_t);                                                                                    \
    FUNC(uint32, uint32_t);                                                                                  \
    FUNC(uint64, uint64_t)
/* The others, of host atomics. FUNC(NAME, TYPE) */
#define ACLSHMEM_AMO_FLOAT_FUNC(FUNC)                                                                        \
    FUNC(float, float);                                                                                      \
    FUNC(double, double)

/* Collectives: all of these move and reduce; half and bfloat16 are their 16 bits. FUNC(NAME, TYPE) */
#define ACLSHMEM_COLL_TYPE_FUNC(FUNC)                                                                        \
    ACLSHMEM_TYPE_FUNC(FUNC);                                                                                \
    FUNC(half, aclshmemx_half_t);                                                                            \
    FUNC(bfloat16, aclshmemx_bfloat16_t)
/* The types that bitwise reductions know. FUNC(NAME, TYPE) */
#define ACLSHMEM_COLL_BITWISE_FUNC(FUNC) ACLSHMEM_INTEGER_FUNC(FUNC)

/* Element widths in bits. FUNC(BITS) */
#define ACLSHMEM_SIZE_FUNC(FUNC)                                                                             \
    FUNC(8);                                                                                                 \
    FUNC(16);                                                                                                \
    FUNC(32);                                                                                                \
    FUNC(64);                                                                                                \
    FUNC(128)

#endif
