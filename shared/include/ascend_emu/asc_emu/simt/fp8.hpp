// 8-bit floats of SIMT code (ascend_c_vector.md sections 9.4 and 14.5), in pairs.
#pragma once

#include "asc_emu/simt/bfloat16.hpp"
#include "asc_emu/simt/half.hpp"

enum __asc_saturation_t { __ASC_NOSAT, __ASC_SATFINITE };
enum __asc_fp8_interpretation_t { __ASC_E4M3, __ASC_E5M2 };
typedef unsigned short int __asc_fp8x2_storage_t;

namespace asc_emu::simt {

// To nearest even. Saturating: the largest number of the sign, NaN gives 0.
inline uint8_t to_fp8(float x, __asc_saturation_t saturation, __asc_fp8_interpretation_t format) {
    const bool e4m3 = format == __ASC_E4M3;
    if (saturation == __ASC_SATFINITE) {
        const float largest = e4m3 ? 448.0f : 57344.0f;
        if (x != x) return 0;
        x = x > largest ? largest : x < -largest ? -largest : x;
    }
    return e4m3 ? float_to_e4m3(x) : float_to_e5m2(x);
}

template <class Pair>
inline Pair to_hif8_pair(float2 v, bool hybrid, bool sat) {
    Pair r;
    const auto one = [&](float x) -> uint8_t {
        if (sat && x != x) return 0;
        const uint8_t code = float_to_hif8(x, hybrid);
        return sat && (code & 0x7f) == kHif8Inf
                   ? static_cast<uint8_t>((code & 0x80) | kHif8MaxFinite)
                   : code;
    };
    r.x.bits = one(v.x);
    r.y.bits = one(v.y);
    return r;
}

}  // namespace asc_emu::simt

inline __asc_fp8x2_storage_t __asc_cvt_float2_to_fp8x2(float2 v, __asc_saturation_t saturation,
                                                       __asc_fp8_interpretation_t format) {
    using asc_emu::simt::to_fp8;
    return static_cast<unsigned short>(to_fp8(v.x, saturation, format) |
                                       to_fp8(v.y, saturation, format) << 8);
}
inline float2 __e4m3x22float2(float8_e4m3x2_t v) {
    return {asc_emu::e4m3_to_float(v.x.bits), asc_emu::e4m3_to_float(v.y.bits)};
}
inline float2 __e5m2x22float2(float8_e5m2x2_t v) {
    return {asc_emu::e5m2_to_float(v.x.bits), asc_emu::e5m2_to_float(v.y.bits)};
}
inline float2 __hif822float2(hifloat8x2_t v) {
    return {asc_emu::hif8_to_float(v.x.bits), asc_emu::hif8_to_float(v.y.bits)};
}
ASC_EMU_ON_USE inline half2 __hif822half2(hifloat8x2_t v) {
    return __float22half2_rn(__hif822float2(v));
}

#define ASC_EMU_TO_HIF8(name, hybrid, sat)                                                \
    ASC_EMU_ON_USE inline hifloat8x2_t __float22hif82_##name(float2 v) {                  \
        return asc_emu::simt::to_hif8_pair<hifloat8x2_t>(v, hybrid, sat);                 \
    }                                                                                     \
    ASC_EMU_ON_USE inline hifloat8x2_t __half22hif82_##name(half2 v) {                    \
        return asc_emu::simt::to_hif8_pair<hifloat8x2_t>(__half22float2(v), hybrid, sat); \
    }
ASC_EMU_TO_HIF8(rna, false, false)
ASC_EMU_TO_HIF8(rna_sat, false, true)
ASC_EMU_TO_HIF8(rh, true, false)
ASC_EMU_TO_HIF8(rh_sat, true, true)
#undef ASC_EMU_TO_HIF8
