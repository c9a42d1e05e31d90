// Copies L1 -> L0A / L0B whose bytes still lie in L1 only: the matrix unit mostly reads an operand once and
// unpacks it on the way, so copying it first is a waste. A view becomes a real copy (is settled) before
// anything else could tell the difference: a write to its source, another access to its destination, the
// end of its block.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace asc_emu {

struct Core;
struct Block;
struct Command;
struct OpInfo;

// `columns` runs of `column_bytes`, back to back in L0 and `pitch` bytes apart in L1.
struct L0View {
    bool l0b;
    uint64_t src, dst;
    uint64_t column_bytes, columns, pitch;
    uint64_t src_end() const { return src + (columns - 1) * pitch + column_bytes; }
    uint64_t dst_end() const { return dst + columns * column_bytes; }
};

// Those of a block's cube core, oldest first.
struct L0Views {
    static constexpr size_t kMax = 4;   // two operands, double-buffered
    std::array<L0View, kMax> views;
    size_t count = 0;
};

// Makes the copy `view`, now or later.
void copy_to_l0(Core& core, const L0View& view);

// The view that is exactly the operand at `dst`: columns of `column_bytes`, `bytes` in all. Null when L0
// holds the bytes; they do so after the call.
const L0View* view_of_operand(Core& core, bool l0b, uint64_t dst, uint64_t column_bytes, uint64_t bytes);

// Before the core executes an instruction that knows nothing of views.
void settle_views_for(Core& core, const Command& command, const OpInfo& info);

void settle_views(Block& block);

// A block has ended: settles views, but drops what still lies in GM only. Nobody may rely on what a finished block
// leaves on the chip.
void end_views(Block& block);

}  // namespace asc_emu
