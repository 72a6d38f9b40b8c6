/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors, queues, buffers and vector arithmetic: an operator with double-buffered queues, as kernels are written. */
#include "kernel_operator.h"
#define inline inline attribute((always_inline)) /* as many kernels do */

#include "check.h"

using namespace AscendC;

constexpr uint32_t CHUNK_BYTES = 1024;

template <typename T> class Combine
{
  public:
    __aicore__ inline void Init(GM_ADDR left, GM_ADDR right, GM_ADDR result, uint32_t count)
    {
        count_ = count / static_cast<uint32_t>(GetBlockNum());
        const uint64_t start = static_cast<uint64_t>(GetBlockIdx()) * count_;
        left_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(left) + start, count_);
        right_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(right) + start, count_);
        result_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(result) + start, count_);
        pipe_.InitBuffer(inLeft_, 2, CHUNK_BYTES);
        pipe_.InitBuffer(inRight_, 2, CHUNK_BYTES);
        pipe_.InitBuffer(out_, 2, CHUNK_BYTES);
        pipe_.InitBuffer(twice_, CHUNK_BYTES);
    }
    /* left + 2 * right */
    __aicore__ inline void Process()
    {
        constexpr uint32_t chunk = CHUNK_BYTES / sizeof(T);
        for (uint32_t i = 0; i < count_; i += chunk) {
            CopyIn(i, chunk);
            Compute(chunk);
            CopyOut(i, chunk);
        }
    }

  private:
    __aicore__ inline void CopyIn(uint32_t at, uint32_t chunk)
    {
        LocalTensor<T> left = inLeft_.template AllocTensor<T>(), right = inRight_.template AllocTensor<T>();
        DataCopy(left, left_[at], chunk);
        DataCopyPad(right, right_[at], DataCopyExtParams{1, CHUNK_BYTES, 0, 0, 0},
                    DataCopyPadExtParams<T>{false, 0, 0, 0});
        inLeft_.EnQue(left);
        inRight_.EnQue(right);
    }
    __aicore__ inline void Compute(uint32_t chunk)
    {
        LocalTensor<T> left = inLeft_.template DeQue<T>(), right = inRight_.template DeQue<T>();
        LocalTensor<T> result = out_.template AllocTensor<T>(), twice = twice_.template Get<T>();
        Add(twice, right, right, static_cast<int32_t>(chunk));
        PipeBarrier<PIPE_V>();
        Add(result, left, twice, static_cast<int32_t>(chunk));
        out_.EnQue(result);
        inLeft_.FreeTensor(left);
        inRight_.FreeTensor(right);
    }
    __aicore__ inline void CopyOut(uint32_t at, uint32_t chunk)
    {
        LocalTensor<T> result = out_.template DeQue<T>();
        DataCopy(result_[at], result, chunk);
        out_.FreeTensor(result);
    }

    TPipe pipe_;
    TQue<TPosition::VECIN, 2> inLeft_, inRight_;
    TQue<TPosition::VECOUT, 2> out_;
    TBuf<TPosition::VECCALC> twice_;
    GlobalTensor<T> left_, right_, result_;
    uint32_t count_ = 0;
};

template <typename T>
[[bisheng::core_ratio(0, 1)]] __global__ __aicore__ void combine(GM_ADDR left, GM_ADDR right, GM_ADDR result,
                                                                 uint32_t count)
{
    Combine<T> op;
    op.Init(left, right, result, count);
    op.Process();
}

extern "C" [[bisheng::core_ratio(0, 1)]] __global__ __aicore__ void arithmetic(GM_ADDR memory)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 256);
    LocalTensor<int32_t> a = buffer.Get<int32_t>(8), b = buffer.GetWithOffset<int32_t>(8, 32);
    LocalTensor<int32_t> r = buffer.GetWithOffset<int32_t>(32, 64);
    for (uint32_t i = 0; i < 8; i++) {
        a.SetValue(i, static_cast<int32_t>(i));
        b.SetValue(i, 5);
    }
    SetFlag<HardEvent::S_V>(EVENT_ID0);
    WaitFlag<HardEvent::S_V>(EVENT_ID0);
    Sub(r, a, b, 8);
    Mul(r[8], a, b, 8);
    Max(r[16], a, b, 8);
    Min(r[24], a, b, 8);
    SetFlag<HardEvent::V_S>(EVENT_ID0);
    WaitFlag<HardEvent::V_S>(EVENT_ID0);
    GlobalTensor<int32_t> out;
    out.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t *>(memory), 32);
    out.SetL2CacheHint(CacheMode::CACHE_MODE_DISABLE);
    for (uint32_t i = 0; i < r.GetSize(); i++)
        out.SetValue(i, r.GetValue(i));
    DataCacheCleanAndInvalid<int32_t, CacheLine::ENTIRE_DATA_CACHE, DcciDst::CACHELINE_OUT>(out);
}

extern "C" [[bisheng::core_ratio(0, 1)]] __global__ __aicore__ void too_much(int32_t what)
{
    TPipe pipe;
    TQue<TPosition::VECIN, 1> queue;
    TBuf<TPosition::VECCALC> buffer;
    if (what == 0) {
        pipe.InitBuffer(buffer, 1024 * 1024);
    } else if (what == 1) {
        pipe.InitBuffer(queue, 1, 64);
        (void)queue.AllocTensor<float>();
        (void)queue.AllocTensor<float>();
    } else if (what == 2) {
        pipe.InitBuffer(queue, 1, 64);
        (void)queue.DeQue<float>();
    } else {
        pipe.InitBuffer(buffer, 64);
        (void)buffer.GetWithOffset<float>(16, 32);
    }
}

template <typename T> static void try_combine(Device &device)
{
    const uint32_t count = 8192, blocks = 4;
    std::vector<T> left(count), right(count);
    for (uint32_t i = 0; i < count; i++) {
        left[i] = static_cast<T>(i % 50);
        right[i] = static_cast<T>(i % 7);
    }
    Memory<T> a(count), b(count), c(count);
    a.write(left);
    b.write(right);
    combine<T><<<blocks, nullptr, device.stream>>>(a.gm(), b.gm(), c.gm(), count);
    device.sync();
    const std::vector<T> got = c.read();
    for (uint32_t i = 0; i < count; i++)
        CHECK(got[i] == static_cast<T>(left[i] + 2 * right[i]));
}

int main()
{
    Device device;
    try_combine<float>(device);
    CHECK(aclGetRecentErrMsg()[0] == '\0'); /* a launch that succeeds leaves no failure behind */
    try_combine<int32_t>(device);
    try_combine<int16_t>(device);
    try_combine<half>(device);

    Memory<int32_t> words(32);
    arithmetic<<<1, nullptr, device.stream>>>(words.gm());
    device.sync();
    const std::vector<int32_t> got = words.read();
    for (int32_t i = 0; i < 8; i++) {
        CHECK(got[static_cast<size_t>(i)] == i - 5);
        CHECK(got[static_cast<size_t>(i) + 8] == i * 5);
        CHECK(got[static_cast<size_t>(i) + 16] == (i > 5 ? i : 5));
        CHECK(got[static_cast<size_t>(i) + 24] == (i < 5 ? i : 5));
    }
    const char *const reports[] = {"do not fit", "in use", "nothing is in the queue",
                                   "do not fit its 64 bytes"};
    for (int32_t i = 0; i < 4; i++) {
        too_much<<<1, nullptr, device.stream>>>(i);
        device.sync_fails(reports[i]);
    }
    std::puts("queues: all checks passed");
}
