// exp, log and tanh of SIMT code in fp32, in place of the host library's: of double operations
// without fused steps, so that every instruction set and both ways to run threads give the same
// bits, and without a branch, so that loops over lanes become vector code. Errors are below
// 0.51 ulp (the host library: 1 ulp; hardware's bits are not documented); subnormals are kept.
#pragma once

#include <math.h>

#include <cstdint>

namespace asc_emu::simt::elementary {

#define ASC_EMU_STEP inline __attribute__((always_inline))

constexpr double kLn2 = 0x1.62e42fefa39efp-1, kLog2e = 0x1.71547652b82fep+0;
constexpr double kLog2Of10 = 0x1.a934f0979a371p+1, kLog10e = 0x1.bcb7b1526e50ep-2;
constexpr double kLog10Of2 = 0x1.34413509f79ffp-2;
// Added to a small number, it leaves the nearest integer in the low bits.
constexpr double kMagic = 0x1.8p52;

ASC_EMU_STEP uint64_t bits(double x) { return __builtin_bit_cast(uint64_t, x); }
ASC_EMU_STEP int32_t bits(float x) { return __builtin_bit_cast(int32_t, x); }
ASC_EMU_STEP double number(uint64_t b) { return __builtin_bit_cast(double, b); }
ASC_EMU_STEP float number(int32_t b) { return __builtin_bit_cast(float, b); }

constexpr int32_t kInfinity = 0x7f800000, kNan = 0x7fc00000;
ASC_EMU_STEP int32_t magnitude(float x) { return bits(x) & 0x7fffffff; }
// All bits set where a < b, of numbers that are at least 0.
ASC_EMU_STEP int32_t less(int32_t a, int32_t b) { return (a - b) >> 31; }
ASC_EMU_STEP int32_t select(int32_t mask, int32_t a, int32_t b) { return (a & mask) | (b & ~mask); }

// x in -limit .. limit, where all results are beyond fp32.
ASC_EMU_STEP double clamped(float x, float limit) {
    const int32_t size = magnitude(x), most = bits(limit);
    return number((size < most ? size : most) | (bits(x) & ~0x7fffffff));
}
ASC_EMU_STEP float with_nan(float x, double y) {
    return number(select(less(kInfinity, magnitude(x)), kNan, bits(static_cast<float>(y))));
}

// A number as the nearest integer, in the low bits of `shifted`, and the rest.
struct Split {
    double shifted, rest;
};
ASC_EMU_STEP Split split(double x) {
    const double shifted = x + kMagic;
    return {shifted, x - (shifted - kMagic)};
}
// 2^f - 1 for |f| <= 1/2, with an error of 2^-33: a polynomial through Chebyshev nodes.
ASC_EMU_STEP double exp2m1_of_small(double f) {
    double p = 0x1.00a581594758ep-16;
    p = p * f + 0x1.443fffc90db59p-13;
    p = p * f + 0x1.5d879ead06a82p-10;
    p = p * f + 0x1.3b2a1b7152befp-7;
    p = p * f + 0x1.c6b08d883dca1p-5;
    p = p * f + 0x1.ebfbe045f4d3cp-3;
    p = p * f + kLn2;
    return p * f;
}
ASC_EMU_STEP double exp2_double(double x) {
    const Split k = split(x);
    return number(bits(exp2m1_of_small(k.rest) + 1.0) + (bits(k.shifted) << 52));
}

// Of a positive number: its exponent, and ln of the rest, which is in [sqrt(1/2), sqrt(2)).
struct Ln {
    double exponent, rest;
};
ASC_EMU_STEP Ln ln_parts(double x) {
    constexpr uint64_t kRootHalf = 0x3fe6a09e00000000u, kOne = 0x3ff0000000000000u;
    const uint64_t biased = (bits(x) - kRootHalf + kOne) >> 52;  // exponent + 1023
    const double m = number(bits(x) - (biased << 52) + kOne);
    const double s = (m - 1.0) / (m + 1.0), z = s * s;
    // (atanh(s) / s - 1) / z through Chebyshev nodes.
    double p = 0x1.ddced7078dd3ap-4;
    p = p * z + 0x1.245c438323e9ap-3;
    p = p * z + 0x1.9999eb5d84f14p-3;
    p = p * z + 0x1.5555554bb2b2cp-2;
    const double twice = s + s;
    return {number(biased | bits(0x1p52)) - (0x1p52 + 1023.0), twice + twice * (z * p)};
}
// The logarithm y of x, with its values at the ends of the range.
ASC_EMU_STEP float with_limits(float x, double y) {
    int32_t r = bits(static_cast<float>(y));
    r = select(less(magnitude(x), kInfinity), r, bits(x));
    r = select(bits(x) >> 31, kNan, r);
    return number(select(less(magnitude(x), 1), kInfinity | ~0x7fffffff, r));
}

}  // namespace asc_emu::simt::elementary

// Definitions in front of those of the library, which calls through pointers still reach.
#define ASC_EMU_LIBRARY extern "C" inline __attribute__((gnu_inline, always_inline))

ASC_EMU_LIBRARY float expf(float x) noexcept {
    using namespace asc_emu::simt::elementary;
    return with_nan(x, exp2_double(clamped(x, 110.0f) * kLog2e));
}
ASC_EMU_LIBRARY float exp2f(float x) noexcept {
    using namespace asc_emu::simt::elementary;
    return with_nan(x, exp2_double(clamped(x, 160.0f)));
}
ASC_EMU_LIBRARY float exp10f(float x) noexcept {
    using namespace asc_emu::simt::elementary;
    return with_nan(x, exp2_double(clamped(x, 50.0f) * kLog2Of10));
}
ASC_EMU_LIBRARY float logf(float x) noexcept {
    using namespace asc_emu::simt::elementary;
    const Ln ln = ln_parts(x);
    return with_limits(x, ln.exponent * kLn2 + ln.rest);
}
ASC_EMU_LIBRARY float log2f(float x) noexcept {
    using namespace asc_emu::simt::elementary;
    const Ln ln = ln_parts(x);
    return with_limits(x, ln.exponent + ln.rest * kLog2e);
}
ASC_EMU_LIBRARY float log10f(float x) noexcept {
    using namespace asc_emu::simt::elementary;
    const Ln ln = ln_parts(x);
    return with_limits(x, ln.exponent * kLog10Of2 + ln.rest * kLog10e);
}
ASC_EMU_LIBRARY float tanhf(float x) noexcept {
    using namespace asc_emu::simt::elementary;
    const Split k = split(clamped(x, 22.0f) * (2.0 * kLog2e));
    const double power = number((bits(k.shifted) << 52) + bits(1.0));
    const double y = (power - 1.0) + power * exp2m1_of_small(k.rest);  // e^2x - 1
    const int32_t size = bits(static_cast<float>(y / (y + 2.0)));
    return with_nan(x, number((size & 0x7fffffff) | (bits(x) & ~0x7fffffff)));
}
#undef ASC_EMU_LIBRARY
#undef ASC_EMU_STEP
