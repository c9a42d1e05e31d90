// Transposes of the square tiles behind dn2nz and the transposing L0 loads (ascend_c_cube.md
// sections 5.2, 7.2, 7.3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace asc_emu {

namespace detail {

typedef uint16_t Row16 __attribute__((vector_size(32)));

inline Row16 load_row(const std::byte* p) {
    Row16 r;
    std::memcpy(&r, p, 32);
    return r;
}

// Interleaves inside each half of a register: the steps of an 8x8 transpose, two at a time.
#define ASC_EMU_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
inline Row16 low16(Row16 a, Row16 b) {
    return ASC_EMU_SHUFFLE(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 8, 24, 9, 25, 10, 26, 11, 27);
}
inline Row16 high16(Row16 a, Row16 b) {
    return ASC_EMU_SHUFFLE(a, b, 4, 20, 5, 21, 6, 22, 7, 23, 12, 28, 13, 29, 14, 30, 15, 31);
}
inline Row16 low32(Row16 a, Row16 b) {
    return ASC_EMU_SHUFFLE(a, b, 0, 1, 16, 17, 2, 3, 18, 19, 8, 9, 24, 25, 10, 11, 26, 27);
}
inline Row16 high32(Row16 a, Row16 b) {
    return ASC_EMU_SHUFFLE(a, b, 4, 5, 20, 21, 6, 7, 22, 23, 12, 13, 28, 29, 14, 15, 30, 31);
}
inline Row16 low64(Row16 a, Row16 b) {
    return ASC_EMU_SHUFFLE(a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
}
inline Row16 high64(Row16 a, Row16 b) {
    return ASC_EMU_SHUFFLE(a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31);
}
inline Row16 low_halves(Row16 a, Row16 b) {
    return ASC_EMU_SHUFFLE(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
}
inline Row16 high_halves(Row16 a, Row16 b) {
    return ASC_EMU_SHUFFLE(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
}
#undef ASC_EMU_SHUFFLE

// Both 8x8 halves of eight rows: out[c] = column c in the low half, column 8 + c in the high half.
inline void transpose_halves(const Row16 (&r)[8], Row16 (&out)[8]) {
    const Row16 a0 = low16(r[0], r[1]), a1 = high16(r[0], r[1]);
    const Row16 a2 = low16(r[2], r[3]), a3 = high16(r[2], r[3]);
    const Row16 a4 = low16(r[4], r[5]), a5 = high16(r[4], r[5]);
    const Row16 a6 = low16(r[6], r[7]), a7 = high16(r[6], r[7]);
    const Row16 b0 = low32(a0, a2), b1 = high32(a0, a2), b2 = low32(a1, a3), b3 = high32(a1, a3);
    const Row16 b4 = low32(a4, a6), b5 = high32(a4, a6), b6 = low32(a5, a7), b7 = high32(a5, a7);
    out[0] = low64(b0, b4);
    out[1] = high64(b0, b4);
    out[2] = low64(b1, b5);
    out[3] = high64(b1, b5);
    out[4] = low64(b2, b6);
    out[5] = high64(b2, b6);
    out[6] = low64(b3, b7);
    out[7] = high64(b3, b7);
}

}  // namespace detail

// 16 rows of 16 two-byte elements; strides in bytes.
inline void transpose_16x16_b16(const std::byte* src, size_t src_stride, std::byte* dst,
                                size_t dst_stride) {
    using detail::Row16;
    Row16 upper[8], lower[8], left[8], right[8];
    for (int i = 0; i < 8; ++i) upper[i] = detail::load_row(src + i * src_stride);
    for (int i = 0; i < 8; ++i) lower[i] = detail::load_row(src + (8 + i) * src_stride);
    detail::transpose_halves(upper, left);
    detail::transpose_halves(lower, right);
    for (int i = 0; i < 8; ++i) {
        const Row16 low = detail::low_halves(left[i], right[i]);
        const Row16 high = detail::high_halves(left[i], right[i]);
        std::memcpy(dst + i * dst_stride, &low, 32);
        std::memcpy(dst + (8 + i) * dst_stride, &high, 32);
    }
}

// rows x columns elements of type T.
template <class T>
inline void transpose_elements(const std::byte* src, size_t src_stride, std::byte* dst,
                               size_t dst_stride, uint32_t rows, uint32_t columns) {
    for (uint32_t r = 0; r < rows; ++r) {
        T line[64];
        std::memcpy(line, src + r * src_stride, columns * sizeof(T));
        for (uint32_t c = 0; c < columns; ++c)
            std::memcpy(dst + c * dst_stride + r * sizeof(T), &line[c], sizeof(T));
    }
}

// Fractals of 512 bytes that make one square of E x E elements, E = 64 (4 bits), 32 (8), 16 (16,
// 32).
constexpr uint32_t square_fractals(uint32_t element_bits) {
    return element_bits == 4 ? 4 : element_bits == 16 ? 1 : 2;
}

// One square: 4- and 8-bit fractals are stacked row blocks, 32-bit fractals stand side by side.
void transpose_square(uint32_t element_bits, const std::byte* const* src, std::byte* const* dst);

}  // namespace asc_emu
