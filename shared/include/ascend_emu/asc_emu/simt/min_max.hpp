// Global `min` and `max` of SIMT code (ascend_c_vector.md section 14.5). Only kernels that include
// the SIMT API get them: others may define their own.
#pragma once

#include <type_traits>

#include "asc_emu/types.hpp"

namespace asc_emu::simt {
template <class A, class B>
struct Common : std::common_type<A, B> {};
template <class T>
struct Common<T, T> {
    using type = T;
};
template <>
struct Common<half, float> {
    using type = float;
};
template <>
struct Common<float, half> {
    using type = float;
};
template <>
struct Common<bfloat16_t, float> {
    using type = float;
};
template <>
struct Common<float, bfloat16_t> {
    using type = float;
};
}  // namespace asc_emu::simt

// Of floats: the other operand when one is NaN.
template <class A, class B, class T = typename asc_emu::simt::Common<A, B>::type>
constexpr T max(A a, B b) {
    const T x = static_cast<T>(a), y = static_cast<T>(b);
    const T larger = x < y ? y : x;
    return x == x ? larger : y;
}
template <class A, class B, class T = typename asc_emu::simt::Common<A, B>::type>
constexpr T min(A a, B b) {
    const T x = static_cast<T>(a), y = static_cast<T>(b);
    const T smaller = y < x ? y : x;
    return x == x ? smaller : y;
}
