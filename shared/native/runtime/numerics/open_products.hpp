// Products in exact mode that wait for their neighbours along K: a GEMM cuts K into dozens of products of 64, and
// C passes through the registers once for each of them. Those that follow each other in memory become one longer
// product, which gives the same bits: its steps are theirs, in their order.
//
// Only for operands that keep their bytes until the products are settled (MmadProblem::lasting).
#pragma once

#include <algorithm>
#include <array>
#include <memory>

#include "mmad.hpp"
#include "operand.hpp"

namespace asc_emu::numerics {

// Calls of `multiply` get a problem that no longer waits, and the one that will most likely come next (or null).
class OpenProducts {
  public:
    // A bias row may change before the product is settled; scales do not follow each other along K.
    static bool may_wait(const MmadProblem& p) {
        return p.lasting && p.init != Init::bias && p.scale_a == nullptr && !p.gemv;
    }

    template <class Multiply>
    void add(const MmadProblem& p, const Multiply& multiply) {
        for (size_t i = 0; i < count_; ++i) {
            if (!continues(open_[i], p)) continue;
            open_[i].k += p.k;
            return;
        }
        settle(p.c, c_bytes(p), multiply);
        if (count_ == kMax) take(0, multiply);
        open_[count_++] = p;
    }

    // Those whose C overlaps some bytes.
    template <class Multiply>
    void settle(const void* c, size_t bytes, const Multiply& multiply) {
        const auto *first = static_cast<const char*>(c), *end = first + bytes;
        for (size_t i = 0; i < count_;) {
            const auto* own = static_cast<const char*>(open_[i].c);
            if (own < end && first < own + c_bytes(open_[i])) take(i, multiply);
            else ++i;
        }
    }

    template <class Multiply>
    void settle(const Multiply& multiply) {
        while (count_ != 0) take(0, multiply);
    }

    bool empty() const { return count_ == 0; }

  private:
    static constexpr size_t kMax = 4;
    // NOTE: of A as floats, 512 KB: two of them stay in a second-level cache of 2 MB beside C.
    static constexpr size_t kMaxWords = 128 * 1024;

    static size_t c_bytes(const MmadProblem& p) { return size_t(round_up(p.m, 16)) * round_up(p.n, 16) * 4; }

    // Whether the operand at `next` is the one at `data` behind its first k.
    static bool follows(const void* data, uint64_t pitch, uint64_t row_bytes, const void* next) {
        return static_cast<const char*>(data) + row_bytes / kPieceBytes * pitch == next;
    }

    static bool continues(const MmadProblem& p, const MmadProblem& next) {
        const bool same_tile = p.c == next.c && p.m == next.m && p.n == next.n;
        if (!same_tile || next.init != Init::accumulate || size_t(p.m) * (p.k + next.k) > kMaxWords) return false;
        if (p.a_type != next.a_type || p.b_type != next.b_type || p.hf32 != next.hf32 ||
            p.hf32_ties_away != next.hf32_ties_away || p.a_version != next.a_version ||
            p.b_version != next.b_version || p.a_pitch != next.a_pitch || p.b_pitch != next.b_pitch ||
            p.a_row_pitch != next.a_row_pitch || p.b_row_pitch != next.b_row_pitch) {
            return false;
        }
        const uint64_t bits = uint64_t(p.k) * element_bits(p.a_type);
        return bits % (8 * kPieceBytes) == 0 && follows(p.a, p.a_pitch, bits / 8, next.a) &&
               follows(p.b, p.b_pitch, bits / 8, next.b);
    }

    template <class Multiply>
    void take(size_t i, const Multiply& multiply) {
        const MmadProblem problem = open_[i];
        std::copy(open_.begin() + i + 1, open_.begin() + count_--, open_.begin() + i);
        multiply(problem, count_ != 0 ? open_.data() : nullptr);
    }

    std::array<MmadProblem, kMax> open_;
    size_t count_ = 0;
};

inline OpenProducts& thread_open_products() {
    // NOTE: a pointer, since static TLS is scarce (thread_object.hpp).
    static thread_local std::unique_ptr<OpenProducts> products;
    if (!products) products = std::make_unique<OpenProducts>();
    return *products;
}

}  // namespace asc_emu::numerics
