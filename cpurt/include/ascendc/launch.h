/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launching a C++ kernel: what kernel<<<blocks, l2ctrl, stream>>>(arguments) becomes under aclcpu-cc,
 *
 *     aclcpu::launch<kernel, cube, vector>(blocks, l2ctrl, stream)(arguments)
 *
 * and buffers that a kernel declares as local arrays.
 */
#ifndef ASCENDC_LAUNCH_H
#define ASCENDC_LAUNCH_H

#include "ascendc/core.h"

#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>

namespace aclcpu
{

/*
 * Local arrays in the buffer: `__ubuf__ T name[count];` becomes a pointer from here. Every declaration (the lambda is its
 * mark) has one place for the length of a block, the first behind the bytes that ACLCPU_UB_ARRAYS leaves to addresses the
 * kernel makes by hand.
 */
#ifndef ACLCPU_UB_ARRAYS
#define ACLCPU_UB_ARRAYS 0
#endif

struct ub_arrays {
    uint64_t block = 0; /* blocks this thread has begun */
    uint64_t top = 0;

    static ub_arrays &mine()
    {
        static thread_local ub_arrays arrays;
        return arrays;
    }
    void begin()
    {
        block++;
        top = ACLCPU_UB_ARRAYS;
    }
    uint64_t take(uint64_t bytes)
    {
        const uint64_t start = top,
                       end = start + (bytes + AICORE_UB_ALIGN - 1) / AICORE_UB_ALIGN * AICORE_UB_ALIGN;
        if (end > aicore_ub_bytes())
            aicore_trap("an array of %llu bytes at %llu does not fit the %u bytes of the unified buffer",
                        static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(start),
                        aicore_ub_bytes());
        top = end;
        return start;
    }
};

template <typename T, typename Mark> AICORE_UB_POINTER(T) ub_array(uint64_t count, Mark)
{
    static thread_local uint64_t block = 0, start = 0;
    ub_arrays &arrays = ub_arrays::mine();
    if (block != arrays.block) {
        start = arrays.take(count * sizeof(T));
        block = arrays.block;
    }
    return AICORE_UB(T, start);
}

/* The arguments of a kernel as bytes: members in order, laid out as in a struct of C. */
template <typename... Types> struct pack {
    template <typename Function> void call(Function function) const { function(); }
};
template <typename First, typename... Rest> struct pack<First, Rest...> {
    First first;
    pack<Rest...> rest;

    template <typename Function> void call(Function function) const
    {
        rest.call([&](auto... others) { function(first, others...); });
    }
};

template <typename First> struct pack<First> {
    First first;

    template <typename Function> void call(Function function) const { function(first); }
};

inline pack<> make_pack()
{
    return {};
}
template <typename First, typename... Rest> pack<First, Rest...> make_pack(First first, Rest... rest)
{
    if constexpr (sizeof...(Rest) == 0)
        return {first};
    else
        return {first, make_pack(rest...)};
}

/* What the compiler calls the kernel. Some leave out template arguments. */
template <auto kernel> std::string name_of()
{
    const char *text = __PRETTY_FUNCTION__, *start = std::strstr(text, "kernel = ");
    std::string name = start == nullptr ? text : start + std::strlen("kernel = ");
    const size_t end = name.find_first_of(";]");
    return name.substr(name[0] == '&' ? 1 : 0,
                       end == std::string::npos ? end : end - (name[0] == '&' ? 1 : 0));
}

/* The name, with a number when another kernel has it already. */
inline std::string free_name(const std::string &name)
{
    std::string tried = name;
    for (int number = 2; aicore_kernel_known(tried.c_str()); number++)
        tried = name + "#" + std::to_string(number);
    return tried;
}

template <auto kernel, uint32_t vector_cores, typename Function = decltype(kernel)> struct record;

template <auto kernel, uint32_t vector_cores, typename... Types>
struct record<kernel, vector_cores, void (*)(Types...)> {
    using packed = pack<std::decay_t<Types>...>;
    static_assert(std::is_trivially_copyable_v<packed>, "kernel arguments are copied as bytes");

    static void entry(const void *bytes)
    {
        ub_arrays::mine().begin();
        if constexpr (sizeof...(Types) == 0)
            kernel();
        else
            static_cast<const packed *>(bytes)->call([](auto... values) { kernel(values...); });
    }

    /* Entered at the first launch; stays as long as the program. */
    static aclrtFuncHandle handle()
    {
        static const std::string name = free_name(name_of<kernel>());
        static aicore_kernel_t self = {
            AICORE_ABI, vector_cores, name.c_str(), entry, sizeof...(Types) == 0 ? 0 : sizeof(packed),
            nullptr};
        static const aclrtFuncHandle found = [] {
            aclrtFuncHandle function = nullptr;
            aicore_kernel_add(&self);
            (void)aclrtBinaryGetFunction(nullptr, self.name, &function);
            return function;
        }();
        return found;
    }

    static void enqueue(uint32_t blocks, aclrtStream stream, Types... values)
    {
        const packed arguments = make_pack(static_cast<std::decay_t<Types>>(values)...);
        const aclError error = aclrtLaunchKernel(handle(), blocks, &arguments,
                                                 sizeof...(Types) == 0 ? 0 : sizeof arguments, stream);
        /* The dialect gives a launch no result: what went wrong must not pass in silence. */
        if (error != ACL_SUCCESS)
            (void)std::fprintf(stderr, "acl: launch of %s failed with code %d, %s\n",
                               name_of<kernel>().c_str(), error, aclGetRecentErrMsg());
    }
};

/* cube and vector: cores per block, as in the kernel's core ratio; without one it is 1 and 2. */
template <auto kernel, uint32_t cube, uint32_t vector> class launch
{
    static_assert(cube <= 1 && (vector == 1 || vector == 2), "a core ratio of 0:1, 1:1 or 1:2");
    uint32_t blocks_;
    aclrtStream stream_;

  public:
    template <typename Control>
    launch(uint32_t blocks, Control, aclrtStream stream) : blocks_(blocks), stream_(stream)
    {
    }
    template <typename... Values> void operator()(Values &&...values) const
    {
        record<kernel, vector>::enqueue(blocks_, stream_, static_cast<Values &&>(values)...);
    }
};

} // namespace aclcpu

#endif
