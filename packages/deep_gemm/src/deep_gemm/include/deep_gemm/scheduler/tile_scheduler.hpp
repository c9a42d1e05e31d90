// Which tile of D a core computes next (deep_gemm.md section 4.1). Persistent: core c takes tiles c, c + cores, ...
// of an order that keeps the operands of neighbouring cores in L2.
#ifndef DEEP_GEMM_SCHEDULER_TILE_SCHEDULER_HPP_
#define DEEP_GEMM_SCHEDULER_TILE_SCHEDULER_HPP_

#include "deep_gemm/common/types.hpp"

namespace deep_gemm {

struct Tile {
    uint32_t m_idx, n_idx;      // first row and column
    uint32_t m_size, n_size;    // rows and columns inside D
};

template <uint32_t BLOCK_M, uint32_t BLOCK_N, uint32_t kNumCores>
class TileScheduler {
public:
    __aicore__ TileScheduler(uint32_t shape_m, uint32_t shape_n, uint32_t core_idx)
        : shape_m_(shape_m), shape_n_(shape_n), num_m_blocks_(mad::ceil_div(shape_m, BLOCK_M)),
          num_n_blocks_(mad::ceil_div(shape_n, BLOCK_N)), next_(core_idx) {}

    __aicore__ bool next(Tile& tile) {
        if (next_ >= num_m_blocks_ * num_n_blocks_) return false;
        uint32_t m_block, n_block;
        swizzle(next_, m_block, n_block);
        next_ += kNumCores;
        tile.m_idx = m_block * BLOCK_M;
        tile.n_idx = n_block * BLOCK_N;
        tile.m_size = mad::min_of(shape_m_ - tile.m_idx, BLOCK_M);
        tile.n_size = mad::min_of(shape_n_ - tile.n_idx, BLOCK_N);
        return true;
    }

private:
    static constexpr uint32_t kSuperRows = 4;     // m blocks of a super-row
    static constexpr uint32_t kGroupCols = 8;     // n blocks of a group: 4 x 8 tiles are 32 cores' work

    __aicore__ void swizzle(uint32_t idx, uint32_t& m_block, uint32_t& n_block) const {
        const uint32_t tiles_per_super_row = kSuperRows * num_n_blocks_;
        const uint32_t num_super_rows = num_m_blocks_ / kSuperRows;
        const uint32_t super_row = idx / tiles_per_super_row;
        // Rows that fill no super-row: row by row
        if (super_row >= num_super_rows) {
            const uint32_t rest = idx - num_super_rows * tiles_per_super_row;
            m_block = num_super_rows * kSuperRows + rest / num_n_blocks_;
            n_block = rest % num_n_blocks_;
            return;
        }
        const uint32_t local = idx % tiles_per_super_row;
        const uint32_t num_groups = num_n_blocks_ / kGroupCols;
        const uint32_t grouped_tiles = num_groups * kGroupCols * kSuperRows;
        // Columns that fill no group: column by column at the end of the super-row
        if (local >= grouped_tiles) {
            const uint32_t rest = local - grouped_tiles;
            m_block = super_row * kSuperRows + rest % kSuperRows;
            n_block = num_groups * kGroupCols + rest / kSuperRows;
            return;
        }
        // NOTE: odd super-rows walk the groups backwards, so that the last B panels are met again at once; the
        // XOR spreads the four rows over different columns, so that cores do not fetch one panel together.
        uint32_t group = local / (kSuperRows * kGroupCols);
        if (super_row % 2 == 1) group = num_groups - 1 - group;
        const uint32_t place = local % (kSuperRows * kGroupCols);
        const uint32_t row = place % kSuperRows;
        m_block = super_row * kSuperRows + row;
        n_block = group * kGroupCols + ((place / kSuperRows) ^ row);
    }

    uint32_t shape_m_, shape_n_;
    uint32_t num_m_blocks_, num_n_blocks_;
    uint32_t next_;
};

}  // namespace deep_gemm

#endif  // DEEP_GEMM_SCHEDULER_TILE_SCHEDULER_HPP_
