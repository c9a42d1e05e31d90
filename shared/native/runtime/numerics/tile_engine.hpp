// Runs the register kernel (tile_kernel.hpp) over a range of columns: blocks of columns outside,
// a bounded number of steps, then balanced groups of rows. Order of k per element is ascending.
#pragma once

#include "ahead.hpp"
#include "panels.hpp"
#include "tile_kernel.hpp"

namespace asc_emu::numerics {

// NOTE: with 128 steps the blocks of B (32 KB with AVX-512) and the rows of A (3 KB) stay in a 48 KB L1.
inline constexpr uint32_t kStepsPerPass = 128;

template <class Multiply, int Blocks>
void multiply_rows(const RowPanel& a, TileJob job, Ahead* ahead) {
    const uint32_t num_tiles = ceil_div(a.rows, isa::kTileRows);
    const auto* none = reinterpret_cast<const std::byte*>(job.a);  // in the caches
    for (uint32_t tile = 0, row = 0; tile < num_tiles; ++tile) {
        job.ahead = ahead != nullptr ? ahead->take(ceil_div(job.steps, 16), none) : AheadRun{none, 0};
        const uint32_t rows = (a.rows - row) / (num_tiles - tile);
        kTileFunctions<Multiply, Blocks>[rows - 1](job);
        row += rows;
        job.a += rows * 16;
        job.c += rows * 16;
        job.init += rows * job.init_row;
    }
}

using RowFunction = void (*)(const RowPanel& a, TileJob job, Ahead* ahead);

// multiply_rows for 1..kTileBlocks blocks.
template <class Multiply>
inline constexpr auto kRowFunctions = []<size_t... kBlock>(std::index_sequence<kBlock...>) {
    return std::array<RowFunction, sizeof...(kBlock)>{multiply_rows<Multiply, kBlock + 1>...};
}(std::make_index_sequence<isa::kTileBlocks>{});

// `b(block, num_blocks, step, num_steps)` gives the ColumnPanel of a part of B, which stays valid
// until it is called again.
template <class Multiply, class ColumnSource>
void multiply_tiles(const RowPanel& a, ColumnSource&& b, const Columns& columns,
                    Ahead* ahead = nullptr) {
    constexpr uint32_t kBlocks = isa::kTileBlocks;
    const uint32_t end = columns.first_step + columns.num_steps;
    for (uint32_t i = 0; i < columns.num_blocks; i += kBlocks) {
        const uint32_t num_blocks = std::min(kBlocks, columns.num_blocks - i);
        TileJob job;
        job.a_chunk = a.chunk_stride;
        job.c = columns.c + i * columns.c_block;
        job.c_block = columns.c_block;
        job.init = columns.init + i * columns.init_block;
        job.init_row = columns.init_row;
        job.init_block = columns.init_block;
        for (uint32_t step = columns.first_step; step < end; step += kStepsPerPass) {
            job.steps = std::min(kStepsPerPass, end - step);
            job.a = a.words + (step / 16) * a.chunk_stride;
            const ColumnPanel part = b(columns.first_block + i, num_blocks, step, job.steps);
            job.b = part.words;
            job.b_block = part.block_stride;
            kRowFunctions<Multiply>[num_blocks - 1](a, job, ahead);
            job.init = job.c;  // the next pass continues from the sums so far
            job.init_row = 16;
            job.init_block = job.c_block;
        }
    }
}

}  // namespace asc_emu::numerics
