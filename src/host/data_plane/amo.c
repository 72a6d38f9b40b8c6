/* SPDX-License-Identifier: Apache-2.0 */
/* Host atomics: one processor instruction on the mapped object. */
#define LOG_MODULE "rma"
#include "host/data_plane/shmem_host_amo.h"

#include "host/data_plane/reach.h"
#include "host/sync/sync.h"
#include "host_device/amo_apply.h"

#include <string.h>

/* The object, or NULL with the words said. An object that is mapped nowhere needs an engine with atomics. */
static void *object(aclshmemi_instance_t *in, const char *call, const void *address, size_t width, int pe)
{
    void *found = aclshmemi_reach(in, address, width, pe);
    if (__builtin_expect(found != NULL && (uintptr_t)found % width == 0, 1))
        return found;
    aclshmemi_target_t target;
    if (aclshmemi_reach_slowly(in, call, address, width, pe, &target) != 0)
        return NULL;
    if ((uintptr_t)address % width != 0) {
        (void)!fail(ACLSHMEM_INVALID_PARAM, "%s: the object %p is not aligned to its %zu bytes", call,
                    address, width);
        return NULL;
    }
    if (target.address == NULL)
        (void)!fail(
            ACLSHMEM_NOT_SUPPORTED,
            "%s: the memory of PE %d cannot be touched by host code here, and transport %s has no such "
            "atomic",
            call, pe, target.transport->ops.name);
    return target.address;
}

/* Where a non-blocking call puts what it fetched. */
static bool has_place(const char *call, const void *fetch)
{
    if (fetch == NULL)
        (void)!fail(ACLSHMEM_INVALID_PARAM, "%s: the place for the fetched value is NULL", call);
    return fetch != NULL;
}

/* A body of a call: `word` is the object, `action` computes `old`, writers wake sleepers. */
#define ON_OBJECT(call_name, TYPE, address, pe, writes, action)                                              \
    aclshmemi_instance_t *in = aclshmemi_current();                                                          \
    TYPE old = 0;                                                                                            \
    TYPE *word = object(in, call_name, address, sizeof(TYPE), pe);                                           \
    if (word != NULL) {                                                                                      \
        action;                                                                                              \
        if (writes)                                                                                          \
            aclshmemi_notify(in, pe);                                                                        \
    }

/* The same bits as in kernels and transports. */
#define FLOAT_ADD(TYPE, AMO_TYPE)                                                                            \
    do {                                                                                                     \
        uint64_t bits = 0;                                                                                   \
        memcpy(&bits, &value, sizeof value);                                                                 \
        bits = aclshmemi_amo_apply(word, ACLSHMEMI_AMO_PLUS, AMO_TYPE, bits, 0, true);                       \
        memcpy(&old, &bits, sizeof old);                                                                     \
    } while (0)

#define ADD_int32(TYPE)  old = __atomic_fetch_add(word, value, __ATOMIC_ACQ_REL)
#define ADD_int64(TYPE)  ADD_int32(TYPE)
#define ADD_uint32(TYPE) ADD_int32(TYPE)
#define ADD_uint64(TYPE) ADD_int32(TYPE)
#define ADD_float(TYPE)  FLOAT_ADD(TYPE, ACLSHMEMI_AMO_FLOAT)
#define ADD_double(TYPE) FLOAT_ADD(TYPE, ACLSHMEMI_AMO_DOUBLE)

#define DEFINE_AMO(NAME, TYPE)                                                                               \
    TYPE aclshmem_##NAME##_atomic_fetch(const TYPE *source, int pe)                                          \
    {                                                                                                        \
        ON_OBJECT(#NAME "_atomic_fetch", TYPE, source, pe, false,                                            \
                  __atomic_load(word, &old, __ATOMIC_ACQUIRE))                                               \
        return old;                                                                                          \
    }                                                                                                        \
    void aclshmem_##NAME##_atomic_set(TYPE *dest, TYPE value, int pe)                                        \
    {                                                                                                        \
        ON_OBJECT(#NAME "_atomic_set", TYPE, dest, pe, true, __atomic_store(word, &value, __ATOMIC_RELEASE)) \
        (void)old;                                                                                           \
    }                                                                                                        \
    TYPE aclshmem_##NAME##_atomic_swap(TYPE *dest, TYPE value, int pe)                                       \
    {                                                                                                        \
        ON_OBJECT(#NAME "_atomic_swap", TYPE, dest, pe, true,                                                \
                  __atomic_exchange(word, &value, &old, __ATOMIC_ACQ_REL))                                   \
        return old;                                                                                          \
    }                                                                                                        \
    TYPE aclshmem_##NAME##_atomic_fetch_add(TYPE *dest, TYPE value, int pe)                                  \
    {                                                                                                        \
        ON_OBJECT(#NAME "_atomic_fetch_add", TYPE, dest, pe, true, ADD_##NAME(TYPE))                         \
        return old;                                                                                          \
    }                                                                                                        \
    void aclshmem_##NAME##_atomic_add(TYPE *dest, TYPE value, int pe)                                        \
    {                                                                                                        \
        ON_OBJECT(#NAME "_atomic_add", TYPE, dest, pe, true, ADD_##NAME(TYPE))                               \
        (void)old;                                                                                           \
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

#define DEFINE_BITWISE(NAME, TYPE, OP)                                                                       \
    TYPE aclshmem_##NAME##_atomic_fetch_##OP(TYPE *dest, TYPE value, int pe)                                 \
    {                                                                                                        \
        ON_OBJECT(#NAME "_atomic_fetch_" #OP, TYPE, dest, pe, true,                                          \
                  old = __atomic_fetch_##OP(word, value, __ATOMIC_ACQ_REL))                                  \
        return old;                                                                                          \
    }                                                                                                        \
    void aclshmem_##NAME##_atomic_##OP(TYPE *dest, TYPE value, int pe)                                       \
    {                                                                                                        \
        ON_OBJECT(#NAME "_atomic_" #OP, TYPE, dest, pe, true,                                                \
                  old = __atomic_fetch_##OP(word, value, __ATOMIC_ACQ_REL))                                  \
        (void)old;                                                                                           \
    }                                                                                                        \
    void aclshmem_##NAME##_atomic_fetch_##OP##_nbi(TYPE *fetch, TYPE *dest, TYPE value, int pe)              \
    {                                                                                                        \
        if (has_place(#NAME "_atomic_fetch_" #OP "_nbi", fetch))                                             \
            *fetch = aclshmem_##NAME##_atomic_fetch_##OP(dest, value, pe);                                   \
    }

#define DEFINE_AMO_INTEGER(NAME, TYPE)                                                                       \
    TYPE aclshmem_##NAME##_atomic_compare_swap(TYPE *dest, TYPE cond, TYPE value, int pe)                    \
    {                                                                                                        \
        ON_OBJECT(#NAME "_atomic_compare_swap", TYPE, dest, pe, true, {                                      \
            old = cond;                                                                                      \
            __atomic_compare_exchange_n(word, &old, value, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);       \
        })                                                                                                   \
        return old;                                                                                          \
    }                                                                                                        \
    void aclshmem_##NAME##_atomic_compare_swap_nbi(TYPE *fetch, TYPE *dest, TYPE cond, TYPE value, int pe)   \
    {                                                                                                        \
        if (has_place(#NAME "_atomic_compare_swap_nbi", fetch))                                              \
            *fetch = aclshmem_##NAME##_atomic_compare_swap(dest, cond, value, pe);                           \
    }                                                                                                        \
    TYPE aclshmem_##NAME##_atomic_fetch_inc(TYPE *dest, int pe)                                              \
    {                                                                                                        \
        return aclshmem_##NAME##_atomic_fetch_add(dest, 1, pe);                                              \
    }                                                                                                        \
    void aclshmem_##NAME##_atomic_inc(TYPE *dest, int pe)                                                    \
    {                                                                                                        \
        aclshmem_##NAME##_atomic_add(dest, 1, pe);                                                           \
    }                                                                                                        \
    void aclshmem_##NAME##_atomic_fetch_inc_nbi(TYPE *fetch, TYPE *dest, int pe)                             \
    {                                                                                                        \
        if (has_place(#NAME "_atomic_fetch_inc_nbi", fetch))                                                 \
            *fetch = aclshmem_##NAME##_atomic_fetch_add(dest, 1, pe);                                        \
    }                                                                                                        \
    DEFINE_BITWISE(NAME, TYPE, and)                                                                          \
    DEFINE_BITWISE(NAME, TYPE, or)                                                                           \
    DEFINE_BITWISE(NAME, TYPE, xor)                                                                          \
    struct aclshmemi_needs_a_semicolon

ACLSHMEM_AMO_INTEGER_FUNC(DEFINE_AMO);
ACLSHMEM_AMO_FLOAT_FUNC(DEFINE_AMO);
ACLSHMEM_AMO_INTEGER_FUNC(DEFINE_AMO_INTEGER);
