/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bodies of waits and tests. A call becomes a look: a set of words, how to compare them, and with what. The loops know no
 * types; one switch does. A look forgets the cached line, then loads the word once, whole, with acquire.
 */
#ifndef ACLSHMEMI_DEVICE_P2P_SYNC_INL
#define ACLSHMEMI_DEVICE_P2P_SYNC_INL

#include <string.h>

#include "device/dispatch.inl"
#include "device/wait.inl"

typedef enum aclshmemi_look_type {
#define ACLSHMEMI_LOOK_ENUM(NAME, TYPE) ACLSHMEMI_LOOK_##NAME,
    ACLSHMEM_TYPES_P2P(ACLSHMEMI_LOOK_ENUM)
#undef ACLSHMEMI_LOOK_ENUM
        ACLSHMEMI_LOOK_TYPES
} aclshmemi_look_type_t;

typedef struct aclshmemi_device_look {
    const aclshmemi_state_t *state;
    const char *call;
    __gm__ const char *words;
    size_t count;
    __gm__ const int *status; /* elements with a nonzero entry are left out; NULL: none */
    int cmp;
    const char *values; /* one, or with a step one for each element */
    size_t value_step;
    uint32_t width;
    aclshmemi_look_type_t type;
} aclshmemi_device_look_t;

ACLSHMEM_DEVICE uint64_t aclshmemi_look_bits(const aclshmemi_device_look_t *look, size_t i)
{
    __gm__ const char *word = look->words + i * look->width;
    aclshmemi_port_cache_line(word);
    return aclshmemi_port_load(word, look->width);
}

#define ACLSHMEMI_COMPARE(a, cmp, b)                                                                         \
    ((cmp) == ACLSHMEM_CMP_EQ   ? (a) == (b)                                                                 \
     : (cmp) == ACLSHMEM_CMP_NE ? (a) != (b)                                                                 \
     : (cmp) == ACLSHMEM_CMP_GT ? (a) > (b)                                                                  \
     : (cmp) == ACLSHMEM_CMP_GE ? (a) >= (b)                                                                 \
     : (cmp) == ACLSHMEM_CMP_LT ? (a) < (b)                                                                  \
                                : (a) <= (b))

ACLSHMEM_DEVICE bool aclshmemi_look_holds(const aclshmemi_device_look_t *look, size_t i)
{
    uint64_t bits = aclshmemi_look_bits(look, i);
    const char *with = look->values + i * look->value_step;
    switch (look->type) {
#define ACLSHMEMI_LOOK_CASE(NAME, TYPE)                                                                      \
    case ACLSHMEMI_LOOK_##NAME: {                                                                            \
        TYPE value, wanted;                                                                                  \
        memcpy(&value, &bits, sizeof value);                                                                 \
        memcpy(&wanted, with, sizeof wanted);                                                                \
        return ACLSHMEMI_COMPARE(value, look->cmp, wanted);                                                  \
    }
        ACLSHMEM_TYPES_P2P(ACLSHMEMI_LOOK_CASE)
#undef ACLSHMEMI_LOOK_CASE
    default:
        return false;
    }
}

ACLSHMEM_DEVICE bool aclshmemi_look_takes(const aclshmemi_device_look_t *look, size_t i)
{
    return look->status == NULL || look->status[i] == 0;
}

/* The first element from `from` on that is taken in, SIZE_MAX: none. */
ACLSHMEM_DEVICE size_t aclshmemi_look_first(const aclshmemi_device_look_t *look, size_t from)
{
    for (size_t i = from; i < look->count; i++)
        if (aclshmemi_look_takes(look, i))
            return i;
    return SIZE_MAX;
}

/* --- Reports --- */

ACLSHMEM_DEVICE void aclshmemi_look_print(const aclshmemi_device_look_t *look, uint64_t bits,
                                          const char *with, char *out, size_t size)
{
    static const char *const names[] = {"==", "!=", ">", ">=", "<", "<="};
    switch (look->type) {
#define ACLSHMEMI_LOOK_CASE(NAME, TYPE)                                                                      \
    case ACLSHMEMI_LOOK_##NAME: {                                                                            \
        TYPE value, wanted;                                                                                  \
        memcpy(&value, &bits, sizeof value);                                                                 \
        memcpy(&wanted, with, sizeof wanted);                                                                \
        if ((TYPE)0.5 != 0)                                                                                  \
            snprintf(out, size, "is %g, wanted %s %g", (double)value, names[look->cmp], (double)wanted);     \
        else if ((TYPE)-1 > 0)                                                                               \
            snprintf(out, size, "is %llu, wanted %s %llu", (unsigned long long)value, names[look->cmp],      \
                     (unsigned long long)wanted);                                                            \
        else                                                                                                 \
            snprintf(out, size, "is %lld, wanted %s %lld", (long long)value, names[look->cmp],               \
                     (long long)wanted);                                                                     \
        break;                                                                                               \
    }
        ACLSHMEM_TYPES_P2P(ACLSHMEMI_LOOK_CASE)
#undef ACLSHMEMI_LOOK_CASE
    default:
        break;
    }
}

/* "int32_wait_until on PE 1: element 0 of 3 at heap offset 64 is 4, wanted >= 5" */
ACLSHMEM_DEVICE void aclshmemi_look_describe(const aicore_wait_t *wait, char *out, size_t size)
{
    const aclshmemi_device_look_t *look = (const aclshmemi_device_look_t *)wait->subject;
    char place[48], values[64] = "";
    uint64_t offset = 0;
    size_t first = 0;
    while (first < look->count && (!aclshmemi_look_takes(look, first) || aclshmemi_look_holds(look, first)))
        first++;
    first = first < look->count ? first : 0;
    if (aclshmemi_heap_of(look->state, look->words, look->width, &offset) == 0)
        snprintf(place, sizeof place, "heap offset %llu", (unsigned long long)offset);
    else
        snprintf(place, sizeof place, "%p", (const void *)look->words);
    aclshmemi_look_print(look, aclshmemi_look_bits(look, first), look->values + first * look->value_step,
                         values, sizeof values);
    snprintf(out, size, "%s on PE %d: element %zu of %zu at %s %s", look->call, look->state->seen.mype, first,
             look->count, place, values);
}

/* --- The loops --- */

/* Ends the launch when an argument is wrong. places: an index list, checked when elements may go there. */
ACLSHMEM_DEVICE void aclshmemi_look_check(const aclshmemi_device_look_t *look, bool lists,
                                          __gm__ const size_t *places)
{
    if (look->cmp < ACLSHMEM_CMP_EQ || look->cmp > ACLSHMEM_CMP_LE)
        aclshmemi_port_trap("%s: comparison %d is unknown, 0 (==) to 5 (<=) are allowed", look->call,
                            look->cmp);
    if (look->count == 0)
        return;
    if (look->words == NULL || (uintptr_t)look->words % look->width != 0)
        aclshmemi_port_trap("%s: the elements at %p are NULL or not aligned to %u bytes", look->call,
                            (const void *)look->words, look->width);
    if (look->values == NULL)
        aclshmemi_port_trap("%s: the values to compare with are NULL", look->call);
    if (lists && places == NULL)
        aclshmemi_port_trap("%s: the list for indices is NULL", look->call);
}

ACLSHMEM_DEVICE bool aclshmemi_look_test_all(const aclshmemi_device_look_t *look)
{
    for (size_t i = 0; i < look->count; i++)
        if (aclshmemi_look_takes(look, i) && !aclshmemi_look_holds(look, i))
            return false;
    return true;
}

ACLSHMEM_DEVICE size_t aclshmemi_look_test_any(const aclshmemi_device_look_t *look)
{
    for (size_t i = 0; i < look->count; i++)
        if (aclshmemi_look_takes(look, i) && aclshmemi_look_holds(look, i))
            return i;
    return SIZE_MAX;
}

ACLSHMEM_DEVICE size_t aclshmemi_look_test_some(const aclshmemi_device_look_t *look, __gm__ size_t *indices)
{
    size_t found = 0;
    for (size_t i = 0; i < look->count; i++)
        if (aclshmemi_look_takes(look, i) && aclshmemi_look_holds(look, i))
            indices[found++] = i;
    return found;
}

/* Each element at some moment, in the order of indices. */
ACLSHMEM_DEVICE void aclshmemi_look_wait_all(const aclshmemi_device_look_t *look)
{
    aicore_wait_t wait;
    aclshmemi_wait_start(look->state, &wait, aclshmemi_look_describe, look);
    for (size_t i = aclshmemi_look_first(look, 0); i < look->count; i = aclshmemi_look_first(look, i + 1))
        while (!aclshmemi_look_holds(look, i))
            aclshmemi_port_wait_step(&wait, look->words + i * look->width, look->width);
}

ACLSHMEM_DEVICE size_t aclshmemi_look_wait_any(const aclshmemi_device_look_t *look)
{
    size_t first = aclshmemi_look_first(look, 0), found;
    if (first == SIZE_MAX)
        return SIZE_MAX;
    aicore_wait_t wait;
    aclshmemi_wait_start(look->state, &wait, aclshmemi_look_describe, look);
    while ((found = aclshmemi_look_test_any(look)) == SIZE_MAX)
        aclshmemi_port_wait_step(&wait, look->words + first * look->width, look->width);
    return found;
}

ACLSHMEM_DEVICE size_t aclshmemi_look_wait_some(const aclshmemi_device_look_t *look, __gm__ size_t *indices)
{
    size_t first = aclshmemi_look_first(look, 0), found;
    if (first == SIZE_MAX)
        return 0;
    aicore_wait_t wait;
    aclshmemi_wait_start(look->state, &wait, aclshmemi_look_describe, look);
    while ((found = aclshmemi_look_test_some(look, indices)) == 0)
        aclshmemi_port_wait_step(&wait, look->words + first * look->width, look->width);
    return found;
}

/* --- Calls --- */

#define ACLSHMEMI_LOOK_BEGIN(NAME, TYPE, name, words_, count_, status_, cmp_, values_, step)                 \
    aclshmemi_device_look_t look;                                                                            \
    look.state = aclshmemi_state(#NAME name);                                                                \
    look.call = #NAME name;                                                                                  \
    look.words = (__gm__ const char *)(words_);                                                              \
    look.count = (count_);                                                                                   \
    look.status = (status_);                                                                                 \
    look.cmp = (cmp_);                                                                                       \
    look.values = (const char *)(values_);                                                                   \
    look.value_step = (step);                                                                                \
    look.width = (uint32_t)sizeof(TYPE);                                                                     \
    look.type = ACLSHMEMI_LOOK_##NAME

#define ACLSHMEMI_WAIT_ONE(NAME, TYPE)                                                                       \
    ACLSHMEM_DEVICE void aclshmem_##NAME##_wait_until(__gm__ TYPE *ivar, int cmp, TYPE cmp_value)            \
    {                                                                                                        \
        ACLSHMEMI_LOOK_BEGIN(NAME, TYPE, "_wait_until", ivar, 1, NULL, cmp, &cmp_value, 0);                  \
        aclshmemi_look_check(&look, false, NULL);                                                            \
        aclshmemi_look_wait_all(&look);                                                                      \
    }                                                                                                        \
    ACLSHMEM_DEVICE void aclshmem_##NAME##_wait(__gm__ TYPE *ivar, TYPE cmp_value)                           \
    {                                                                                                        \
        ACLSHMEMI_LOOK_BEGIN(NAME, TYPE, "_wait", ivar, 1, NULL, ACLSHMEM_CMP_NE, &cmp_value, 0);            \
        aclshmemi_look_check(&look, false, NULL);                                                            \
        aclshmemi_look_wait_all(&look);                                                                      \
    }                                                                                                        \
    ACLSHMEM_DEVICE int aclshmem_##NAME##_test(__gm__ TYPE *ivars, int cmp, TYPE cmp_value)                  \
    {                                                                                                        \
        ACLSHMEMI_LOOK_BEGIN(NAME, TYPE, "_test", ivars, 1, NULL, cmp, &cmp_value, 0);                       \
        aclshmemi_look_check(&look, false, NULL);                                                            \
        return aclshmemi_look_test_all(&look);                                                               \
    }

/* The families over several elements: with one value, and with _vector and a value for each. */
#define ACLSHMEMI_WAIT_MANY(NAME, TYPE, suffix, name, VALUE, address, step)                                  \
    ACLSHMEM_DEVICE void aclshmem_##NAME##_wait_until_all##suffix(__gm__ TYPE *ivars, size_t nelems,         \
                                                                  __gm__ const int *status, int cmp, VALUE)  \
    {                                                                                                        \
        ACLSHMEMI_LOOK_BEGIN(NAME, TYPE, "_wait_until_all" name, ivars, nelems, status, cmp, address, step); \
        aclshmemi_look_check(&look, false, NULL);                                                            \
        aclshmemi_look_wait_all(&look);                                                                      \
    }                                                                                                        \
    ACLSHMEM_DEVICE size_t aclshmem_##NAME##_wait_until_any##suffix(                                         \
        __gm__ TYPE *ivars, size_t nelems, __gm__ const int *status, int cmp, VALUE)                         \
    {                                                                                                        \
        ACLSHMEMI_LOOK_BEGIN(NAME, TYPE, "_wait_until_any" name, ivars, nelems, status, cmp, address, step); \
        aclshmemi_look_check(&look, false, NULL);                                                            \
        return aclshmemi_look_wait_any(&look);                                                               \
    }                                                                                                        \
    ACLSHMEM_DEVICE size_t aclshmem_##NAME##_wait_until_some##suffix(                                        \
        __gm__ TYPE *ivars, size_t nelems, __gm__ size_t *indices, __gm__ const int *status, int cmp, VALUE) \
    {                                                                                                        \
        ACLSHMEMI_LOOK_BEGIN(NAME, TYPE, "_wait_until_some" name, ivars, nelems, status, cmp, address,       \
                             step);                                                                          \
        aclshmemi_look_check(&look, true, indices);                                                          \
        return aclshmemi_look_wait_some(&look, indices);                                                     \
    }                                                                                                        \
    ACLSHMEM_DEVICE size_t aclshmem_##NAME##_test_any##suffix(__gm__ TYPE *ivars, size_t nelems,             \
                                                              __gm__ const int *status, int cmp, VALUE)      \
    {                                                                                                        \
        ACLSHMEMI_LOOK_BEGIN(NAME, TYPE, "_test_any" name, ivars, nelems, status, cmp, address, step);       \
        aclshmemi_look_check(&look, false, NULL);                                                            \
        return aclshmemi_look_test_any(&look);                                                               \
    }                                                                                                        \
    ACLSHMEM_DEVICE size_t aclshmem_##NAME##_test_some##suffix(                                              \
        __gm__ TYPE *ivars, size_t nelems, __gm__ size_t *indices, __gm__ const int *status, int cmp, VALUE) \
    {                                                                                                        \
        ACLSHMEMI_LOOK_BEGIN(NAME, TYPE, "_test_some" name, ivars, nelems, status, cmp, address, step);      \
        aclshmemi_look_check(&look, true, indices);                                                          \
        return aclshmemi_look_test_some(&look, indices);                                                     \
    }

#define ACLSHMEMI_WAIT_SCALAR(NAME, TYPE) ACLSHMEMI_WAIT_MANY(NAME, TYPE, , "", TYPE cmp_value, &cmp_value, 0)
#define ACLSHMEMI_WAIT_VECTOR(NAME, TYPE)                                                                    \
    ACLSHMEMI_WAIT_MANY(NAME, TYPE, _vector, "_vector", __gm__ TYPE *cmp_values, cmp_values, sizeof(TYPE))   \
    ACLSHMEM_DEVICE int aclshmem_##NAME##_test_all_vector(                                                   \
        __gm__ TYPE *ivars, size_t nelems, __gm__ const int *status, int cmp, __gm__ TYPE *cmp_values)       \
    {                                                                                                        \
        ACLSHMEMI_LOOK_BEGIN(NAME, TYPE, "_test_all_vector", ivars, nelems, status, cmp, cmp_values,         \
                             sizeof(TYPE));                                                                  \
        aclshmemi_look_check(&look, false, NULL);                                                            \
        return aclshmemi_look_test_all(&look);                                                               \
    }

ACLSHMEM_TYPES_P2P(ACLSHMEMI_WAIT_ONE)
ACLSHMEM_TYPES_P2P(ACLSHMEMI_WAIT_SCALAR)
ACLSHMEM_TYPES_P2P(ACLSHMEMI_WAIT_VECTOR)
#undef ACLSHMEMI_WAIT_ONE
#undef ACLSHMEMI_WAIT_MANY
#undef ACLSHMEMI_WAIT_SCALAR
#undef ACLSHMEMI_WAIT_VECTOR

ACLSHMEM_DEVICE int32_t aclshmem_signal_wait_until(__gm__ int32_t *sig_addr, int cmp, int32_t cmp_val)
{
    aclshmemi_device_look_t look;
    look.state = aclshmemi_state("signal_wait_until");
    look.call = "signal_wait_until";
    look.words = (__gm__ const char *)sig_addr;
    look.count = 1;
    look.status = NULL;
    look.cmp = cmp;
    look.values = (const char *)&cmp_val;
    look.value_step = 0;
    look.width = sizeof(int32_t);
    look.type = ACLSHMEMI_LOOK_int32;
    aclshmemi_look_check(&look, false, NULL);
    aclshmemi_look_wait_all(&look);
    return (int32_t)aclshmemi_look_bits(&look, 0);
}

/* --- Signals --- */

ACLSHMEM_DEVICE void aclshmemi_signal_check(const char *call, __gm__ const int32_t *word, int op)
{
    if (op != ACLSHMEM_SIGNAL_SET && op != ACLSHMEM_SIGNAL_ADD)
        aclshmemi_port_trap(
            "%s: signal operation %d is unknown, ACLSHMEM_SIGNAL_SET (0) and _ADD (1) are allowed", call, op);
    if ((uintptr_t)word % sizeof(int32_t) != 0)
        aclshmemi_port_trap("%s: the signal word %p is not aligned to 4 bytes", call, (const void *)word);
}

ACLSHMEM_DEVICE void aclshmemx_signal_op(__gm__ int32_t *sig_addr, int32_t signal, int sig_op, int pe)
{
    aclshmemi_signal_check("signal_op", sig_addr, sig_op);
    aclshmemi_signal("signal_op", sig_addr, signal, sig_op, pe);
}

#endif
