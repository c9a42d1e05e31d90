// Fused multiply-add in fp32 by double arithmetic, see wide.hpp.
//
// A product of two (scaled) operands is exact in double: at most 48 bits, exponents within 300.
// The sum with the accumulator is rounded to odd, which makes the second rounding, to fp32,
// correct: double keeps more than 24 + 2 bits (Boldo and Melquiond, "Emulation of FMA").
#include "wide.hpp"

#include "isa.hpp"
#include "lanes.hpp"

namespace asc_emu::numerics {
namespace {

constexpr int kWideLanes = isa::kLanes >= 4 ? isa::kLanes / 2 : 2;
constexpr int kVectors = 16 / kWideLanes;
constexpr int kRows = isa::kLanes / 4;  // rows at a time: enough independent sums, few registers

using Double = Lanes<kWideLanes>::Double;
using Bits = Lanes<kWideLanes>::Long;
using Float = Lanes<kWideLanes>::Float;

// p + c rounded to odd in double, then to nearest in fp32. Inf and NaN have no error term.
Double fused_round(Double p, Double c) {
    const Double sum = p + c;
    const Double back = sum - p;
    const Double error = (p - (sum - back)) + (c - back);
    const Bits inexact = bits_as<Bits>(error < 0.0) | bits_as<Bits>(error > 0.0);
    Bits bits = bits_as<Bits>(sum);
    const Bits even = (bits & 1) - 1;
    const Bits away = 1 - 2 * ((bits_as<Bits>(error) ^ bits) >> 63);  // 1, or -1 towards zero
    bits += away & inexact & even;
    return __builtin_convertvector(__builtin_convertvector(bits_as<Double>(bits), Float), Double);
}

// The scales of some rows and one block of columns, in doubles, for 32 steps of k.
struct Scales {
    double rows[kRows];
    double columns[16];

    Scales() {
        std::fill_n(rows, kRows, 1.0);
        std::fill_n(columns, 16, 1.0);
    }

    void load_for(const OperandView& a, uint32_t row, uint32_t num_rows, const OperandView& b,
                  uint32_t column, uint32_t k_idx) {
        for (uint32_t r = 0; r < num_rows; ++r) rows[r] = scale_value(a.scale_code(row + r, k_idx));
        for (uint32_t i = 0; i < std::min(16u, b.rows - column); ++i) {
            columns[i] = scale_value(b.scale_code(column + i, k_idx));
        }
    }
};

// Some rows by one block of columns.
struct WideTile {
    uint32_t row, num_rows, block;
};

void multiply_block(const WideOperands& operands, const Columns& columns, const WideTile& tile,
                    Double (&acc)[kRows][kVectors]) {
    Scales scales;
    const uint32_t* a = operands.a.words + tile.row * 16;
    const uint32_t* b = operands.b.at(tile.block, 0).words;
    const uint32_t end = columns.first_step + columns.num_steps;
    for (uint32_t step = columns.first_step; step < end; ++step) {
        if (operands.a_view.scales != nullptr && step % 32 == 0) {
            scales.load_for(operands.a_view, tile.row, tile.num_rows, operands.b_view,
                            tile.block * 16, step);
        }
        Double column[kVectors];
#pragma GCC unroll 8
        for (int v = 0; v < kVectors; ++v) {
            const auto raw = load<Float>(b + size_t(step) * 16 + v * kWideLanes);
            column[v] = __builtin_convertvector(raw, Double) *
                        load<Double>(scales.columns + v * kWideLanes);
        }
#pragma GCC unroll 4
        for (uint32_t r = 0; r < uint32_t(kRows); ++r) {
            // Rows past the end repeat the last one; nothing of them is stored.
            const uint32_t* from = a + (step / 16) * operands.a.chunk_stride +
                                   std::min(r, tile.num_rows - 1) * 16 + step % 16;
            const double value = double(load<float>(from)) * scales.rows[r];
#pragma GCC unroll 8
            for (int v = 0; v < kVectors; ++v) {
                acc[r][v] = fused_round(splat<Double>(value) * column[v], acc[r][v]);
            }
        }
    }
}

void load_rows(const Columns& columns, uint32_t i, const WideTile& tile,
               Double (&acc)[kRows][kVectors]) {
    for (uint32_t r = 0; r < tile.num_rows; ++r) {
        const uint32_t* init =
            columns.init + i * columns.init_block + (tile.row + r) * columns.init_row;
        for (int v = 0; v < kVectors; ++v) {
            acc[r][v] = __builtin_convertvector(load<Float>(init + v * kWideLanes), Double);
        }
    }
}

void store_rows(const Columns& columns, uint32_t i, const WideTile& tile,
                const Double (&acc)[kRows][kVectors]) {
    for (uint32_t r = 0; r < tile.num_rows; ++r) {
        uint32_t* c = columns.c + i * columns.c_block + (tile.row + r) * 16;
        for (int v = 0; v < kVectors; ++v) {
            store(c + v * kWideLanes, __builtin_convertvector(acc[r][v], Float));
        }
    }
}

}  // namespace

void multiply_wide(const WideOperands& operands, const Columns& columns) {
    for (uint32_t i = 0; i < columns.num_blocks; ++i) {
        for (uint32_t row = 0; row < operands.a.rows; row += kRows) {
            const WideTile tile{row, std::min(uint32_t(kRows), operands.a.rows - row),
                                columns.first_block + i};
            Double acc[kRows][kVectors] = {};
            load_rows(columns, i, tile, acc);
            multiply_block(operands, columns, tile, acc);
            store_rows(columns, i, tile, acc);
        }
    }
}

}  // namespace asc_emu::numerics
