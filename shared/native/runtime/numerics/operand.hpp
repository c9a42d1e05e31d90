// How an operand lies in L0A / L0B and what the kernels want to know about it.
//
// A in NZ and B in ZN have the same bytes (ascend_c_cube.md section 4): rows (m or n) by k, in
// 32-byte pieces of consecutive k, fractals of 16 such pieces, all rows of a k piece together.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "formats.hpp"
#include "lanes.hpp"

namespace asc_emu::numerics {

constexpr uint32_t ceil_div(uint32_t a, uint32_t b) { return (a + b - 1) / b; }
constexpr uint32_t round_up(uint32_t a, uint32_t b) { return ceil_div(a, b) * b; }

// e8m0 as fp32: 2^(code - 127), 0xFF is NaN.
inline float scale_value(uint8_t code) {
    if (code == 0xff) return std::numeric_limits<float>::quiet_NaN();
    return std::bit_cast<float>(code == 0 ? 0x00400000u : uint32_t(code) << 23);
}

constexpr size_t kPieceBytes = 32;  // consecutive k of a row

struct OperandView {
    const uint8_t* data;
    uint32_t rows;  // m or n
    uint32_t k;
    Element type;
    Hf32 hf32;
    const uint8_t* scales;  // null: unscaled
    bool contiguous;        // gemv: one row of k consecutive elements
    size_t pitch = 0;       // from a 32-byte piece of a row to the next one along k; 0: dense
    size_t row_pitch = kPieceBytes;  // from a row's piece to the next row's

    size_t piece_stride() const {
        if (pitch != 0) return pitch;
        return size_t(contiguous ? 1 : round_up(rows, 16)) * 32;
    }

    // Address of the byte that holds element (row, k).
    const uint8_t* at(uint32_t row, uint32_t k_idx) const {
        const uint32_t bits = element_bits(type), piece = 256 / bits;
        return data + (k_idx / piece) * piece_stride() + row * row_pitch + (k_idx % piece) * bits / 8;
    }

    // Scale code of (row, k): blocks of 16 rows by 64 k, 32 bytes each, two scales per row.
    uint8_t scale_code(uint32_t row, uint32_t k_idx) const {
        const size_t block = size_t(row / 16) * ceil_div(k, 64) + k_idx / 64;
        return scales[block * 32 + (row % 16) * 2 + (k_idx / 32) % 2];
    }

    // True when a scaled value may leave the fp32 range; see "mx" in mmad.hpp.
    bool scales_overflow() const {
        const int limit = 254 - max_exponent(type);
        return any_scale([=](uint8_t code) { return code > limit && code != 0xff; });
    }

    bool has_nan_scale() const {
        return any_scale([](uint8_t code) { return code == 0xff; });
    }

  private:
    template <class Predicate>
    bool any_scale(Predicate&& predicate) const {
        if (scales == nullptr) return false;
        for (uint32_t row = 0; row < rows; ++row) {
            for (uint32_t k_idx = 0; k_idx < k; k_idx += 32) {
                if (predicate(scale_code(row, k_idx))) return true;
            }
        }
        return false;
    }
};

// Bounds of |x| as fp32 bits, over the non-zero elements.
struct OperandRange {
    uint32_t max_bits = 0;
    uint32_t min_bits = 0x7fffffff;

    void include(const OperandRange& other) {
        max_bits = std::max(max_bits, other.max_bits);
        min_bits = std::min(min_bits, other.min_bits);
    }
    bool has_special() const { return max_bits >= 0x7f800000; }
    bool has_subnormal() const { return min_bits < 0x00800000; }
    // |x| < 2^(max_exponent + 1), and |x| >= 2^min_exponent for normal numbers.
    int max_exponent() const { return int(max_bits >> 23) - 127; }
    int min_exponent() const { return std::max(int(min_bits >> 23), 1) - 127; }
};

// Gathers an OperandRange from vectors of fp32 words or of bf16 halves. Without kMinimum the lower
// bound stays open, for kernels that do not ask for it.
template <class Vector, bool kMinimum>
class RangeGatherer {
  public:
    using Bits = std::remove_cvref_t<decltype(Vector{}[0])>;

    void add(Vector bits) {
        const Vector magnitude = bits & Bits(0x7fffffffu >> kShift);
        max_ = magnitude > max_ ? magnitude : max_;
        if constexpr (kMinimum) {
            const Vector below = magnitude - 1;  // zero wraps to the largest number: ignored
            min_ = below < min_ ? below : min_;
        }
    }

    OperandRange range() const {
        constexpr size_t kCount = sizeof(Vector) / sizeof(Bits);
        OperandRange range;
        Bits largest = 0, smallest = Bits(~Bits(0));
        for (size_t i = 0; i < kCount; ++i) largest = std::max<Bits>(largest, max_[i]);
        range.max_bits = uint32_t(largest) << kShift;
        if constexpr (kMinimum) {
            for (size_t i = 0; i < kCount; ++i) smallest = std::min<Bits>(smallest, min_[i]);
            if (smallest != Bits(~Bits(0))) range.min_bits = uint32_t(smallest + 1) << kShift;
        }
        return range;
    }

  private:
    static constexpr int kShift = 32 - 8 * sizeof(Bits);
    Vector max_ = Vector{};
    Vector min_ = ~Vector{};
};

}  // namespace asc_emu::numerics
