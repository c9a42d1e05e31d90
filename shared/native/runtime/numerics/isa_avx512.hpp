// AVX-512 (F, BW, DQ, VL) names of isa.hpp.
#pragma once

// NOTE: g++ 12 warns about the undefined source operands inside its own header.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop

#include "lanes.hpp"

namespace asc_emu::numerics::isa {

inline constexpr const char* kName = "avx512";
inline constexpr int kLanes = 16;
// NOTE: 6 x 4 accumulators, 4 vectors of B and 1 broadcast: 34 instructions for 24 multiplications, where 14 x 2
// needs 44 for 28. Alike on an idle core (Sapphire Rapids); 0.84 against 0.68 of the multiply units' peak (medians)
// where another hyper-thread takes its share of the front end.
inline constexpr int kTileRows = 6;
inline constexpr int kTileBlocks = 4;
inline constexpr bool kFused = true;

using Float = Lanes<kLanes>::Float;
using Word = Lanes<kLanes>::Word;

inline Float multiply_add(Float a, Float b, Float c) { return _mm512_fmadd_ps(a, b, c); }

// NOTE: bound by the one shuffle port, 24 shuffles; two rows fill a register as they lie in
// memory, and the last step puts even and odd rows in order.
[[gnu::always_inline]] inline void transpose_fractal(const void* fractal, size_t row_pitch, void* out) {
    const auto* row = static_cast<const char*>(fractal);
    __m512i z[8], t[8];
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i, row += 2 * row_pitch) {
        const __m256i even = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row));
        const __m256i odd = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row + row_pitch));
        z[i] = _mm512_inserti64x4(_mm512_castsi256_si512(even), odd, 1);
    }
#pragma GCC unroll 8
    for (int i = 0; i < 8; i += 2) {
        t[i] = _mm512_unpacklo_epi32(z[i], z[i + 1]);
        t[i + 1] = _mm512_unpackhi_epi32(z[i], z[i + 1]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < 8; i += 4) {
        z[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
        z[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
        z[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
        z[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
    }
    const __m512i low = _mm512_set_epi32(27, 19, 26, 18, 25, 17, 24, 16, 11, 3, 10, 2, 9, 1, 8, 0);
    const __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(4));
    auto* columns = static_cast<uint32_t*>(out);
#pragma GCC unroll 8
    for (int j = 0; j < 4; ++j) {
        _mm512_storeu_si512(columns + 16 * j, _mm512_permutex2var_epi32(z[j], low, z[4 + j]));
        _mm512_storeu_si512(columns + 64 + 16 * j, _mm512_permutex2var_epi32(z[j], high, z[4 + j]));
    }
}

// NOTE: g++ 12 splits the vector extension's conversion into two 256-bit halves.
inline Word widen_halves(const void* from) {
    return (Word)_mm512_cvtepu16_epi32(_mm256_loadu_si256(static_cast<const __m256i*>(from)));
}

inline Word widen_bytes(const void* from) {
    return (Word)_mm512_cvtepu8_epi32(_mm_loadu_si128(static_cast<const __m128i*>(from)));
}

}  // namespace asc_emu::numerics::isa
