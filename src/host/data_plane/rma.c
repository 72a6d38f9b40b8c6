/* SPDX-License-Identifier: Apache-2.0 */
/* Put, get and one element, driven by the host. */
#define LOG_MODULE "rma"
#include "host/data_plane/shmem_host_rma.h"

#include "host/data_plane/transfer.h"

int aclshmemi_put_silently(aclshmemi_instance_t *in, const char *call, void *to, const void *from,
                           size_t bytes, int pe)
{
    char *address = aclshmemi_reach(in, to, bytes, pe);
    if (__builtin_expect(address == NULL, 0)) {
        aclshmemi_target_t target;
        TRY(aclshmemi_reach_slowly(in, call, to, bytes, pe, &target));
        if (target.address == NULL)
            return target.transport->ops.put(target.transport, target.remote, from, bytes);
        address = target.address;
    }
    aclshmemi_copy(address, from, bytes);
    return 0;
}

int aclshmemi_put(aclshmemi_instance_t *in, const char *call, void *to, const void *from, size_t bytes,
                  int pe)
{
    TRY(aclshmemi_put_silently(in, call, to, from, bytes, pe));
    aclshmemi_notify(in, pe);
    return 0;
}

int aclshmemi_get(aclshmemi_instance_t *in, const char *call, void *to, const void *from, size_t bytes,
                  int pe)
{
    const char *address = aclshmemi_reach(in, from, bytes, pe);
    if (__builtin_expect(address != NULL, 1)) {
        aclshmemi_copy(to, address, bytes);
        return 0;
    }
    aclshmemi_target_t target;
    TRY(aclshmemi_reach_slowly(in, call, from, bytes, pe, &target));
    if (target.address == NULL)
        return target.transport->ops.get(target.transport, to, target.remote, bytes);
    aclshmemi_copy(to, target.address, bytes);
    return 0;
}

int aclshmemi_check_pe(const aclshmemi_instance_t *in, const char *call, int pe)
{
    if (in->n_pes == 0)
        return aclshmemi_instance_missing(call);
    if (pe < 0 || pe >= in->n_pes)
        return fail(ACLSHMEM_INVALID_PARAM, "%s: PE %d does not exist, PEs are 0..%d", call, pe,
                    in->n_pes - 1);
    return 0;
}

int aclshmemi_check_local(const char *call, const void *local, size_t count, size_t width, bool written,
                          size_t *bytes)
{
    if (__builtin_mul_overflow(count, width, bytes))
        return fail(ACLSHMEM_INVALID_PARAM, "%s: %zu elements of %zu bytes are more than memory can hold",
                    call, count, width);
    if (local == NULL && *bytes != 0)
        return fail(ACLSHMEM_INVALID_PARAM, "%s: the %s is NULL, %zu bytes were to be %s there", call,
                    written ? "destination" : "source", *bytes, written ? "written" : "read");
    return 0;
}

void aclshmemi_put_slowly(const char *call, void *to, const void *from, size_t count, size_t width, int pe)
{
    aclshmemi_instance_t *in = aclshmemi_current();
    size_t bytes;
    if (count == 0 || in->n_pes == 0)
        (void)!aclshmemi_check_pe(in, call, pe);
    else if (aclshmemi_check_local(call, from, count, width, false, &bytes) == 0)
        (void)!aclshmemi_put(in, call, to, from, bytes, pe);
}

void aclshmemi_get_slowly(const char *call, void *to, const void *from, size_t count, size_t width, int pe)
{
    aclshmemi_instance_t *in = aclshmemi_current();
    size_t bytes;
    if (count == 0 || in->n_pes == 0)
        (void)!aclshmemi_check_pe(in, call, pe);
    else if (aclshmemi_check_local(call, to, count, width, true, &bytes) == 0)
        (void)!aclshmemi_get(in, call, to, from, bytes, pe);
}

void aclshmem_putmem(void *dst, void *src, size_t elem_size, int32_t pe)
{
    aclshmemi_put_call("putmem", dst, src, elem_size, 1, pe);
}

void aclshmem_getmem(void *dst, void *src, size_t elem_size, int32_t pe)
{
    aclshmemi_get_call("getmem", dst, src, elem_size, 1, pe);
}

#define DEFINE_PUT(NAME, TYPE)                                                                               \
    void aclshmem_##NAME##_put(TYPE *dest, TYPE *source, size_t nelems, int pe)                              \
    {                                                                                                        \
        aclshmemi_put_call(#NAME "_put", dest, source, nelems, sizeof(TYPE), pe);                            \
    }                                                                                                        \
    void aclshmem_##NAME##_put(TYPE *dest, TYPE *source, size_t nelems, int pe)

#define DEFINE_GET(NAME, TYPE)                                                                               \
    void aclshmem_##NAME##_get(TYPE *dest, TYPE *source, size_t nelems, int pe)                              \
    {                                                                                                        \
        aclshmemi_get_call(#NAME "_get", dest, source, nelems, sizeof(TYPE), pe);                            \
    }                                                                                                        \
    void aclshmem_##NAME##_get(TYPE *dest, TYPE *source, size_t nelems, int pe)

/* One element moves as one access, so nobody sees half of it. */
#define DEFINE_P(NAME, TYPE)                                                                                 \
    void aclshmem_##NAME##_p(TYPE *dst, const TYPE value, int pe)                                            \
    {                                                                                                        \
        aclshmemi_instance_t *in = aclshmemi_current();                                                      \
        TYPE copy = value;                                                                                   \
        char *base;                                                                                          \
        TYPE *address = (TYPE *)(void *)aclshmemi_reach_from(in, dst, sizeof copy, pe, &base);               \
        if (__builtin_expect(address == NULL, 0)) {                                                          \
            (void)!aclshmemi_put(in, #NAME "_p", dst, &copy, sizeof copy, pe);                               \
            return;                                                                                          \
        }                                                                                                    \
        __atomic_store(address, &copy, __ATOMIC_RELAXED);                                                    \
        aclshmemi_notify_at(in, base);                                                                       \
    }                                                                                                        \
    void aclshmem_##NAME##_p(TYPE *dst, const TYPE value, int pe)

#define DEFINE_G(NAME, TYPE)                                                                                 \
    TYPE aclshmem_##NAME##_g(TYPE *src, int32_t pe)                                                          \
    {                                                                                                        \
        aclshmemi_instance_t *in = aclshmemi_current();                                                      \
        TYPE value = 0;                                                                                      \
        TYPE *address = (TYPE *)(void *)aclshmemi_reach(in, src, sizeof value, pe);                          \
        if (__builtin_expect(address == NULL, 0)) {                                                          \
            if (aclshmemi_get(in, #NAME "_g", &value, src, sizeof value, pe) != 0)                           \
                value = 0;                                                                                   \
            return value;                                                                                    \
        }                                                                                                    \
        __atomic_load(address, &value, __ATOMIC_RELAXED);                                                    \
        return value;                                                                                        \
    }                                                                                                        \
    TYPE aclshmem_##NAME##_g(TYPE *src, int32_t pe)

ACLSHMEM_TYPE_FUNC(DEFINE_PUT);
ACLSHMEM_TYPE_FUNC(DEFINE_GET);
ACLSHMEM_TYPE_FUNC(DEFINE_P);
ACLSHMEM_TYPE_FUNC(DEFINE_G);
