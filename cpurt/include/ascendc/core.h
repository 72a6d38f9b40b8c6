/* SPDX-License-Identifier: Apache-2.0 */
/* The core: who it is, flags, barriers, its cache, atomics, prints and traps. */
#ifndef ASCENDC_CORE_H
#define ASCENDC_CORE_H

#include "aicore/aicore.h"
#include "aicore/aicore_half.h"

#include <cinttypes>
#include <cstdio>
#include <type_traits>

/* --- Words of the dialect --- */

#define ASCEND_IS_AIV     (true)
#define ASCEND_IS_AIC     (false)
#define ASCEND_IS_NOT_AIV (false)
#define ASCEND_IS_NOT_AIC (true)

using half = aclcpu::half_t;
using bfloat16_t = aclcpu::bfloat16_t;
using float16_t = half;

enum pipe_t {
    PIPE_S = AICORE_PIPE_S,
    PIPE_V = AICORE_PIPE_V,
    PIPE_M = AICORE_PIPE_M,
    PIPE_MTE1 = AICORE_PIPE_MTE1,
    PIPE_MTE2 = AICORE_PIPE_MTE2,
    PIPE_MTE3 = AICORE_PIPE_MTE3,
    PIPE_ALL = AICORE_PIPE_ALL
};

enum event_t { EVENT_ID0, EVENT_ID1, EVENT_ID2, EVENT_ID3, EVENT_ID4, EVENT_ID5, EVENT_ID6, EVENT_ID7 };

#define block_idx (static_cast<int64_t>(aicore_self()->block))

inline void set_flag(pipe_t from, pipe_t to, int number)
{
    aicore_flag_set(static_cast<aicore_pipe_t>(from), static_cast<aicore_pipe_t>(to),
                    static_cast<uint32_t>(number));
}
inline void wait_flag(pipe_t from, pipe_t to, int number)
{
    aicore_flag_wait(static_cast<aicore_pipe_t>(from), static_cast<aicore_pipe_t>(to),
                     static_cast<uint32_t>(number));
}
inline void pipe_barrier(pipe_t pipe)
{
    aicore_barrier(static_cast<aicore_pipe_t>(pipe));
}
[[noreturn]] inline void trap()
{
    aicore_trap("trap");
}
[[noreturn]] inline void __trap()
{
    aicore_trap("trap");
}
/* A device register: the offset is in bytes. */
template <typename T, typename A> inline void st_dev(T value, __gm__ A *address, int64_t offset = 0)
{
    aicore_store(reinterpret_cast<char *>(address) + offset, static_cast<uint64_t>(value), sizeof(T));
}

namespace AscendC
{

using TEventID = int8_t;

enum CoreType { AIC, AIV };

/* --- Who am I --- */

inline int64_t GetBlockIdx()
{
    return aicore_block_index();
}
inline int64_t GetBlockNum()
{
    return aicore_block_count();
}
inline int64_t GetSubBlockIdx()
{
    return aicore_self()->sub;
}
inline int64_t GetSubBlockNum()
{
    return aicore_self()->sub_count;
}
inline int64_t GetTaskRation()
{
    return aicore_self()->sub_count;
}
inline int64_t GetSystemCycle()
{
    return static_cast<int64_t>(aicore_cycles());
}

/* --- Order between pipes --- */

enum class HardEvent {
    MTE2_MTE1,
    MTE1_MTE2,
    MTE1_M,
    M_MTE1,
    MTE2_V,
    V_MTE2,
    MTE3_V,
    V_MTE3,
    M_V,
    V_M,
    V_V,
    MTE3_MTE1,
    MTE1_MTE3,
    MTE1_V,
    MTE2_M,
    M_MTE2,
    V_MTE1,
    MTE2_S,
    S_MTE2,
    MTE3_S,
    S_MTE3,
    S_V,
    V_S,
    MTE2_MTE3,
    MTE3_MTE2,
    M_S,
    S_M
};

namespace detail
{
struct pair {
    aicore_pipe_t from, to;
};
#define ACLCPU_PAIR(from, to)                                                                                \
    case HardEvent::from##_##to:                                                                             \
        return                                                                                               \
        {                                                                                                    \
            AICORE_PIPE_##from, AICORE_PIPE_##to                                                             \
        }
constexpr pair pipes_of(HardEvent event)
{
    switch (event) {
        ACLCPU_PAIR(MTE2, MTE1);
        ACLCPU_PAIR(MTE1, MTE2);
        ACLCPU_PAIR(MTE1, M);
        ACLCPU_PAIR(M, MTE1);
        ACLCPU_PAIR(MTE2, V);
        ACLCPU_PAIR(V, MTE2);
        ACLCPU_PAIR(MTE3, V);
        ACLCPU_PAIR(V, MTE3);
        ACLCPU_PAIR(M, V);
        ACLCPU_PAIR(V, M);
        ACLCPU_PAIR(V, V);
        ACLCPU_PAIR(MTE3, MTE1);
        ACLCPU_PAIR(MTE1, MTE3);
        ACLCPU_PAIR(MTE1, V);
        ACLCPU_PAIR(MTE2, M);
        ACLCPU_PAIR(M, MTE2);
        ACLCPU_PAIR(V, MTE1);
        ACLCPU_PAIR(MTE2, S);
        ACLCPU_PAIR(S, MTE2);
        ACLCPU_PAIR(MTE3, S);
        ACLCPU_PAIR(S, MTE3);
        ACLCPU_PAIR(S, V);
        ACLCPU_PAIR(V, S);
        ACLCPU_PAIR(MTE2, MTE3);
        ACLCPU_PAIR(MTE3, MTE2);
        ACLCPU_PAIR(M, S);
        ACLCPU_PAIR(S, M);
    }
    return {AICORE_PIPE_ALL, AICORE_PIPE_ALL};
}
#undef ACLCPU_PAIR
} // namespace detail

template <HardEvent event> inline void SetFlag(int number)
{
    aicore_flag_set(detail::pipes_of(event).from, detail::pipes_of(event).to, static_cast<uint32_t>(number));
}
template <HardEvent event> inline void WaitFlag(int number)
{
    aicore_flag_wait(detail::pipes_of(event).from, detail::pipes_of(event).to, static_cast<uint32_t>(number));
}
template <pipe_t pipe> inline void PipeBarrier()
{
    aicore_barrier(static_cast<aicore_pipe_t>(pipe));
}

/* All vector cores of the launch. Cube cores do not run here, so there is nobody else to meet. */
template <bool isAIVOnly = true> inline void SyncAll()
{
    aicore_sync_all();
}
/* Cores of this runtime meet without an address. */
inline void SetSyncBaseAddr(uint64_t) {}

/* --- Atomics --- */

namespace detail
{
template <typename T> constexpr aicore_element_t element_of()
{
    if constexpr (std::is_same_v<T, int8_t>)
        return AICORE_ADD_INT8;
    else if constexpr (std::is_same_v<T, int16_t>)
        return AICORE_ADD_INT16;
    else if constexpr (std::is_same_v<T, int32_t>)
        return AICORE_ADD_INT32;
    else if constexpr (std::is_same_v<T, float>)
        return AICORE_ADD_FLOAT;
    else if constexpr (std::is_same_v<T, half>)
        return AICORE_ADD_HALF;
    else {
        static_assert(std::is_same_v<T, bfloat16_t>, "copies add int8, int16, int32, float, half, bfloat16");
        return AICORE_ADD_BFLOAT16;
    }
}
} // namespace detail

/* Copies out of the buffer add from here on, until SetAtomicNone. */
template <typename T> inline void SetAtomicAdd()
{
    aicore_atomic_mode(detail::element_of<T>());
}
inline void SetAtomicNone()
{
    aicore_atomic_mode(AICORE_PLAIN);
}

/* By the scalar unit; the old value comes back. 4- and 8-byte integers. */
template <typename T> inline T AtomicAdd(__gm__ T *address, T value)
{
    return __atomic_fetch_add(address, value, __ATOMIC_ACQ_REL);
}
template <typename T> inline T AtomicCas(__gm__ T *address, T compare, T value)
{
    (void)__atomic_compare_exchange_n(address, &compare, value, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    return compare;
}
template <typename T> inline T AtomicExch(__gm__ T *address, T value)
{
    return __atomic_exchange_n(address, value, __ATOMIC_ACQ_REL);
}

/* --- The scalar cache --- */

enum class CacheLine : uint64_t { SINGLE_CACHE_LINE, ENTIRE_DATA_CACHE };
enum class DcciDst : uint64_t { CACHELINE_ALL, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };
enum class MemDsbT : uint64_t { ALL, DDR, UB, SEQ };
enum class CacheMode { CACHE_MODE_DISABLE, CACHE_MODE_NORMAL };

template <MemDsbT> inline void DataSyncBarrier()
{
    aicore_fence();
}

/* --- Words --- */

/* A line of the kernel, with the block that says it; on a thread that runs no kernel the C function of that name. A
 * template, so that a file which uses the namespace may call either by the same name. */
template <typename... Values>
inline int printf(const char *format, Values... values) /* allowed: the kernel's word for it */
{
    char line[1024];
    if (aicore_ub() == nullptr)
        return ::printf(format, values...); /* allowed: the program called it */
    const int start = std::snprintf(line, sizeof line, "[block %" PRId64 "] ", GetBlockIdx());
    (void)std::snprintf(line + start, sizeof line - static_cast<size_t>(start), format, values...);
    return std::fputs(line, stderr);
}
#define PRINTF ::AscendC::printf
/* Prints need no buffer here. */
template <typename... Ignored> inline void InitDump(Ignored...) {}

template <typename A, typename B> struct IsSameType : std::is_same<A, B> {
};
namespace Std
{
template <bool condition, typename A, typename B> using conditional = std::conditional<condition, A, B>;
}

} // namespace AscendC

/* Only vector cores run here. */
static constexpr AscendC::CoreType g_coreType = AscendC::AIV;

#define ASCENDC_ASSERT(condition, ...)                                                                       \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            aicore_trap("%s:%d: ASCENDC_ASSERT(%s)", __FILE__, __LINE__, #condition);                        \
    } while (0)

#endif
