/* SPDX-License-Identifier: Apache-2.0 */
/*
 * UDMA by name: the same queues as ROCE under their own numbers, one jetty per PE. Any core of any launch may post to any PE,
 * the own one included. Open it with ACLSHMEM_DATA_OP_UDMA at init.
 *
 * buf is a place in the unified buffer of 128 bytes and sync_id a flag number, 0 to 7: what a card needs to hand requests
 * over. They are checked here and not used; forms with the suffix _s hand over by the scalar unit and look at neither. A
 * wrong argument, a request that failed and a wait past the limit end the launch.
 *
 * In C the names without mem take typed pointers, sync_id may be left out (it is 0 then):
 *
 *   aclshmemx_udma_put_nbi(dst, src, buf, nelems, pe[, sync_id]), aclshmemx_udma_get_nbi alike
 *   aclshmemx_udma_relay_put_nbi(dst, src, buf, nelems, pe, relay_pe[, sync_id]), aclshmemx_udma_relay_get_nbi alike
 *   aclshmemx_udma_put_signal_nbi(dst, src, nelems, sig_addr, signal, pe[, buf[, sync_id]])
 */
#ifndef ACLSHMEM_DEVICE_UDMA_H
#define ACLSHMEM_DEVICE_UDMA_H

#include "device/gm2gm/shmem_device_amo.h"
#include "device/shmem_def.h"

/**
 * nelems elements of element_bytes; dst of a put and src of a get are symmetric. They only start: complete after
 * aclshmemx_udma_quiet for that PE or aclshmem_quiet. Requests to one PE take effect in order. Any length; 0 does nothing.
 */
ACLSHMEM_DEVICE void aclshmemx_udma_putmem_nbi(__gm__ void *dst, __gm__ void *src,
                                               ACLSHMEM_UB_POINTER(void) buf, size_t element_bytes,
                                               size_t nelems, int pe, uint32_t sync_id);
ACLSHMEM_DEVICE void aclshmemx_udma_putmem_nbi_s(__gm__ void *dst, __gm__ void *src,
                                                 ACLSHMEM_UB_POINTER(void) buf, size_t element_bytes,
                                                 size_t nelems, int pe, uint32_t sync_id);
ACLSHMEM_DEVICE void aclshmemx_udma_getmem_nbi(__gm__ void *dst, __gm__ void *src,
                                               ACLSHMEM_UB_POINTER(void) buf, size_t element_bytes,
                                               size_t nelems, int pe, uint32_t sync_id);
ACLSHMEM_DEVICE void aclshmemx_udma_getmem_nbi_s(__gm__ void *dst, __gm__ void *src,
                                                 ACLSHMEM_UB_POINTER(void) buf, size_t element_bytes,
                                                 size_t nelems, int pe, uint32_t sync_id);

/** The same through the port of a third PE. pe and relay_pe are two PEs, neither of them this one; otherwise no effect. */
ACLSHMEM_DEVICE void aclshmemx_udma_relay_putmem_nbi(__gm__ void *dst, __gm__ void *src,
                                                     ACLSHMEM_UB_POINTER(void) buf, size_t element_bytes,
                                                     size_t nelems, int pe, int relay_pe, uint32_t sync_id);
ACLSHMEM_DEVICE void aclshmemx_udma_relay_putmem_nbi_s(__gm__ void *dst, __gm__ void *src,
                                                       ACLSHMEM_UB_POINTER(void) buf, size_t element_bytes,
                                                       size_t nelems, int pe, int relay_pe, uint32_t sync_id);
ACLSHMEM_DEVICE void aclshmemx_udma_relay_getmem_nbi(__gm__ void *dst, __gm__ void *src,
                                                     ACLSHMEM_UB_POINTER(void) buf, size_t element_bytes,
                                                     size_t nelems, int pe, int relay_pe, uint32_t sync_id);
ACLSHMEM_DEVICE void aclshmemx_udma_relay_getmem_nbi_s(__gm__ void *dst, __gm__ void *src,
                                                       ACLSHMEM_UB_POINTER(void) buf, size_t element_bytes,
                                                       size_t nelems, int pe, int relay_pe, uint32_t sync_id);

/** A put, and behind it the store of a signal of 64 bits; who sees the signal sees the data. 0 elements: the signal alone. */
ACLSHMEM_DEVICE void aclshmemx_udma_putmem_signal_nbi(__gm__ void *dst, __gm__ void *src,
                                                      size_t element_bytes, size_t nelems,
                                                      __gm__ uint64_t *sig_addr, uint64_t signal, int pe);
ACLSHMEM_DEVICE void aclshmemx_udma_putmem_signal_nbi_s(__gm__ void *dst, __gm__ void *src,
                                                        size_t element_bytes, size_t nelems,
                                                        __gm__ uint64_t *sig_addr, uint64_t signal, int pe);
ACLSHMEM_DEVICE void aclshmemx_udma_putmem_signal_nbi_buf(__gm__ void *dst, __gm__ void *src,
                                                          size_t element_bytes, size_t nelems,
                                                          __gm__ uint64_t *sig_addr, uint64_t signal, int pe,
                                                          ACLSHMEM_UB_POINTER(uint8_t) buf, uint32_t sync_id);

/** Everything that was posted to pe, by any core of this PE and over all relays, is complete. */
ACLSHMEM_DEVICE void aclshmemx_udma_quiet(int pe);

/*
 * Atomics: aclshmemx_udma_NAME_atomic_OP, NAME in int32 int64 uint32 uint64, OP in add, inc (started; complete after the quiet) and
 * set, and, or, xor, fetch, swap, compare_swap, fetch_add, fetch_inc, fetch_and, fetch_or, fetch_xor (complete on return);
 * add of float too. In C aclshmemx_udma_atomic_OP picks by the type of the object.
 */
#define ACLSHMEM_DECLARE_UDMA_ADD(NAME, TYPE)                                                                \
    ACLSHMEM_DEVICE void aclshmemx_udma_##NAME##_atomic_add(__gm__ TYPE *dst, TYPE value, int32_t pe);
#define ACLSHMEM_DECLARE_UDMA_AMO(NAME, TYPE)                                                                \
    ACLSHMEM_DECLARE_UDMA_ADD(NAME, TYPE)                                                                    \
    ACLSHMEM_DEVICE void aclshmemx_udma_##NAME##_atomic_inc(__gm__ TYPE *dst, int32_t pe);                   \
    ACLSHMEM_DEVICE void aclshmemx_udma_##NAME##_atomic_set(__gm__ TYPE *dest, TYPE value, int32_t pe);      \
    ACLSHMEM_DEVICE void aclshmemx_udma_##NAME##_atomic_and(__gm__ TYPE *dest, TYPE value, int32_t pe);      \
    ACLSHMEM_DEVICE void aclshmemx_udma_##NAME##_atomic_or(__gm__ TYPE *dest, TYPE value, int32_t pe);       \
    ACLSHMEM_DEVICE void aclshmemx_udma_##NAME##_atomic_xor(__gm__ TYPE *dest, TYPE value, int32_t pe);      \
    ACLSHMEM_DEVICE TYPE aclshmemx_udma_##NAME##_atomic_fetch(__gm__ const TYPE *source, int32_t pe);        \
    ACLSHMEM_DEVICE TYPE aclshmemx_udma_##NAME##_atomic_swap(__gm__ TYPE *dest, TYPE value, int32_t pe);     \
    ACLSHMEM_DEVICE TYPE aclshmemx_udma_##NAME##_atomic_compare_swap(__gm__ TYPE *dest, TYPE cond,           \
                                                                     TYPE value, int32_t pe);                \
    ACLSHMEM_DEVICE TYPE aclshmemx_udma_##NAME##_atomic_fetch_inc(__gm__ TYPE *dest, int32_t pe);            \
    ACLSHMEM_DEVICE TYPE aclshmemx_udma_##NAME##_atomic_fetch_add(__gm__ TYPE *dest, TYPE value,             \
                                                                  int32_t pe);                               \
    ACLSHMEM_DEVICE TYPE aclshmemx_udma_##NAME##_atomic_fetch_and(__gm__ TYPE *dest, TYPE value,             \
                                                                  int32_t pe);                               \
    ACLSHMEM_DEVICE TYPE aclshmemx_udma_##NAME##_atomic_fetch_or(__gm__ TYPE *dest, TYPE value, int32_t pe); \
    ACLSHMEM_DEVICE TYPE aclshmemx_udma_##NAME##_atomic_fetch_xor(__gm__ TYPE *dest, TYPE value, int32_t pe);
ACLSHMEM_TYPES_AMO_INTEGER(ACLSHMEM_DECLARE_UDMA_AMO)
ACLSHMEM_DECLARE_UDMA_ADD(float, float)
#undef ACLSHMEM_DECLARE_UDMA_ADD
#undef ACLSHMEM_DECLARE_UDMA_AMO

#include "device/gm2gm/engine/udma_api.inl"

#ifndef __cplusplus

/* clang-format off */
#define ACLSHMEMI_UDMA_PICK(a, b, c, d, e, f, g, h, form, ...) form
#define ACLSHMEMI_UDMA_BAD ACLSHMEMI_UDMA_WRONG_NUMBER_OF_ARGUMENTS

#define ACLSHMEMI_UDMA_MOVE_5(form, dst, src, buf, n, pe)     aclshmemx_udma_##form(dst, src, buf, sizeof *(dst), n, pe, 0)
#define ACLSHMEMI_UDMA_MOVE_6(form, dst, src, buf, n, pe, id) aclshmemx_udma_##form(dst, src, buf, sizeof *(dst), n, pe, id)
#define ACLSHMEMI_UDMA_MOVE(form, ...) \
    ACLSHMEMI_UDMA_PICK(__VA_ARGS__, ACLSHMEMI_UDMA_BAD, ACLSHMEMI_UDMA_BAD, ACLSHMEMI_UDMA_MOVE_6, ACLSHMEMI_UDMA_MOVE_5, \
                        ACLSHMEMI_UDMA_BAD, ACLSHMEMI_UDMA_BAD, ACLSHMEMI_UDMA_BAD, ACLSHMEMI_UDMA_BAD, )(form, __VA_ARGS__)
#define aclshmemx_udma_put_nbi(...)   ACLSHMEMI_UDMA_MOVE(putmem_nbi, __VA_ARGS__)
#define aclshmemx_udma_get_nbi(...)   ACLSHMEMI_UDMA_MOVE(getmem_nbi, __VA_ARGS__)
#define aclshmemx_udma_put_nbi_s(...) ACLSHMEMI_UDMA_MOVE(putmem_nbi_s, __VA_ARGS__)
#define aclshmemx_udma_get_nbi_s(...) ACLSHMEMI_UDMA_MOVE(getmem_nbi_s, __VA_ARGS__)

#define ACLSHMEMI_UDMA_RELAY_6(form, dst, src, buf, n, pe, relay)     aclshmemx_udma_##form(dst, src, buf, sizeof *(dst), n, pe, relay, 0)
#define ACLSHMEMI_UDMA_RELAY_7(form, dst, src, buf, n, pe, relay, id) aclshmemx_udma_##form(dst, src, buf, sizeof *(dst), n, pe, relay, id)
#define ACLSHMEMI_UDMA_RELAY(form, ...) \
    ACLSHMEMI_UDMA_PICK(__VA_ARGS__, ACLSHMEMI_UDMA_BAD, ACLSHMEMI_UDMA_RELAY_7, ACLSHMEMI_UDMA_RELAY_6, ACLSHMEMI_UDMA_BAD, \
                        ACLSHMEMI_UDMA_BAD, ACLSHMEMI_UDMA_BAD, ACLSHMEMI_UDMA_BAD, ACLSHMEMI_UDMA_BAD, )(form, __VA_ARGS__)
#define aclshmemx_udma_relay_put_nbi(...)   ACLSHMEMI_UDMA_RELAY(relay_putmem_nbi, __VA_ARGS__)
#define aclshmemx_udma_relay_get_nbi(...)   ACLSHMEMI_UDMA_RELAY(relay_getmem_nbi, __VA_ARGS__)
#define aclshmemx_udma_relay_put_nbi_s(...) ACLSHMEMI_UDMA_RELAY(relay_putmem_nbi_s, __VA_ARGS__)
#define aclshmemx_udma_relay_get_nbi_s(...) ACLSHMEMI_UDMA_RELAY(relay_getmem_nbi_s, __VA_ARGS__)

#define ACLSHMEMI_UDMA_SIGNAL_6(dst, src, n, word, signal, pe)          aclshmemx_udma_putmem_signal_nbi(dst, src, sizeof *(dst), n, word, signal, pe)
#define ACLSHMEMI_UDMA_SIGNAL_7(dst, src, n, word, signal, pe, buf)     aclshmemx_udma_putmem_signal_nbi_buf(dst, src, sizeof *(dst), n, word, signal, pe, buf, 0)
#define ACLSHMEMI_UDMA_SIGNAL_8(dst, src, n, word, signal, pe, buf, id) aclshmemx_udma_putmem_signal_nbi_buf(dst, src, sizeof *(dst), n, word, signal, pe, buf, id)
#define aclshmemx_udma_put_signal_nbi(...) \
    ACLSHMEMI_UDMA_PICK(__VA_ARGS__, ACLSHMEMI_UDMA_SIGNAL_8, ACLSHMEMI_UDMA_SIGNAL_7, ACLSHMEMI_UDMA_SIGNAL_6, ACLSHMEMI_UDMA_BAD, \
                        ACLSHMEMI_UDMA_BAD, ACLSHMEMI_UDMA_BAD, ACLSHMEMI_UDMA_BAD, ACLSHMEMI_UDMA_BAD, )(__VA_ARGS__)
#define aclshmemx_udma_put_signal_nbi_s(dst, src, n, word, signal, pe) \
    aclshmemx_udma_putmem_signal_nbi_s(dst, src, sizeof *(dst), n, word, signal, pe)

#define ACLSHMEMI_UDMA_AMO(object, OP) \
    _Generic(*(object), int32_t: aclshmemx_udma_int32_atomic_##OP, int64_t: aclshmemx_udma_int64_atomic_##OP, \
             uint32_t: aclshmemx_udma_uint32_atomic_##OP, uint64_t: aclshmemx_udma_uint64_atomic_##OP)
#define aclshmemx_udma_atomic_add(dst, value, pe) \
    _Generic(*(dst), int32_t: aclshmemx_udma_int32_atomic_add, int64_t: aclshmemx_udma_int64_atomic_add, \
             uint32_t: aclshmemx_udma_uint32_atomic_add, uint64_t: aclshmemx_udma_uint64_atomic_add, \
             float: aclshmemx_udma_float_atomic_add)(dst, value, pe)
#define aclshmemx_udma_atomic_fetch(dst, pe)            ACLSHMEMI_UDMA_AMO(dst, fetch)(dst, pe)
#define aclshmemx_udma_atomic_inc(dst, pe)              ACLSHMEMI_UDMA_AMO(dst, inc)(dst, pe)
#define aclshmemx_udma_atomic_fetch_inc(dst, pe)        ACLSHMEMI_UDMA_AMO(dst, fetch_inc)(dst, pe)
#define aclshmemx_udma_atomic_set(dst, value, pe)       ACLSHMEMI_UDMA_AMO(dst, set)(dst, value, pe)
#define aclshmemx_udma_atomic_swap(dst, value, pe)      ACLSHMEMI_UDMA_AMO(dst, swap)(dst, value, pe)
#define aclshmemx_udma_atomic_and(dst, value, pe)       ACLSHMEMI_UDMA_AMO(dst, and)(dst, value, pe)
#define aclshmemx_udma_atomic_or(dst, value, pe)        ACLSHMEMI_UDMA_AMO(dst, or)(dst, value, pe)
#define aclshmemx_udma_atomic_xor(dst, value, pe)       ACLSHMEMI_UDMA_AMO(dst, xor)(dst, value, pe)
#define aclshmemx_udma_atomic_fetch_add(dst, value, pe) ACLSHMEMI_UDMA_AMO(dst, fetch_add)(dst, value, pe)
#define aclshmemx_udma_atomic_fetch_and(dst, value, pe) ACLSHMEMI_UDMA_AMO(dst, fetch_and)(dst, value, pe)
#define aclshmemx_udma_atomic_fetch_or(dst, value, pe)  ACLSHMEMI_UDMA_AMO(dst, fetch_or)(dst, value, pe)
#define aclshmemx_udma_atomic_fetch_xor(dst, value, pe) ACLSHMEMI_UDMA_AMO(dst, fetch_xor)(dst, value, pe)
#define aclshmemx_udma_atomic_compare_swap(dst, cond, value, pe) ACLSHMEMI_UDMA_AMO(dst, compare_swap)(dst, cond, value, pe)
/* clang-format on */

#endif

#endif
