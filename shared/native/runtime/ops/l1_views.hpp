// nd2nz copies GM -> L1 whose bytes still lie in GM only: the matrix unit unpacks an operand once, and can do
// so from the rows in GM. Only memory that the launch was given as read-only waits, since it keeps its content
// (Launch::constant). A view becomes a real copy (is settled) before anything but an L1 -> L0 copy looks at its
// bytes or overwrites some of them. When its block ends it is dropped (l0_views.hpp), when the launch fails settled.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace asc_emu {

struct Core;
struct Block;

// `columns` C0 columns of `rows` pieces of 32 bytes, the pieces back to back in L1.
struct L1View {
    const std::byte* src;       // first row in GM
    uint64_t line_stride;       // bytes between rows in GM
    uint64_t dst;
    uint64_t column_stride;     // bytes between C0 columns in L1
    uint32_t rows, columns;
    uint64_t dst_end() const { return dst + (columns - 1) * column_stride + rows * 32ull; }
};

// Those of a block, oldest first; their destinations do not overlap.
struct L1Views {
    static constexpr size_t kMax = 16;   // two operands in eight stages
    std::array<L1View, kMax> views;
    size_t count = 0;
};

// Makes the copy `view` when needed.
void copy_to_l1_later(Block& block, const L1View& view);

// Whether a byte of [low, high) of L1 still lies in GM only.
bool in_gm(const Block& block, uint64_t low, uint64_t high);

// Rows of 32-byte pieces in GM.
struct GmPieces {
    const std::byte* data;
    uint64_t row_stride;
};

// Where in GM `columns` columns of `column_bytes`, `pitch` bytes apart in L1, still lie. `data` is null when L1
// holds the bytes; it does so after the call.
GmPieces pieces_in_gm(Block& block, uint64_t src, uint64_t column_bytes, uint64_t columns, uint64_t pitch);

// Makes the copies that touch [low, high) of L1.
void settle_l1_views(Block& block, uint64_t low, uint64_t high);
void settle_l1_views(Block& block);

}  // namespace asc_emu
