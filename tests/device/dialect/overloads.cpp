/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device calls in the vendor's C++ dialect, kernel and main in one file: every overload and template of shmem_overloads.h
 * moves its own part of a block to the right neighbour, which looks at all of it.
 */
#include "kernel_operator.h"
#include "shmem.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

using namespace AscendC;

constexpr uint32_t PART = 64; /* elements that one call moves */
constexpr uint32_t PARTS = 32;
constexpr uint32_t SIGNALS = 8, LINE = 16;

/* What the kernel needs of one type of element. */
template <typename T> struct Block {
    __gm__ T *dst, *src;
    GlobalTensor<T> to, from;

    __aicore__ Block(GM_ADDR dest, GM_ADDR source)
        : dst(reinterpret_cast<__gm__ T *>(dest)), src(reinterpret_cast<__gm__ T *>(source))
    {
    }
    /* The next part, as pointers and as tensors. */
    __aicore__ void next()
    {
        to.SetGlobalBuffer(dst, PART);
        from.SetGlobalBuffer(src, PART);
        dst += PART;
        src += PART;
    }
};

template <typename T> __aicore__ LocalTensor<T> local_at(uint32_t address, uint32_t bytes)
{
    LocalTensor<T> tensor;
    tensor.address_.logicPos = static_cast<uint8_t>(TPosition::VECIN);
    tensor.address_.bufferAddr = address;
    tensor.address_.dataLen = bytes;
    return tensor;
}

/* Two rows of half a part, next to each other. */
static __aicore__ non_contiguous_copy_param two_rows()
{
    return {2, PART / 2, PART / 2, PART / 2};
}

#define MOVE_PART(...)                                                                                       \
    block.next();                                                                                            \
    __VA_ARGS__;                                                                                             \
    aclshmem_quiet()

/* Into the buffer and out again: a get from this PE itself, then the put. */
#define MOVE_THROUGH(get, put)                                                                               \
    block.next();                                                                                            \
    get;                                                                                                     \
    SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID2);                                                                \
    WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID2);                                                               \
    put;                                                                                                     \
    aclshmem_quiet()

extern "C" [[bisheng::core_ratio(0, 1)]] __global__ __aicore__ void typed_calls(GM_ADDR dest, GM_ADDR source,
                                                                                int32_t *signals)
{
    const int me = aclshmem_my_pe(), pe = (me + 1) % aclshmem_n_pes();
    const non_contiguous_copy_param rows = two_rows();
    Block<float> block(dest, source);
    __ubuf__ float *buffer = reinterpret_cast<__ubuf__ float *>(uint64_t(32768));
    const LocalTensor<float> local = local_at<float>(40960, PART * sizeof(float));

    MOVE_PART(aclshmem_float_put_nbi(block.to.GetPhyAddr(), block.from.GetPhyAddr(), PART, pe));
    MOVE_PART(aclshmem_float_put_nbi(block.to.GetPhyAddr(), block.from.GetPhyAddr(), rows, pe));
    MOVE_PART(aclshmem_float_put_nbi(block.to, block.from, PART, pe));
    MOVE_PART(aclshmem_float_put_nbi(block.to, block.from, rows, pe));
    MOVE_THROUGH(aclshmem_float_get_nbi(buffer, block.from.GetPhyAddr(), PART, me),
                 aclshmem_float_put_nbi(block.to.GetPhyAddr(), buffer, PART, pe));
    MOVE_THROUGH(aclshmem_float_get_nbi(buffer, block.from.GetPhyAddr(), rows, me),
                 aclshmem_float_put_nbi(block.to.GetPhyAddr(), buffer, rows, pe));
    MOVE_THROUGH(aclshmem_float_get_nbi(local, block.from, PART, me),
                 aclshmem_float_put_nbi(block.to, local, PART, pe));
    MOVE_THROUGH(aclshmem_float_get_nbi(local, block.from, rows, me),
                 aclshmem_float_put_nbi(block.to, local, rows, pe));
    block.next();
    aclshmem_float_put_signal(block.to, block.from, PART, &signals[0 * LINE], 1, ACLSHMEM_SIGNAL_SET, pe);
    block.next();
    aclshmem_float_put_signal(block.to.GetPhyAddr(), block.from.GetPhyAddr(), rows, &signals[1 * LINE], 1,
                              ACLSHMEM_SIGNAL_SET, pe);
    block.next();
    aclshmem_float_put_signal(block.to, block.from, rows, &signals[2 * LINE], 1, ACLSHMEM_SIGNAL_ADD, pe);
    block.next();
    aclshmem_float_put_signal_nbi(block.to, block.from, PART, &signals[3 * LINE], 1, ACLSHMEM_SIGNAL_SET, pe);
    block.next();
    aclshmem_float_put_signal_nbi(block.to.GetPhyAddr(), block.from.GetPhyAddr(), rows, &signals[4 * LINE], 1,
                                  ACLSHMEM_SIGNAL_SET, pe);
    block.next();
    aclshmem_float_put_signal_nbi(block.to, block.from, rows, &signals[5 * LINE], 1, ACLSHMEM_SIGNAL_ADD, pe);
    for (int i = 0; i < 6; i++)
        aclshmem_signal_wait_until(&signals[i * LINE], ACLSHMEM_CMP_GE, 1);
    aclshmem_barrier_all();
}

template <typename T>
[[bisheng::core_ratio(0, 1)]] __global__ __aicore__ void mte_calls(GM_ADDR dest, GM_ADDR source)
{
    const int me = aclshmem_my_pe(), pe = (me + 1) % aclshmem_n_pes();
    const non_contiguous_copy_param rows = two_rows();
    Block<T> block(dest, source);
    __ubuf__ T *buffer = reinterpret_cast<__ubuf__ T *>(uint64_t(32768));
    const LocalTensor<T> local = local_at<T>(40960, 4096), whole = local_at<T>(49152, PART * sizeof(T));

    MOVE_PART(aclshmemx_mte_put_nbi(block.to.GetPhyAddr(), block.from.GetPhyAddr(), buffer, 4096, PART, pe,
                                    EVENT_ID1));
    MOVE_PART(aclshmemx_mte_put_nbi(block.to.GetPhyAddr(), block.from.GetPhyAddr(), buffer, 4096, rows, pe,
                                    EVENT_ID1));
    MOVE_PART(aclshmemx_mte_put_nbi(block.to, block.from, local, PART, pe, EVENT_ID1));
    MOVE_PART(aclshmemx_mte_put_nbi(block.to, block.from, local, rows, pe, EVENT_ID1));
    MOVE_THROUGH(aclshmemx_mte_get_nbi(buffer, block.from.GetPhyAddr(), PART, me, EVENT_ID1),
                 aclshmemx_mte_put_nbi(block.to.GetPhyAddr(), buffer, PART, pe, EVENT_ID1));
    MOVE_THROUGH(aclshmemx_mte_get_nbi(buffer, block.from.GetPhyAddr(), rows, me, EVENT_ID1),
                 aclshmemx_mte_put_nbi(block.to.GetPhyAddr(), buffer, rows, pe, EVENT_ID1));
    MOVE_THROUGH(aclshmemx_mte_get_nbi(whole, block.from, PART, me, EVENT_ID1),
                 aclshmemx_mte_put_nbi(block.to, whole, PART, pe, EVENT_ID1));
    MOVE_THROUGH(aclshmemx_mte_get_nbi(whole, block.from, rows, me, EVENT_ID1),
                 aclshmemx_mte_put_nbi(block.to, whole, rows, pe, EVENT_ID1));
    aclshmem_barrier_all();
}

/* Gets: from the left neighbour. */
template <typename T>
[[bisheng::core_ratio(0, 1)]] __global__ __aicore__ void get_calls(GM_ADDR dest, GM_ADDR source)
{
    const int pe = (aclshmem_my_pe() + aclshmem_n_pes() - 1) % aclshmem_n_pes();
    const non_contiguous_copy_param rows = two_rows();
    Block<T> block(dest, source);
    __ubuf__ T *buffer = reinterpret_cast<__ubuf__ T *>(uint64_t(32768));
    const LocalTensor<T> local = local_at<T>(40960, 4096);

    MOVE_PART(aclshmemx_mte_get_nbi(block.to.GetPhyAddr(), block.from.GetPhyAddr(), buffer, 4096, PART, pe,
                                    EVENT_ID1));
    MOVE_PART(aclshmemx_mte_get_nbi(block.to.GetPhyAddr(), block.from.GetPhyAddr(), buffer, 4096, rows, pe,
                                    EVENT_ID1));
    MOVE_PART(aclshmemx_mte_get_nbi(block.to, block.from, local, PART, pe, EVENT_ID1));
    MOVE_PART(aclshmemx_mte_get_nbi(block.to, block.from, local, rows, pe, EVENT_ID1));
    if constexpr (sizeof(T) == 4) {
        MOVE_PART(aclshmem_int32_get_nbi(block.to.GetPhyAddr(), block.from.GetPhyAddr(), rows, pe));
        MOVE_PART(aclshmem_int32_get_nbi(block.to, block.from, PART, pe));
        MOVE_PART(aclshmem_int32_get_nbi(block.to, block.from, rows, pe));
    } else {
        MOVE_PART(aclshmemx_mte_get_nbi(block.to.GetPhyAddr(), block.from.GetPhyAddr(), buffer, 4096, PART,
                                        pe, EVENT_ID1, false));
        MOVE_PART(aclshmemx_mte_get_nbi(block.to.GetPhyAddr(), block.from.GetPhyAddr(), PART, pe, true));
        MOVE_PART(aclshmemx_mte_get_nbi(block.to.GetPhyAddr(), block.from.GetPhyAddr(), PART, pe, false));
    }
    aclshmem_barrier_all();
}

/* Every PE does the same to the words of its right neighbour. */
template <typename T>
[[bisheng::core_ratio(0, 1)]] __global__ __aicore__ void atomics(GM_ADDR memory, GM_ADDR results)
{
    const int pe = (aclshmem_my_pe() + 1) % aclshmem_n_pes();
    __gm__ T *word = reinterpret_cast<__gm__ T *>(memory), *out = reinterpret_cast<__gm__ T *>(results);

    aclshmemx_mte_atomic_set<T>(&word[0], 40, pe);
    aclshmem_quiet();
    out[0] = aclshmemx_mte_atomic_fetch<T>(&word[0], pe);
    aclshmemx_mte_atomic_add<T>(&word[0], 2, pe);
    aclshmem_quiet();
    out[1] = aclshmemx_mte_atomic_fetch_add<T>(&word[0], 5, pe);
    aclshmemx_mte_atomic_inc<T>(&word[0], pe);
    aclshmem_quiet();
    out[2] = aclshmemx_mte_atomic_fetch_inc<T>(&word[0], pe);
    out[3] = aclshmemx_mte_atomic_swap<T>(&word[0], 7, pe);
    out[4] = aclshmemx_mte_atomic_compare_swap<T>(&word[0], 7, 9, pe);
    out[5] = aclshmemx_mte_atomic_fetch<T>(&word[0], pe);
    aclshmem_quiet();
    aclshmem_barrier_all();
}

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            std::fprintf(stderr, "PE %d, %s:%d: not true: %s (%s)\n", aclshmem_my_pe(), __FILE__, __LINE__,  \
                         #condition, aclGetRecentErrMsg() != nullptr ? aclGetRecentErrMsg() : "");           \
            std::exit(1);                                                                                    \
        }                                                                                                    \
    } while (0)

template <typename T> static T value_of(int pe, size_t index)
{
    return static_cast<T>((static_cast<size_t>(pe) * 37 + index) % 113);
}

/* Fills the source, clears the destination, runs, and expects `parts` parts of the left neighbour and nothing behind them. */
template <typename T, typename Launch> static void check_moves(uint32_t parts, Launch launch)
{
    const size_t count = PART * PARTS;
    const int me = aclshmem_my_pe(), left = (me + aclshmem_n_pes() - 1) % aclshmem_n_pes();
    T *dest = static_cast<T *>(aclshmem_calloc(count, sizeof(T)));
    T *source = static_cast<T *>(aclshmem_malloc(count * sizeof(T)));
    std::vector<T> host(count);
    CHECK(dest != nullptr && source != nullptr);
    for (size_t i = 0; i < count; i++)
        host[i] = value_of<T>(me, i);
    CHECK(aclrtMemcpy(source, count * sizeof(T), host.data(), count * sizeof(T), ACL_MEMCPY_HOST_TO_DEVICE) ==
          ACL_SUCCESS);
    int32_t *signals =
        static_cast<int32_t *>(aclshmem_calloc(SIGNALS * LINE, sizeof(int32_t))); /* all PEs are ready */
    CHECK(signals != nullptr);
    launch(reinterpret_cast<uint8_t *>(dest), reinterpret_cast<uint8_t *>(source), signals);
    CHECK(aclrtSynchronizeStream(nullptr) == ACL_SUCCESS);
    CHECK(aclrtMemcpy(host.data(), count * sizeof(T), dest, count * sizeof(T), ACL_MEMCPY_DEVICE_TO_HOST) ==
          ACL_SUCCESS);
    for (size_t i = 0; i < count; i++)
        CHECK(host[i] == (i < parts * PART ? value_of<T>(left, i) : T(0)));
    aclshmem_free(signals);
    aclshmem_free(source);
    aclshmem_free(dest);
}

template <typename T> static void check_atomics()
{
    static const int expected[6] = {40, 42, 48, 49, 7, 9};
    T *words = static_cast<T *>(aclshmem_calloc(16, sizeof(T))),
      *results = static_cast<T *>(aclshmem_calloc(16, sizeof(T)));
    T host[6];
    CHECK(words != nullptr && results != nullptr);
    atomics<T>
        <<<1, nullptr, nullptr>>>(reinterpret_cast<uint8_t *>(words), reinterpret_cast<uint8_t *>(results));
    CHECK(aclrtSynchronizeStream(nullptr) == ACL_SUCCESS);
    CHECK(aclrtMemcpy(host, sizeof host, results, sizeof host, ACL_MEMCPY_DEVICE_TO_HOST) == ACL_SUCCESS);
    for (int i = 0; i < 6; i++)
        CHECK(host[i] == static_cast<T>(expected[i]));
    aclshmem_free(results);
    aclshmem_free(words);
}

int main()
{
    CHECK(aclshmemx_init() == 0);
    check_moves<float>(14, [](GM_ADDR dest, GM_ADDR source, int32_t *signals) {
        typed_calls<<<1, nullptr, nullptr>>>(dest, source, signals);
    });
    check_moves<int32_t>(8, [](GM_ADDR dest, GM_ADDR source, int32_t *) {
        mte_calls<int32_t><<<1, nullptr, nullptr>>>(dest, source);
    });
    check_moves<half>(8, [](GM_ADDR dest, GM_ADDR source, int32_t *) {
        mte_calls<half><<<1, nullptr, nullptr>>>(dest, source);
    });
    check_moves<int32_t>(7, [](GM_ADDR dest, GM_ADDR source, int32_t *) {
        get_calls<int32_t><<<1, nullptr, nullptr>>>(dest, source);
    });
    check_moves<int8_t>(7, [](GM_ADDR dest, GM_ADDR source, int32_t *) {
        get_calls<int8_t><<<1, nullptr, nullptr>>>(dest, source);
    });
    check_atomics<int32_t>();
    check_atomics<uint32_t>();
    check_atomics<int64_t>();
    check_atomics<uint64_t>();
    CHECK(aclshmem_finalize() == 0);
    return 0;
}
