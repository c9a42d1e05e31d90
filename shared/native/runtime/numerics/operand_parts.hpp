// What a pass of the tile engine is about to use: a part of B unpacked, small enough for the first-level cache, and
// of lasting operands the rows of A up to the same step. The memory of the next pass is asked for meanwhile.
#pragma once

#include "ahead.hpp"
#include "tile_engine.hpp"
#include "workspace.hpp"

namespace asc_emu::numerics {

class OperandParts {
  public:
    OperandParts(PackedOperand& a, const OperandView& b, AlignedBuffer& buffer)
        : a_(a), b_(b), words_(buffer.reserve(isa::kTileBlocks * kStepsPerPass * 16)) {}

    // Operands of the next product, to be asked for during the last pass.
    void then(const OperandView& a, const OperandView& b) {
        next_a_ = a;
        next_b_ = b;
    }

    ColumnPanel operator()(uint32_t block, uint32_t num_blocks, uint32_t step, uint32_t num_steps) {
        const ColumnPart part{block, num_blocks, step, num_steps};
        a_.extend(step + num_steps);
        const OperandRange range = pack_columns(b_, Form::floats, part, words_);
        has_special_ = has_special_ || range.has_special();
        expect_next(part);
        return {words_, size_t(num_steps) * 16};
    }

    // Known after all passes.
    bool has_special() const { return has_special_ || a_.range().has_special(); }

    // Of the next pass.
    Ahead* ahead() { return &ahead_; }

  private:
    void expect_next(const ColumnPart& part) {
        uint32_t block = part.first_block, step = part.first_k + part.num_k;
        if (step == b_.k) {
            block += part.num_blocks;
            step = 0;
        }
        ahead_.clear();
        if (a_.packed_k() < b_.k) expect_rows(a_.view(), a_.packed_k());
        if (block * 16 < b_.rows) return expect_columns(b_, block * 16, step);
        if (next_b_.rows == 0) return;
        if (next_a_.data != a_.view().data) expect_rows(next_a_, 0);
        expect_columns(next_b_, 0, 0);
    }

    struct Rows {
        uint32_t first, count;
    };

    void expect_rows(const OperandView& a, uint32_t step) { expect(a, {0, a.rows}, step); }
    void expect_columns(const OperandView& b, uint32_t first, uint32_t step) {
        expect(b, {first, std::min(b.rows - first, isa::kTileBlocks * 16u)}, step);
    }
    void expect(const OperandView& view, Rows rows, uint32_t step) {
        if (view.pitch != kPieceBytes) return;  // not as rows of memory
        const uint32_t row_bytes = std::min(kStepsPerPass, view.k - step) * element_bits(view.type) / 8;
        const auto* data = reinterpret_cast<const std::byte*>(view.at(rows.first, step));
        for (uint32_t at = 0; at < row_bytes; at += kAheadBytes) ahead_.add({data + at, view.row_pitch, rows.count});
    }

    PackedOperand& a_;
    const OperandView& b_;
    uint32_t* words_;
    OperandView next_a_{}, next_b_{};
    bool has_special_ = false;
    Ahead ahead_;
};

}  // namespace asc_emu::numerics
