/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engines by name as the vendor's C++ headers spell them: templates over the element type, tensors, default arguments. Part
 * of shmem_overloads.h; the C functions document the calls.
 */
#ifndef ACLSHMEM_DEVICE_OVERLOADS_ENGINES_H
#define ACLSHMEM_DEVICE_OVERLOADS_ENGINES_H

#include "device/shmem_overloads.h"

#include "device/gm2gm/engine/shmem_device_rdma.h"
#include "device/gm2gm/engine/shmem_device_sdma.h"
#include "device/gm2gm/engine/shmem_device_udma.h"

/* --- SDMA --- */

#define ACLSHMEMI_OVERLOAD_SDMA(verb)                                                                        \
    template <typename T>                                                                                    \
    inline void aclshmemx_sdma_##verb##_nbi(__gm__ T *dst, __gm__ T *src, ACLSHMEM_UB_POINTER(T) buf,        \
                                            uint32_t ub_size, size_t nelems, int pe, uint32_t sync_id)       \
    {                                                                                                        \
        aclshmemx_sdma_##verb##mem_nbi(dst, src, buf, ub_size, sizeof(T), nelems, pe, sync_id);              \
    }                                                                                                        \
    template <typename T>                                                                                    \
    inline void aclshmemx_sdma_##verb##_nbi(                                                                 \
        const AscendC::GlobalTensor<T> &dst, const AscendC::GlobalTensor<T> &src,                            \
        const AscendC::LocalTensor<T> &buf, size_t nelems, int pe, uint32_t sync_id)                         \
    {                                                                                                        \
        aclshmemx_sdma_##verb##mem_nbi(dst.GetPhyAddr(), src.GetPhyAddr(), buf.GetPhyAddr(),                 \
                                       buf.GetLength(), sizeof(T), nelems, pe, sync_id);                     \
    }
ACLSHMEMI_OVERLOAD_SDMA(put)
ACLSHMEMI_OVERLOAD_SDMA(get)
#undef ACLSHMEMI_OVERLOAD_SDMA

template <typename T> inline void aclshmemx_sdma_quiet(const AscendC::LocalTensor<T> &buf, uint32_t sync_id)
{
    aclshmemx_sdma_quiet(buf.GetPhyAddr(), buf.GetLength(), sync_id);
}
template <typename T>
inline void aclshmemx_sdma_notify_record(const AscendC::LocalTensor<T> &buf, uint32_t sync_id)
{
    aclshmemx_sdma_notify_record(buf.GetPhyAddr(), buf.GetLength(), sync_id);
}
template <typename T>
inline void aclshmemx_cmo_nbi(__gm__ T *src, size_t nelems, ACLSHMEMCMOTYPE cmo_type,
                              ACLSHMEM_UB_POINTER(T) buf, uint32_t ub_size, uint32_t sync_id)
{
    aclshmemx_cmomem_nbi(src, sizeof(T), nelems, cmo_type, buf, ub_size, sync_id);
}
template <typename T>
inline void aclshmemx_cmo_nbi(const AscendC::GlobalTensor<T> &src, size_t nelems, ACLSHMEMCMOTYPE cmo_type,
                              const AscendC::LocalTensor<T> &buf, uint32_t sync_id)
{
    aclshmemx_cmomem_nbi(src.GetPhyAddr(), sizeof(T), nelems, cmo_type, buf.GetPhyAddr(), buf.GetLength(),
                         sync_id);
}

/* --- ROCE --- */

#define ACLSHMEMI_OVERLOAD_ROCE(verb)                                                                        \
    template <typename T>                                                                                    \
    inline void aclshmemx_roce_##verb##_nbi(__gm__ T *dst, __gm__ T *src, ACLSHMEM_UB_POINTER(T) buf,        \
                                            size_t nelems, int pe)                                           \
    {                                                                                                        \
        aclshmemx_roce_##verb##mem_nbi(dst, src, buf, sizeof(T), nelems, pe);                                \
    }                                                                                                        \
    template <typename T>                                                                                    \
    inline void aclshmemx_roce_##verb##_nbi(__gm__ T *dst, __gm__ T *src, ACLSHMEM_UB_POINTER(T) buf,        \
                                            size_t nelems, int pe, uint32_t sync_id)                         \
    {                                                                                                        \
        aclshmemx_roce_##verb##mem_nbi_id(dst, src, buf, sizeof(T), nelems, pe, sync_id);                    \
    }                                                                                                        \
    template <typename T>                                                                                    \
    inline void aclshmemx_roce_##verb##_nbi(AscendC::GlobalTensor<T> dst, AscendC::GlobalTensor<T> src,      \
                                            AscendC::LocalTensor<T> buf, size_t nelems, int pe)              \
    {                                                                                                        \
        aclshmemx_roce_##verb##mem_nbi(dst.GetPhyAddr(), src.GetPhyAddr(), buf.GetPhyAddr(), sizeof(T),      \
                                       nelems, pe);                                                          \
    }                                                                                                        \
    template <typename T>                                                                                    \
    inline void aclshmemx_roce_##verb##_nbi(AscendC::GlobalTensor<T> dst, AscendC::GlobalTensor<T> src,      \
                                            AscendC::LocalTensor<T> buf, size_t nelems, int pe,              \
                                            uint32_t sync_id)                                                \
    {                                                                                                        \
        aclshmemx_roce_##verb##mem_nbi_id(dst.GetPhyAddr(), src.GetPhyAddr(), buf.GetPhyAddr(), sizeof(T),   \
                                          nelems, pe, sync_id);                                              \
    }
ACLSHMEMI_OVERLOAD_ROCE(put)
ACLSHMEMI_OVERLOAD_ROCE(get)
#undef ACLSHMEMI_OVERLOAD_ROCE

template <typename T>
inline int aclshmemx_roce_team_sync(aclshmemx_team_t *team, ACLSHMEM_UB_POINTER(T) buf, uint32_t sync_id)
{
    return aclshmemx_roce_team_sync_buf(team, buf, sync_id);
}
template <typename T>
inline int aclshmemx_roce_barrier(aclshmemx_team_t *team, ACLSHMEM_UB_POINTER(T) buf, uint32_t sync_id)
{
    return aclshmemx_roce_barrier_buf(team, buf, sync_id);
}
template <typename T> inline void aclshmemx_roce_sync_all(ACLSHMEM_UB_POINTER(T) buf, uint32_t sync_id)
{
    aclshmemx_roce_sync_all_buf(buf, sync_id);
}
template <typename T> inline void aclshmemx_roce_barrier_all(ACLSHMEM_UB_POINTER(T) buf, uint32_t sync_id)
{
    aclshmemx_roce_barrier_all_buf(buf, sync_id);
}

/* --- UDMA: written through the buffer, or by the scalar unit with PIPE_S --- */

#define ACLSHMEMI_OVERLOAD_UDMA(verb)                                                                        \
    template <typename T, pipe_t WQE_PIPE = PIPE_MTE3>                                                       \
    inline void aclshmemx_udma_##verb##_nbi(__gm__ T *dst, __gm__ T *src, ACLSHMEM_UB_POINTER(T) buf,        \
                                            size_t nelems, int pe, uint32_t sync_id = 0)                     \
    {                                                                                                        \
        if constexpr (WQE_PIPE == PIPE_S)                                                                    \
            aclshmemx_udma_##verb##mem_nbi_s(dst, src, buf, sizeof(T), nelems, pe, sync_id);                 \
        else                                                                                                 \
            aclshmemx_udma_##verb##mem_nbi(dst, src, buf, sizeof(T), nelems, pe, sync_id);                   \
    }                                                                                                        \
    template <typename T, pipe_t WQE_PIPE = PIPE_MTE3>                                                       \
    inline void aclshmemx_udma_##verb##_nbi(                                                                 \
        const AscendC::GlobalTensor<T> &dst, const AscendC::GlobalTensor<T> &src,                            \
        const AscendC::LocalTensor<T> &buf, size_t nelems, int pe, uint32_t sync_id = 0)                     \
    {                                                                                                        \
        aclshmemx_udma_##verb##_nbi<T, WQE_PIPE>(dst.GetPhyAddr(), src.GetPhyAddr(), buf.GetPhyAddr(),       \
                                                 nelems, pe, sync_id);                                       \
    }                                                                                                        \
    template <typename T, pipe_t WQE_PIPE = PIPE_MTE3>                                                       \
    inline void aclshmemx_udma_relay_##verb##_nbi(__gm__ T *dst, __gm__ T *src, ACLSHMEM_UB_POINTER(T) buf,  \
                                                  size_t nelems, int pe, int relay_pe, uint32_t sync_id = 0) \
    {                                                                                                        \
        if constexpr (WQE_PIPE == PIPE_S)                                                                    \
            aclshmemx_udma_relay_##verb##mem_nbi_s(dst, src, buf, sizeof(T), nelems, pe, relay_pe, sync_id); \
        else                                                                                                 \
            aclshmemx_udma_relay_##verb##mem_nbi(dst, src, buf, sizeof(T), nelems, pe, relay_pe, sync_id);   \
    }                                                                                                        \
    template <typename T, pipe_t WQE_PIPE = PIPE_MTE3>                                                       \
    inline void aclshmemx_udma_relay_##verb##_nbi(                                                           \
        const AscendC::GlobalTensor<T> &dst, const AscendC::GlobalTensor<T> &src,                            \
        const AscendC::LocalTensor<T> &buf, size_t nelems, int pe, int relay_pe, uint32_t sync_id = 0)       \
    {                                                                                                        \
        aclshmemx_udma_relay_##verb##_nbi<T, WQE_PIPE>(dst.GetPhyAddr(), src.GetPhyAddr(), buf.GetPhyAddr(), \
                                                       nelems, pe, relay_pe, sync_id);                       \
    }
ACLSHMEMI_OVERLOAD_UDMA(put)
ACLSHMEMI_OVERLOAD_UDMA(get)
#undef ACLSHMEMI_OVERLOAD_UDMA

template <typename T>
inline void aclshmemx_udma_put_signal_nbi(__gm__ T *dst, __gm__ T *src, size_t nelems,
                                          __gm__ uint64_t *sig_addr, uint64_t signal, int pe)
{
    aclshmemx_udma_putmem_signal_nbi(dst, src, sizeof(T), nelems, sig_addr, signal, pe);
}
template <typename T>
inline void aclshmemx_udma_put_signal_nbi(__gm__ T *dst, __gm__ T *src, size_t nelems,
                                          __gm__ uint64_t *sig_addr, uint64_t signal, int pe,
                                          ACLSHMEM_UB_POINTER(uint8_t) buf, uint32_t sync_id = 0)
{
    aclshmemx_udma_putmem_signal_nbi_buf(dst, src, sizeof(T), nelems, sig_addr, signal, pe, buf, sync_id);
}

/* --- Atomics of the two queue engines --- */

#define ACLSHMEMI_OVERLOAD_LOGIC_ONE(engine, OP)                                                             \
    template <typename T> void aclshmemx_##engine##_atomic_##OP(__gm__ T *dst, T value, int32_t pe);         \
    template <typename T> T aclshmemx_##engine##_atomic_fetch_##OP(__gm__ T *dst, T value, int32_t pe);
#define ACLSHMEMI_OVERLOAD_LOGIC(engine)                                                                     \
    ACLSHMEMI_OVERLOAD_LOGIC_ONE(engine, and)                                                                \
    ACLSHMEMI_OVERLOAD_LOGIC_ONE(engine, or)                                                                 \
    ACLSHMEMI_OVERLOAD_LOGIC_ONE(engine, xor)
#define ACLSHMEMI_OVERLOAD_LOGIC_OF(engine, NAME, TYPE, OP)                                                  \
    template <>                                                                                              \
    inline void aclshmemx_##engine##_atomic_##OP<TYPE>(__gm__ TYPE * dst, TYPE value, int32_t pe)            \
    {                                                                                                        \
        aclshmemx_##engine##_##NAME##_atomic_##OP(dst, value, pe);                                           \
    }                                                                                                        \
    template <>                                                                                              \
    inline TYPE aclshmemx_##engine##_atomic_fetch_##OP<TYPE>(__gm__ TYPE * dst, TYPE value, int32_t pe)      \
    {                                                                                                        \
        return aclshmemx_##engine##_##NAME##_atomic_fetch_##OP(dst, value, pe);                              \
    }
#define ACLSHMEMI_OVERLOAD_QUEUE_AMO(engine, NAME, TYPE)                                                     \
    ACLSHMEMI_OVERLOAD_AMO_ADD(engine, NAME, TYPE)                                                           \
    ACLSHMEMI_OVERLOAD_AMO_INTEGER(engine, NAME, TYPE)                                                       \
    ACLSHMEMI_OVERLOAD_LOGIC_OF(engine, NAME, TYPE, and)                                                     \
    ACLSHMEMI_OVERLOAD_LOGIC_OF(engine, NAME, TYPE, or)                                                      \
    ACLSHMEMI_OVERLOAD_LOGIC_OF(engine, NAME, TYPE, xor)

ACLSHMEMI_OVERLOAD_AMO(roce)
ACLSHMEMI_OVERLOAD_LOGIC(roce)
ACLSHMEMI_OVERLOAD_AMO(udma)
ACLSHMEMI_OVERLOAD_LOGIC(udma)
#define ACLSHMEMI_ROCE_INTEGER(NAME, TYPE) ACLSHMEMI_OVERLOAD_QUEUE_AMO(roce, NAME, TYPE)
#define ACLSHMEMI_UDMA_INTEGER(NAME, TYPE) ACLSHMEMI_OVERLOAD_QUEUE_AMO(udma, NAME, TYPE)
ACLSHMEM_TYPES_AMO_INTEGER(ACLSHMEMI_ROCE_INTEGER)
ACLSHMEM_TYPES_AMO_INTEGER(ACLSHMEMI_UDMA_INTEGER)
ACLSHMEMI_OVERLOAD_AMO_ADD(udma, float, float)

#undef ACLSHMEMI_ROCE_INTEGER
#undef ACLSHMEMI_UDMA_INTEGER
#undef ACLSHMEMI_OVERLOAD_QUEUE_AMO
#undef ACLSHMEMI_OVERLOAD_LOGIC_OF
#undef ACLSHMEMI_OVERLOAD_LOGIC
#undef ACLSHMEMI_OVERLOAD_LOGIC_ONE
#undef ACLSHMEMI_OVERLOAD_AMO
#undef ACLSHMEMI_OVERLOAD_AMO_ADD
#undef ACLSHMEMI_OVERLOAD_AMO_INTEGER

#endif
