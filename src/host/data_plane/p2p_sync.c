/* SPDX-License-Identifier: Apache-2.0 */
/* The typed calls of waiting and testing; the loops are in look.c. */
#define LOG_MODULE "sync"
#include "host/data_plane/shmem_host_p2p_sync.h"

#include <stdio.h>

#include "host/data_plane/look.h"
#include "host/sync/sync.h"

/* Where host code cannot touch the memory, a look is a copy; one that fails sees nothing and the deadline ends the wait. */
static void load_by_copy(const void *from, void *to, size_t bytes)
{
    (void)!npu_copy(to, from, bytes, ACLSHMEMI_NPU_DEVICE_TO_HOST);
}

#define COMPARE(a, cmp, b)                                                                                   \
    ((cmp) == ACLSHMEM_CMP_EQ   ? (a) == (b)                                                                 \
     : (cmp) == ACLSHMEM_CMP_NE ? (a) != (b)                                                                 \
     : (cmp) == ACLSHMEM_CMP_GT ? (a) > (b)                                                                  \
     : (cmp) == ACLSHMEM_CMP_GE ? (a) >= (b)                                                                 \
     : (cmp) == ACLSHMEM_CMP_LT ? (a) < (b)                                                                  \
                                : (a) <= (b))

/* How a type is looked at and printed. */
#define DEFINE_LOOK(NAME, TYPE)                                                                              \
    static TYPE NAME##_load(const aclshmemi_look_t *look, size_t i)                                          \
    {                                                                                                        \
        const TYPE *var = (const TYPE *)look->vars + i;                                                      \
        TYPE value = 0;                                                                                      \
        if (__builtin_expect(look->in->touch, 1))                                                            \
            __atomic_load(var, &value, __ATOMIC_ACQUIRE);                                                    \
        else                                                                                                 \
            load_by_copy(var, &value, sizeof value);                                                         \
        return value;                                                                                        \
    }                                                                                                        \
    static bool NAME##_holds(const aclshmemi_look_t *look, size_t i)                                         \
    {                                                                                                        \
        TYPE value = NAME##_load(look, i), wanted = ((const TYPE *)look->values)[look->vector ? i : 0];      \
        return COMPARE(value, look->cmp, wanted);                                                            \
    }                                                                                                        \
    static void NAME##_print(const aclshmemi_look_t *look, size_t i, char *out, size_t size)                 \
    {                                                                                                        \
        TYPE value = NAME##_load(look, i), wanted = ((const TYPE *)look->values)[look->vector ? i : 0];      \
        if ((TYPE)0.5 != 0)                                                                                  \
            snprintf(out, size, "is %g, wanted %s %g", (double)value, aclshmemi_look_cmp(look),              \
                     (double)wanted);                                                                        \
        else if ((TYPE)-1 > 0)                                                                               \
            snprintf(out, size, "is %llu, wanted %s %llu", (unsigned long long)value,                        \
                     aclshmemi_look_cmp(look), (unsigned long long)wanted);                                  \
        else                                                                                                 \
            snprintf(out, size, "is %lld, wanted %s %lld", (long long)value, aclshmemi_look_cmp(look),       \
                     (long long)wanted);                                                                     \
    }                                                                                                        \
    static aclshmemi_look_t NAME##_look(const char *call, const TYPE *vars, size_t count, const int *status, \
                                        int cmp, const TYPE *values, bool vector)                            \
    {                                                                                                        \
        return (aclshmemi_look_t){.call = call,                                                              \
                                  .vars = vars,                                                              \
                                  .count = count,                                                            \
                                  .status = status,                                                          \
                                  .cmp = cmp,                                                                \
                                  .values = values,                                                          \
                                  .vector = vector,                                                          \
                                  .width = sizeof(TYPE),                                                     \
                                  .holds = NAME##_holds,                                                     \
                                  .print = NAME##_print};                                                    \
    }                                                                                                        \
    struct aclshmemi_needs_a_semicolon

/* One element that is on its way is looked at without ceremony, as long as a wait may spin. False: everything else, mistakes
 * included, is left to the general wait. */
#define DEFINE_SOON(NAME, TYPE)                                                                              \
    static inline bool NAME##_comes_soon(const TYPE *var, int cmp, TYPE wanted)                              \
    {                                                                                                        \
        const aclshmemi_instance_t *in = aclshmemi_current();                                                \
        if (__builtin_expect(!in->touch || var == NULL || (uintptr_t)var % sizeof(TYPE) != 0 ||              \
                                 cmp < ACLSHMEM_CMP_EQ || cmp > ACLSHMEM_CMP_LE,                             \
                             0))                                                                             \
            return false;                                                                                    \
        for (int left = in->may_spin ? ACLSHMEMI_SPINS : 1; left > 0; left--) {                              \
            TYPE value;                                                                                      \
            __atomic_load(var, &value, __ATOMIC_ACQUIRE);                                                    \
            if (COMPARE(value, cmp, wanted))                                                                 \
                return true;                                                                                 \
            aclshmemi_cpu_relax();                                                                           \
        }                                                                                                    \
        return false;                                                                                        \
    }                                                                                                        \
    struct aclshmemi_needs_a_semicolon

ACLSHMEM_P2P_SYNC_TYPE_FUNC(DEFINE_LOOK);
ACLSHMEM_P2P_SYNC_TYPE_FUNC(DEFINE_SOON);

static uint64_t limit(const aclshmemi_look_t *look)
{
    return look->in->env.wait_timeout_ms;
}

static void wait_all(aclshmemi_look_t look)
{
    if (aclshmemi_look_check(&look, false) == 0)
        (void)!aclshmemi_look_wait_all(&look, limit(&look));
}

static void wait_any(aclshmemi_look_t look, size_t *result)
{
    if (result != NULL)
        *result = SIZE_MAX;
    if (aclshmemi_look_check(&look, result == NULL) == 0)
        (void)!aclshmemi_look_wait_any(&look, limit(&look), result);
}

static void wait_some(aclshmemi_look_t look, size_t *indices, size_t *result)
{
    if (result != NULL)
        *result = 0;
    if (aclshmemi_look_check(&look, result == NULL || (indices == NULL && look.count != 0)) == 0)
        (void)!aclshmemi_look_wait_some(&look, limit(&look), indices, result);
}

static void test_all(aclshmemi_look_t look, int *result)
{
    if (result != NULL)
        *result = 0;
    if (aclshmemi_look_check(&look, result == NULL) == 0)
        *result = aclshmemi_look_test_all(&look);
}

static void test_any(aclshmemi_look_t look, size_t *result)
{
    if (result != NULL)
        *result = SIZE_MAX;
    if (aclshmemi_look_check(&look, result == NULL) == 0)
        *result = aclshmemi_look_test_any(&look);
}

static void test_some(aclshmemi_look_t look, size_t *indices, size_t *result)
{
    if (result != NULL)
        *result = 0;
    if (aclshmemi_look_check(&look, result == NULL || (indices == NULL && look.count != 0)) == 0)
        *result = aclshmemi_look_test_some(&look, indices);
}

#define DEFINE_WAIT(NAME, TYPE)                                                                              \
    void aclshmem_##NAME##_wait_until(TYPE *ivar, int cmp, TYPE cmp_value)                                   \
    {                                                                                                        \
        if (!NAME##_comes_soon(ivar, cmp, cmp_value))                                                        \
            wait_all(NAME##_look(#NAME "_wait_until", ivar, 1, NULL, cmp, &cmp_value, false));               \
    }                                                                                                        \
    void aclshmem_##NAME##_wait(TYPE *ivar, TYPE cmp_value)                                                  \
    {                                                                                                        \
        if (!NAME##_comes_soon(ivar, ACLSHMEM_CMP_NE, cmp_value))                                            \
            wait_all(NAME##_look(#NAME "_wait", ivar, 1, NULL, ACLSHMEM_CMP_NE, &cmp_value, false));         \
    }                                                                                                        \
    void aclshmem_##NAME##_wait_until_all(TYPE *ivars, size_t nelems, const int *status, int cmp,            \
                                          TYPE cmp_value)                                                    \
    {                                                                                                        \
        wait_all(NAME##_look(#NAME "_wait_until_all", ivars, nelems, status, cmp, &cmp_value, false));       \
    }                                                                                                        \
    void aclshmem_##NAME##_wait_until_any(TYPE *ivars, size_t nelems, const int *status, int cmp,            \
                                          TYPE cmp_value, size_t *res_out)                                   \
    {                                                                                                        \
        wait_any(NAME##_look(#NAME "_wait_until_any", ivars, nelems, status, cmp, &cmp_value, false),        \
                 res_out);                                                                                   \
    }                                                                                                        \
    void aclshmem_##NAME##_wait_until_some(TYPE *ivars, size_t nelems, size_t *indices, const int *status,   \
                                           int cmp, TYPE cmp_value, size_t *res_out)                         \
    {                                                                                                        \
        wait_some(NAME##_look(#NAME "_wait_until_some", ivars, nelems, status, cmp, &cmp_value, false),      \
                  indices, res_out);                                                                         \
    }                                                                                                        \
    struct aclshmemi_needs_a_semicolon

#define DEFINE_WAIT_VECTOR(NAME, TYPE)                                                                       \
    void aclshmem_##NAME##_wait_until_all_vector(TYPE *ivars, size_t nelems, const int *status, int cmp,     \
                                                 TYPE *cmp_values)                                           \
    {                                                                                                        \
        wait_all(NAME##_look(#NAME "_wait_until_all_vector", ivars, nelems, status, cmp, cmp_values, true)); \
    }                                                                                                        \
    void aclshmem_##NAME##_wait_until_any_vector(TYPE *ivars, size_t nelems, const int *status, int cmp,     \
                                                 TYPE *cmp_values, size_t *res_out)                          \
    {                                                                                                        \
        wait_any(NAME##_look(#NAME "_wait_until_any_vector", ivars, nelems, status, cmp, cmp_values, true),  \
                 res_out);                                                                                   \
    }                                                                                                        \
    void aclshmem_##NAME##_wait_until_some_vector(TYPE *ivars, size_t nelems, size_t *indices,               \
                                                  const int *status, int cmp, TYPE *cmp_values,              \
                                                  size_t *res_out)                                           \
    {                                                                                                        \
        wait_some(                                                                                           \
            NAME##_look(#NAME "_wait_until_some_vector", ivars, nelems, status, cmp, cmp_values, true),      \
            indices, res_out);                                                                               \
    }                                                                                                        \
    struct aclshmemi_needs_a_semicolon

#define DEFINE_TEST(NAME, TYPE)                                                                              \
    void aclshmem_##NAME##_test(TYPE *ivars, int cmp, TYPE cmp_value, int *res_out)                          \
    {                                                                                                        \
        test_all(NAME##_look(#NAME "_test", ivars, 1, NULL, cmp, &cmp_value, false), res_out);               \
    }                                                                                                        \
    void aclshmem_##NAME##_test_any(TYPE *ivars, size_t nelems, const int *status, int cmp, TYPE cmp_value,  \
                                    size_t *res_out)                                                         \
    {                                                                                                        \
        test_any(NAME##_look(#NAME "_test_any", ivars, nelems, status, cmp, &cmp_value, false), res_out);    \
    }                                                                                                        \
    void aclshmem_##NAME##_test_some(TYPE *ivars, size_t nelems, size_t *indices, const int *status,         \
                                     int cmp, TYPE cmp_value, size_t *res_out)                               \
    {                                                                                                        \
        test_some(NAME##_look(#NAME "_test_some", ivars, nelems, status, cmp, &cmp_value, false), indices,   \
                  res_out);                                                                                  \
    }                                                                                                        \
    struct aclshmemi_needs_a_semicolon

#define DEFINE_TEST_VECTOR(NAME, TYPE)                                                                       \
    void aclshmem_##NAME##_test_all_vector(TYPE *ivars, size_t nelems, const int *status, int cmp,           \
                                           TYPE *cmp_values, int *res_out)                                   \
    {                                                                                                        \
        test_all(NAME##_look(#NAME "_test_all_vector", ivars, nelems, status, cmp, cmp_values, true),        \
                 res_out);                                                                                   \
    }                                                                                                        \
    void aclshmem_##NAME##_test_any_vector(TYPE *ivars, size_t nelems, const int *status, int cmp,           \
                                           TYPE *cmp_values, size_t *res_out)                                \
    {                                                                                                        \
        test_any(NAME##_look(#NAME "_test_any_vector", ivars, nelems, status, cmp, cmp_values, true),        \
                 res_out);                                                                                   \
    }                                                                                                        \
    void aclshmem_##NAME##_test_some_vector(TYPE *ivars, size_t nelems, size_t *indices, const int *status,  \
                                            int cmp, TYPE *cmp_values, size_t *res_out)                      \
    {                                                                                                        \
        test_some(NAME##_look(#NAME "_test_some_vector", ivars, nelems, status, cmp, cmp_values, true),      \
                  indices, res_out);                                                                         \
    }                                                                                                        \
    struct aclshmemi_needs_a_semicolon

ACLSHMEM_P2P_SYNC_TYPE_FUNC(DEFINE_WAIT);
ACLSHMEM_P2P_SYNC_TYPE_FUNC(DEFINE_WAIT_VECTOR);
ACLSHMEM_P2P_SYNC_TYPE_FUNC(DEFINE_TEST);
ACLSHMEM_P2P_SYNC_TYPE_FUNC(DEFINE_TEST_VECTOR);

void aclshmemi_signal_look(aclshmemi_look_t *look, const char *call, const int32_t *word, int cmp,
                           const int32_t *value)
{
    *look = int32_look(call, word, 1, NULL, cmp, value, false);
}

void aclshmem_signal_wait_until(int32_t *sig_addr, int cmp, int32_t cmp_val)
{
    if (!int32_comes_soon(sig_addr, cmp, cmp_val))
        wait_all(int32_look("signal_wait_until", sig_addr, 1, NULL, cmp, &cmp_val, false));
}

int aclshmemx_signal_wait_until_timeout(int32_t *sig_addr, int cmp, int32_t cmp_val, uint64_t timeout_ms,
                                        int32_t *value)
{
    aclshmemi_look_t look = int32_look("signal_wait_until", sig_addr, 1, NULL, cmp, &cmp_val, false);
    TRY(aclshmemi_look_check(&look, false));
    int rc = aclshmemi_look_wait_all(&look, timeout_ms);
    if (value != NULL)
        *value = int32_load(&look, 0);
    return rc;
}
