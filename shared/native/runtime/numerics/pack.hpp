// Unpacks an operand of any element type into the order in which the kernels read it.
//
// Words are fp32 numbers, or pairs of bf16 (even k in the low half) for the units that multiply
// pairs. A "step" is one word of k: one k for floats, two for pairs.
//
//   rows (A)      word(step, row) = out[(step / 16) * chunk_stride + row * 16 + step % 16]
//   columns (B)   word(step, col) = out[(col / 16) * block_stride + step * 16 + col % 16]
//
// Elements outside the operand read as zero; they are never taken from memory.
#pragma once

#include <cstddef>

#include "operand.hpp"

namespace asc_emu::numerics {

enum class Form : uint8_t {
    floats,    // scaled values
    unscaled,  // fp32 without the mx scales, for the wide kernel
    pairs,     // scaled values in bf16, steps padded to 16 and rows to 16 with zeros
};

constexpr uint32_t num_steps(Form form, uint32_t k) {
    return form == Form::pairs ? 16 * ceil_div(k, 32) : k;
}

struct PackedLayout {
    size_t stride;  // chunk_stride of rows, block_stride of columns, in words
    size_t words;   // of all that is packed
};

constexpr PackedLayout rows_layout(Form form, uint32_t rows, uint32_t k) {
    const size_t stored = form == Form::pairs ? round_up(rows, 16) : rows;
    return {stored * 16, stored * 16 * ceil_div(num_steps(form, k), 16)};
}

constexpr PackedLayout columns_layout(Form form, uint32_t columns, uint32_t k) {
    const size_t stride = size_t(num_steps(form, k)) * 16;
    return {stride, stride * ceil_div(columns, 16)};
}

// A part of B: some 16-column blocks, from a k that is a multiple of 64. It is packed as if it
// were the whole operand.
struct ColumnPart {
    uint32_t first_block, num_blocks;
    uint32_t first_k, num_k;
};

OperandRange pack_rows(const OperandView& view, Form form, uint32_t* out);
OperandRange pack_columns(const OperandView& view, Form form, uint32_t* out);
OperandRange pack_columns(const OperandView& view, Form form, const ColumnPart& part,
                          uint32_t* out);

}  // namespace asc_emu::numerics
