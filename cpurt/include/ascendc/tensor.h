/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors: a pointer into global memory or the buffer, with a length. */
#ifndef ASCENDC_TENSOR_H
#define ASCENDC_TENSOR_H

#include "ascendc/core.h"

namespace AscendC
{

enum class TPosition : uint8_t {
    GM,
    A1,
    A2,
    B1,
    B2,
    C1,
    C2,
    CO1,
    CO2,
    VECIN,
    VECOUT,
    VECCALC,
    LCM = VECCALC,
    SPM,
    TSCM,
    MAX
};
using QuePosition = TPosition;

/* Where a local tensor is; kernels fill it by hand, too. */
struct TBuffAddr {
    uint32_t dataLen = 0; /* bytes */
    uint32_t bufferAddr = 0;
    void *bufferHandle = nullptr;
    uint8_t logicPos = 0;
};

template <typename T> class LocalTensor
{
  public:
    using PrimType = T;
    TBuffAddr address_;

    LocalTensor() = default;
    LocalTensor(TPosition position, uint32_t address, uint32_t count)
    {
        address_.logicPos = static_cast<uint8_t>(position);
        address_.bufferAddr = address;
        address_.dataLen = count * static_cast<uint32_t>(sizeof(T));
    }

    AICORE_UB_POINTER(T) GetPhyAddr() const { return AICORE_UB(T, address_.bufferAddr); }
    AICORE_UB_POINTER(T) GetPhyAddr(uint32_t offset) const
    {
        return AICORE_UB(T, address_.bufferAddr + offset * sizeof(T));
    }
    uint32_t GetSize() const { return address_.dataLen / static_cast<uint32_t>(sizeof(T)); }
    uint32_t GetLength() const { return address_.dataLen; }
    void SetSize(uint32_t count) { address_.dataLen = count * static_cast<uint32_t>(sizeof(T)); }

    /* By the scalar unit. */
    template <typename V> void SetValue(uint32_t index, V value) const
    {
        aicore_touch(AICORE_PIPE_S, number(index), sizeof(T), 1);
        *here(index) = static_cast<T>(value);
    }
    T GetValue(uint32_t index) const
    {
        aicore_touch(AICORE_PIPE_S, number(index), sizeof(T), 0);
        return *here(index);
    }

    LocalTensor operator[](uint32_t offset) const
    {
        LocalTensor part = *this;
        const uint32_t bytes = offset * static_cast<uint32_t>(sizeof(T));
        part.address_.bufferAddr += bytes;
        part.address_.dataLen = address_.dataLen > bytes ? address_.dataLen - bytes : 0;
        return part;
    }
    template <typename U> LocalTensor<U> ReinterpretCast() const
    {
        LocalTensor<U> other;
        other.address_ = address_;
        return other;
    }

    uint64_t number(uint32_t index = 0) const { return address_.bufferAddr + uint64_t(index) * sizeof(T); }
    /* The element on this machine; outside the buffer the launch ends. */
    T *here(uint32_t index = 0) const
    {
        const uint64_t at = number(index);
        if (at + sizeof(T) > aicore_ub_bytes())
            aicore_trap("element %u of a tensor at %u is past the %u bytes of the unified buffer", index,
                        address_.bufferAddr, aicore_ub_bytes());
        return reinterpret_cast<T *>(static_cast<char *>(aicore_ub()) + at);
    }
};

template <typename T> class GlobalTensor
{
    __gm__ T *address_ = nullptr;
    uint64_t count_ = 0;

  public:
    using PrimType = T;

    void SetGlobalBuffer(__gm__ T *address)
    {
        address_ = address;
        count_ = 0;
    }
    void SetGlobalBuffer(__gm__ T *address, uint64_t count)
    {
        address_ = address;
        count_ = count;
    }
    __gm__ T *GetPhyAddr() const { return address_; }
    __gm__ T *GetPhyAddr(uint64_t offset) const { return address_ + offset; }
    uint64_t GetSize() const { return count_; }
    GlobalTensor operator[](uint64_t offset) const
    {
        GlobalTensor part;
        part.SetGlobalBuffer(address_ + offset, count_ > offset ? count_ - offset : 0);
        return part;
    }
    T GetValue(uint64_t offset) const
    {
        if constexpr (sizeof(T) <= 8) {
            const uint64_t bits = aicore_load(address_ + offset, sizeof(T));
            T value;
            __builtin_memcpy(&value, &bits, sizeof value);
            return value;
        } else {
            return address_[offset];
        }
    }
    void SetValue(uint64_t offset, T value) const
    {
        if constexpr (sizeof(T) <= 8) {
            uint64_t bits = 0;
            __builtin_memcpy(&bits, &value, sizeof value);
            aicore_store(address_ + offset, bits, sizeof(T));
        } else {
            address_[offset] = value;
        }
    }
    /* Where data stays cached matters to time alone. */
    void SetL2CacheHint(CacheMode) const {}
};

/* Writes back and forgets what the scalar unit caches: the line at the start of the tensor, or everything. */
template <typename T, CacheLine lines, DcciDst = DcciDst::CACHELINE_OUT>
inline void DataCacheCleanAndInvalid(const GlobalTensor<T> &tensor)
{
    if constexpr (lines == CacheLine::SINGLE_CACHE_LINE)
        aicore_cache_line(tensor.GetPhyAddr());
    else
        aicore_cache_all();
}

} // namespace AscendC

#endif
