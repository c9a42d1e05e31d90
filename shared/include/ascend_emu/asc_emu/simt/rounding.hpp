// Rounding for the casts of SIMT code (ascend_c_vector.md sections 9.1, 9.4 and 14.5): exact in
// double, then one rounding to the target.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "asc_emu/on_use.hpp"
#include "asc_emu/types.hpp"

namespace asc_emu::simt {

enum class Round { rn, rna, rd, ru, rz, ro };

// Integer-valued double next to x.
template <Round kRound>
inline double round_to_integer(double x) {
    switch (kRound) {
        case Round::rn:
            return std::nearbyint(x);
        case Round::rna:
            return std::round(x);
        case Round::rd:
            return std::floor(x);
        case Round::ru:
            return std::ceil(x);
        case Round::rz:
            return std::trunc(x);
        case Round::ro: {
            const double t = std::trunc(x);
            return t == x || std::fmod(t, 2.0) != 0.0 ? t : t + (x < 0 ? -1.0 : 1.0);
        }
    }
    return x;
}

// Float -> integer: saturates to the type's range, NaN gives 0.
template <class I, Round kRound>
inline I to_integer(float x) {
    if (x != x) return 0;
    const double r = round_to_integer<kRound>(x);
    // The bounds as doubles: the upper one of 64-bit types is not representable, so compare with
    // the power of two.
    const double low = static_cast<double>(std::numeric_limits<I>::min());
    const double top = std::ldexp(1.0, std::numeric_limits<I>::digits);
    if (r < low) return std::numeric_limits<I>::min();
    if (r >= top) return std::numeric_limits<I>::max();
    return static_cast<I>(r);
}

// A magnitude rounded to a binary format with `mantissa` bits behind the point and the least
// exponent `least`.
template <Round kRound>
inline double round_to_precision(long double x, int mantissa, int least) {
    if (x == 0 || !std::isfinite(x)) return static_cast<double>(x);
    int exponent;
    std::frexp(x, &exponent);
    const int unit = (exponent - 1 < least ? least : exponent - 1) - mantissa;
    const long double scaled = std::ldexp(x, -unit);
    long double r = scaled;
    switch (kRound) {
        case Round::rn:
            r = std::nearbyint(scaled);
            break;
        case Round::rna:
            r = std::round(scaled);
            break;
        case Round::rd:
            r = std::floor(scaled);
            break;
        case Round::ru:
            r = std::ceil(scaled);
            break;
        case Round::rz:
            r = std::trunc(scaled);
            break;
        case Round::ro:
            r = std::trunc(scaled);
            if (r != scaled && std::fmod(r, 2.0L) == 0.0L) r += scaled < 0 ? -1.0L : 1.0L;
            break;
    }
    return static_cast<double>(std::ldexp(r, unit));
}

// Limits of the float formats that casts produce.
template <class T>
struct FormatOf;
template <>
struct FormatOf<half> {
    static constexpr int kMantissa = 10, kLeast = -14;
    static constexpr double kLargest = 65504.0;
};
template <>
struct FormatOf<bfloat16_t> {
    static constexpr int kMantissa = 7, kLeast = -126;
    static constexpr double kLargest = 0x1.fep127;
};
template <>
struct FormatOf<float> {
    static constexpr int kMantissa = 23, kLeast = -126;
    static constexpr double kLargest = 0x1.fffffep127;
};

// Number -> float format. Beyond the largest number: infinity, or with `sat` the largest number
// (NaN gives 0).
template <class T, Round kRound>
inline T to_float_format(long double x, bool sat) {
    using F = FormatOf<T>;
    if (x != x) return sat ? T(0.0f) : T(std::numeric_limits<float>::quiet_NaN());
    double r = round_to_precision<kRound>(x, F::kMantissa, F::kLeast);
    if (std::fabs(r) > F::kLargest) {
        const bool toward_zero = kRound == Round::rz || kRound == Round::ro ||
                                 (kRound == Round::rd && r > 0) || (kRound == Round::ru && r < 0);
        const bool keep = sat || (toward_zero && std::isfinite(x));
        r = std::copysign(keep ? F::kLargest : HUGE_VAL, r);
    }
    return T(static_cast<float>(r));
}

}  // namespace asc_emu::simt

// A function per rounding mode: ASC_EMU_ROUNDED(__float2int, int, float) defines __float2int_rn and
// so on.
#define ASC_EMU_ROUNDED_ALL(define, ...)                                     \
    define(rn, __VA_ARGS__) define(rna, __VA_ARGS__) define(rd, __VA_ARGS__) \
        define(ru, __VA_ARGS__) define(rz, __VA_ARGS__)
#define ASC_EMU_TO_INTEGER(mode, name, integer, source)                                  \
    ASC_EMU_ON_USE inline integer name##_##mode(source x) {                              \
        return asc_emu::simt::to_integer<integer, asc_emu::simt::Round::mode>(float(x)); \
    }
#define ASC_EMU_TO_FLOAT(mode, name, target, source)                               \
    ASC_EMU_ON_USE inline target name##_##mode(source x) {                         \
        return asc_emu::simt::to_float_format<target, asc_emu::simt::Round::mode>( \
            static_cast<long double>(x), false);                                   \
    }
#define ASC_EMU_TO_FLOAT_SAT(mode, name, target, source)                           \
    ASC_EMU_ON_USE inline target name##_##mode##_sat(source x) {                   \
        return asc_emu::simt::to_float_format<target, asc_emu::simt::Round::mode>( \
            static_cast<long double>(x), true);                                    \
    }
// Integer-valued result of the same type.
#define ASC_EMU_TO_WHOLE(mode, name, type)                                           \
    ASC_EMU_ON_USE inline type name##_##mode(type x) {                               \
        return type(static_cast<float>(                                              \
            asc_emu::simt::round_to_integer<asc_emu::simt::Round::mode>(float(x)))); \
    }
