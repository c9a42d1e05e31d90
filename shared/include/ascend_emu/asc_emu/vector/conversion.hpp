// Conversions between element types (ascend_c_vector.md sections 9.2 to 9.4). A wide lane holds the
// wide element of a pair of types and, at the place that `part` names, the narrow one; the mask bit
// of the wide lane decides.
#pragma once

#include "asc_emu/vector/elementary.hpp"
#include "asc_emu/vector/rounding.hpp"

namespace asc_emu {

template <class T>
constexpr bool is_nibbles = one_of<T, fp4x2_e2m1_t, fp4x2_e1m2_t, int4x2_t>;
template <class T>
constexpr bool is_small_float = one_of<T, half, bfloat16_t, float, fp8_e4m3fn_t, fp8_e5m2_t,
                                       hifloat8_t, fp4x2_e2m1_t, fp4x2_e1m2_t>;
template <class T>
constexpr uint32_t kBitsOf = is_nibbles<T> ? 4 : 8 * sizeof(T);

// An element of T, in the low bits of a lane, as fp32.
template <class T>
ASC_EMU_INLINE U32 to_float_bits(U32 v) {
    if constexpr (std::is_same_v<T, half>)
        return bits_of(half_bits_to_float(v));
    else if constexpr (std::is_same_v<T, bfloat16_t>)
        return v << 16;
    else if constexpr (std::is_same_v<T, fp8_e4m3fn_t>)
        return e4m3_to_float_bits(v);
    else if constexpr (std::is_same_v<T, fp8_e5m2_t>)
        return e5m2_to_float_bits(v);
    else if constexpr (std::is_same_v<T, hifloat8_t>)
        return hif8_to_float_bits(v);
    else if constexpr (std::is_same_v<T, fp4x2_e2m1_t>)
        return e2m1_to_float_bits(v);
    else if constexpr (std::is_same_v<T, fp4x2_e1m2_t>)
        return e1m2_to_float_bits(v);
    else
        return v;
}
// An integer element of T, in the low bits of a lane, extended to the lane.
template <class T>
ASC_EMU_INLINE U32 extended(U32 v) {
    if constexpr (std::is_same_v<T, int4x2_t>)
        return reinterpret_cast<U32>(reinterpret_cast<S32>(v << 28) >> 28);
    else if constexpr (std::is_signed_v<T> && sizeof(T) < 4)
        return reinterpret_cast<U32>(reinterpret_cast<S32>(v << (32 - 8 * sizeof(T))) >>
                                     (32 - 8 * sizeof(T)));
    else
        return v;
}
template <class S, bool kHybrid, bool kSat>
ASC_EMU_INLINE U32 to_hif8_lanes(U32 source) {
    const U32 b = to_float_bits<S>(source);
    U32 r;
    for (uint32_t i = 0; i < kChunkLanes<float>; ++i)
        r[i] = to_hif8<sizeof(S) == 2 ? 10 : 23, kHybrid, kSat>(bits_float(b[i]), source[i]);
    return r;
}
// bf16 -> e8m0: the exponent; the mantissa is cut and the sign ignored.
ASC_EMU_INLINE U32 bf16_to_e8m0(U32 v) {
    const U32 magnitude = v & 0x7fffu;
    const U32 code = magnitude >= 0x7f80u ? splat<uint32_t>(0xfeu) : magnitude >> 7;
    return magnitude > 0x7f80u ? splat<uint32_t>(0xffu) : code;
}
ASC_EMU_INLINE U32 e8m0_to_bf16(U32 v) {
    const U32 code = v & 0xffu;
    const U32 value = code == 0u ? splat<uint32_t>(0x40u) : code << 7;
    return code == 0xffu ? splat<uint32_t>(kBf16Nan) : value;
}

// fp32 bits -> an element of D.
template <class D, Round R, bool kSat>
ASC_EMU_INLINE U32 from_float_bits(U32 b) {
    if constexpr (std::is_same_v<D, half>) {
        if constexpr (R == Round::rn && !kSat) return float_to_half_bits(float_of(b));
        return float_to_target<kToHalf, R, kSat>(b);
    } else if constexpr (std::is_same_v<D, bfloat16_t>) {
        return float_to_target<kToBf16, R, kSat>(b);
    } else if constexpr (std::is_same_v<D, fp8_e4m3fn_t>) {
        return float_to_target<kToE4m3, R, kSat>(b);
    } else if constexpr (std::is_same_v<D, fp8_e5m2_t>) {
        return float_to_target<kToE5m2, R, kSat>(b);
    } else if constexpr (std::is_same_v<D, fp4x2_e2m1_t>) {
        return float_to_target<kToE2m1, R, true>(b);
    } else if constexpr (std::is_same_v<D, fp4x2_e1m2_t>) {
        return float_to_target<kToE1m2, R, true>(b);
    } else if constexpr (std::is_same_v<D, float>) {
        return bits_of(canonical_nan(float_of(b)));
    } else {
        static_assert(std::is_integral_v<D> || is_nibbles<D>, "no conversion to this type");
        constexpr bool kSigned = is_nibbles<D> || std::is_signed_v<D>;
        return float_to_int<static_cast<int>(kBitsOf<D>), kSigned, R, kSat>(b);
    }
}
// An element of S, in the low bits of a lane, as an element of D.
template <class D, class S, Round R, bool kSat>
ASC_EMU_INLINE U32 convert_lane(U32 v) {
    if constexpr (std::is_same_v<D, fp8_e8m0_t>) {
        static_assert(std::is_same_v<S, bfloat16_t>, "only bf16 converts to e8m0");
        return bf16_to_e8m0(v);
    } else if constexpr (std::is_same_v<S, fp8_e8m0_t>) {
        static_assert(std::is_same_v<D, bfloat16_t>, "e8m0 converts to bf16 only");
        return e8m0_to_bf16(v);
    } else if constexpr (std::is_same_v<D, hifloat8_t>) {
        return to_hif8_lanes<S, R == Round::rh, kSat>(v);
    } else if constexpr (is_small_float<S>) {
        return from_float_bits<D, R, kSat>(to_float_bits<S>(v));
    } else {
        const U32 x = extended<S>(v);
        constexpr bool kFromSigned = is_nibbles<S> || std::is_signed_v<S>;
        if constexpr (is_small_float<D>) {
            if constexpr (std::is_same_v<D, float>) return int32_to_float<R>(x);
            // Integers of 16 bits or less are exact in fp32.
            return from_float_bits<D, R, kSat>(int32_to_float<Round::rn>(x));
        } else {
            constexpr bool kSigned = is_nibbles<D> || std::is_signed_v<D>;
            constexpr bool kWidens = kBitsOf<D> >= kBitsOf<S>;
            return int_to_int < static_cast<int>(kBitsOf<D>), kSigned, kFromSigned,
                   kSat || kWidens > (x);
        }
    }
}

// One 64-bit lane.
template <class D, class S, Round R, bool kSat>
inline uint64_t convert_wide(uint64_t v) {
    if constexpr (std::is_same_v<S, float>) {  // to s64
        const uint32_t b = static_cast<uint32_t>(v);
        const bool negative = b >> 31;
        const uint32_t magnitude = b & 0x7fffffffu;
        const uint64_t limit = negative ? uint64_t{1} << 63 : ~(uint64_t{1} << 63);
        if (magnitude > 0x7f800000u) return 0;
        if (magnitude == 0x7f800000u) return limit;
        const int exponent = static_cast<int>(magnitude >> 23) - 127;
        if (exponent >= 63) {
            if (kSat) return limit;
            const uint64_t significand = (magnitude & 0x7fffffu) | 0x800000u;
            const uint64_t low = exponent - 23 > 63 ? 0 : significand << (exponent - 23);
            return negative ? uint64_t{0} - low : low;
        }
        const RoundTo rule{R};
        return static_cast<uint64_t>(static_cast<int64_t>(rule.of(bits_float(b))));
    } else if constexpr (std::is_same_v<D, float>) {  // from s64
        const auto s = static_cast<int64_t>(v);
        return float_bits(round_integer<R>(s < 0 ? uint64_t{0} - v : v, s < 0));
    } else if constexpr (sizeof(D) == 8) {  // from s32
        return static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(v)));
    } else {  // s64 to s32
        auto s = static_cast<int64_t>(v);
        if (kSat) s = s > INT32_MAX ? INT32_MAX : s < INT32_MIN ? INT32_MIN : s;
        return static_cast<uint32_t>(s);
    }
}

template <class D, class S, Round R, bool kSat, uint32_t kPart>
ASC_EMU_INLINE ChunkBits convert_chunk(ChunkBits v) {
    constexpr uint32_t kBig = sizeof(D) > sizeof(S) ? sizeof(D) : sizeof(S);
    constexpr uint32_t kIn = 8 * sizeof(S) * kPart, kOut = 8 * sizeof(D) * kPart;
    if constexpr (kBig == 8) {
        static_assert(one_of<D, float, int64_t, int32_t> && one_of<S, float, int64_t, int32_t>,
                      "64-bit conversions exist between s64 and float or s32");
        const auto x = reinterpret_cast<Chunk<uint64_t>>(v);
        Chunk<uint64_t> r;
        for (uint32_t i = 0; i < kChunkLanes<uint64_t>; ++i) {
            const uint64_t in = sizeof(S) == 4 ? (x[i] >> kIn) & 0xffffffffu : x[i];
            const uint64_t out = convert_wide<D, S, R, kSat>(in);
            r[i] = sizeof(D) == 4 ? (out & 0xffffffffu) << kOut : out;
        }
        return reinterpret_cast<ChunkBits>(r);
    } else if constexpr (is_nibbles<D>) {  // two elements of 16 bits -> one byte
        static_assert(sizeof(S) == 2, "4-bit elements are made from elements of 2 bytes");
        const U32 low = convert_lane<D, S, R, kSat>(v & 0xffffu) & 0xfu;
        const U32 high = convert_lane<D, S, R, kSat>(v >> 16) & 0xfu;
        return (low | (high << 4)) << kOut;
    } else if constexpr (is_nibbles<S>) {
        static_assert(sizeof(D) == 2, "4-bit elements become elements of 2 bytes");
        const U32 byte = v >> kIn;
        const U32 low = convert_lane<D, S, R, kSat>(byte & 0xfu) & 0xffffu;
        return low | (convert_lane<D, S, R, kSat>((byte >> 4) & 0xfu) << 16);
    } else if constexpr (kBig == 4) {
        constexpr uint32_t kInMask = sizeof(S) == 4 ? ~0u : (1u << (8 * sizeof(S) & 31)) - 1;
        constexpr uint32_t kOutMask = sizeof(D) == 4 ? ~0u : (1u << (8 * sizeof(D) & 31)) - 1;
        const U32 in = sizeof(S) == 4 ? v : (v >> (kIn & 31)) & kInMask;
        const U32 out = convert_lane<D, S, R, kSat>(in);
        return sizeof(D) == 4 ? out : (out & kOutMask) << (kOut & 31);
    } else {  // 16-bit lanes, as even and odd ones
        static_assert(kBig == 2, "no conversion between types of one byte");
        constexpr uint32_t kInMask = sizeof(S) == 2 ? 0xffffu : 0xffu;
        constexpr uint32_t kOutMask = sizeof(D) == 2 ? 0xffffu : 0xffu;
        constexpr uint32_t kFrom = sizeof(S) == 2 ? 0 : kIn, kTo = sizeof(D) == 2 ? 0 : kOut;
        const U32 even = convert_lane<D, S, R, kSat>((v >> kFrom) & kInMask) & kOutMask;
        const U32 odd = convert_lane<D, S, R, kSat>((v >> (16 + kFrom)) & kInMask) & kOutMask;
        return (even << kTo) | (odd << (16 + kTo));
    }
}
// The width whose mask bits count.
template <class D, class S>
constexpr uint32_t kConvertMaskWidth = is_nibbles<D> || is_nibbles<S> ? 4
                                       : sizeof(D) > sizeof(S)        ? sizeof(D)
                                                                      : sizeof(S);

// Whether saturation makes a difference, so that CTRL[60] has something to decide.
template <class D, class S>
constexpr bool may_saturate =
    !is_nibbles<D> && !one_of<D, float, fp8_e8m0_t> && !one_of<S, fp8_e8m0_t> &&
    (sizeof(D) < sizeof(S) || one_of<S, half, bfloat16_t, float>);

// One conversion for all parts: CTRL rarely asks for it, and it is compiled with every kernel that
// converts.
template <class D, class S, Round R>
[[gnu::noinline, gnu::cold]] ChunkBits convert_globally(ChunkBits v, uint32_t part) {
    constexpr uint32_t W = kConvertMaskWidth<D, S>;
    using Lane = Chunk<LaneBits<W == 8 ? 8 : 4>>;
    const auto in = sizeof(S) < sizeof(D) || is_nibbles<S> ? 8 * sizeof(S) * part : 0;
    const auto out = sizeof(D) < sizeof(S) || is_nibbles<D> ? 8 * sizeof(D) * part : 0;
    const uint32_t modes = asc_emu_vector.modes;
    const bool saturate =
        std::is_integral_v<D> ? !(modes & kCastTruncate) : (modes & kFloatSaturate) != 0;
    const auto source = reinterpret_cast<ChunkBits>(reinterpret_cast<Lane>(v) >> in);
    const ChunkBits r = saturate ? convert_chunk<D, S, R, true, 0>(source)
                                 : convert_chunk<D, S, R, false, 0>(source);
    return reinterpret_cast<ChunkBits>(reinterpret_cast<Lane>(r) << out);
}
template <class D, class S, Round R, bool kSat, uint32_t kPart>
ASC_EMU_INLINE void convert(VectorRegister<D>& dst, const VectorRegister<S>& src,
                            const MaskRegister& mask) {
    ASC_EMU_TIMED_OP((kConvertClass<D, S>), dst, src, mask);
    VectorRegister<D> r;
    if (may_saturate<D, S> && vector_mode(kCastGlobal))
        ASC_EMU_EACH_CHUNK(k, r.part[k] = (convert_globally<D, S, R>(src.part[k], kPart)))
    else
        ASC_EMU_EACH_CHUNK(k, r.part[k] = (convert_chunk<D, S, R, kSat, kPart>(src.part[k])))
    zeroing<kConvertMaskWidth<D, S>>(dst, mask,
                                     [&](uint32_t k) ASC_EMU_LAMBDA { return r.part[k]; });
}

}  // namespace asc_emu
