// The multiply kernel: a few rows by one or two 16-column blocks of C in registers, all steps of
// k in ascending order. One template serves every ISA (isa.hpp) and both word kinds (pack.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "ahead.hpp"
#include "isa.hpp"
#include "pack.hpp"

namespace asc_emu::numerics {

// Addresses are in words of 4 bytes. The starting value of a row of 16 columns is read from
// init, so that zeros and a bias row (row stride 0) and the old C (stride of C) are one path.
struct TileJob {
    const uint32_t* a;  // first row, first step
    size_t a_chunk;     // from one chunk of 16 steps to the next
    const uint32_t* b;  // first block, first step
    size_t b_block;
    uint32_t* c;  // first row of the first block, rows 16 apart
    size_t c_block;
    const uint32_t* init;
    size_t init_row, init_block;
    uint32_t steps;
    AheadRun ahead;  // one part of it is asked for with each chunk
};

struct MultiplyFloats {
    static isa::Float apply(isa::Float a, isa::Float b, isa::Float c) {
        return isa::multiply_add(a, b, c);
    }
};

template <class Multiply, int Rows, int Blocks>
void multiply_tile(const TileJob& shared_job) {
    const TileJob job = shared_job;  // a copy, so that stores to C cannot change it
    using Float = isa::Float;
    constexpr int kParts = 16 / isa::kLanes;  // vectors of a 16-column row
    constexpr int kVectors = Blocks * kParts;
    Float acc[Rows][kVectors];
#pragma GCC unroll 16
    for (int r = 0; r < Rows; ++r) {
#pragma GCC unroll 16
        for (int v = 0; v < kVectors; ++v) {
            const size_t block = v / kParts, part = v % kParts;
            acc[r][v] = load<Float>(job.init + r * job.init_row + block * job.init_block +
                                    part * isa::kLanes);
        }
    }
    const uint32_t* b = job.b;
    const uint32_t* chunk = job.a;
    uint32_t steps_left = job.steps;
    AheadRun ahead = job.ahead;
    // NOTE: steps is at least 1; with a test in front of these loops g++ spills all of acc.
    do {
        ahead.fetch();
        const uint32_t* a = chunk;
        const uint32_t* a_end = a + std::min(16u, steps_left);
        do {
            Float columns[kVectors];
#pragma GCC unroll 16
            for (int v = 0; v < kVectors; ++v) {
                columns[v] =
                    load<Float>(b + (v / kParts) * job.b_block + (v % kParts) * isa::kLanes);
            }
#pragma GCC unroll 16
            for (int r = 0; r < Rows; ++r) {
                const Float row = splat<Float>(load<float>(a + r * 16));
#pragma GCC unroll 16
                for (int v = 0; v < kVectors; ++v) {
                    acc[r][v] = Multiply::apply(row, columns[v], acc[r][v]);
                }
            }
            b += 16;
        } while (++a != a_end);
        chunk += job.a_chunk;
        steps_left -= std::min(16u, steps_left);
    } while (steps_left != 0);
#pragma GCC unroll 16
    for (int r = 0; r < Rows; ++r) {
#pragma GCC unroll 16
        for (int v = 0; v < kVectors; ++v) {
            store(job.c + r * 16 + (v / kParts) * job.c_block + (v % kParts) * isa::kLanes,
                  acc[r][v]);
        }
    }
}

using TileFunction = void (*)(const TileJob&);

// multiply_tile for 1..kTileRows rows.
template <class Multiply, int Blocks>
inline constexpr auto kTileFunctions = []<size_t... kRow>(std::index_sequence<kRow...>) {
    return std::array<TileFunction, sizeof...(kRow)>{multiply_tile<Multiply, kRow + 1, Blocks>...};
}(std::make_index_sequence<isa::kTileRows>{});

}  // namespace asc_emu::numerics
