/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of every shape, flags, cache, atomics, buffer pointers made from numbers, and what a trap tells the host. */
#include "kernel_operator.h"

#include "check.h"
#include "launches.h"

using namespace AscendC;

/* Every vector core writes who it is. */
ACLSHMEM_TEST_MIXED void identity(GM_ADDR memory)
{
    if ASCEND_IS_AIV {
        __gm__ int64_t *mine = reinterpret_cast<__gm__ int64_t *>(memory) + GetBlockIdx() * 8;
        mine[0] = GetBlockIdx();
        mine[1] = GetBlockNum();
        mine[2] = GetSubBlockIdx();
        mine[3] = GetSubBlockNum();
        mine[4] = GetTaskRation();
        mine[5] = block_idx;
        mine[6] = g_coreType == AscendC::AIV ? 1 : 0;
        SyncAll();
        mine[7] = GetSystemCycle() > 0;
    }
    if ASCEND_IS_AIC {
        trap();
    }
}

/* Buffer addresses are numbers, also 0; local arrays follow one another. */
extern "C" [[bisheng::core_ratio(0, 1)]] __global__ __aicore__ void numbers(GM_ADDR memory)
{
    __ubuf__ int32_t first[8];
    __ubuf__ int32_t second[8];
    __ubuf__ int32_t *zero = reinterpret_cast<__ubuf__ int32_t *>(uint64_t(0));
    __ubuf__ int32_t *high = (__ubuf__ int32_t *)(1056);
    for (int32_t i = 0; i < 8; i++) {
        first[i] = i;
        second[i] = 10 + i;
    }
    zero[3] += 100; /* the first array is where the buffer starts */
    *high = 7;
    high++;
    *high = 8;
    GlobalTensor<int32_t> out;
    out.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t *>(memory));
    out.SetValue(0, first[3]);
    out.SetValue(1, second[7]);
    out.SetValue(2, *(high - 1) * 10 + *high);
    out.SetValue(
        3, static_cast<int32_t>(reinterpret_cast<uint64_t>(second) - reinterpret_cast<uint64_t>(first)));
    DataCacheCleanAndInvalid<int32_t, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(out);
}

/* In by rows with gaps, padded, out by rows with other gaps. */
extern "C" [[bisheng::core_ratio(0, 1)]] __global__ __aicore__ void rows(GM_ADDR from, GM_ADDR to)
{
    GlobalTensor<int16_t> source, dest;
    source.SetGlobalBuffer(reinterpret_cast<__gm__ int16_t *>(from));
    dest.SetGlobalBuffer(reinterpret_cast<__gm__ int16_t *>(to));
    LocalTensor<int16_t> local(TPosition::VECIN, 64, 1024);
    /* 5 rows of 10 elements, 6 elements apart; 32 bytes apart in the buffer */
    DataCopyPad(local, source, DataCopyExtParams(5, 20, 12, 1),
                DataCopyPadExtParams<int16_t>(true, 0, 6, -1));
    SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID3);
    WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID3);
    DataCopyPad(dest, local, DataCopyExtParams(5, 32, 1, 8)); /* the padding goes out, too */
    DataCopy(local[512], source, DataCopyParams(2, 1, 1, 0));
    SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID3);
    WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID3);
    DataCopy(dest[200], local[512], DataCopyParams(2, 1, 0, 1));
    PipeBarrier<PIPE_ALL>();
}

template <typename T>
[[bisheng::core_ratio(0, 1)]] __global__ __aicore__ void add_all(GM_ADDR memory, int32_t rounds)
{
    GlobalTensor<T> sum;
    sum.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(memory));
    LocalTensor<T> ones(TPosition::VECOUT, 0, 5);
    for (uint32_t i = 0; i < 5; i++)
        ones.SetValue(i, static_cast<T>(1));
    set_flag(PIPE_S, PIPE_MTE3, EVENT_ID1);
    wait_flag(PIPE_S, PIPE_MTE3, EVENT_ID1);
    SetAtomicAdd<T>();
    for (int32_t i = 0; i < rounds; i++)
        DataCopyPad(sum, ones, DataCopyExtParams(1, 5 * sizeof(T), 0, 0, 0));
    SetAtomicNone();
    pipe_barrier(PIPE_ALL);
    DataSyncBarrier<MemDsbT::ALL>();
}

extern "C" [[bisheng::core_ratio(0, 1)]] __global__ __aicore__ void scalar_atomics(GM_ADDR memory)
{
    __gm__ int32_t *words = reinterpret_cast<__gm__ int32_t *>(memory);
    for (int i = 0; i < 1000; i++) {
        (void)AtomicAdd(&words[0], 1);
        int32_t seen;
        do
            seen = AtomicAdd(&words[1], 0);
        while (AtomicCas(&words[1], seen, seen + 1) != seen);
    }
    if (AtomicExch(&words[2], 1) == 0)
        (void)AtomicAdd(&words[3], 1); /* one core finds the 0 */
    st_dev(uint32_t(77), words, 16);
}

extern "C" [[bisheng::core_ratio(0, 1)]] __global__ __aicore__ void failing(int32_t what)
{
    InitDump(1, 2);
    if (what == 0)
        trap();
    ASCENDC_ASSERT(what == 2, "what is not 2");
    SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID5); /* nobody waits for it */
}

#define DEFINE_STORE(type)                                                                                   \
    extern "C"                                                                                               \
        [[bisheng::core_ratio(0, 1)]] __global__ __aicore__ void store_##type(GM_ADDR memory, type value)    \
    {                                                                                                        \
        reinterpret_cast<__gm__ type *>(memory)[GetBlockIdx()] = value;                                      \
    }
DEFINE_STORE(int32_t)
DEFINE_STORE(double)
#define LAUNCH_STORE(type, blocks, stream, ...) store_##type<<<blocks, nullptr, stream>>>(__VA_ARGS__)

template <typename T> static void try_add(Device &device)
{
    Memory<T> memory(8);
    const uint32_t blocks = 8;
    add_all<T><<<blocks, 0, device.stream>>>(memory.gm(), 4);
    device.sync();
    const std::vector<T> got = memory.read();
    for (size_t i = 0; i < 8; i++)
        CHECK(static_cast<float>(got[i]) == (i < 5 ? 32.0f : 0.0f));
}

static void try_rows(Device &device)
{
    std::vector<int16_t> values(512);
    for (size_t i = 0; i < values.size(); i++)
        values[i] = static_cast<int16_t>(i);
    Memory<int16_t> from(512), to(512);
    from.write(values);
    rows<<<1, nullptr, device.stream>>>(from.gm(), to.gm());
    device.sync();
    const std::vector<int16_t> got = to.read();
    for (size_t row = 0; row < 5; row++)
        for (size_t i = 0; i < 20; i++)
            CHECK(got[row * 20 + i] == (i < 10 ? static_cast<int16_t>(row * 16 + i) : i < 16 ? -1 : 0));
    for (size_t i = 0; i < 16; i++) {
        CHECK(got[200 + i] == static_cast<int16_t>(i));
        CHECK(got[232 + i] == static_cast<int16_t>(32 + i));
    }
}

static void try_identity(Device &device)
{
    const int64_t blocks = 3;
    Memory<int64_t> memory(8 * 2 * blocks);
    identity<<<blocks, nullptr, device.stream>>>(memory.gm());
    device.sync();
    const std::vector<int64_t> got = memory.read();
    for (int64_t core = 0; core < 2 * blocks; core++) {
        const int64_t expected[8] = {core, blocks, core % 2, 2, 2, core / 2, 1, 1};
        for (int64_t i = 0; i < 8; i++)
            CHECK(got[static_cast<size_t>(core * 8 + i)] == expected[i]);
    }
}

int main()
{
    Device device;
    try_identity(device);
    try_rows(device);
    try_add<int8_t>(device);
    try_add<int16_t>(device);
    try_add<int32_t>(device);
    try_add<float>(device);
    try_add<half>(device);
    try_add<bfloat16_t>(device);

    Memory<int32_t> words(16);
    numbers<<<1, nullptr, device.stream>>>(words.gm());
    device.sync();
    std::vector<int32_t> got = words.read();
    CHECK(got[0] == 103 && got[1] == 17 && got[2] == 78 && got[3] == 32);

    words.write(std::vector<int32_t>(16, 0));
    scalar_atomics<<<6, nullptr, device.stream>>>(words.gm());
    device.sync();
    got = words.read();
    CHECK(got[0] == 6000 && got[1] == 6000 && got[3] == 1 && got[4] == 77);

    LAUNCH_STORE(int32_t, 4, device.stream, words.gm(), 42);
    launch_point(device.stream, words.gm() + 32, {1, 2.5, 3});
    device.sync();
    got = words.read();
    CHECK(got[0] == 42 && got[3] == 42);
    double point[2];
    std::memcpy(point, &got[8], sizeof point);
    CHECK(point[0] == 2.5 && point[1] == 4.0);

    const char *const reports[] = {"trap", "ASCENDC_ASSERT(what == 2)", "flag"};
    for (int32_t i = 0; i < 3; i++) {
        failing<<<2, nullptr, device.stream>>>(i);
        device.sync_fails(reports[i]);
    }
    std::puts("core: all checks passed");
}
