// Bit-level conversions between fp32 and the small number formats of ascend_c_cube.md section 17
// and ascend_c_vector.md sections 9.4-9.7. Used by the storage types of kernels and by the runtime.
#pragma once

#include <cstdint>

namespace asc_emu {

constexpr uint32_t float_bits(float v) { return __builtin_bit_cast(uint32_t, v); }
constexpr float bits_float(uint32_t b) { return __builtin_bit_cast(float, b); }
constexpr bool is_nan_bits(uint32_t b) { return (b & 0x7fffffffu) > 0x7f800000u; }

// NOTE: NaN payloads are not documented; one canonical quiet NaN per format
// (ascend_c_vector.md 8.4).
constexpr uint16_t kBf16Nan = 0x7fc0;
constexpr uint16_t kHalfNan = 0x7e00;

// fp32 -> bf16, nearest even.
constexpr uint16_t float_to_bf16(float v) {
    const uint32_t b = float_bits(v);
    if (is_nan_bits(b)) return kBf16Nan;
    return static_cast<uint16_t>((b + 0x7fffu + ((b >> 16) & 1)) >> 16);
}
constexpr float bf16_to_float(uint16_t b) { return bits_float(static_cast<uint32_t>(b) << 16); }

// Small binary formats: sign, kExponent bits, kMantissa bits, IEEE-like bias unless kBias is given.
struct SmallFormat {
    int exponent_bits, mantissa_bits, bias;
    bool has_inf;         // all-ones exponent holds inf and NaN (else only the last code is NaN)
    uint32_t max_finite;  // code of the largest finite value, without sign
    uint32_t inf, nan;    // codes
};
constexpr SmallFormat kHalfFormat{5, 10, 15, true, 0x7bff, 0x7c00, 0x7e00};
constexpr SmallFormat kE5m2Format{5, 2, 15, true, 0x7b, 0x7c, 0x7f};
constexpr SmallFormat kE4m3Format{4, 3, 7, false, 0x7e, 0x7f, 0x7f};

// Magnitude code, nearest even; overflow gives the format's inf code (NaN where it has none).
constexpr uint32_t round_to_format(uint32_t magnitude_bits, const SmallFormat& f) {
    const int exponent = static_cast<int>(magnitude_bits >> 23) - 127;
    const int min_exponent = 1 - f.bias;
    if (magnitude_bits == 0 || exponent < min_exponent - f.mantissa_bits - 1) return 0;
    uint64_t significand = (magnitude_bits & 0x7fffffu) | (magnitude_bits >> 23 ? 0x800000u : 0u);
    int drop = 23 - f.mantissa_bits;
    if (exponent < min_exponent) drop += min_exponent - exponent;
    const uint64_t half_unit = 1ull << (drop - 1);
    uint64_t kept = (significand + half_unit - 1 + ((significand >> drop) & 1)) >> drop;
    // `kept` holds the hidden bit; adding it carries into the exponent by itself.
    uint64_t code = exponent < min_exponent
                        ? kept
                        : (static_cast<uint64_t>(exponent + f.bias - 1) << f.mantissa_bits) + kept;
    return code > f.max_finite ? f.inf : static_cast<uint32_t>(code);
}

constexpr uint32_t float_to_format(float v, const SmallFormat& f) {
    const uint32_t b = float_bits(v);
    const uint32_t sign = (b >> 31) << (f.exponent_bits + f.mantissa_bits);
    const uint32_t magnitude = b & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return f.nan;
    if (magnitude == 0x7f800000u) return sign | f.inf;
    return sign | round_to_format(magnitude, f);
}

constexpr float format_to_float(uint32_t code, const SmallFormat& f) {
    const int shift = f.exponent_bits + f.mantissa_bits;
    const uint32_t sign = (code >> shift) << 31;
    const uint32_t magnitude = code & ((1u << shift) - 1);
    if (f.has_inf && magnitude >= f.inf)
        return bits_float(magnitude == f.inf ? sign | 0x7f800000u : 0x7fc00000u);
    if (!f.has_inf && magnitude == f.nan) return bits_float(0x7fc00000u);
    const uint32_t exponent = magnitude >> f.mantissa_bits;
    const uint32_t mantissa = magnitude & ((1u << f.mantissa_bits) - 1);
    if (exponent == 0) {
        // mantissa * 2^(1 - bias - mantissa_bits): both factors are exact fp32 numbers.
        const float unit = bits_float(static_cast<uint32_t>(128 - f.bias - f.mantissa_bits) << 23);
        const float value = static_cast<float>(mantissa) * unit;
        return sign ? -value : value;
    }
    return bits_float(sign | ((exponent + 127 - static_cast<uint32_t>(f.bias)) << 23) |
                      (mantissa << (23 - f.mantissa_bits)));
}

constexpr uint16_t float_to_half(float v) {
    return static_cast<uint16_t>(float_to_format(v, kHalfFormat));
}
constexpr float half_to_float(uint16_t b) { return format_to_float(b, kHalfFormat); }
constexpr uint8_t float_to_e4m3(float v) {
    return static_cast<uint8_t>(float_to_format(v, kE4m3Format));
}
constexpr float e4m3_to_float(uint8_t b) { return format_to_float(b, kE4m3Format); }
constexpr uint8_t float_to_e5m2(float v) {
    return static_cast<uint8_t>(float_to_format(v, kE5m2Format));
}
constexpr float e5m2_to_float(uint8_t b) { return format_to_float(b, kE5m2Format); }

// hif8: tapered format of ascend_c_vector.md section 9.6.
constexpr uint8_t kHif8Nan = 0x80, kHif8Inf = 0x6f, kHif8MaxFinite = 0x6e;

// Code without sign of 2^exponent * (1 + mantissa / 2^mantissa_bits) for |exponent| <= 15.
constexpr uint32_t hif8_code(int exponent, uint32_t mantissa) {
    const uint32_t magnitude = static_cast<uint32_t>(exponent < 0 ? -exponent : exponent);
    const uint32_t negative = exponent < 0 ? 1 : 0;
    if (magnitude >= 8) return 0x60 | (negative << 4) | ((magnitude & 7) << 1) | mantissa;
    if (magnitude >= 4) return 0x40 | (negative << 4) | ((magnitude & 3) << 2) | mantissa;
    if (magnitude >= 2) return 0x20 | (negative << 4) | ((magnitude & 1) << 3) | mantissa;
    if (magnitude == 1) return 0x10 | (negative << 3) | mantissa;
    return 0x08 | mantissa;
}
constexpr int hif8_mantissa_bits(int exponent) {
    const int magnitude = exponent < 0 ? -exponent : exponent;
    return magnitude <= 3 ? 3 : magnitude <= 7 ? 2 : 1;
}

constexpr float exp2_float(int e) { return bits_float(static_cast<uint32_t>(e + 127) << 23); }

constexpr float hif8_to_float(uint8_t code) {
    const float sign = code & 0x80 ? -1.0f : 1.0f;
    const uint32_t c = code & 0x7f;
    if (c == 0) return code == kHif8Nan ? bits_float(0x7fc00000u) : 0.0f;
    if (c == kHif8Inf) return sign * bits_float(0x7f800000u);
    if (c < 8) return sign * exp2_float(static_cast<int>(c) - 23);
    int exponent = 0;
    uint32_t mantissa = c & 7;
    if (c >= 0x60) {
        exponent = static_cast<int>(8 | ((c >> 1) & 7)) * (c & 0x10 ? -1 : 1);
        mantissa = c & 1;
    } else if (c >= 0x40) {
        exponent = static_cast<int>(4 | ((c >> 2) & 3)) * (c & 0x10 ? -1 : 1);
        mantissa = c & 3;
    } else if (c >= 0x20) {
        exponent = static_cast<int>(2 | ((c >> 3) & 1)) * (c & 0x10 ? -1 : 1);
    } else if (c >= 0x10) {
        exponent = c & 8 ? -1 : 1;
    }
    const float unit = exp2_float(-hif8_mantissa_bits(exponent));
    return sign * exp2_float(exponent) * (1.0f + static_cast<float>(mantissa) * unit);
}

// Rounding of fp32 -> hif8: half away from zero, or the threshold rounding of the hybrid mode
// (9.7).
constexpr uint8_t float_to_hif8(float v, bool hybrid) {
    const uint32_t b = float_bits(v);
    const uint32_t sign = (b >> 24) & 0x80;
    const uint32_t fraction = b & 0x7fffff;
    int exponent = static_cast<int>((b >> 23) & 0xff) - 127;
    if (is_nan_bits(b)) return kHif8Nan;
    if (exponent > 15) return static_cast<uint8_t>(sign | kHif8Inf);
    if (exponent < -23) return 0;
    const uint32_t threshold = b & 0x3fff;
    if (exponent == -23) {
        const bool up = !hybrid || (0x2000u | (fraction >> 10)) >= threshold;
        return static_cast<uint8_t>(up ? sign | 1u : 0u);
    }
    const bool subnormal = exponent < -15;
    const int keep = subnormal ? 0 : hif8_mantissa_bits(exponent);
    const uint32_t away = (fraction >> (22 - keep)) & 1;
    const uint32_t discarded = ((fraction << keep) & 0x7fffffu) >> 9;  // the top 14 discarded bits
    const bool plain = !hybrid || (exponent >= -3 && exponent <= 3);
    const uint32_t increment = plain ? away : (discarded >= threshold ? 1u : 0u);
    uint32_t mantissa = (fraction >> (23 - keep)) + increment;
    if (mantissa >> keep) {
        mantissa = 0;
        ++exponent;
    }
    if (exponent > 15) return static_cast<uint8_t>(sign | kHif8Inf);
    if (exponent < -15) return static_cast<uint8_t>(sign | static_cast<uint32_t>(exponent + 23));
    const uint32_t code = hif8_code(exponent, mantissa);
    return static_cast<uint8_t>(sign | code);
}

// fp4: magnitudes by code, sign in bit 3.
constexpr float kE2m1Values[8] = {0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f, 4.0f, 6.0f};
constexpr float e2m1_to_float(uint8_t code) {
    return code & 8 ? -kE2m1Values[code & 7] : kE2m1Values[code & 7];
}
constexpr float e1m2_to_float(uint8_t code) {
    const float magnitude = static_cast<float>(code & 7) * 0.25f;
    return code & 8 ? -magnitude : magnitude;
}
constexpr float e8m0_to_float(uint8_t code) {
    if (code == 0xff) return bits_float(0x7fc00000u);
    return code == 0 ? bits_float(0x00400000u) : bits_float(static_cast<uint32_t>(code) << 23);
}

}  // namespace asc_emu
