// Transposed squares by element width (ascend_c_cube.md section 7.2).
#include "ops/transpose.hpp"

namespace asc_emu {
namespace {

constexpr uint32_t kRows = 16, kRowBytes = 32;

void transpose_b8(const std::byte* const* src, std::byte* const* dst) {
    for (uint32_t p = 0; p < 2; ++p)
        for (uint32_t h = 0; h < 2; ++h)
            transpose_elements<uint8_t>(src[p] + h * kRows, kRowBytes, dst[h] + p * kRows,
                                        kRowBytes, kRows, kRows);
}

void transpose_b32(const std::byte* const* src, std::byte* const* dst) {
    for (uint32_t q = 0; q < 2; ++q)
        for (uint32_t h = 0; h < 2; ++h)
            transpose_elements<uint32_t>(src[q] + h * 8 * kRowBytes, kRowBytes,
                                         dst[h] + q * 8 * kRowBytes, kRowBytes, 8, 8);
}

uint8_t nibble(const std::byte* const* fractals, uint32_t row, uint32_t column) {
    const auto byte =
        static_cast<uint8_t>(fractals[row / kRows][row % kRows * kRowBytes + column / 2]);
    return column & 1 ? byte >> 4 : byte & 15;
}

void transpose_b4(const std::byte* const* src, std::byte* const* dst) {
    for (uint32_t r = 0; r < 64; ++r)
        for (uint32_t c = 0; c < 64; c += 2)
            dst[r / kRows][r % kRows * kRowBytes + c / 2] =
                static_cast<std::byte>(nibble(src, c, r) | nibble(src, c + 1, r) << 4);
}

}  // namespace

void transpose_square(uint32_t element_bits, const std::byte* const* src, std::byte* const* dst) {
    switch (element_bits) {
        case 4:
            return transpose_b4(src, dst);
        case 8:
            return transpose_b8(src, dst);
        case 16:
            return transpose_16x16_b16(src[0], kRowBytes, dst[0], kRowBytes);
        default:
            return transpose_b32(src, dst);
    }
}

}  // namespace asc_emu
