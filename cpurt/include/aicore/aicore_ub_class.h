/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ub<T>: a pointer into the unified buffer of whichever core uses it, for C++ compilers and CPUs without segments. It
 * holds a number of bytes and behaves like a pointer; ubcast turns numbers and other buffer pointers into one, as_int
 * goes the other way.
 */
#ifndef AICORE_AICORE_UB_CLASS_H
#define AICORE_AICORE_UB_CLASS_H

#ifndef AICORE_AICORE_H
#error "include aicore/aicore.h"
#endif

/* May be reached while aicore.h is inside extern "C"; templates cannot be. */
extern "C++" {
#include <cstddef>
#include <cstdint>
#include <type_traits>

template <typename T> class aicore_ub_class
{
    /* void has no size; arithmetic on such a pointer counts bytes, as GNU C does. */
    using element = std::conditional_t<std::is_void_v<T>, char, T>;
    uint64_t number_ = 0;

    static char *base() { return static_cast<char *>(aicore_ub()); }

  public:
    aicore_ub_class() = default;
    aicore_ub_class(std::nullptr_t) {}
    explicit aicore_ub_class(uint64_t number) : number_(number) {}
    /* What a plain pointer converts to by itself: adding const, and to void. */
    template <typename U, typename = std::enable_if_t<std::is_convertible_v<U *, T *>>>
    aicore_ub_class(aicore_ub_class<U> other) : number_(other.number())
    {
    }

    uint64_t number() const { return number_; }
    element &operator*() const { return *reinterpret_cast<element *>(base() + number_); }
    element *operator->() const { return reinterpret_cast<element *>(base() + number_); }
    template <typename I> element &operator[](I index) const { return *(*this + index); }
    template <typename I> aicore_ub_class &operator+=(I step)
    {
        number_ += static_cast<uint64_t>(step) * sizeof(element);
        return *this;
    }
    template <typename I> aicore_ub_class &operator-=(I step)
    {
        number_ -= static_cast<uint64_t>(step) * sizeof(element);
        return *this;
    }
    template <typename I, typename = std::enable_if_t<std::is_integral_v<I>>>
    friend aicore_ub_class operator+(aicore_ub_class left, I step)
    {
        return left += step;
    }
    template <typename I, typename = std::enable_if_t<std::is_integral_v<I>>>
    friend aicore_ub_class operator-(aicore_ub_class left, I step)
    {
        return left -= step;
    }
    friend std::ptrdiff_t operator-(aicore_ub_class left, aicore_ub_class right)
    {
        return static_cast<std::ptrdiff_t>(left.number_ - right.number_) /
               static_cast<std::ptrdiff_t>(sizeof(element));
    }
    aicore_ub_class &operator++() { return *this += 1; }
    aicore_ub_class operator++(int)
    {
        aicore_ub_class before = *this;
        *this += 1;
        return before;
    }
    aicore_ub_class &operator--() { return *this -= 1; }
    friend bool operator==(aicore_ub_class left, aicore_ub_class right)
    {
        return left.number_ == right.number_;
    }
    friend bool operator!=(aicore_ub_class left, aicore_ub_class right)
    {
        return left.number_ != right.number_;
    }
    friend bool operator<(aicore_ub_class left, aicore_ub_class right)
    {
        return left.number_ < right.number_;
    }
    explicit operator bool() const { return number_ != 0; }
    explicit operator uint64_t() const { return number_; }
    explicit operator int64_t() const { return static_cast<int64_t>(number_); }
    explicit operator uint32_t() const { return static_cast<uint32_t>(number_); }
    template <typename U> explicit operator aicore_ub_class<U>() const { return aicore_ub_class<U>(number_); }
};

template <typename T> using ub = aicore_ub_class<T>;

/* Stand-ins for reinterpret_cast, which classes cannot join in. */
template <typename T, typename U> ub<T> ubcast(aicore_ub_class<U> from)
{
    return ub<T>(from.number());
}
template <typename T, typename N, typename = std::enable_if_t<std::is_integral_v<N>>> ub<T> ubcast(N number)
{
    return ub<T>(static_cast<uint64_t>(number));
}
template <typename I, typename U> I as_int(aicore_ub_class<U> from)
{
    return static_cast<I>(from.number());
}
template <typename I, typename P> I as_int(P *from)
{
    return reinterpret_cast<I>(from);
}
template <typename I, typename N, typename = std::enable_if_t<std::is_integral_v<N>>> I as_int(N number)
{
    return static_cast<I>(number);
}
}

#endif
