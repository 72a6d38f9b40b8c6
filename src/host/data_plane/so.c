/* SPDX-License-Identifier: Apache-2.0 */
/* Signals, alone and behind data. */
#define LOG_MODULE "rma"
#include "host/data_plane/shmem_host_so.h"

#include "host/data_plane/transfer.h"

int aclshmemi_signal_check(const char *call, const void *word, int op)
{
    if (op != ACLSHMEM_SIGNAL_SET && op != ACLSHMEM_SIGNAL_ADD)
        return fail(ACLSHMEM_INVALID_PARAM,
                    "%s: signal operation %d is unknown, ACLSHMEM_SIGNAL_SET (0) and _ADD (1) are allowed",
                    call, op);
    if ((uintptr_t)word % sizeof(int32_t) != 0)
        return fail(ACLSHMEM_INVALID_PARAM, "%s: the signal word %p is not aligned to 4 bytes", call, word);
    return 0;
}

static void change_word(char *address, int32_t signal, int op)
{
    int32_t *word = (int32_t *)(void *)address;
    if (op == ACLSHMEM_SIGNAL_SET)
        __atomic_store_n(word, signal, __ATOMIC_RELEASE);
    else
        __atomic_fetch_add(word, signal, __ATOMIC_RELEASE);
}

int aclshmemi_signal(aclshmemi_instance_t *in, const char *call, void *word, int32_t signal, int op, int pe)
{
    char *address = aclshmemi_reach(in, word, sizeof signal, pe);
    if (__builtin_expect(address == NULL, 0)) {
        aclshmemi_target_t target;
        TRY(aclshmemi_reach_slowly(in, call, word, sizeof signal, pe, &target));
        if (target.address == NULL) {
            aclshmemi_amo_request_t change = {
                .op = op == ACLSHMEM_SIGNAL_ADD ? ACLSHMEMI_AMO_PLUS : ACLSHMEMI_AMO_STORE,
                .type = ACLSHMEMI_AMO_32,
                .value = (uint32_t)signal,
            };
            TRY(target.transport->ops.fence(target.transport));
            return target.transport->ops.amo(target.transport, target.remote, &change, NULL);
        }
        address = target.address;
    }
    change_word(address, signal, op);
    aclshmemi_notify(in, pe);
    return 0;
}

/* Everything is checked before anything moves: a call that fails has done nothing. */
static __attribute__((cold, noinline)) void put_signal_slowly(const char *call, void *to, const void *from,
                                                              size_t count, size_t width, void *word,
                                                              int32_t signal, int op, int pe)
{
    aclshmemi_instance_t *in = aclshmemi_current();
    size_t bytes;
    if (in->n_pes == 0) {
        (void)!aclshmemi_instance_missing(call);
        return;
    }
    if (aclshmemi_signal_check(call, word, op) != 0)
        return;
    if (aclshmemi_check_local(call, from, count, width, false, &bytes) != 0)
        return;
    aclshmemi_target_t target;
    if (aclshmemi_reach(in, word, sizeof signal, pe) == NULL &&
        aclshmemi_reach_slowly(in, call, word, sizeof signal, pe, &target) != 0)
        return;
    if (bytes != 0 && aclshmemi_put_silently(in, call, to, from, bytes, pe) != 0)
        return;
    (void)!aclshmemi_signal(in, call, word, signal, op, pe);
}

void aclshmemi_put_signal_call(const char *call, void *to, const void *from, size_t count, size_t width,
                               void *word, int32_t signal, int op, int pe)
{
    aclshmemi_instance_t *in = aclshmemi_current();
    size_t bytes;
    char *address, *mark, *base;
    if (__builtin_expect((op != ACLSHMEM_SIGNAL_SET && op != ACLSHMEM_SIGNAL_ADD) ||
                             (uintptr_t)word % sizeof signal != 0 || from == NULL ||
                             __builtin_mul_overflow(count, width, &bytes) || bytes == 0 ||
                             (mark = aclshmemi_reach_from(in, word, sizeof signal, pe, &base)) == NULL ||
                             (address = aclshmemi_reach_from(in, to, bytes, pe, &base)) == NULL,
                         0)) {
        put_signal_slowly(call, to, from, count, width, word, signal, op, pe);
        return;
    }
    aclshmemi_copy(address, from, bytes);
    change_word(mark, signal, op);
    aclshmemi_notify_at(in, base);
}

#define DEFINE_PUT_SIGNAL(NAME, TYPE)                                                                        \
    void aclshmem_##NAME##_put_signal(TYPE *dst, TYPE *src, size_t elem_size, uint8_t *sig_addr,             \
                                      int32_t signal, int sig_op, int pe)                                    \
    {                                                                                                        \
        aclshmemi_put_signal_call(#NAME "_put_signal", dst, src, elem_size, sizeof(TYPE), sig_addr, signal,  \
                                  sig_op, pe);                                                               \
    }                                                                                                        \
    void aclshmem_##NAME##_put_signal(TYPE *dst, TYPE *src, size_t elem_size, uint8_t *sig_addr,             \
                                      int32_t signal, int sig_op, int pe)

#define DEFINE_PUT_SIZE_SIGNAL(BITS)                                                                         \
    void aclshmem_put##BITS##_signal(void *dst, void *src, size_t nelems, int32_t *sig_addr, int32_t signal, \
                                     int sig_op, int pe)                                                     \
    {                                                                                                        \
        aclshmemi_put_signal_call("put" #BITS "_signal", dst, src, nelems, (BITS) / 8, sig_addr, signal,     \
                                  sig_op, pe);                                                               \
    }                                                                                                        \
    void aclshmem_put##BITS##_signal(void *dst, void *src, size_t nelems, int32_t *sig_addr, int32_t signal, \
                                     int sig_op, int pe)

ACLSHMEM_TYPE_FUNC(DEFINE_PUT_SIGNAL);
ACLSHMEM_SIZE_FUNC(DEFINE_PUT_SIZE_SIGNAL);

void aclshmemx_putmem_signal(void *dst, void *src, size_t elem_size, void *sig_addr, int32_t signal,
                             int sig_op, int pe)
{
    aclshmemi_put_signal_call("putmem_signal", dst, src, elem_size, 1, sig_addr, signal, sig_op, pe);
}

void aclshmemx_signal_op(int32_t *sig_addr, int32_t signal, int sig_op, int pe)
{
    aclshmemi_instance_t *in = aclshmemi_current();
    if (in->n_pes == 0)
        (void)!aclshmemi_instance_missing("signal_op");
    else if (aclshmemi_signal_check("signal_op", sig_addr, sig_op) == 0)
        (void)!aclshmemi_signal(in, "signal_op", sig_addr, signal, sig_op, pe);
}
