// 16-bit floats as two members of fp32 lanes and back (ascend_c_vector.md section 8.4): arithmetic
// of half and bf16 is fp32 arithmetic rounded to nearest even. For half, fp32 holds enough bits
// that the second rounding of + - * / and sqrt changes nothing.
#pragma once

#include "asc_emu/vector/registers.hpp"

namespace asc_emu {

// fp32 lanes of a member of 16-bit lanes; which lanes are in which is the format's own business.
struct FloatPair {
    Chunk<float> first, second;
};

// Conversions of single lanes, done in all lanes: half bits in the low 16 of each lane.
ASC_EMU_INLINE Chunk<float> half_bits_to_float(Chunk<uint32_t> h) {
    const Chunk<uint32_t> magnitude = h & 0x7fffu;
    const Chunk<float> scale = float_of(splat<uint32_t>(0x77800000u));  // 2^112
    const Chunk<uint32_t> finite = bits_of(float_of(magnitude << 13) * scale);
    const Chunk<uint32_t> special = (magnitude << 13) | 0x7f800000u;
    const Chunk<uint32_t> value = magnitude >= 0x7c00u ? special : finite;
    return float_of(value | ((h & 0x8000u) << 16));
}
// Nearest even; NaN is canonical.
ASC_EMU_INLINE Chunk<uint32_t> float_to_half_bits(Chunk<float> v) {
    const Chunk<uint32_t> b = bits_of(v);
    const Chunk<uint32_t> magnitude = b & 0x7fffffffu;
    const Chunk<uint32_t> sign = (b >> 16) & 0x8000u;
    // Below 2^-14 an addition rounds to multiples of 2^-24.
    const Chunk<float> half_unit = float_of(splat<uint32_t>(0x3f000000u));  // 0.5
    const Chunk<uint32_t> small =
        bits_of(float_of(magnitude) + half_unit) - splat<uint32_t>(0x3f000000u);
    const Chunk<uint32_t> odd = (magnitude >> 13) & 1u;
    const Chunk<uint32_t> normal = (magnitude - 0x38000000u + 0xfffu + odd) >> 13;
    Chunk<uint32_t> code = magnitude < 0x38800000u ? small : normal;
    code = magnitude >= 0x47800000u ? splat<uint32_t>(0x7c00u) : code;
    code = magnitude > 0x7f800000u ? splat<uint32_t>(0x7e00u) : (code | sign);
    return code;
}
// Nearest even; NaN is canonical.
ASC_EMU_INLINE Chunk<uint32_t> float_to_bf16_bits(Chunk<float> v) {
    const Chunk<uint32_t> b = bits_of(v);
    const Chunk<uint32_t> rounded = (b + 0x7fffu + ((b >> 16) & 1u)) >> 16;
    return (b & 0x7fffffffu) > 0x7f800000u ? splat<uint32_t>(kBf16Nan) : rounded;
}

ASC_EMU_INLINE FloatPair widen_bf16(ChunkBits v) {
    return {float_of(v << 16), float_of(v & 0xffff0000u)};
}
ASC_EMU_INLINE ChunkBits narrow_bf16(FloatPair v) {
    return float_to_bf16_bits(v.first) | (float_to_bf16_bits(v.second) << 16);
}

#if defined(__F16C__) && defined(__AVX2__)
#if ASC_EMU_AVX512
ASC_EMU_INLINE FloatPair widen_half(ChunkBits v) {
    const auto x = reinterpret_cast<__m512i>(v);
    return {_mm512_cvtph_ps(_mm512_castsi512_si256(x)),
            _mm512_cvtph_ps(_mm512_extracti64x4_epi64(x, 1))};
}
ASC_EMU_INLINE ChunkBits narrow_half(FloatPair v) {
    constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
    const __m256i low = _mm512_cvtps_ph(canonical_nan(v.first), kNearest);
    const __m256i high = _mm512_cvtps_ph(canonical_nan(v.second), kNearest);
    return reinterpret_cast<ChunkBits>(_mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1));
}
#else
ASC_EMU_INLINE FloatPair widen_half(ChunkBits v) {
    const auto x = reinterpret_cast<__m256i>(v);
    return {_mm256_cvtph_ps(_mm256_castsi256_si128(x)),
            _mm256_cvtph_ps(_mm256_extracti128_si256(x, 1))};
}
ASC_EMU_INLINE ChunkBits narrow_half(FloatPair v) {
    constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
    const __m128i low = _mm256_cvtps_ph(canonical_nan(v.first), kNearest);
    const __m128i high = _mm256_cvtps_ph(canonical_nan(v.second), kNearest);
    return reinterpret_cast<ChunkBits>(
        _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1));
}
#endif
#else
ASC_EMU_INLINE FloatPair widen_half(ChunkBits v) {
    return {half_bits_to_float(v & 0xffffu), half_bits_to_float(v >> 16)};
}
ASC_EMU_INLINE ChunkBits narrow_half(FloatPair v) {
    return float_to_half_bits(v.first) | (float_to_half_bits(v.second) << 16);
}
#endif

template <class T>
ASC_EMU_INLINE FloatPair widen16(ChunkBits v) {
    if constexpr (std::is_same_v<T, half>)
        return widen_half(v);
    else
        return widen_bf16(v);
}
template <class T>
ASC_EMU_INLINE ChunkBits narrow16(FloatPair v) {
    if constexpr (std::is_same_v<T, half>)
        return narrow_half(v);
    else
        return narrow_bf16(v);
}

template <class T>
constexpr bool is_float16 = std::is_same_v<T, half> || std::is_same_v<T, bfloat16_t>;
template <class T>
constexpr bool is_floating = is_float16<T> || std::is_same_v<T, float>;

}  // namespace asc_emu
