// Packed operands that keep their bytes for a whole launch: a GEMM comes back to the same parts of A and B in later
// tiles, and reading a packed part again is cheaper than copying and packing it again.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>

#include "workspace.hpp"

namespace asc_emu::numerics {

class KeptOperands {
  public:
    explicit KeptOperands(Side side) : side_(side) {}

    // The packed pairs of the view if they are here.
    PackedOperand* find(const OperandView& view, uint64_t version) {
        if (version != version_) forget_all(version);
        const auto known = places_.find(view.data);
        if (known == places_.end()) return nullptr;
        PackedOperand& operand = operands_[known->second];
        return operand.holds(view, Form::pairs, version) ? &operand : nullptr;
    }

    // What makes room for the next one; it may still be held.
    PackedOperand& next() {
        if (next_ == operands_.size()) {
            if (words_ < kMaxWords) operands_.emplace_back();
            else next_ = 0;
        }
        return operands_[next_];
    }

    // Packs the view into next().
    PackedOperand& pack(const OperandView& view, uint64_t version) {
        PackedOperand& operand = next();
        const auto old = places_.find(operand.view().data);
        if (old != places_.end() && old->second == next_) places_.erase(old);
        words_ -= operand.capacity();
        operand.update(view, side_, Form::pairs, version);
        words_ += operand.capacity();
        places_[view.data] = next_++;
        return operand;
    }

  private:
    // NOTE: 16 MB, which hold 4096 x 2048 pairs of bf16.
    static constexpr size_t kMaxWords = 4 * 1024 * 1024;

    // NOTE: in always the same order, so that a small problem uses little memory.
    void forget_all(uint64_t version) {
        places_.clear();
        next_ = 0;
        version_ = version;
    }

    Side side_;
    std::deque<PackedOperand> operands_;  // keeps addresses
    std::unordered_map<const uint8_t*, size_t> places_;  // by the first byte
    size_t next_ = 0, words_ = 0;
    uint64_t version_ = 0;
};

}  // namespace asc_emu::numerics
