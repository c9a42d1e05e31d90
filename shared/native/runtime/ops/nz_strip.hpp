// The hot shape of nd2nz: a strip of 16 rows by two C0 columns whose rows lie back to back in L1.
// NOTE: a strip reads whole source lines and writes two runs of 512 bytes, in whole lines where the host has
// 64-byte registers: 18 GB/s in place of 10 for 32-byte pieces (one core of a Sapphire Rapids server, source
// in the last-level cache).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__AVX512F__)
// NOTE: g++ 12 warns about the undefined source operands inside its own header.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop
#endif

namespace asc_emu {

constexpr uint32_t kStripRows = 16;
constexpr uint32_t kStripColumns = 2;   // of 32 bytes

// `src` is the first row's first byte, rows `line_stride` bytes apart; `dst` the first piece of the first column.
inline void copy_nz_strip(const std::byte* src, uint64_t line_stride, std::byte* dst, uint64_t column_stride) {
#if defined(__AVX512F__)
#pragma GCC unroll 8
    for (uint32_t n = 0; n < kStripRows; n += 2, src += 2 * line_stride, dst += 64) {
        const __m512i first = _mm512_loadu_si512(src), second = _mm512_loadu_si512(src + line_stride);
        _mm512_storeu_si512(dst, _mm512_shuffle_i64x2(first, second, 0x44));
        _mm512_storeu_si512(dst + column_stride, _mm512_shuffle_i64x2(first, second, 0xee));
    }
#else
    for (uint32_t n = 0; n < kStripRows; ++n, src += line_stride, dst += 32) {
        std::memcpy(dst, src, 32);
        std::memcpy(dst + column_stride, src + 32, 32);
    }
#endif
}

}  // namespace asc_emu
