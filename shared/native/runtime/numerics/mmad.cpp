// One mmad: pack the operands, choose the engine, walk the columns of C. See mmad.hpp for the
// meaning of every bit.
#include "mmad.hpp"

#include <algorithm>
#include <cstring>

#include "accumulator.hpp"
#include "fast_units.hpp"
#include "float_environment.hpp"
#include "open_products.hpp"
#include "open_sums.hpp"
#include "operand_parts.hpp"
#include "panels.hpp"
#include "tile_engine.hpp"
#include "wide.hpp"
#include "workspace.hpp"

namespace asc_emu::numerics {
namespace {

// Products of int8 are at most 2^14, so fp32 sums of 2^10 of them are exact.
constexpr uint32_t kExactI8Steps = 1024;

Hf32 hf32_of(const MmadProblem& p) {
    if (!p.hf32) return Hf32::off;
    return p.hf32_ties_away ? Hf32::ties_away : Hf32::ties_even;
}

OperandView view_a(const MmadProblem& p) {
    return {static_cast<const uint8_t*>(p.a),
            p.m,
            p.k,
            p.a_type,
            hf32_of(p),
            p.scale_a,
            p.gemv && p.m == 1,
            p.a_pitch,
            p.a_row_pitch != 0 ? p.a_row_pitch : kPieceBytes};
}

OperandView view_b(const MmadProblem& p) {
    return {static_cast<const uint8_t*>(p.b),
            p.n,
            p.k,
            p.b_type,
            hf32_of(p),
            p.scale_b,
            false,
            p.b_pitch,
            p.b_row_pitch != 0 ? p.b_row_pitch : kPieceBytes};
}

int significant_bits(const OperandView& view) {
    switch (view.type) {
        case Element::f32:
            return view.hf32 == Hf32::off ? 24 : 11;
        case Element::f16:
            return 11;
        default:
            return 8;  // bf16, int8; the small floats have at most 4
    }
}

// True when a product rounded to fp32 equals the exact one for all elements.
bool products_exact(const OperandView& a, const OperandRange& a_range, const OperandView& b,
                    const OperandRange& b_range) {
    const int bits = significant_bits(a) + significant_bits(b);
    if (bits > 24 || a_range.has_special() || b_range.has_special()) return false;
    auto lowest_bit = [](const OperandView& view, const OperandRange& range) {
        return range.has_subnormal() ? -149 : range.min_exponent() - significant_bits(view) + 1;
    };
    return lowest_bit(a, a_range) + lowest_bit(b, b_range) >= -149 &&
           a_range.max_exponent() + b_range.max_exponent() + 2 <= 128;
}

// True when the bf16 pair units, which flush subnormals, lose nothing but rounding.
bool pairs_safe(const OperandRange& a, const OperandRange& b) {
    return !a.has_subnormal() && !b.has_subnormal() && a.min_exponent() + b.min_exponent() >= -126;
}

bool exact_in_bf16(Element type) {
    return type != Element::f32 && type != Element::f16 && type != Element::i8;
}

// row += int32(sums) for whole-number sums, modulo 2^32.
void add_whole_numbers(const uint32_t* sums, uint32_t width, uint32_t* row) {
    using Float = isa::Float;
    using Word = Lanes<isa::kLanes>::Word;
    using Int = Lanes<isa::kLanes>::Int;
    uint32_t i = 0;
    for (; i + isa::kLanes <= width; i += isa::kLanes) {
        const auto whole = __builtin_convertvector(load<Float>(sums + i), Int);
        store(row + i, load<Word>(row + i) + bits_as<Word>(whole));
    }
    for (; i < width; ++i) row[i] += uint32_t(int32_t(load<float>(sums + i)));
}

// int8: fp32 sums that are exact, added into int32.
template <class ColumnSource>
void multiply_i8(const Accumulator& acc, const RowPanel& a, ColumnSource&& b, uint32_t k,
                 AlignedBuffer& edge) {
    acc.for_each_row([&](uint32_t* row, uint32_t width, uint32_t block, uint32_t r) {
        std::memmove(row, acc.init + block * acc.init_block + r * acc.init_row, width * 4);
    });
    constexpr uint32_t kBlocks = isa::kTileBlocks;
    const size_t block_words = size_t(acc.rows) * 16;
    uint32_t* sums = edge.reserve(block_words * kBlocks);
    const uint32_t num_blocks = ceil_div(acc.columns, 16);
    for (uint32_t first = 0; first < num_blocks; first += kBlocks) {
        const uint32_t count = std::min(kBlocks, num_blocks - first);
        for (uint32_t step = 0; step < k; step += kExactI8Steps) {
            const uint32_t steps = std::min(kExactI8Steps, k - step);
            multiply_tiles<MultiplyFloats>(
                a, b, {first, count, step, steps, sums, block_words, kZeroRow, 0, 0});
            for (uint32_t i = 0; i < count; ++i) {
                for (uint32_t r = 0; r < acc.rows; ++r) {
                    add_whole_numbers(sums + i * block_words + r * 16, acc.width(first + i),
                                      acc.c + (first + i) * acc.c_block + r * 16);
                }
            }
        }
    }
}

// False when the operands are not for the pair units.
bool try_fast(const MmadProblem& p) {
    if (fast_unit() == FastUnit::none) return false;
    if (!exact_in_bf16(p.a_type) || !exact_in_bf16(p.b_type)) return false;
    const OperandView a_view = view_a(p), b_view = view_b(p);
    if (a_view.scales_overflow() || b_view.scales_overflow()) return false;
    OpenSums& sums = thread_open_sums();
    PackedOperand& a = sums.rows(a_view, p.a_version, p.lasting);
    PackedOperand& b = sums.columns(b_view, p.b_version, p.lasting);
    if (!pairs_safe(a.range(), b.range())) return false;
    sums.add(p, a, b);
    return true;
}

// The fp32 tile kernel, for operands that it multiplies exactly.
void multiply_floats(const MmadProblem& p, const MmadProblem* next, const OperandView& b_view, Workspace& work) {
    const Accumulator acc(p);
    if (!p.lasting) work.a->extend(p.k);
    const RowPanel a = work.a->as_rows();
    OperandParts parts(*work.a, b_view, work.b_part);
    if (next != nullptr) parts.then(view_a(*next), view_b(*next));
    if (p.a_type == Element::i8) return multiply_i8(acc, a, parts, p.k, work.edge);
    Ahead* const ahead = p.lasting ? parts.ahead() : p.ahead;
    multiply_into(acc, p.k, work.edge,
                  [&](const Columns& columns) { multiply_tiles<MultiplyFloats>(a, parts, columns, ahead); });
    if (parts.has_special()) canonicalize_nans(acc);
}

// The double kernel, for everything else.
void multiply_doubles(const MmadProblem& p, const OperandView& a, const OperandView& b,
                      Workspace& work) {
    const Accumulator acc(p);
    work.a = &work.rows.get(a, Side::rows, Form::unscaled, p.a_version);
    work.a->extend(p.k);
    work.b.update(b, Side::columns, Form::unscaled, p.b_version);
    const WideOperands operands{a, b, work.a->as_rows(), work.b.as_columns()};
    multiply_into(acc, p.k, work.edge,
                  [&](const Columns& columns) { multiply_wide(operands, columns); });
    const bool special = work.a->range().has_special() || work.b.range().has_special() ||
                         a.has_nan_scale() || b.has_nan_scale();
    if (special) canonicalize_nans(acc);
}

void multiply_exact(const MmadProblem& p, const MmadProblem* next, Workspace& work) {
    const OperandView a = view_a(p), b = view_b(p);
    if (a.scales_overflow() || b.scales_overflow()) return multiply_doubles(p, a, b, work);
    work.a = p.lasting ? &work.lasting_rows.get_lasting(a, Side::rows, Form::floats, p.a_version)
                       : &work.rows.get(a, Side::rows, Form::floats, p.a_version);
    if constexpr (!isa::kFused) {
        work.a->extend(p.k);
        work.b.update(b, Side::columns, Form::floats, p.b_version);
        if (!products_exact(a, work.a->range(), b, work.b.range())) {
            return multiply_doubles(p, a, b, work);
        }
    }
    multiply_floats(p, next, b, work);
}

void multiply_now(const MmadProblem& p, const MmadProblem* next = nullptr) {
    multiply_exact(p, next, thread_workspace());
}

}  // namespace

void mmad(const MmadProblem& problem, Mode mode) {
    if (problem.m == 0 || problem.k == 0 || problem.n == 0) return;
    const FloatEnvironment environment;
    OpenProducts& products = thread_open_products();
    if (mode == Mode::fast) {
        products.settle(multiply_now);
        if (try_fast(problem)) return;
    }
    if (!thread_open_sums().empty()) thread_open_sums().settle();
    if (OpenProducts::may_wait(problem)) return products.add(problem, multiply_now);
    products.settle(multiply_now);
    multiply_now(problem);
}

void settle() {
    OpenSums& sums = thread_open_sums();
    OpenProducts& products = thread_open_products();
    if (sums.empty() && products.empty()) return;
    const FloatEnvironment environment;
    if (!sums.empty()) sums.settle();
    products.settle(multiply_now);
}

void settle(const void* c, size_t bytes) {
    OpenSums& sums = thread_open_sums();
    OpenProducts& products = thread_open_products();
    if (sums.empty() && products.empty()) return;
    const FloatEnvironment environment;
    if (!sums.empty()) sums.settle();
    products.settle(c, bytes, multiply_now);
}

const char* isa_name() { return isa::kName; }

const char* fast_unit_name() {
    switch (fast_unit()) {
        case FastUnit::amx:
            return "amx-bf16";
        case FastUnit::bf16_dot:
            return "avx512-bf16";
        default:
            return "exact";
    }
}

}  // namespace asc_emu::numerics
