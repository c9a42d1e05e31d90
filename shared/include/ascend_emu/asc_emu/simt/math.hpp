// Math of SIMT code in fp32 (ascend_c_vector.md section 14.5): exp, log and tanh of elementary.hpp,
// the host library's functions where they have the device's names (within 1 ulp), and the others
// here.
#pragma once

#include <math.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "asc_emu/number_formats.hpp"
#include "asc_emu/simt/elementary.hpp"
#include "asc_emu/simt/runtime_api.h"
#include "asc_emu/types.hpp"

// Global names of the standard library that device code uses without a namespace.
using std::isfinite;
using std::isinf;
using std::isnan;

constexpr unsigned int umax(unsigned int a, unsigned int b) { return a > b ? a : b; }
constexpr unsigned int umin(unsigned int a, unsigned int b) { return a < b ? a : b; }
constexpr long long llmax(long long a, long long b) { return a > b ? a : b; }
constexpr long long llmin(long long a, long long b) { return a < b ? a : b; }
constexpr unsigned long long ullmax(unsigned long long a, unsigned long long b) {
    return a > b ? a : b;
}
constexpr unsigned long long ullmin(unsigned long long a, unsigned long long b) {
    return a < b ? a : b;
}

inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline float rcbrtf(float x) { return 1.0f / cbrtf(x); }
inline float fdividef(float x, float y) { return x / y; }
inline float __fdividef(float x, float y) { return x / y; }
constexpr float __saturatef(float x) { return x != x || x < 0.0f ? 0.0f : x > 1.0f ? 1.0f : x; }
inline float sinpif(float x) {
    return static_cast<float>(std::sin(std::fmod(double{x}, 2.0) * M_PI));
}
inline float cospif(float x) {
    return static_cast<float>(std::cos(std::fmod(double{x}, 2.0) * M_PI));
}
inline float tanpif(float x) {
    return static_cast<float>(std::tan(std::fmod(double{x}, 1.0) * M_PI));
}
inline void sincospif(float x, float* s, float* c) {
    *s = sinpif(x);
    *c = cospif(x);
}
inline float rhypotf(float x, float y) { return 1.0f / hypotf(x, y); }
inline float norm3df(float a, float b, float c) {
    return static_cast<float>(std::sqrt(double{a} * a + double{b} * b + double{c} * c));
}
inline float rnorm3df(float a, float b, float c) { return 1.0f / norm3df(a, b, c); }
inline float norm4df(float a, float b, float c, float d) {
    return static_cast<float>(
        std::sqrt(double{a} * a + double{b} * b + double{c} * c + double{d} * d));
}
inline float rnorm4df(float a, float b, float c, float d) { return 1.0f / norm4df(a, b, c, d); }
inline float normf(int n, const float* a) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += double{a[i]} * a[i];
    return static_cast<float>(std::sqrt(sum));
}
inline float rnormf(int n, const float* a) { return 1.0f / normf(n, a); }
inline float normcdff(float x) {
    return static_cast<float>(0.5 * std::erfc(-double{x} * M_SQRT1_2));
}
inline float erfcxf(float x) {
    const double v = x;
    if (v < 25.0) return static_cast<float>(std::exp(v * v) * std::erfc(v));
    return static_cast<float>(1.0 / (v * std::sqrt(M_PI)) * (1.0 - 0.5 / (v * v)));
}
// Cylindrical Bessel functions, in the runtime: the prelude has no special functions of <cmath>,
// which every kernel would instantiate.
inline float cyl_bessel_i0f(float x) {
    return static_cast<float>(asc_emu_simt_bessel_i(0.0, std::fabs(double{x})));
}
inline float cyl_bessel_i1f(float x) {
    const double v = asc_emu_simt_bessel_i(1.0, std::fabs(double{x}));
    return static_cast<float>(x < 0 ? -v : v);
}

namespace asc_emu::simt {
// Newton steps on erf from a rational start, for the inverse functions.
inline double inverse_erf(double y) {
    if (y <= -1.0 || y >= 1.0) return y == 1.0 ? HUGE_VAL : y == -1.0 ? -HUGE_VAL : NAN;
    const double w = std::log1p(-y * y), a = 0.147, t = 2.0 / (M_PI * a) + w / 2.0;
    double x = std::copysign(std::sqrt(std::sqrt(t * t - w / a) - t), y);
    for (int i = 0; i < 3; ++i) x -= (std::erf(x) - y) / (M_2_SQRTPI * std::exp(-x * x));
    return x;
}
}  // namespace asc_emu::simt
inline float erfinvf(float y) { return static_cast<float>(asc_emu::simt::inverse_erf(y)); }
inline float erfcinvf(float y) {
    return static_cast<float>(asc_emu::simt::inverse_erf(1.0 - double{y}));
}
inline float normcdfinvf(float p) {
    return static_cast<float>(M_SQRT2 * asc_emu::simt::inverse_erf(2.0 * double{p} - 1.0));
}
