// AMX tile engine of fast mode: two by two tiles of C (16 rows by 16 columns each, which is a
// fractal of L0C) stay in tile registers over all k.
#pragma once

#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fast_units.hpp"

namespace asc_emu::numerics {

// Linux grants the tile registers per process on request.
inline bool amx_permitted() {
    constexpr long kRequestPermission = 0x1023, kTileData = 18;  // asm/prctl.h
    return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

// All eight tiles are 16 rows of 64 bytes; released at the end, so that switching fibers or
// threads never has tile state to save.
class AmxTiles {
  public:
    AmxTiles() {
        struct alignas(64) {
            uint8_t palette = 1, start_row = 0, reserved[14] = {};
            uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
            uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
        } config;
        _tile_loadconfig(&config);
    }
    ~AmxTiles() { _tile_release(); }
    AmxTiles(const AmxTiles&) = delete;
    AmxTiles& operator=(const AmxTiles&) = delete;
};

// One tile of C and where it starts from. A tile that reaches past the last row works on a copy.
struct AmxTarget {
    uint32_t* c;
    const uint32_t* init;
    size_t init_row;
    uint32_t rows;
    uint32_t* home;
    alignas(64) uint32_t copy[256];

    void bind(uint32_t* c_tile, const uint32_t* init_tile, size_t row_stride, uint32_t num_rows) {
        home = c = c_tile;
        init = init_tile;
        init_row = row_stride;
        rows = num_rows;
        if (rows == 16) return;
        c = copy;
        if (init_row == 0) return;
        std::fill_n(std::copy_n(init, rows * 16, copy), (16 - rows) * 16, 0);
        init = copy;
    }

    void finish() const {
        if (rows < 16) std::copy_n(copy, rows * 16, home);
    }
};

// Two by two tiles of C, or fewer at the edges.
struct AmxPlace {
    uint32_t row, block;
};

// C tiles are 0-3 (row tile * 2 + column tile), A tiles 4 and 5, B tiles 6 and 7.
template <int Rows, int Blocks>
void multiply_amx_tiles(std::span<const PairProduct> products, AmxPlace place,
                        AmxTarget (&targets)[2][2]) {
    // NOTE: the tile intrinsics of g++ do not tell the compiler that they touch memory.
    asm volatile("" ::: "memory");
    _tile_loadd(0, targets[0][0].init, targets[0][0].init_row * 4);
    if constexpr (Blocks > 1) _tile_loadd(1, targets[0][1].init, targets[0][1].init_row * 4);
    if constexpr (Rows > 1) _tile_loadd(2, targets[1][0].init, targets[1][0].init_row * 4);
    if constexpr (Rows > 1 && Blocks > 1) {
        _tile_loadd(3, targets[1][1].init, targets[1][1].init_row * 4);
    }
    for (const PairProduct& product : products) {
        const uint32_t* a = product.a.words + place.row * 16;
        const uint32_t* a_end = a + product.num_steps / 16 * product.a.chunk_stride;
        const uint32_t* b = product.b.at(place.block, 0).words;
        for (; a != a_end; a += product.a.chunk_stride, b += 256) {
            _tile_loadd(6, b, 64);
            _tile_loadd(4, a, 64);
            _tile_dpbf16ps(0, 4, 6);
            if constexpr (Rows > 1) {
                _tile_loadd(5, a + 256, 64);
                _tile_dpbf16ps(2, 5, 6);
            }
            if constexpr (Blocks > 1) {
                _tile_loadd(7, b + product.b.block_stride, 64);
                _tile_dpbf16ps(1, 4, 7);
                if constexpr (Rows > 1) _tile_dpbf16ps(3, 5, 7);
            }
        }
    }
    _tile_stored(0, targets[0][0].c, 64);
    if constexpr (Blocks > 1) _tile_stored(1, targets[0][1].c, 64);
    if constexpr (Rows > 1) _tile_stored(2, targets[1][0].c, 64);
    if constexpr (Rows > 1 && Blocks > 1) _tile_stored(3, targets[1][1].c, 64);
    asm volatile("" ::: "memory");
}

using AmxTileFunction = void (*)(std::span<const PairProduct>, AmxPlace, AmxTarget (&)[2][2]);

inline constexpr AmxTileFunction kAmxTileFunctions[2][2] = {
    {multiply_amx_tiles<1, 1>, multiply_amx_tiles<1, 2>},
    {multiply_amx_tiles<2, 1>, multiply_amx_tiles<2, 2>},
};

// All products have the rows of the first one.
inline void multiply_amx(std::span<const PairProduct> products, const Columns& columns) {
    const AmxTiles tiles;
    AmxTarget targets[2][2];
    const uint32_t num_rows = products.front().a.rows;
    for (uint32_t block = 0; block < columns.num_blocks; block += 2) {
        const uint32_t blocks = std::min(2u, columns.num_blocks - block);
        for (uint32_t row = 0; row < num_rows; row += 32) {
            const uint32_t row_tiles = row + 16 < num_rows ? 2 : 1;
            for (uint32_t r = 0; r < row_tiles; ++r) {
                for (uint32_t i = 0; i < blocks; ++i) {
                    const uint32_t first = row + 16 * r;
                    targets[r][i].bind(
                        columns.c + (block + i) * columns.c_block + first * 16,
                        columns.init + (block + i) * columns.init_block + first * columns.init_row,
                        columns.init_row, std::min(16u, num_rows - first));
                }
            }
            kAmxTileFunctions[row_tiles - 1][blocks - 1](
                products, {row, columns.first_block + block}, targets);
            for (uint32_t r = 0; r < row_tiles; ++r) {
                for (uint32_t i = 0; i < blocks; ++i) targets[r][i].finish();
            }
        }
    }
}

}  // namespace asc_emu::numerics
