// Products of the pair units that wait to be multiplied, so that C passes through the units once for
// many of them: a GEMM accumulates dozens of products of 64 k into one tile of C.
//
// A product keeps its packed operands, so L0A and L0B may change after add(); C may be read or
// written by others only after settle(). The sums are those of multiplying at once, in the same order.
#pragma once

#include <array>
#include <vector>

#include "accumulator.hpp"
#include "fast_units.hpp"
#include "kept_operands.hpp"
#include "workspace.hpp"

namespace asc_emu::numerics {

class OpenSums {
  public:
    // Packed pairs of an operand; stay valid for add() until the next call of the same side. `lasting` as in
    // MmadProblem.
    PackedOperand& rows(const OperandView& view, uint64_t version, bool lasting) {
        return lasting ? operand(lasting_rows_, view, version) : operand(rows_, view, Side::rows, version);
    }
    PackedOperand& columns(const OperandView& view, uint64_t version, bool lasting) {
        return lasting ? operand(lasting_columns_, view, version) : operand(columns_, view, Side::columns, version);
    }

    // C of the problem += a * b, at the latest when settle() is called.
    void add(const MmadProblem& problem, PackedOperand& a, PackedOperand& b) {
        const Accumulator acc(problem);
        OpenSum* sum = problem.init == Init::accumulate ? find(acc) : nullptr;
        if (sum == nullptr) {
            if (num_sums_ == kMaxSums || overlaps(acc)) settle();
            sum = &sums_[num_sums_++];
            sum->acc = acc;
            sum->special = false;
        }
        sum->products.push_back({a.as_rows(), b.as_columns(), num_steps(Form::pairs, problem.k)});
        sum->special = sum->special || a.range().has_special() || b.range().has_special();
        hold(a);
        hold(b);
        // A bias row may change before the sums are settled.
        if (problem.init == Init::bias || held_words_ > kMaxHeldWords) settle();
    }

    void settle() {
        for (size_t i = 0; i < num_sums_; ++i) {
            OpenSum& sum = sums_[i];
            multiply_into(sum.acc, 0, edge_, [&](const Columns& columns) {
                multiply_fast(sum.products, columns);
            });
            if (sum.special) canonicalize_nans(sum.acc);
            sum.products.clear();
        }
        num_sums_ = 0;
        held_words_ = 0;
        for (PackedOperand* operand : held_) operand->held = false;
        held_.clear();
        rows_.next = columns_.next = 0;  // those used last come first again, so that they stay in the cache
    }

    bool empty() const { return num_sums_ == 0; }

  private:
    static constexpr size_t kMaxSums = 4;
    // NOTE: 1 MB: C is visited once in sixteen products of 256x128x64, and the packed operands stay in a second-level
    // cache of 2 MB. With 256 KB a 4096x4096x1024 GEMM took 4 % longer (AMX on a Sapphire Rapids server).
    static constexpr size_t kMaxHeldWords = 256 * 1024;

    struct OpenSum {
        Accumulator acc;
        std::vector<PairProduct> products;
        bool special = false;
    };

    PackedOperand& operand(PackedRing& ring, const OperandView& view, Side side, uint64_t version) {
        if (PackedOperand* known = ring.find(view, Form::pairs, version)) return *known;
        if (ring.oldest().held) settle();
        PackedOperand& slot = ring.take();
        slot.update(view, side, Form::pairs, version);
        return slot;
    }

    PackedOperand& operand(KeptOperands& kept, const OperandView& view, uint64_t version) {
        if (PackedOperand* known = kept.find(view, version)) return *known;
        if (kept.next().held) settle();
        return kept.pack(view, version);
    }

    void hold(PackedOperand& operand) {
        if (operand.held) return;
        operand.held = true;
        held_.push_back(&operand);
        held_words_ += operand.num_words();
    }

    OpenSum* find(const Accumulator& acc) {
        for (size_t i = 0; i < num_sums_; ++i) {
            const Accumulator& open = sums_[i].acc;
            if (open.c == acc.c && open.rows == acc.rows && open.columns == acc.columns) return &sums_[i];
        }
        return nullptr;
    }

    bool overlaps(const Accumulator& acc) const {
        for (size_t i = 0; i < num_sums_; ++i) {
            if (sums_[i].acc.c < acc.end() && acc.c < sums_[i].acc.end()) return true;
        }
        return false;
    }

    PackedRing rows_, columns_;
    KeptOperands lasting_rows_{Side::rows}, lasting_columns_{Side::columns};
    std::vector<PackedOperand*> held_;
    std::array<OpenSum, kMaxSums> sums_;
    size_t num_sums_ = 0;
    size_t held_words_ = 0;
    AlignedBuffer edge_;
};

inline OpenSums& thread_open_sums() {
    // NOTE: a pointer, since static TLS is scarce (thread_object.hpp).
    static thread_local std::unique_ptr<OpenSums> sums;
    if (!sums) sums = std::make_unique<OpenSums>();
    return *sums;
}

}  // namespace asc_emu::numerics
