// bfloat16 of SIMT code (ascend_c_vector.md section 14.5): computed in fp32, rounded to nearest
// even.
#pragma once

#include "asc_emu/simt/casts.hpp"
#include "asc_emu/simt/math.hpp"
#include "asc_emu/simt/vector_types.hpp"

// Casts
ASC_EMU_ROUNDED_ALL(ASC_EMU_TO_FLOAT, __float2bfloat16, bfloat16_t, float)
ASC_EMU_ROUNDED_ALL(ASC_EMU_TO_FLOAT_SAT, __float2bfloat16, bfloat16_t, float)
ASC_EMU_TO_FLOAT(ro, __float2bfloat16, bfloat16_t, float)
ASC_EMU_TO_FLOAT_SAT(ro, __float2bfloat16, bfloat16_t, float)
ASC_EMU_ROUNDED_ALL(ASC_EMU_TO_FLOAT, __int2bfloat16, bfloat16_t, int)
ASC_EMU_ROUNDED_ALL(ASC_EMU_TO_FLOAT_SAT, __int2bfloat16, bfloat16_t, int)
ASC_EMU_ROUNDED_ALL(ASC_EMU_TO_FLOAT, __uint2bfloat16, bfloat16_t, unsigned int)
ASC_EMU_ROUNDED_ALL(ASC_EMU_TO_FLOAT_SAT, __uint2bfloat16, bfloat16_t, unsigned int)
ASC_EMU_ROUNDED_ALL(ASC_EMU_TO_FLOAT, __ll2bfloat16, bfloat16_t, long long)
ASC_EMU_ROUNDED_ALL(ASC_EMU_TO_FLOAT, __ull2bfloat16, bfloat16_t, unsigned long long)
ASC_EMU_ROUNDED_ALL(ASC_EMU_TO_INTEGER, __bfloat162int, int, bfloat16_t)
ASC_EMU_ROUNDED_ALL(ASC_EMU_TO_INTEGER, __bfloat162uint, unsigned int, bfloat16_t)
ASC_EMU_ROUNDED_ALL(ASC_EMU_TO_INTEGER, __bfloat162ll, long long, bfloat16_t)
ASC_EMU_ROUNDED_ALL(ASC_EMU_TO_INTEGER, __bfloat162ull, unsigned long long, bfloat16_t)
ASC_EMU_ROUNDED_ALL(ASC_EMU_TO_WHOLE, __bfloat162bfloat16, bfloat16_t)
inline bfloat16_t __float2bfloat16(float x) { return bfloat16_t(x); }
constexpr float __bfloat162float(bfloat16_t x) { return x; }

// Pairs
#define ASC_EMU_PAIR_CAST(mode, suffix)                                                      \
    ASC_EMU_ON_USE inline bfloat16x2_t __float22bfloat162_##mode##suffix(float2 v) {         \
        return {__float2bfloat16_##mode##suffix(v.x), __float2bfloat16_##mode##suffix(v.y)}; \
    }
ASC_EMU_ROUNDED_ALL(ASC_EMU_PAIR_CAST, )
ASC_EMU_ROUNDED_ALL(ASC_EMU_PAIR_CAST, _sat)
#undef ASC_EMU_PAIR_CAST
inline bfloat16x2_t __floats2bfloat162_rn(float x, float y) {
    return {bfloat16_t(x), bfloat16_t(y)};
}
inline float2 __bfloat1622float2(bfloat16x2_t v) { return {float(v.x), float(v.y)}; }
inline float __low2float(bfloat16x2_t v) { return v.x; }
inline float __high2float(bfloat16x2_t v) { return v.y; }
inline bfloat16_t __low2bfloat16(bfloat16x2_t v) { return v.x; }
inline bfloat16_t __high2bfloat16(bfloat16x2_t v) { return v.y; }
inline bfloat16x2_t __low2bfloat162(bfloat16x2_t v) { return {v.x, v.x}; }
inline bfloat16x2_t __high2bfloat162(bfloat16x2_t v) { return {v.y, v.y}; }
inline bfloat16x2_t __lowhigh2highlow(bfloat16x2_t v) { return {v.y, v.x}; }
inline bfloat16x2_t __lows2bfloat162(bfloat16x2_t a, bfloat16x2_t b) { return {a.x, b.x}; }
inline bfloat16x2_t __highs2bfloat162(bfloat16x2_t a, bfloat16x2_t b) { return {a.y, b.y}; }
inline bfloat16x2_t __halves2bfloat162(bfloat16_t x, bfloat16_t y) { return {x, y}; }

// Arithmetic and comparison
inline bool __hisnan(bfloat16_t x) { return isnan(float(x)); }
inline bool __hisinf(bfloat16_t x) { return isinf(float(x)); }
inline bfloat16_t __habs(bfloat16_t x) { return bfloat16_t(fabsf(x)); }
inline bfloat16_t __hneg(bfloat16_t x) { return bfloat16_t(-float(x)); }
inline bfloat16_t __hadd(bfloat16_t a, bfloat16_t b) { return bfloat16_t(float(a) + float(b)); }
inline bfloat16_t __hsub(bfloat16_t a, bfloat16_t b) { return bfloat16_t(float(a) - float(b)); }
inline bfloat16_t __hmul(bfloat16_t a, bfloat16_t b) { return bfloat16_t(float(a) * float(b)); }
inline bfloat16_t __hdiv(bfloat16_t a, bfloat16_t b) { return bfloat16_t(float(a) / float(b)); }
// One rounding: the product and the sum of small floats are exact in double.
inline bfloat16_t __hfma(bfloat16_t a, bfloat16_t b, bfloat16_t c) {
    const long double exact = static_cast<long double>(float(a)) * float(b) + float(c);
    return asc_emu::simt::to_float_format<bfloat16_t, asc_emu::simt::Round::rn>(exact, false);
}
inline bfloat16_t __hmax(bfloat16_t a, bfloat16_t b) { return bfloat16_t(fmaxf(a, b)); }
inline bfloat16_t __hmin(bfloat16_t a, bfloat16_t b) { return bfloat16_t(fminf(a, b)); }
inline bool __heq(bfloat16_t a, bfloat16_t b) { return float(a) == float(b); }
inline bool __hne(bfloat16_t a, bfloat16_t b) { return float(a) != float(b); }
inline bool __hlt(bfloat16_t a, bfloat16_t b) { return float(a) < float(b); }
inline bool __hle(bfloat16_t a, bfloat16_t b) { return float(a) <= float(b); }
inline bool __hgt(bfloat16_t a, bfloat16_t b) { return float(a) > float(b); }
inline bool __hge(bfloat16_t a, bfloat16_t b) { return float(a) >= float(b); }

#define ASC_EMU_PAIRWISE(name, scalar)                         \
    inline bfloat16x2_t name(bfloat16x2_t a, bfloat16x2_t b) { \
        return {scalar(a.x, b.x), scalar(a.y, b.y)};           \
    }
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
inline bfloat16x2_t __hfma2(bfloat16x2_t a, bfloat16x2_t b, bfloat16x2_t c) {
    return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}

// Functions
#define ASC_EMU_UNARY(name, f)                                                  \
    inline bfloat16_t h##name(bfloat16_t x) { return bfloat16_t(f(float(x))); } \
    inline bfloat16x2_t h2##name(bfloat16x2_t v) { return {h##name(v.x), h##name(v.y)}; }
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
inline bfloat16_t __ushort_as_bfloat16(unsigned short bits) {
    return std::bit_cast<bfloat16_t>(bits);
}
inline unsigned short __bfloat16_as_ushort(bfloat16_t x) { return x.bits; }
