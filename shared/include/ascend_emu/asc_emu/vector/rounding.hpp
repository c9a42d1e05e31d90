// Rules of conversions on fp32 and integer lanes (ascend_c_vector.md sections 9.1 and 9.4 to 9.7).
// A rule takes the bits of one element in a 32-bit lane and gives the result's bits in the low part
// of the lane.
#pragma once

#include "asc_emu/api/vector_types.hpp"
#include "asc_emu/vector/half_lanes.hpp"
#include "asc_emu/vector/state.hpp"

namespace asc_emu {

using U32 = Chunk<uint32_t>;
using S32 = Chunk<int32_t>;

ASC_EMU_INLINE S32 nonzero(U32 v) { return v != 0u; }

// kept + 1 where rounding goes away from zero; `rest` are the discarded bits, `half` is half a
// unit.
template <Round R>
ASC_EMU_INLINE U32 rounded(U32 kept, U32 rest, U32 half, U32 negative) {
    if constexpr (R == Round::rn) {
        const S32 up = (rest > half) | ((rest == half) & nonzero(kept & 1u));
        return kept - reinterpret_cast<U32>(up);
    } else if constexpr (R == Round::rna) {
        return kept - reinterpret_cast<U32>(S32(rest >= half));
    } else if constexpr (R == Round::rd) {
        return kept - reinterpret_cast<U32>(nonzero(rest) & nonzero(negative));
    } else if constexpr (R == Round::ru) {
        return kept - reinterpret_cast<U32>(nonzero(rest) & (negative == 0u));
    } else if constexpr (R == Round::ro) {
        return kept | (reinterpret_cast<U32>(nonzero(rest)) & 1u);
    } else {
        static_assert(R == Round::rz, "hybrid rounding is for hif8 only");
        return kept;
    }
}

// fp32 -> a smaller binary format. kSat: overflow and infinity give the largest finite value, NaN
// gives 0 or, for fp8 where CTRL[50] is set, NaN.
struct FloatTarget {
    int exponent_bits, mantissa_bits, bias;
    uint32_t max_finite, overflow, nan;
    bool keeps_nan;  // whether CTRL[50] counts
};
constexpr FloatTarget kToHalf{5, 10, 15, 0x7bff, 0x7c00, 0x7e00, false};
constexpr FloatTarget kToBf16{8, 7, 127, 0x7f7f, 0x7f80, 0x7fc0, false};
constexpr FloatTarget kToE4m3{4, 3, 7, 0x7e, 0x7f, 0x7f, true};
constexpr FloatTarget kToE5m2{5, 2, 15, 0x7b, 0x7c, 0x7f, true};
// fp4 always clamps and has no NaN.
constexpr FloatTarget kToE2m1{2, 1, 1, 7, 7, 0, false};
constexpr FloatTarget kToE1m2{1, 2, 1, 7, 7, 0, false};

// Codes of magnitudes, rounded to nearest even; any above F's largest finite one for what is
// larger.
template <const FloatTarget& F>
ASC_EMU_INLINE U32 nearest_code(U32 magnitude) {
    constexpr uint32_t kDrop = 23 - F.mantissa_bits;
    const U32 odd = (magnitude >> kDrop) & 1u;
    constexpr uint32_t kHalf = (1u << (kDrop - 1)) - 1;
    // The hidden bit carries into the exponent by itself.
    const U32 normal = (magnitude - ((127u - F.bias) << 23) + kHalf + odd) >> kDrop;
    if constexpr (F.exponent_bits == 8) return normal;
    // Below the smallest normal number an addition rounds to its multiples.
    constexpr uint32_t kLeast = (127u + 1 - F.bias) << 23;
    constexpr uint32_t kUnits = kLeast + (kDrop << 23);
    const U32 small =
        bits_of(float_of(magnitude) + float_of(splat<uint32_t>(kUnits))) - splat<uint32_t>(kUnits);
    return magnitude < kLeast ? small : normal;
}
template <const FloatTarget& F, Round R, bool kSat>
ASC_EMU_INLINE U32 float_to_target(U32 b) {
    constexpr int kDrop = 23 - F.mantissa_bits;
    constexpr int kWidth = F.exponent_bits + F.mantissa_bits;
    const U32 magnitude = b & 0x7fffffffu;
    const U32 sign = b & 0x80000000u;
    U32 code;
    if constexpr (R == Round::rn) {
        code = nearest_code<F>(magnitude);
    } else if constexpr (F.exponent_bits == 8) {
        code = rounded<R>(magnitude >> kDrop, magnitude & ((1u << kDrop) - 1),
                          splat<uint32_t>(1u << (kDrop - 1)), sign);
    } else {
        // Exponents below the smallest normal one drop more bits; 25 drop everything.
        constexpr uint32_t kLeast = 127 + 1 - F.bias;
        const U32 exponent = magnitude >> 23;
        const U32 below = exponent < kLeast ? kLeast - exponent : U32{};
        const U32 drop = below > static_cast<uint32_t>(25 - kDrop)
                             ? splat<uint32_t>(25u)
                             : below + static_cast<uint32_t>(kDrop);
        const U32 hidden = exponent == 0u ? U32{} : splat<uint32_t>(0x800000u);
        const U32 significand = (magnitude & 0x7fffffu) | hidden;
        const U32 unit = splat<uint32_t>(1u) << drop;
        const U32 kept =
            rounded<R>(significand >> drop, significand & (unit - 1u), unit >> 1, sign);
        // The hidden bit carries into the exponent by itself.
        const U32 base = exponent < kLeast ? U32{} : (exponent - kLeast) << F.mantissa_bits;
        code = base + kept;
    }
    constexpr uint32_t kOver = kSat ? F.max_finite : F.overflow;
    code = code > F.max_finite ? splat<uint32_t>(kOver) : code;
    code = code | (sign >> (31 - kWidth));
    uint32_t nan = kSat ? 0 : F.nan;
    if constexpr (kSat && F.keeps_nan) {
        if (vector_mode(kKeepNan)) nan = F.nan;
    }
    return magnitude > 0x7f800000u ? splat<uint32_t>(nan) : code;
}

// fp32 -> integer of kBits; finite overflow keeps the low bits, or clamps. Infinities give the
// type's limits, NaN gives 0.
template <int kBits, bool kSigned, Round R, bool kSat>
ASC_EMU_INLINE U32 float_to_int(U32 b) {
    const U32 magnitude = b & 0x7fffffffu, sign = b & 0x80000000u;
    const U32 exponent = magnitude >> 23;
    const U32 hidden = exponent == 0u ? U32{} : splat<uint32_t>(0x800000u);
    const U32 significand = (magnitude & 0x7fffffu) | hidden;
    const U32 drop =
        exponent > 150u ? U32{} : (exponent < 125u ? splat<uint32_t>(25u) : 150u - exponent);
    const U32 unit = splat<uint32_t>(1u) << drop;
    // With nothing dropped, `rest` is 0 and half a unit must not be.
    const U32 half_unit = drop == 0u ? splat<uint32_t>(1u) : unit >> 1;
    U32 value = rounded<R>(significand >> drop, significand & (unit - 1u), half_unit, sign);
    const U32 shift = exponent > 150u ? exponent - 150u : U32{};
    value = shift > 31u ? U32{} : value << (shift & 31u);
    constexpr uint32_t kMax =
        kBits == 32 ? (kSigned ? 0x7fffffffu : ~0u) : (1u << (kBits - (kSigned ? 1 : 0))) - 1;
    constexpr uint32_t kMin = kSigned ? ~kMax : 0;
    const U32 limit = nonzero(sign) ? splat<uint32_t>(kMin) : splat<uint32_t>(kMax);
    U32 result = nonzero(sign) ? U32{} - value : value;
    if constexpr (kSat) {
        const U32 most = nonzero(sign) ? splat<uint32_t>(0u - kMin) : splat<uint32_t>(kMax);
        result = (exponent > 158u) | (value > most) ? limit : result;
    }
    result = magnitude == 0x7f800000u ? limit : result;
    return magnitude > 0x7f800000u ? U32{} : result;
}

// Integers of other widths, sign-extended before.
template <int kBits, bool kSigned, bool kFromSigned, bool kSat>
ASC_EMU_INLINE U32 int_to_int(U32 v) {
    if constexpr (!kSat) return v;
    constexpr uint32_t kMax =
        kBits == 32 ? (kSigned ? 0x7fffffffu : ~0u) : (1u << (kBits - (kSigned ? 1 : 0))) - 1;
    if constexpr (kFromSigned) {
        constexpr auto kLow = static_cast<int32_t>(kSigned ? ~kMax : 0);
        S32 s = reinterpret_cast<S32>(v);
        s = s < kLow ? splat<int32_t>(kLow) : s;
        if constexpr (kBits < 32 || kSigned)
            s = s > static_cast<int32_t>(kMax) ? splat<int32_t>(static_cast<int32_t>(kMax)) : s;
        return reinterpret_cast<U32>(s);
    } else {
        return v > kMax ? splat<uint32_t>(kMax) : v;
    }
}

// magnitude -> a float of kBits of significand, for any rounding; one lane.
template <Round R>
inline float round_integer(uint64_t magnitude, bool negative) {
    const int length = magnitude == 0 ? 0 : 64 - __builtin_clzll(magnitude);
    const int drop = length > 24 ? length - 24 : 0;
    uint64_t kept = magnitude >> drop;
    const uint64_t rest = drop ? magnitude & ((uint64_t{1} << drop) - 1) : 0;
    const uint64_t half_unit = drop ? uint64_t{1} << (drop - 1) : 1;
    if constexpr (R == Round::rn) kept += rest > half_unit || (rest == half_unit && (kept & 1));
    if constexpr (R == Round::rna) kept += rest >= half_unit;
    if constexpr (R == Round::rd) kept += rest != 0 && negative;
    if constexpr (R == Round::ru) kept += rest != 0 && !negative;
    const float scale = bits_float(static_cast<uint32_t>(127 + drop) << 23);
    const float value = static_cast<float>(static_cast<uint32_t>(kept)) * scale;
    return negative ? -value : value;
}
template <Round R>
ASC_EMU_INLINE U32 int32_to_float(U32 v) {
    if constexpr (R == Round::rn) {
        return bits_of(__builtin_convertvector(reinterpret_cast<S32>(v), Chunk<float>));
    } else {
        U32 r;
        for (uint32_t i = 0; i < kChunkLanes<float>; ++i) {
            const auto s = static_cast<int64_t>(static_cast<int32_t>(v[i]));
            r[i] = float_bits(round_integer<R>(static_cast<uint64_t>(s < 0 ? -s : s), s < 0));
        }
        return r;
    }
}

// Half or fp32 -> hif8, see section 9.7; one lane. kFraction: fraction bits of the source.
template <int kFraction, bool kHybrid, bool kSat>
inline uint32_t to_hif8(float v, uint32_t source_bits) {
    const uint32_t b = float_bits(v);
    if (is_nan_bits(b)) return kSat ? 0 : kHif8Nan;
    constexpr int kTop = kFraction == 23 ? 14 : 2;
    const uint32_t threshold =
        kFraction == 23 ? source_bits & 0x3fffu : ((source_bits & 1) << 1) | 1;
    const uint32_t sign = (b >> 24) & 0x80;
    const uint32_t over = sign | (kSat ? kHif8MaxFinite : kHif8Inf);
    const uint32_t fraction = b & 0x7fffff;
    int exponent = static_cast<int>((b >> 23) & 0xff) - 127;
    if (exponent > 15) return over;
    if (exponent < -23) return 0;
    if (exponent == -23) {
        const uint32_t top = (1u << (kTop - 1)) | (fraction >> (23 - (kTop - 1)));
        return !kHybrid || top >= threshold ? sign | 1u : 0;
    }
    const int keep = exponent < -15 ? 0 : hif8_mantissa_bits(exponent);
    const uint32_t away = (fraction >> (22 - keep)) & 1;
    const uint32_t discarded = ((fraction << keep) & 0x7fffffu) >> (23 - kTop);
    const bool plain = !kHybrid || (exponent >= -3 && exponent <= 3);
    uint32_t mantissa =
        (fraction >> (23 - keep)) + (plain ? away : static_cast<uint32_t>(discarded >= threshold));
    if (mantissa >> keep) {
        mantissa = 0;
        ++exponent;
    }
    if (exponent < -15) return sign | static_cast<uint32_t>(exponent + 23);
    const uint32_t code = exponent > 15 ? kHif8Inf : hif8_code(exponent, mantissa);
    return code == kHif8Inf ? over : sign | code;
}

// To fp32 ----------------------------------------------------------------------------------------
ASC_EMU_INLINE U32 e4m3_to_float_bits(U32 b) {
    const U32 magnitude = b & 0x7fu;
    const Chunk<float> scale = float_of(splat<uint32_t>(0x7b800000u));  // 2^120
    const U32 value = bits_of(float_of(magnitude << 20) * scale) | ((b & 0x80u) << 24);
    return magnitude == 0x7fu ? splat<uint32_t>(0x7fc00000u) : value;
}
ASC_EMU_INLINE U32 e5m2_to_float_bits(U32 b) {
    return bits_of(canonical_nan(half_bits_to_float((b & 0xffu) << 8)));
}
ASC_EMU_INLINE U32 hif8_to_float_bits(U32 b) {
    U32 r;
    for (uint32_t i = 0; i < kChunkLanes<float>; ++i)
        r[i] = float_bits(hif8_to_float(static_cast<uint8_t>(b[i])));
    return r;
}
ASC_EMU_INLINE U32 e2m1_to_float_bits(U32 b) {
    const Chunk<float> scale = float_of(splat<uint32_t>(0x7e800000u));  // 2^126
    return bits_of(float_of((b & 7u) << 22) * scale) | ((b & 8u) << 28);
}
ASC_EMU_INLINE U32 e1m2_to_float_bits(U32 b) {
    const Chunk<float> scale = float_of(splat<uint32_t>(0x7e800000u));  // 2^126
    return bits_of(float_of((b & 7u) << 21) * scale) | ((b & 8u) << 28);
}

}  // namespace asc_emu
