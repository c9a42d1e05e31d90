// Number formats of the cube operands (ascend_c_cube.md section 17) as decoders from codes to
// fp32. Every value of every format is exact in fp32, so decoding loses nothing; HF32 is the
// rounding of fp32 operands to 1-8-10 (section 10.3).
//
// A decoder has kBits, kExactInBf16 (fast mode may turn it into bf16 pairs) and
// `decode<N>(codes)`: N codes, one in the low bits of each 32-bit lane.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>

#include "lanes.hpp"
#include "mmad.hpp"

namespace asc_emu::numerics {

constexpr uint32_t element_bits(Element type) {
    switch (type) {
        case Element::f32:
            return 32;
        case Element::bf16:
        case Element::f16:
            return 16;
        case Element::e2m1:
        case Element::e1m2:
            return 4;
        default:
            return 8;
    }
}

// Largest exponent of a finite value of a type that mmad_mx scales.
constexpr int max_exponent(Element type) {
    switch (type) {
        case Element::e4m3:
            return 8;
        case Element::e5m2:
            return 15;
        case Element::e2m1:
            return 2;
        default:
            return 0;
    }
}

struct DecodeBf16 {
    static constexpr uint32_t kBits = 16;
    static constexpr bool kExactInBf16 = true;
    template <int N>
    static typename Lanes<N>::Float decode(typename Lanes<N>::Word code) {
        return bits_as<typename Lanes<N>::Float>(code << 16);
    }
};

enum class Specials { none, ieee, nan_only };  // none; Inf and NaN at the top exponent; all-ones

// Sign, E exponent and M mantissa bits with the usual subnormals. NOTE: the subnormal path is a
// subtraction of normal numbers, because fp32 subnormals cost a microcode assist on x86.
template <int E, int M, int Bias, Specials kSpecials>
struct DecodeSmallFloat {
    static constexpr uint32_t kBits = 1 + E + M;
    static constexpr bool kExactInBf16 = M < 8;
    template <int N>
    static typename Lanes<N>::Float decode(typename Lanes<N>::Word code) {
        using Float = typename Lanes<N>::Float;
        using Word = typename Lanes<N>::Word;
        constexpr uint32_t kMagnitude = (1u << (E + M)) - 1, kTop = ((1u << E) - 1) << M;
        constexpr uint32_t kStep = 1u << 23;
        const Float hidden = splat<Float>(std::bit_cast<float>(uint32_t(128 - Bias) << 23));
        const Word magnitude = code & kMagnitude;
        const Word scaled = (magnitude << (23 - M)) + uint32_t(127 - Bias) * kStep;
        const Word subnormal = bits_as<Word>(bits_as<Float>(scaled + kStep) - hidden);
        Word bits = magnitude < (1u << M) ? subnormal : scaled;
        if constexpr (kSpecials == Specials::ieee) {
            bits = magnitude >= kTop ? bits | 0x7f800000u : bits;
        } else if constexpr (kSpecials == Specials::nan_only) {
            bits = magnitude == kMagnitude ? Word{} + 0x7fc00000u : bits;
        }
        return bits_as<Float>(bits | ((code >> (E + M)) << 31));
    }
};

using DecodeF16 = DecodeSmallFloat<5, 10, 15, Specials::ieee>;
using DecodeE5m2 = DecodeSmallFloat<5, 2, 15, Specials::ieee>;
using DecodeE4m3 = DecodeSmallFloat<4, 3, 7, Specials::nan_only>;
using DecodeE2m1 = DecodeSmallFloat<2, 1, 1, Specials::none>;
using DecodeE1m2 = DecodeSmallFloat<1, 2, 1, Specials::none>;

struct DecodeI8 {
    static constexpr uint32_t kBits = 8;
    static constexpr bool kExactInBf16 = false;  // the sums are int32
    template <int N>
    static typename Lanes<N>::Float decode(typename Lanes<N>::Word code) {
        const auto value = bits_as<typename Lanes<N>::Int>(code << 24) >> 24;
        return __builtin_convertvector(value, typename Lanes<N>::Float);
    }
};

enum class Hf32 { off, ties_even, ties_away };

// fp32 as it is, or rounded to 1-8-10 by adding half of the lost part to the bits.
template <Hf32 kRounding>
struct DecodeF32 {
    static constexpr uint32_t kBits = 32;
    static constexpr bool kExactInBf16 = false;
    template <int N>
    static typename Lanes<N>::Float decode(typename Lanes<N>::Word code) {
        using Float = typename Lanes<N>::Float;
        using Word = typename Lanes<N>::Word;
        if constexpr (kRounding == Hf32::off) return bits_as<Float>(code);
        Word rounded = code + 0x1000u;
        if constexpr (kRounding == Hf32::ties_even) rounded = code + 0xfffu + ((code >> 13) & 1u);
        const Word nan = bits_as<Word>((code & 0x7fffffffu) > 0x7f800000u);
        return bits_as<Float>((rounded & 0xffffe000u & ~nan) | ((code | 0x7fc00000u) & nan));
    }
};

// One hif8 code: sign, a dot field (prefix code) that says how many exponent bits follow, the
// exponent in sign-magnitude with a hidden leading one, then the mantissa.
constexpr float hif8_value(uint32_t code) {
    if (code == 0x80) return std::numeric_limits<float>::quiet_NaN();
    const float sign = (code & 0x80) ? -1.0f : 1.0f;
    if ((code & 0x7f) == 0x6f) return sign * std::numeric_limits<float>::infinity();
    auto power = [](int exponent) { return std::bit_cast<float>(uint32_t(127 + exponent) << 23); };
    const uint32_t low = code & 0x7f;
    if (low < 8) return low == 0 ? 0.0f : sign * power(int(low) - 23);
    const int dot_bits = low >= 32 ? 2 : low >= 16 ? 3 : 4;
    const int exponent_bits = low >= 32 ? int(low >> 5) + 1 : low >= 16 ? 1 : 0;
    const int mantissa_bits = 7 - dot_bits - exponent_bits;
    const uint32_t field = (low >> mantissa_bits) & ((1u << exponent_bits) - 1);
    int exponent = 0;
    if (exponent_bits > 0) {
        const uint32_t top = 1u << (exponent_bits - 1);
        exponent = int(field | top) * ((field & top) ? -1 : 1);
    }
    const uint32_t mantissa = low & ((1u << mantissa_bits) - 1);
    const float fraction = 1.0f + float(mantissa) / float(1u << mantissa_bits);
    return sign * fraction * power(exponent);
}

inline constexpr std::array<float, 256> kHif8Values = [] {
    std::array<float, 256> values{};
    for (uint32_t code = 0; code < 256; ++code) values[code] = hif8_value(code);
    return values;
}();

struct DecodeHif8 {
    static constexpr uint32_t kBits = 8;
    static constexpr bool kExactInBf16 = true;
    template <int N>
    static typename Lanes<N>::Float decode(typename Lanes<N>::Word code) {
        uint32_t codes[N];
        float values[N];
        store(codes, code);
        for (int i = 0; i < N; ++i) values[i] = kHif8Values[codes[i] & 0xff];
        return load<typename Lanes<N>::Float>(values);
    }
};

// Calls `use(decoder)` with the decoder of an element type.
template <class Use>
inline auto with_decoder(Element type, Hf32 hf32, Use&& use) {
    switch (type) {
        case Element::f16:
            return use(DecodeF16{});
        case Element::i8:
            return use(DecodeI8{});
        case Element::e4m3:
            return use(DecodeE4m3{});
        case Element::e5m2:
            return use(DecodeE5m2{});
        case Element::hif8:
            return use(DecodeHif8{});
        case Element::e2m1:
            return use(DecodeE2m1{});
        case Element::e1m2:
            return use(DecodeE1m2{});
        case Element::f32:
            if (hf32 == Hf32::ties_even) return use(DecodeF32<Hf32::ties_even>{});
            if (hf32 == Hf32::ties_away) return use(DecodeF32<Hf32::ties_away>{});
            return use(DecodeF32<Hf32::off>{});
        default:
            return use(DecodeBf16{});
    }
}

}  // namespace asc_emu::numerics
