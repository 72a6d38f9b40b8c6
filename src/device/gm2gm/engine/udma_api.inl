/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies of UDMA by name: moves, straight and relayed, with a signal behind them, and atomics. */
#ifndef ACLSHMEMI_DEVICE_UDMA_API_INL
#define ACLSHMEMI_DEVICE_UDMA_API_INL

#include "device/gm2gm/amo_forms.inl"

ACLSHMEM_DEVICE void aclshmemi_udma_scratch(const char *call, uint64_t ub, uint32_t sync_id)
{
    aclshmemi_scratch_check(call, "UDMA", ub, ACLSHMEM_UDMA_MTE_STAGING_UB_SIZE, sync_id,
                            ACLSHMEM_UDMA_MTE_STAGING_UB_SIZE);
}

/* --- Moves --- */

ACLSHMEM_DEVICE void aclshmemi_udma_move(const char *call, const aclshmemi_queue_move_t *move)
{
    const aclshmemi_state_t *state = aclshmemi_state(call);
    aclshmemi_check(state, call, move->there, move->bytes, move->pe);
    if (move->bytes == 0 && move->word == NULL)
        return;
    aclshmemi_queue_port_t port = aclshmemi_queue_port(state, call, ACLSHMEMI_ENGINE_UDMA);
    aclshmemi_queue_start(&port, move);
}

#define ACLSHMEMI_UDMA_BODIES(verb, KIND, symmetric, local)                                                  \
    ACLSHMEM_DEVICE void aclshmemx_udma_##verb##mem_nbi_s(                                                   \
        __gm__ void *dst, __gm__ void *src, ACLSHMEM_UB_POINTER(void) buf, size_t element_bytes,             \
        size_t nelems, int pe, uint32_t sync_id)                                                             \
    {                                                                                                        \
        aclshmemi_queue_move_t move =                                                                        \
            aclshmemi_queue_plain(KIND, symmetric, local, aclshmemi_bytes(nelems, element_bytes), pe);       \
        (void)buf;                                                                                           \
        (void)sync_id;                                                                                       \
        aclshmemi_udma_move("udma_" #verb "_nbi", &move);                                                    \
    }                                                                                                        \
    ACLSHMEM_DEVICE void aclshmemx_udma_##verb##mem_nbi(__gm__ void *dst, __gm__ void *src,                  \
                                                        ACLSHMEM_UB_POINTER(void) buf, size_t element_bytes, \
                                                        size_t nelems, int pe, uint32_t sync_id)             \
    {                                                                                                        \
        aclshmemi_udma_scratch("udma_" #verb "_nbi", AICORE_UB_NUMBER(buf), sync_id);                        \
        aclshmemx_udma_##verb##mem_nbi_s(dst, src, buf, element_bytes, nelems, pe, sync_id);                 \
    }                                                                                                        \
    ACLSHMEM_DEVICE void aclshmemx_udma_relay_##verb##mem_nbi_s(                                             \
        __gm__ void *dst, __gm__ void *src, ACLSHMEM_UB_POINTER(void) buf, size_t element_bytes,             \
        size_t nelems, int pe, int relay_pe, uint32_t sync_id)                                               \
    {                                                                                                        \
        aclshmemi_queue_move_t move =                                                                        \
            aclshmemi_queue_plain(KIND, symmetric, local, aclshmemi_bytes(nelems, element_bytes), pe);       \
        (void)buf;                                                                                           \
        (void)sync_id;                                                                                       \
        move.via = relay_pe;                                                                                 \
        if (aclshmemi_udma_may_relay("udma_relay_" #verb "_nbi", pe, relay_pe))                              \
            aclshmemi_udma_move("udma_relay_" #verb "_nbi", &move);                                          \
    }                                                                                                        \
    ACLSHMEM_DEVICE void aclshmemx_udma_relay_##verb##mem_nbi(                                               \
        __gm__ void *dst, __gm__ void *src, ACLSHMEM_UB_POINTER(void) buf, size_t element_bytes,             \
        size_t nelems, int pe, int relay_pe, uint32_t sync_id)                                               \
    {                                                                                                        \
        aclshmemi_udma_scratch("udma_relay_" #verb "_nbi", AICORE_UB_NUMBER(buf), sync_id);                  \
        aclshmemx_udma_relay_##verb##mem_nbi_s(dst, src, buf, element_bytes, nelems, pe, relay_pe, sync_id); \
    }

ACLSHMEM_DEVICE bool aclshmemi_udma_may_relay(const char *call, int pe, int relay_pe)
{
    const aclshmemi_state_t *state = aclshmemi_state(call);
    unsigned count = (unsigned)state->seen.npes;
    return (unsigned)pe < count && (unsigned)relay_pe < count && pe != relay_pe && pe != state->seen.mype &&
           relay_pe != state->seen.mype;
}

ACLSHMEMI_UDMA_BODIES(put, ACLSHMEMI_WORK_PUT, dst, src)
ACLSHMEMI_UDMA_BODIES(get, ACLSHMEMI_WORK_GET, src, dst)
#undef ACLSHMEMI_UDMA_BODIES

/* --- With a signal --- */

ACLSHMEM_DEVICE void aclshmemx_udma_putmem_signal_nbi_s(__gm__ void *dst, __gm__ void *src,
                                                        size_t element_bytes, size_t nelems,
                                                        __gm__ uint64_t *sig_addr, uint64_t signal, int pe)
{
    static const char call[] = "udma_put_signal_nbi";
    aclshmemi_queue_move_t move =
        aclshmemi_queue_plain(ACLSHMEMI_WORK_PUT, dst, src, aclshmemi_bytes(nelems, element_bytes), pe);
    if ((uintptr_t)sig_addr % sizeof *sig_addr != 0)
        aclshmemi_port_trap("%s: the signal %p is not aligned to its 8 bytes", call,
                            (const void *)(uintptr_t)sig_addr);
    aclshmemi_check(aclshmemi_state(call), call, sig_addr, sizeof *sig_addr, pe);
    move.word = sig_addr;
    move.value = signal;
    aclshmemi_udma_move(call, &move);
}

ACLSHMEM_DEVICE void aclshmemx_udma_putmem_signal_nbi_buf(__gm__ void *dst, __gm__ void *src,
                                                          size_t element_bytes, size_t nelems,
                                                          __gm__ uint64_t *sig_addr, uint64_t signal, int pe,
                                                          ACLSHMEM_UB_POINTER(uint8_t) buf, uint32_t sync_id)
{
    aclshmemi_udma_scratch("udma_put_signal_nbi", AICORE_UB_NUMBER(buf), sync_id);
    aclshmemx_udma_putmem_signal_nbi_s(dst, src, element_bytes, nelems, sig_addr, signal, pe);
}

/* By the configured scratch. */
ACLSHMEM_DEVICE void aclshmemx_udma_putmem_signal_nbi(__gm__ void *dst, __gm__ void *src,
                                                      size_t element_bytes, size_t nelems,
                                                      __gm__ uint64_t *sig_addr, uint64_t signal, int pe)
{
    static const char call[] = "udma_put_signal_nbi";
    (void)aclshmemi_scratch_for(aclshmemi_state(call), call, ACLSHMEMI_ENGINE_UDMA,
                                ACLSHMEM_UDMA_MTE_STAGING_UB_SIZE);
    aclshmemx_udma_putmem_signal_nbi_s(dst, src, element_bytes, nelems, sig_addr, signal, pe);
}

ACLSHMEM_DEVICE void aclshmemx_udma_quiet(int pe)
{
    static const char call[] = "udma_quiet";
    const aclshmemi_state_t *state = aclshmemi_state(call);
    aclshmemi_check(state, call, state->seen.heap_base, 0, pe);
    aclshmemi_queue_port_t port = aclshmemi_queue_port(state, call, ACLSHMEMI_ENGINE_UDMA);
    aclshmemi_queue_quiet_pe(&port, pe);
    aclshmemi_port_cache_all();
}

/* --- Atomics --- */

/* All but add and inc, which are PLUS without a result, are complete on return. */
ACLSHMEM_DEVICE uint64_t aclshmemi_udma_amo_by_name(const char *call, aclshmemi_amo_op_t op,
                                                    aclshmemi_amo_type_t type, __gm__ void *object,
                                                    uint64_t value, uint64_t condition, int pe, bool wanted)
{
    const aclshmemi_state_t *state = aclshmemi_state(call);
    uint64_t ticket;
    aclshmemi_check(state, call, object, aclshmemi_amo_width(type), pe);
    aclshmemi_queue_port_t port = aclshmemi_queue_port(state, call, ACLSHMEMI_ENGINE_UDMA);
    uint64_t old = aclshmemi_queue_amo(&port, op, type, object, value, condition, pe, wanted, &ticket);
    if (!wanted && op != ACLSHMEMI_AMO_PLUS)
        aclshmemi_queue_wait_for(&port, pe, ticket);
    return old;
}
#define ACLSHMEMI_AMO_BY_UDMA(name, op, kind, object, value, condition, pe, wanted)                          \
    aclshmemi_udma_amo_by_name("udma_" name, op, kind, (__gm__ void *)(uintptr_t)(object), value, condition, \
                               pe, wanted)
#define ACLSHMEMI_DEFINE_BY_UDMA(NAME, TYPE)                                                                 \
    ACLSHMEMI_DEFINE_ADD(ACLSHMEMI_AMO_BY_UDMA, aclshmemx_udma_, NAME, TYPE)                                 \
    ACLSHMEMI_DEFINE_STORE(ACLSHMEMI_AMO_BY_UDMA, aclshmemx_udma_, NAME, TYPE)                               \
    ACLSHMEMI_DEFINE_INTEGER(ACLSHMEMI_AMO_BY_UDMA, aclshmemx_udma_, NAME, TYPE)                             \
    ACLSHMEMI_DEFINE_BITS(ACLSHMEMI_AMO_BY_UDMA, aclshmemx_udma_, NAME, TYPE, and, ACLSHMEMI_AMO_AND)        \
    ACLSHMEMI_DEFINE_BITS(ACLSHMEMI_AMO_BY_UDMA, aclshmemx_udma_, NAME, TYPE, or, ACLSHMEMI_AMO_OR)          \
    ACLSHMEMI_DEFINE_BITS(ACLSHMEMI_AMO_BY_UDMA, aclshmemx_udma_, NAME, TYPE, xor, ACLSHMEMI_AMO_XOR)
ACLSHMEM_TYPES_AMO_INTEGER(ACLSHMEMI_DEFINE_BY_UDMA)
ACLSHMEMI_DEFINE_ADD(ACLSHMEMI_AMO_BY_UDMA, aclshmemx_udma_, float, float)
#undef ACLSHMEMI_AMO_BY_UDMA
#undef ACLSHMEMI_DEFINE_BY_UDMA

#endif
