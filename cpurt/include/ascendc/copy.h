/* SPDX-License-Identifier: Apache-2.0 */
/* Copies between global memory and the buffer, and arithmetic inside the buffer. */
#ifndef ASCENDC_COPY_H
#define ASCENDC_COPY_H

#include "ascendc/tensor.h"

namespace AscendC
{

/* Rows. blockLen and the gap in global memory are bytes, the gap in the buffer counts 32 bytes. */
struct DataCopyExtParams {
    uint16_t blockCount = 1;
    uint32_t blockLen = 0;
    int64_t srcStride = 0;
    int64_t dstStride = 0;
    uint32_t rsv = 0;

    DataCopyExtParams() = default;
    DataCopyExtParams(uint16_t count, uint32_t length, int64_t source, int64_t dest, uint32_t reserved = 0)
        : blockCount(count), blockLen(length), srcStride(source), dstStride(dest), rsv(reserved)
    {
    }
};

/* Rows whose length and both gaps count 32 bytes. */
struct DataCopyParams {
    uint16_t blockCount = 1;
    uint16_t blockLen = 0;
    uint16_t srcStride = 0;
    uint16_t dstStride = 0;

    DataCopyParams() = default;
    DataCopyParams(uint16_t count, uint16_t length, uint16_t source, uint16_t dest)
        : blockCount(count), blockLen(length), srcStride(source), dstStride(dest)
    {
    }
};

/* What stands behind each row in the buffer: `right` elements of a value, within the row's last 32 bytes. */
template <typename T> struct DataCopyPadExtParams {
    bool isPad = false;
    uint8_t leftPadding = 0;
    uint8_t rightPadding = 0;
    T paddingValue = T();

    DataCopyPadExtParams() = default;
    DataCopyPadExtParams(bool pad, uint8_t left, uint8_t right, T value)
        : isPad(pad), leftPadding(left), rightPadding(right), paddingValue(value)
    {
    }
};

namespace detail
{
inline uint32_t gap(const char *what, int64_t value)
{
    if (value < 0 || value > UINT32_MAX)
        aicore_trap("a copy with a %s of %lld; allowed are 0 to %u", what, static_cast<long long>(value),
                    UINT32_MAX);
    return static_cast<uint32_t>(value);
}

/* Padding is written by whoever waits for the row, so the copy ends first. */
template <typename T>
void pad_rows(const LocalTensor<T> &dest, const aicore_rows_t &rows, const DataCopyPadExtParams<T> &padding)
{
    if (padding.leftPadding != 0)
        aicore_trap(
            "DataCopyPad with %u elements of padding on the left; this runtime pads on the right only",
            padding.leftPadding);
    if (padding.rightPadding == 0)
        return;
    const uint32_t row = (rows.bytes + AICORE_UB_ALIGN - 1) / AICORE_UB_ALIGN * AICORE_UB_ALIGN;
    if (rows.bytes + padding.rightPadding * sizeof(T) > row)
        aicore_trap("DataCopyPad with %u elements of padding: a row of %u bytes has room for %zu",
                    padding.rightPadding, rows.bytes, (row - rows.bytes) / sizeof(T));
    aicore_barrier(AICORE_PIPE_MTE2);
    for (uint32_t i = 0; i < rows.count; i++) {
        const uint32_t start = i * (row + rows.ub_gap * AICORE_UB_ALIGN) + rows.bytes;
        for (uint32_t j = 0; j < padding.rightPadding; j++)
            *dest.here((start / static_cast<uint32_t>(sizeof(T))) + j) = padding.paddingValue;
    }
}
} // namespace detail

template <typename T>
inline void DataCopyPad(const LocalTensor<T> &dest, const GlobalTensor<T> &source,
                        const DataCopyExtParams &rows,
                        const DataCopyPadExtParams<T> &padding = DataCopyPadExtParams<T>())
{
    const aicore_rows_t shape = {rows.blockCount, rows.blockLen,
                                 detail::gap("gap in global memory", rows.srcStride),
                                 detail::gap("gap in the buffer", rows.dstStride)};
    aicore_copy_in_rows(dest.number(), source.GetPhyAddr(), &shape);
    if (padding.isPad)
        detail::pad_rows(dest, shape, padding);
}

template <typename T>
inline void DataCopyPad(const GlobalTensor<T> &dest, const LocalTensor<T> &source,
                        const DataCopyExtParams &rows)
{
    const aicore_rows_t shape = {rows.blockCount, rows.blockLen,
                                 detail::gap("gap in global memory", rows.dstStride),
                                 detail::gap("gap in the buffer", rows.srcStride)};
    aicore_copy_out_rows(dest.GetPhyAddr(), source.number(), &shape);
}

template <typename T>
inline void DataCopy(const LocalTensor<T> &dest, const GlobalTensor<T> &source, uint32_t count)
{
    aicore_copy_in(dest.number(), source.GetPhyAddr(), uint64_t(count) * sizeof(T));
}
template <typename T>
inline void DataCopy(const GlobalTensor<T> &dest, const LocalTensor<T> &source, uint32_t count)
{
    aicore_copy_out(dest.GetPhyAddr(), source.number(), uint64_t(count) * sizeof(T));
}
template <typename T>
inline void DataCopy(const LocalTensor<T> &dest, const GlobalTensor<T> &source, const DataCopyParams &rows)
{
    const aicore_rows_t shape = {rows.blockCount, rows.blockLen * AICORE_UB_ALIGN,
                                 rows.srcStride * AICORE_UB_ALIGN, rows.dstStride};
    aicore_copy_in_rows(dest.number(), source.GetPhyAddr(), &shape);
}
template <typename T>
inline void DataCopy(const GlobalTensor<T> &dest, const LocalTensor<T> &source, const DataCopyParams &rows)
{
    const aicore_rows_t shape = {rows.blockCount, rows.blockLen * AICORE_UB_ALIGN,
                                 rows.dstStride * AICORE_UB_ALIGN, rows.srcStride};
    aicore_copy_out_rows(dest.GetPhyAddr(), source.number(), &shape);
}

/* --- Arithmetic, on pipe V --- */

namespace detail
{
template <typename T> void check_span(const LocalTensor<T> &tensor, int32_t count, bool writes)
{
    if (count < 0)
        aicore_trap("a vector operation on %d elements", count);
    if (count > 0)
        (void)tensor.here(static_cast<uint32_t>(count) - 1);
    aicore_touch(AICORE_PIPE_V, tensor.number(), uint64_t(static_cast<uint32_t>(count)) * sizeof(T), writes);
}

template <typename T, typename Operation>
void elementwise(const LocalTensor<T> &dest, const LocalTensor<T> &left, const LocalTensor<T> &right,
                 int32_t count, Operation operation)
{
    check_span(left, count, false);
    check_span(right, count, false);
    check_span(dest, count, true);
    for (int32_t i = 0; i < count; i++)
        *dest.here(static_cast<uint32_t>(i)) =
            operation(*left.here(static_cast<uint32_t>(i)), *right.here(static_cast<uint32_t>(i)));
}
} // namespace detail

template <typename T>
inline void Add(const LocalTensor<T> &dest, const LocalTensor<T> &left, const LocalTensor<T> &right,
                int32_t count)
{
    detail::elementwise(dest, left, right, count, [](T a, T b) { return static_cast<T>(a + b); });
}
template <typename T>
inline void Sub(const LocalTensor<T> &dest, const LocalTensor<T> &left, const LocalTensor<T> &right,
                int32_t count)
{
    detail::elementwise(dest, left, right, count, [](T a, T b) { return static_cast<T>(a - b); });
}
template <typename T>
inline void Mul(const LocalTensor<T> &dest, const LocalTensor<T> &left, const LocalTensor<T> &right,
                int32_t count)
{
    detail::elementwise(dest, left, right, count, [](T a, T b) { return static_cast<T>(a * b); });
}
template <typename T>
inline void Max(const LocalTensor<T> &dest, const LocalTensor<T> &left, const LocalTensor<T> &right,
                int32_t count)
{
    detail::elementwise(dest, left, right, count, [](T a, T b) { return a < b ? b : a; });
}
template <typename T>
inline void Min(const LocalTensor<T> &dest, const LocalTensor<T> &left, const LocalTensor<T> &right,
                int32_t count)
{
    detail::elementwise(dest, left, right, count, [](T a, T b) { return b < a ? b : a; });
}

} // namespace AscendC

#endif
