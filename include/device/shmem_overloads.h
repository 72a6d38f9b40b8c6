/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device calls as the vendor's C++ headers spell them: one name for several kinds of arguments, tensors, templates. Each
 * line forwards to the C function that documents the call: rows by reference to its _rows form, buffer pointers to _ub,
 * tensors to the pointers they hold (a scratch tensor brings its size). Included by shmem.h in C++ kernels.
 */
#ifndef ACLSHMEM_DEVICE_OVERLOADS_H
#define ACLSHMEM_DEVICE_OVERLOADS_H

#ifndef __cplusplus
#error "overloads are C++; C kernels call the functions with suffixes"
#endif

#include "aicore/aicore.h"
#if !defined(AICORE_UB_CLASS) && !defined(AICORE_UB_SEGMENT)
#error                                                                                                       \
    "overloads tell buffer pointers from others: compile with aclcpu-cc, or with AICORE_UB_CLASS or AICORE_UB_SEGMENT"
#endif

#include "kernel_operator.h"

#include "device/gm2gm/engine/shmem_device_mte.h"
#include "device/gm2gm/shmem_device_amo.h"
#include "device/gm2gm/shmem_device_rma.h"
#include "device/gm2gm/shmem_device_so.h"
#include "device/ub2gm/shmem_device_rma.h"

/* --- Put and get by type --- */

/* One direction between two places in global memory; the source is what `get` has in the symmetric heap. */
#define ACLSHMEMI_OVERLOAD_MOVE(NAME, TYPE, verb)                                                            \
    static inline void aclshmem_##NAME##_##verb##_nbi(__gm__ TYPE *dst, __gm__ TYPE *src,                    \
                                                      const non_contiguous_copy_param &rows, int pe)         \
    {                                                                                                        \
        aclshmem_##NAME##_##verb##_nbi_rows(dst, src, &rows, pe);                                            \
    }                                                                                                        \
    static inline void aclshmem_##NAME##_##verb##_nbi(                                                       \
        AscendC::GlobalTensor<TYPE> dst, AscendC::GlobalTensor<TYPE> src, size_t nelems, int pe)             \
    {                                                                                                        \
        aclshmem_##NAME##_##verb##_nbi(dst.GetPhyAddr(), src.GetPhyAddr(), nelems, pe);                      \
    }                                                                                                        \
    static inline void aclshmem_##NAME##_##verb##_nbi(AscendC::GlobalTensor<TYPE> dst,                       \
                                                      AscendC::GlobalTensor<TYPE> src,                       \
                                                      const non_contiguous_copy_param &rows, int pe)         \
    {                                                                                                        \
        aclshmem_##NAME##_##verb##_nbi_rows(dst.GetPhyAddr(), src.GetPhyAddr(), &rows, pe);                  \
    }
#define ACLSHMEMI_OVERLOAD_BUFFER(NAME, TYPE)                                                                \
    static inline void aclshmem_##NAME##_get_nbi(ACLSHMEM_UB_POINTER(TYPE) dst, __gm__ TYPE *src,            \
                                                 size_t nelems, int pe)                                      \
    {                                                                                                        \
        aclshmem_##NAME##_get_nbi_ub(dst, src, nelems, pe);                                                  \
    }                                                                                                        \
    static inline void aclshmem_##NAME##_get_nbi(ACLSHMEM_UB_POINTER(TYPE) dst, __gm__ TYPE *src,            \
                                                 const non_contiguous_copy_param &rows, int pe)              \
    {                                                                                                        \
        aclshmem_##NAME##_get_nbi_ub_rows(dst, src, &rows, pe);                                              \
    }                                                                                                        \
    static inline void aclshmem_##NAME##_get_nbi(AscendC::LocalTensor<TYPE> dst,                             \
                                                 AscendC::GlobalTensor<TYPE> src, size_t nelems, int pe)     \
    {                                                                                                        \
        aclshmem_##NAME##_get_nbi_ub(dst.GetPhyAddr(), src.GetPhyAddr(), nelems, pe);                        \
    }                                                                                                        \
    static inline void aclshmem_##NAME##_get_nbi(AscendC::LocalTensor<TYPE> dst,                             \
                                                 AscendC::GlobalTensor<TYPE> src,                            \
                                                 const non_contiguous_copy_param &rows, int pe)              \
    {                                                                                                        \
        aclshmem_##NAME##_get_nbi_ub_rows(dst.GetPhyAddr(), src.GetPhyAddr(), &rows, pe);                    \
    }                                                                                                        \
    static inline void aclshmem_##NAME##_put_nbi(__gm__ TYPE *dst, ACLSHMEM_UB_POINTER(TYPE) src,            \
                                                 size_t nelems, int pe)                                      \
    {                                                                                                        \
        aclshmem_##NAME##_put_nbi_ub(dst, src, nelems, pe);                                                  \
    }                                                                                                        \
    static inline void aclshmem_##NAME##_put_nbi(__gm__ TYPE *dst, ACLSHMEM_UB_POINTER(TYPE) src,            \
                                                 const non_contiguous_copy_param &rows, int pe)              \
    {                                                                                                        \
        aclshmem_##NAME##_put_nbi_ub_rows(dst, src, &rows, pe);                                              \
    }                                                                                                        \
    static inline void aclshmem_##NAME##_put_nbi(AscendC::GlobalTensor<TYPE> dst,                            \
                                                 AscendC::LocalTensor<TYPE> src, size_t nelems, int pe)      \
    {                                                                                                        \
        aclshmem_##NAME##_put_nbi_ub(dst.GetPhyAddr(), src.GetPhyAddr(), nelems, pe);                        \
    }                                                                                                        \
    static inline void aclshmem_##NAME##_put_nbi(AscendC::GlobalTensor<TYPE> dst,                            \
                                                 AscendC::LocalTensor<TYPE> src,                             \
                                                 const non_contiguous_copy_param &rows, int pe)              \
    {                                                                                                        \
        aclshmem_##NAME##_put_nbi_ub_rows(dst.GetPhyAddr(), src.GetPhyAddr(), &rows, pe);                    \
    }

/* --- Put with signal --- */

#define ACLSHMEMI_OVERLOAD_SIGNAL(NAME, TYPE, nbi)                                                           \
    static inline void aclshmem_##NAME##_put_signal##nbi(                                                    \
        AscendC::GlobalTensor<TYPE> dst, AscendC::GlobalTensor<TYPE> src, size_t nelems,                     \
        __gm__ int32_t *sig_addr, int32_t signal, int sig_op, int pe)                                        \
    {                                                                                                        \
        aclshmem_##NAME##_put_signal##nbi(dst.GetPhyAddr(), src.GetPhyAddr(), nelems, sig_addr, signal,      \
                                          sig_op, pe);                                                       \
    }                                                                                                        \
    static inline void aclshmem_##NAME##_put_signal##nbi(                                                    \
        __gm__ TYPE *dst, __gm__ TYPE *src, const non_contiguous_copy_param &rows, __gm__ int32_t *sig_addr, \
        int32_t signal, int sig_op, int pe)                                                                  \
    {                                                                                                        \
        aclshmem_##NAME##_put_signal##nbi##_rows(dst, src, &rows, sig_addr, signal, sig_op, pe);             \
    }                                                                                                        \
    static inline void aclshmem_##NAME##_put_signal##nbi(                                                    \
        AscendC::GlobalTensor<TYPE> dst, AscendC::GlobalTensor<TYPE> src,                                    \
        const non_contiguous_copy_param &rows, __gm__ int32_t *sig_addr, int32_t signal, int sig_op, int pe) \
    {                                                                                                        \
        aclshmem_##NAME##_put_signal##nbi##_rows(dst.GetPhyAddr(), src.GetPhyAddr(), &rows, sig_addr,        \
                                                 signal, sig_op, pe);                                        \
    }

#define ACLSHMEMI_OVERLOADS(NAME, TYPE)                                                                      \
    ACLSHMEMI_OVERLOAD_MOVE(NAME, TYPE, put)                                                                 \
    ACLSHMEMI_OVERLOAD_MOVE(NAME, TYPE, get)                                                                 \
    ACLSHMEMI_OVERLOAD_BUFFER(NAME, TYPE)                                                                    \
    ACLSHMEMI_OVERLOAD_SIGNAL(NAME, TYPE, )                                                                  \
    ACLSHMEMI_OVERLOAD_SIGNAL(NAME, TYPE, _nbi)
ACLSHMEM_TYPES_RMA(ACLSHMEMI_OVERLOADS)

#undef ACLSHMEMI_OVERLOADS
#undef ACLSHMEMI_OVERLOAD_MOVE
#undef ACLSHMEMI_OVERLOAD_BUFFER
#undef ACLSHMEMI_OVERLOAD_SIGNAL

/* --- MTE by name --- */

#define ACLSHMEMI_OVERLOAD_MTE(verb)                                                                         \
    template <typename T>                                                                                    \
    inline void aclshmemx_mte_##verb##_nbi(__gm__ T *dst, __gm__ T *src, ACLSHMEM_UB_POINTER(T) buf,         \
                                           uint32_t ub_size, size_t nelems, int pe, uint32_t sync_id)        \
    {                                                                                                        \
        aclshmemx_mte_##verb##mem_nbi(dst, src, buf, ub_size, sizeof(T), nelems, pe, sync_id);               \
    }                                                                                                        \
    template <typename T>                                                                                    \
    inline void aclshmemx_mte_##verb##_nbi(__gm__ T *dst, __gm__ T *src, ACLSHMEM_UB_POINTER(T) buf,         \
                                           uint32_t ub_size, const non_contiguous_copy_param &rows, int pe,  \
                                           uint32_t sync_id)                                                 \
    {                                                                                                        \
        aclshmemx_mte_##verb##mem_nbi_rows(dst, src, buf, ub_size, sizeof(T), &rows, pe, sync_id);           \
    }                                                                                                        \
    template <typename T>                                                                                    \
    inline void aclshmemx_mte_##verb##_nbi(AscendC::GlobalTensor<T> dst, AscendC::GlobalTensor<T> src,       \
                                           AscendC::LocalTensor<T> buf, size_t nelems, int pe,               \
                                           uint32_t sync_id)                                                 \
    {                                                                                                        \
        aclshmemx_mte_##verb##mem_nbi(dst.GetPhyAddr(), src.GetPhyAddr(), buf.GetPhyAddr(), buf.GetLength(), \
                                      sizeof(T), nelems, pe, sync_id);                                       \
    }                                                                                                        \
    template <typename T>                                                                                    \
    inline void aclshmemx_mte_##verb##_nbi(AscendC::GlobalTensor<T> dst, AscendC::GlobalTensor<T> src,       \
                                           AscendC::LocalTensor<T> buf,                                      \
                                           const non_contiguous_copy_param &rows, int pe, uint32_t sync_id)  \
    {                                                                                                        \
        aclshmemx_mte_##verb##mem_nbi_rows(dst.GetPhyAddr(), src.GetPhyAddr(), buf.GetPhyAddr(),             \
                                           buf.GetLength(), sizeof(T), &rows, pe, sync_id);                  \
    }                                                                                                        \
    static inline void aclshmemx_mte_##verb##_nbi(__gm__ int8_t *dst, __gm__ int8_t *src,                    \
                                                  ACLSHMEM_UB_POINTER(int8_t) buf, uint32_t ub_size,         \
                                                  size_t nelems, int pe, uint32_t sync_id, bool enable_l2)   \
    {                                                                                                        \
        aclshmemx_mte_##verb##mem_nbi_hint(dst, src, buf, ub_size, 1, nelems, pe, sync_id, enable_l2);       \
    }                                                                                                        \
    static inline void aclshmemx_mte_##verb##_nbi(__gm__ int8_t *dst, __gm__ int8_t *src, size_t nelems,     \
                                                  int32_t pe, bool enable_l2)                                \
    {                                                                                                        \
        aclshmemx_mte_##verb##mem_nbi_hint_cfg(dst, src, 1, nelems, pe, enable_l2);                          \
    }
ACLSHMEMI_OVERLOAD_MTE(put)
ACLSHMEMI_OVERLOAD_MTE(get)
#undef ACLSHMEMI_OVERLOAD_MTE

/* The buffer forms: destination first, one side in the unified buffer. */
#define ACLSHMEMI_OVERLOAD_MTE_UB(verb, DST, SRC, DST_TENSOR, SRC_TENSOR)                                    \
    template <typename T>                                                                                    \
    inline void aclshmemx_mte_##verb##_nbi(DST dst, SRC src, size_t nelems, int pe, uint32_t sync_id)        \
    {                                                                                                        \
        aclshmemx_mte_##verb##mem_nbi_ub(dst, src, sizeof(T), nelems, pe, sync_id);                          \
    }                                                                                                        \
    template <typename T>                                                                                    \
    inline void aclshmemx_mte_##verb##_nbi(DST dst, SRC src, const non_contiguous_copy_param &rows, int pe,  \
                                           uint32_t sync_id)                                                 \
    {                                                                                                        \
        aclshmemx_mte_##verb##mem_nbi_ub_rows(dst, src, sizeof(T), &rows, pe, sync_id);                      \
    }                                                                                                        \
    template <typename T>                                                                                    \
    inline void aclshmemx_mte_##verb##_nbi(DST_TENSOR<T> dst, SRC_TENSOR<T> src, size_t nelems, int pe,      \
                                           uint32_t sync_id)                                                 \
    {                                                                                                        \
        aclshmemx_mte_##verb##mem_nbi_ub(dst.GetPhyAddr(), src.GetPhyAddr(), sizeof(T), nelems, pe,          \
                                         sync_id);                                                           \
    }                                                                                                        \
    template <typename T>                                                                                    \
    inline void aclshmemx_mte_##verb##_nbi(DST_TENSOR<T> dst, SRC_TENSOR<T> src,                             \
                                           const non_contiguous_copy_param &rows, int pe, uint32_t sync_id)  \
    {                                                                                                        \
        aclshmemx_mte_##verb##mem_nbi_ub_rows(dst.GetPhyAddr(), src.GetPhyAddr(), sizeof(T), &rows, pe,      \
                                              sync_id);                                                      \
    }
ACLSHMEMI_OVERLOAD_MTE_UB(get, ACLSHMEM_UB_POINTER(T), __gm__ T *, AscendC::LocalTensor,
                          AscendC::GlobalTensor)
ACLSHMEMI_OVERLOAD_MTE_UB(put, __gm__ T *, ACLSHMEM_UB_POINTER(T), AscendC::GlobalTensor,
                          AscendC::LocalTensor)
#undef ACLSHMEMI_OVERLOAD_MTE_UB

/* --- Atomics by the name of the engine: templates over the typed calls --- */

#define ACLSHMEMI_OVERLOAD_AMO(engine)                                                                       \
    template <typename T> void aclshmemx_##engine##_atomic_add(__gm__ T *dst, T value, int32_t pe);          \
    template <typename T> T aclshmemx_##engine##_atomic_fetch(__gm__ T *src, int32_t pe);                    \
    template <typename T> void aclshmemx_##engine##_atomic_set(__gm__ T *dst, T value, int32_t pe);          \
    template <typename T> T aclshmemx_##engine##_atomic_swap(__gm__ T *dst, T value, int32_t pe);            \
    template <typename T>                                                                                    \
    T aclshmemx_##engine##_atomic_compare_swap(__gm__ T *dst, T cond, T value, int32_t pe);                  \
    template <typename T> void aclshmemx_##engine##_atomic_inc(__gm__ T *dst, int32_t pe);                   \
    template <typename T> T aclshmemx_##engine##_atomic_fetch_inc(__gm__ T *dst, int32_t pe);                \
    template <typename T> T aclshmemx_##engine##_atomic_fetch_add(__gm__ T *dst, T value, int32_t pe);
#define ACLSHMEMI_OVERLOAD_AMO_ADD(engine, NAME, TYPE)                                                       \
    template <> inline void aclshmemx_##engine##_atomic_add<TYPE>(__gm__ TYPE * dst, TYPE value, int32_t pe) \
    {                                                                                                        \
        aclshmemx_##engine##_##NAME##_atomic_add(dst, value, pe);                                            \
    }
#define ACLSHMEMI_OVERLOAD_AMO_INTEGER(engine, NAME, TYPE)                                                   \
    template <> inline TYPE aclshmemx_##engine##_atomic_fetch<TYPE>(__gm__ TYPE * src, int32_t pe)           \
    {                                                                                                        \
        return aclshmemx_##engine##_##NAME##_atomic_fetch(src, pe);                                          \
    }                                                                                                        \
    template <> inline void aclshmemx_##engine##_atomic_set<TYPE>(__gm__ TYPE * dst, TYPE value, int32_t pe) \
    {                                                                                                        \
        aclshmemx_##engine##_##NAME##_atomic_set(dst, value, pe);                                            \
    }                                                                                                        \
    template <>                                                                                              \
    inline TYPE aclshmemx_##engine##_atomic_swap<TYPE>(__gm__ TYPE * dst, TYPE value, int32_t pe)            \
    {                                                                                                        \
        return aclshmemx_##engine##_##NAME##_atomic_swap(dst, value, pe);                                    \
    }                                                                                                        \
    template <>                                                                                              \
    inline TYPE aclshmemx_##engine##_atomic_compare_swap<TYPE>(__gm__ TYPE * dst, TYPE cond, TYPE value,     \
                                                               int32_t pe)                                   \
    {                                                                                                        \
        return aclshmemx_##engine##_##NAME##_atomic_compare_swap(dst, cond, value, pe);                      \
    }                                                                                                        \
    template <> inline void aclshmemx_##engine##_atomic_inc<TYPE>(__gm__ TYPE * dst, int32_t pe)             \
    {                                                                                                        \
        aclshmemx_##engine##_##NAME##_atomic_inc(dst, pe);                                                   \
    }                                                                                                        \
    template <> inline TYPE aclshmemx_##engine##_atomic_fetch_inc<TYPE>(__gm__ TYPE * dst, int32_t pe)       \
    {                                                                                                        \
        return aclshmemx_##engine##_##NAME##_atomic_fetch_inc(dst, pe);                                      \
    }                                                                                                        \
    template <>                                                                                              \
    inline TYPE aclshmemx_##engine##_atomic_fetch_add<TYPE>(__gm__ TYPE * dst, TYPE value, int32_t pe)       \
    {                                                                                                        \
        return aclshmemx_##engine##_##NAME##_atomic_fetch_add(dst, value, pe);                               \
    }

ACLSHMEMI_OVERLOAD_AMO(mte)
#define ACLSHMEMI_MTE_ADD(NAME, TYPE)     ACLSHMEMI_OVERLOAD_AMO_ADD(mte, NAME, TYPE)
#define ACLSHMEMI_MTE_INTEGER(NAME, TYPE) ACLSHMEMI_OVERLOAD_AMO_INTEGER(mte, NAME, TYPE)
ACLSHMEM_TYPES_AMO_ADD(ACLSHMEMI_MTE_ADD)
ACLSHMEM_TYPES_AMO_INTEGER(ACLSHMEMI_MTE_INTEGER)
#undef ACLSHMEMI_MTE_ADD
#undef ACLSHMEMI_MTE_INTEGER

#include "device/shmem_overloads_engines.h"

#endif
