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
// NOTE: 14 x 2 accumulators, 2 vectors of B and 1 broadcast use 31 of the 32 registers.
inline constexpr int kTileRows = 14;
inline constexpr int kTileBlocks = 2;
inline constexpr bool kFused = true;

using Float = Lanes<kLanes>::Float;

inline Float multiply_add(Float a, Float b, Float c) { return _mm512_fmadd_ps(a, b, c); }

// Rows i and i + 4 share a register, so that the last step leaves the rows in order.
[[gnu::always_inline]] inline void transpose_fractal(const void* fractal, void* out) {
    const auto* rows = static_cast<const __m256i*>(fractal);
    __m512i z[8], t[8];
    for (int i = 0; i < 8; ++i) {
        const int low = (i / 4) * 8 + i % 4;
        z[i] = _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_loadu_si256(rows + low)),
                                  _mm256_loadu_si256(rows + low + 4), 1);
    }
    for (int i = 0; i < 8; i += 2) {
        t[i] = _mm512_unpacklo_epi32(z[i], z[i + 1]);
        t[i + 1] = _mm512_unpackhi_epi32(z[i], z[i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {
        z[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
        z[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
        z[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
        z[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
    }
    auto* columns = static_cast<uint32_t*>(out);
    for (int j = 0; j < 4; ++j) {
        _mm512_storeu_si512(columns + 16 * j, _mm512_shuffle_i32x4(z[j], z[4 + j], 0x88));
        _mm512_storeu_si512(columns + 16 * (4 + j), _mm512_shuffle_i32x4(z[j], z[4 + j], 0xdd));
    }
}

}  // namespace asc_emu::numerics::isa
