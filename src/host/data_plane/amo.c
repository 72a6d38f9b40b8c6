/* SPDX-License-Identifier: Apache-2.0 */
/* Host atomics: one processor instruction on an object that is mapped, a request to the transport otherwise. */
#define LOG_MODULE "rma"
#include "host/data_plane/shmem_host_amo.h"

#include "host/data_plane/reach.h"
#include "host/sync/sync.h"
#include "host_device/amo_apply.h"

#include <string.h>

/* Everything out of the ordinary, mistakes included; 0 where there is no old value. */
static __attribute__((cold)) uint64_t slowly(aclshmemi_instance_t *in, const char *call, const void *address,
                                             const aclshmemi_amo_request_t *request, int pe)
{
    aclshmemi_target_t target;
    size_t width = aclshmemi_amo_width(request->type);
    uint64_t old = 0;
    if (aclshmemi_reach_slowly(in, call, address, width, pe, &target) != 0)
        return 0;
    if ((uintptr_t)address % width != 0) {
        (void)!fail(ACLSHMEM_INVALID_PARAM, "%s: the object %p is not aligned to its %zu bytes", call,
                    address, width);
        return 0;
    }
    if (target.address == NULL)
        return target.transport->ops.amo(target.transport, target.remote, request, &old) == 0 ? old : 0;
    old = aclshmemi_amo_apply(target.address, request->op, request->type, request->value, request->condition,
                              request->wanted);
    if (request->op != ACLSHMEMI_AMO_FETCH)
        aclshmemi_notify(in, pe);
    return old;
}

/* All calls of this file. Operation and type are constants, so what is left of the fast path is one instruction. */
static inline __attribute__((always_inline)) uint64_t amo(const char *call, const void *address,
                                                          aclshmemi_amo_op_t op, aclshmemi_amo_type_t type,
                                                          uint64_t value, uint64_t condition, int pe,
                                                          bool wanted)
{
    aclshmemi_instance_t *in = aclshmemi_current();
    size_t width = aclshmemi_amo_width(type);
    char *base;
    void *object = aclshmemi_reach_from(in, address, width, pe, &base);
    if (__builtin_expect(object == NULL || (uintptr_t)object % width != 0, 0))
        return slowly(in, call, address, &(aclshmemi_amo_request_t){op, type, value, condition, wanted}, pe);
    uint64_t old = aclshmemi_amo_apply(object, op, type, value, condition, wanted);
    if (op != ACLSHMEMI_AMO_FETCH)
        aclshmemi_notify_at(in, base);
    return old;
}

/* Where a non-blocking call puts what it fetched. */
static bool has_place(const char *call, const void *fetch)
{
    if (fetch == NULL)
        (void)!fail(ACLSHMEM_INVALID_PARAM, "%s: the place for the fetched value is NULL", call);
    return fetch != NULL;
}

#define AMO_TYPE_int32  ACLSHMEMI_AMO_32
#define AMO_TYPE_uint32 ACLSHMEMI_AMO_32
#define AMO_TYPE_int64  ACLSHMEMI_AMO_64
#define AMO_TYPE_uint64 ACLSHMEMI_AMO_64
#define AMO_TYPE_float  ACLSHMEMI_AMO_FLOAT
#define AMO_TYPE_double ACLSHMEMI_AMO_DOUBLE

/* Values travel as their bits. */
#define DEFINE_BITS(NAME, TYPE)                                                                              \
    static inline uint64_t bits_of_##NAME(TYPE value)                                                        \
    {                                                                                                        \
        uint64_t bits = 0;                                                                                   \
        memcpy(&bits, &value, sizeof value);                                                                 \
        return bits;                                                                                         \
    }                                                                                                        \
    static inline TYPE NAME##_of_bits(uint64_t bits)                                                         \
    {                                                                                                        \
        TYPE value;                                                                                          \
        memcpy(&value, &bits, sizeof value);                                                                 \
        return value;                                                                                        \
    }                                                                                                        \
    struct aclshmemi_needs_a_semicolon

ACLSHMEM_AMO_INTEGER_FUNC(DEFINE_BITS);
ACLSHMEM_AMO_FLOAT_FUNC(DEFINE_BITS);

/* FETCHED gives the old value, PLAIN does without. */
#define FETCHED(NAME, CALL, OP, address, value, condition)                                                   \
    NAME##_of_bits(amo(#NAME CALL, address, ACLSHMEMI_AMO_##OP, AMO_TYPE_##NAME, value, condition, pe, true))
#define PLAIN(NAME, CALL, OP, address, value)                                                                \
    (void)amo(#NAME CALL, address, ACLSHMEMI_AMO_##OP, AMO_TYPE_##NAME, value, 0, pe, false)

#define DEFINE_AMO(NAME, TYPE)                                                                               \
    TYPE aclshmem_##NAME##_atomic_fetch(const TYPE *source, int pe)                                          \
    {                                                                                                        \
        return FETCHED(NAME, "_atomic_fetch", FETCH, source, 0, 0);                                          \
    }                                                                                                        \
    void aclshmem_##NAME##_atomic_set(TYPE *dest, TYPE value, int pe)                                        \
    {                                                                                                        \
        PLAIN(NAME, "_atomic_set", STORE, dest, bits_of_##NAME(value));                                      \
    }                                                                                                        \
    TYPE aclshmem_##NAME##_atomic_swap(TYPE *dest, TYPE value, int pe)                                       \
    {                                                                                                        \
        return FETCHED(NAME, "_atomic_swap", STORE, dest, bits_of_##NAME(value), 0);                         \
    }                                                                                                        \
    TYPE aclshmem_##NAME##_atomic_fetch_add(TYPE *dest, TYPE value, int pe)                                  \
    {                                                                                                        \
        return FETCHED(NAME, "_atomic_fetch_add", PLUS, dest, bits_of_##NAME(value), 0);                     \
    }                                                                                                        \
    void aclshmem_##NAME##_atomic_add(TYPE *dest, TYPE value, int pe)                                        \
    {                                                                                                        \
        PLAIN(NAME, "_atomic_add", PLUS, dest, bits_of_##NAME(value));                                       \
    }                                                                                                        \
    void aclshmem_##NAME##_atomic_fetch_nbi(TYPE *fetch, const TYPE *source, int pe)                         \
    {                                                                                                        \
        if (has_place(#NAME "_atomic_fetch_nbi", fetch))                                                     \
            *fetch = aclshmem_##NAME##_atomic_fetch(source, pe);                                             \
    }                                                                                                        \
    void aclshmem_##NAME##_atomic_swap_nbi(TYPE *fetch, TYPE *dest, TYPE value, int pe)                      \
    {                                                                                                        \
        if (has_place(#NAME "_atomic_swap_nbi", fetch))                                                      \
            *fetch = aclshmem_##NAME##_atomic_swap(dest, value, pe);                                         \
    }                                                                                                        \
    void aclshmem_##NAME##_atomic_fetch_add_nbi(TYPE *fetch, TYPE *dest, TYPE value, int pe)                 \
    {                                                                                                        \
        if (has_place(#NAME "_atomic_fetch_add_nbi", fetch))                                                 \
            *fetch = aclshmem_##NAME##_atomic_fetch_add(dest, value, pe);                                    \
    }                                                                                                        \
    struct aclshmemi_needs_a_semicolon

#define DEFINE_BITWISE(NAME, TYPE, OP, NUMBER)                                                               \
    TYPE aclshmem_##NAME##_atomic_fetch_##OP(TYPE *dest, TYPE value, int pe)                                 \
    {                                                                                                        \
        return FETCHED(NAME, "_atomic_fetch_" #OP, NUMBER, dest, bits_of_##NAME(value), 0);                  \
    }                                                                                                        \
    void aclshmem_##NAME##_atomic_##OP(TYPE *dest, TYPE value, int pe)                                       \
    {                                                                                                        \
        PLAIN(NAME, "_atomic_" #OP, NUMBER, dest, bits_of_##NAME(value));                                    \
    }                                                                                                        \
    void aclshmem_##NAME##_atomic_fetch_##OP##_nbi(TYPE *fetch, TYPE *dest, TYPE value, int pe)              \
    {                                                                                                        \
        if (has_place(#NAME "_atomic_fetch_" #OP "_nbi", fetch))                                             \
            *fetch = aclshmem_##NAME##_atomic_fetch_##OP(dest, value, pe);                                   \
    }

#define DEFINE_AMO_INTEGER(NAME, TYPE)                                                                       \
    TYPE aclshmem_##NAME##_atomic_compare_swap(TYPE *dest, TYPE cond, TYPE value, int pe)                    \
    {                                                                                                        \
        return FETCHED(NAME, "_atomic_compare_swap", COMPARE_SWAP, dest, bits_of_##NAME(value),              \
                       bits_of_##NAME(cond));                                                                \
    }                                                                                                        \
    void aclshmem_##NAME##_atomic_compare_swap_nbi(TYPE *fetch, TYPE *dest, TYPE cond, TYPE value, int pe)   \
    {                                                                                                        \
        if (has_place(#NAME "_atomic_compare_swap_nbi", fetch))                                              \
            *fetch = aclshmem_##NAME##_atomic_compare_swap(dest, cond, value, pe);                           \
    }                                                                                                        \
    TYPE aclshmem_##NAME##_atomic_fetch_inc(TYPE *dest, int pe)                                              \
    {                                                                                                        \
        return FETCHED(NAME, "_atomic_fetch_inc", PLUS, dest, 1, 0);                                         \
    }                                                                                                        \
    void aclshmem_##NAME##_atomic_inc(TYPE *dest, int pe)                                                    \
    {                                                                                                        \
        PLAIN(NAME, "_atomic_inc", PLUS, dest, 1);                                                           \
    }                                                                                                        \
    void aclshmem_##NAME##_atomic_fetch_inc_nbi(TYPE *fetch, TYPE *dest, int pe)                             \
    {                                                                                                        \
        if (has_place(#NAME "_atomic_fetch_inc_nbi", fetch))                                                 \
            *fetch = aclshmem_##NAME##_atomic_fetch_inc(dest, pe);                                           \
    }                                                                                                        \
    DEFINE_BITWISE(NAME, TYPE, and, AND)                                                                     \
    DEFINE_BITWISE(NAME, TYPE, or, OR)                                                                       \
    DEFINE_BITWISE(NAME, TYPE, xor, XOR)                                                                     \
    struct aclshmemi_needs_a_semicolon

ACLSHMEM_AMO_INTEGER_FUNC(DEFINE_AMO);
ACLSHMEM_AMO_FLOAT_FUNC(DEFINE_AMO);
ACLSHMEM_AMO_INTEGER_FUNC(DEFINE_AMO_INTEGER);
