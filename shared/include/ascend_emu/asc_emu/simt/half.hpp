// Half precision of SIMT code (ascend_c_vector.md section 14.5): computed in fp32, rounded to
// nearest even.
#pragma once

#include "asc_emu/simt/casts.hpp"
#include "asc_emu/simt/math.hpp"
#include "asc_emu/simt/vector_types.hpp"

// Casts
ASC_EMU_ROUNDED_ALL(ASC_EMU_TO_FLOAT, __float2half, half, float)
ASC_EMU_ROUNDED_ALL(ASC_EMU_TO_FLOAT_SAT, __float2half, half, float)
ASC_EMU_TO_FLOAT(ro, __float2half, half, float)
ASC_EMU_TO_FLOAT_SAT(ro, __float2half, half, float)
ASC_EMU_ROUNDED_ALL(ASC_EMU_TO_FLOAT, __int2half, half, int)
ASC_EMU_ROUNDED_ALL(ASC_EMU_TO_FLOAT_SAT, __int2half, half, int)
ASC_EMU_ROUNDED_ALL(ASC_EMU_TO_FLOAT, __uint2half, half, unsigned int)
ASC_EMU_ROUNDED_ALL(ASC_EMU_TO_FLOAT_SAT, __uint2half, half, unsigned int)
ASC_EMU_ROUNDED_ALL(ASC_EMU_TO_FLOAT, __ll2half, half, long long)
ASC_EMU_ROUNDED_ALL(ASC_EMU_TO_FLOAT, __ull2half, half, unsigned long long)
ASC_EMU_ROUNDED_ALL(ASC_EMU_TO_INTEGER, __half2int, int, half)
ASC_EMU_ROUNDED_ALL(ASC_EMU_TO_INTEGER, __half2uint, unsigned int, half)
ASC_EMU_ROUNDED_ALL(ASC_EMU_TO_INTEGER, __half2ll, long long, half)
ASC_EMU_ROUNDED_ALL(ASC_EMU_TO_INTEGER, __half2ull, unsigned long long, half)
ASC_EMU_ROUNDED_ALL(ASC_EMU_TO_WHOLE, __half2half, half)
inline half __float2half(float x) { return half(x); }
constexpr float __half2float(half x) { return x; }

// Pairs
#define ASC_EMU_PAIR_CAST(mode, suffix)                                              \
    ASC_EMU_ON_USE inline half2 __float22half2_##mode##suffix(float2 v) {            \
        return {__float2half_##mode##suffix(v.x), __float2half_##mode##suffix(v.y)}; \
    }
ASC_EMU_ROUNDED_ALL(ASC_EMU_PAIR_CAST, )
ASC_EMU_ROUNDED_ALL(ASC_EMU_PAIR_CAST, _sat)
#undef ASC_EMU_PAIR_CAST
inline half2 __floats2half2_rn(float x, float y) { return {half(x), half(y)}; }
inline float2 __half22float2(half2 v) { return {float(v.x), float(v.y)}; }
inline float __low2float(half2 v) { return v.x; }
inline float __high2float(half2 v) { return v.y; }
inline half __low2half(half2 v) { return v.x; }
inline half __high2half(half2 v) { return v.y; }
inline half2 __low2half2(half2 v) { return {v.x, v.x}; }
inline half2 __high2half2(half2 v) { return {v.y, v.y}; }
inline half2 __lowhigh2highlow(half2 v) { return {v.y, v.x}; }
inline half2 __lows2half2(half2 a, half2 b) { return {a.x, b.x}; }
inline half2 __highs2half2(half2 a, half2 b) { return {a.y, b.y}; }
inline half2 __halves2half2(half x, half y) { return {x, y}; }

// Arithmetic and comparison
inline bool __hisnan(half x) { return isnan(float(x)); }
inline bool __hisinf(half x) { return isinf(float(x)); }
inline half __habs(half x) { return half(fabsf(x)); }
inline half __hneg(half x) { return half(-float(x)); }
inline half __hadd(half a, half b) { return half(float(a) + float(b)); }
inline half __hsub(half a, half b) { return half(float(a) - float(b)); }
inline half __hmul(half a, half b) { return half(float(a) * float(b)); }
inline half __hdiv(half a, half b) { return half(float(a) / float(b)); }
// One rounding: the product and the sum of small floats are exact in double.
inline half __hfma(half a, half b, half c) {
    const long double exact = static_cast<long double>(float(a)) * float(b) + float(c);
    return asc_emu::simt::to_float_format<half, asc_emu::simt::Round::rn>(exact, false);
}
inline half __hmax(half a, half b) { return half(fmaxf(a, b)); }
inline half __hmin(half a, half b) { return half(fminf(a, b)); }
inline bool __heq(half a, half b) { return float(a) == float(b); }
inline bool __hne(half a, half b) { return float(a) != float(b); }
inline bool __hlt(half a, half b) { return float(a) < float(b); }
inline bool __hle(half a, half b) { return float(a) <= float(b); }
inline bool __hgt(half a, half b) { return float(a) > float(b); }
inline bool __hge(half a, half b) { return float(a) >= float(b); }

#define ASC_EMU_PAIRWISE(name, scalar) \
    inline half2 name(half2 a, half2 b) { return {scalar(a.x, b.x), scalar(a.y, b.y)}; }
ASC_EMU_PAIRWISE(__hadd2, __hadd)
ASC_EMU_PAIRWISE(__hsub2, __hsub)
ASC_EMU_PAIRWISE(__hmul2, __hmul)
ASC_EMU_PAIRWISE(__h2div, __hdiv)
ASC_EMU_PAIRWISE(__hmax2, __hmax)
ASC_EMU_PAIRWISE(__hmin2, __hmin)
ASC_EMU_PAIRWISE(operator+, __hadd)
ASC_EMU_PAIRWISE(operator-, __hsub)
ASC_EMU_PAIRWISE(operator*, __hmul)
ASC_EMU_PAIRWISE(operator/, __hdiv)
#undef ASC_EMU_PAIRWISE
inline half2 __hfma2(half2 a, half2 b, half2 c) {
    return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}

// Functions
#define ASC_EMU_UNARY(name, f)                                \
    inline half h##name(half x) { return half(f(float(x))); } \
    inline half2 h2##name(half2 v) { return {h##name(v.x), h##name(v.y)}; }
ASC_EMU_UNARY(cos, cosf)
ASC_EMU_UNARY(sin, sinf)
ASC_EMU_UNARY(tanh, tanhf)
ASC_EMU_UNARY(exp, expf)
ASC_EMU_UNARY(exp2, exp2f)
ASC_EMU_UNARY(exp10, exp10f)
ASC_EMU_UNARY(log, logf)
ASC_EMU_UNARY(log2, log2f)
ASC_EMU_UNARY(log10, log10f)
ASC_EMU_UNARY(sqrt, sqrtf)
ASC_EMU_UNARY(rsqrt, rsqrtf)
ASC_EMU_UNARY(rcp, 1.0f /)
ASC_EMU_UNARY(floor, floorf)
ASC_EMU_UNARY(rint, rintf)
ASC_EMU_UNARY(ceil, ceilf)
ASC_EMU_UNARY(trunc, truncf)
ASC_EMU_UNARY(abs, fabsf)
ASC_EMU_UNARY(round, roundf)
ASC_EMU_UNARY(log1p, log1pf)
ASC_EMU_UNARY(tan, tanf)
ASC_EMU_UNARY(atan, atanf)
ASC_EMU_UNARY(erf, erff)
#undef ASC_EMU_UNARY
inline half __ushort_as_half(unsigned short bits) { return std::bit_cast<half>(bits); }
inline unsigned short __half_as_ushort(half x) { return x.bits; }
