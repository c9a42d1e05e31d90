// AVX2 + FMA names of isa.hpp.
#pragma once

#include <immintrin.h>

#include "lanes.hpp"
#include "portable_ops.hpp"

namespace asc_emu::numerics::isa {

inline constexpr const char* kName = "avx2";
inline constexpr int kLanes = 8;
// NOTE: 6 x 2 accumulators, 2 vectors of B and 1 broadcast use 15 of the 16 registers.
inline constexpr int kTileRows = 6;
inline constexpr int kTileBlocks = 1;
inline constexpr bool kFused = true;

using Float = Lanes<kLanes>::Float;
using Word = Lanes<kLanes>::Word;

inline Float multiply_add(Float a, Float b, Float c) { return _mm256_fmadd_ps(a, b, c); }

[[gnu::always_inline]] inline void transpose_half(const char* from, size_t row_pitch, uint32_t* to) {
    __m256 r[8], t[8];
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) r[i] = _mm256_loadu_ps(reinterpret_cast<const float*>(from + i * row_pitch));
#pragma GCC unroll 8
    for (int i = 0; i < 8; i += 2) {
        t[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
        t[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < 8; i += 4) {
#pragma GCC unroll 8
        for (int j = 0; j < 2; ++j) {
            r[i + 2 * j] = _mm256_shuffle_ps(t[i + j], t[i + j + 2], 0x44);
            r[i + 2 * j + 1] = _mm256_shuffle_ps(t[i + j], t[i + j + 2], 0xee);
        }
    }
#pragma GCC unroll 8
    for (int j = 0; j < 4; ++j) {
        const __m256 low = _mm256_permute2f128_ps(r[j], r[4 + j], 0x20);
        const __m256 high = _mm256_permute2f128_ps(r[j], r[4 + j], 0x31);
        _mm256_storeu_ps(reinterpret_cast<float*>(to + 16 * j), low);
        _mm256_storeu_ps(reinterpret_cast<float*>(to + 16 * (4 + j)), high);
    }
}

[[gnu::always_inline]] inline void transpose_fractal(const void* fractal, size_t row_pitch, void* out) {
    const auto* rows = static_cast<const char*>(fractal);
    auto* columns = static_cast<uint32_t*>(out);
    transpose_half(rows, row_pitch, columns);
    transpose_half(rows + 8 * row_pitch, row_pitch, columns + 8);
}

inline Word widen_halves(const void* from) { return portable::widen_halves<kLanes>(from); }
inline Word widen_bytes(const void* from) { return portable::widen_bytes<kLanes>(from); }

}  // namespace asc_emu::numerics::isa
