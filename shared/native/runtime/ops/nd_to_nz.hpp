// nd2nz on host addresses: rows of GM become C0 columns (ascend_c_cube.md section 5).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "ops/nz_strip.hpp"

namespace asc_emu {

constexpr uint32_t kC0Bytes = 32;
// Columns of C0 that are stored side by side: few enough store streams for the first-level cache when
// their distance is a power of two.
constexpr uint32_t kColumnsAtOnce = 8;

struct NzShape {
    uint64_t line_stride;
    uint64_t row_stride, column_stride;  // destination, bytes
    uint32_t rows, row_bytes;
};

// Whole C0 columns of some rows, piece by piece.
inline void copy_pieces(const std::byte* src, std::byte* dst, const NzShape& s, uint32_t rows, uint32_t whole) {
    for (uint32_t c = 0; c < whole; c += kColumnsAtOnce) {
        const uint32_t columns = whole - c < kColumnsAtOnce ? whole - c : kColumnsAtOnce;
        const std::byte* row = src + static_cast<size_t>(c) * kC0Bytes;
        std::byte* to = dst + c * s.column_stride;
        for (uint32_t n = 0; n < rows; ++n, row += s.line_stride, to += s.row_stride)
            for (uint32_t i = 0; i < columns; ++i)
                std::memcpy(to + i * s.column_stride, row + i * kC0Bytes, kC0Bytes);
    }
}

// nd2nz: 32-byte pieces of each row; the last piece is filled up with zeros.
inline void nd_to_nz(const std::byte* src, std::byte* dst, const NzShape& s) {
    const uint32_t whole = s.row_bytes / kC0Bytes, tail = s.row_bytes % kC0Bytes;
    const uint32_t in_strips = whole / kStripColumns * kStripColumns;
    uint32_t done = 0;   // rows
    if (s.row_stride == kC0Bytes && in_strips != 0) {
        for (; done + kStripRows <= s.rows; done += kStripRows) {
            const std::byte* from = src + done * s.line_stride;
            std::byte* to = dst + done * kC0Bytes;
            for (uint32_t c = 0; c < in_strips; c += kStripColumns)
                copy_nz_strip(from + c * kC0Bytes, s.line_stride, to + c * s.column_stride, s.column_stride);
        }
        copy_pieces(src + in_strips * kC0Bytes, dst + in_strips * s.column_stride, s, done, whole - in_strips);
    }
    copy_pieces(src + done * s.line_stride, dst + done * s.row_stride, s, s.rows - done, whole);
    if (tail == 0) return;
    const std::byte* row = src + static_cast<size_t>(whole) * kC0Bytes;
    std::byte* to = dst + whole * s.column_stride;
    for (uint32_t n = 0; n < s.rows; ++n, row += s.line_stride, to += s.row_stride) {
        std::byte piece[kC0Bytes] = {};
        std::memcpy(piece, row, tail);
        std::memcpy(to, piece, kC0Bytes);
    }
}

}  // namespace asc_emu
