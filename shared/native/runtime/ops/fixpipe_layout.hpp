// Where Fixpipe puts its elements (ascend_c_cube.md section 9.2). A piece is a row of one 16-column
// block of L0C; every layout puts the pieces of a block at a fixed distance from row to row.
#pragma once

#include "asc_emu/insn/fixpipe.hpp"
#include "ops/checks.hpp"

namespace asc_emu {

constexpr uint32_t kPieceColumns = 16, kPieceBytes = 64;

// One copy, or the half of a dual-destination copy that goes to one vector core.
struct FixpipePart {
    uint32_t src;  // L0C offset
    uint32_t m, n;
    Space space = Space::gm;
    CoreSlot core = CoreSlot::own;
};

class FixpipeLayout {
  public:
    FixpipeLayout(const Fixpipe& insn, const FixpipePart& part) : i_(insn), part_(part) {}

    uint32_t bits() const { return dtype_bits(i_.dst_type); }
    uint32_t blocks() const { return static_cast<uint32_t>(ceil_div(part_.n, kPieceColumns)); }
    uint32_t columns(uint32_t block) const {
        const uint32_t left = part_.n - block * kPieceColumns;
        return left < kPieceColumns ? left : kPieceColumns;
    }
    // 16-column blocks that form one fractal of a narrow type: 32 columns of 8 bits, 64 of 4 bits.
    uint32_t merged() const {
        return i_.nz2nd || i_.nz2dn ? 1 : bits() == 8 ? 2 : bits() == 4 ? 4 : 1;
    }
    uint32_t matrices() const { return i_.nz2nd || i_.nz2dn ? i_.num : 1; }

    // Elements from the destination's start to row 0 of a block's piece, and from row to row.
    uint64_t piece_start(uint32_t block) const {
        const uint64_t stride = i_.dst_stride;
        if (i_.nz2nd) return block * kPieceColumns;
        if (i_.nz2dn) return block * kPieceColumns * stride;
        if (i_.channel_split) return 2ull * block * stride;
        return block / merged() * stride + block % merged() * kPieceColumns;
    }
    // NOTE: an odd last block of 8-bit elements stays a 16-column fractal of its own; that its rows
    // lie 16 and not 32 bytes apart is a choice.
    uint64_t row_pitch(uint32_t block) const {
        if (i_.nz2nd) return i_.dst_stride;
        if (i_.nz2dn) return 1;
        if (i_.channel_split) return kPieceColumns / 2;
        const uint32_t group = block / merged() * merged();
        const uint32_t present = blocks() - group < merged() ? blocks() - group : merged();
        return static_cast<uint64_t>(present) * kPieceColumns;
    }
    // Source: bytes from row to row and from block to block.
    uint64_t src_row() const {
        return i_.nz2dn ? static_cast<uint64_t>(i_.row_pitch) * kPieceBytes : kPieceBytes;
    }
    uint64_t src_block() const { return static_cast<uint64_t>(i_.src_stride) * kPieceBytes; }
    uint64_t src_matrix() const {
        return static_cast<uint64_t>(i_.src_matrix_stride) * kPieceBytes;
    }
    // From the first byte to the last one.
    uint64_t src_bytes() const {
        return (matrices() - 1) * src_matrix() + (blocks() - 1) * src_block() + (part_.m - 1) * src_row() + kPieceBytes;
    }

    void list(AccessList& list, bool atomic) const {
        const uint64_t rows = part_.m;
        list_source(list);
        const auto bytes = [&](uint64_t elements) { return elements * bits() / 8; };
        const Loop matrices_loop{matrices(), static_cast<int64_t>(bytes(i_.dst_matrix_stride))};
        const auto stride = static_cast<int64_t>(bytes(i_.dst_stride));
        const uint64_t dst = i_.dst;
        if (i_.nz2nd)
            return put(list, atomic, dst, bytes(part_.n), Loop{rows, stride}, matrices_loop);
        if (i_.nz2dn)
            return put(list, atomic, dst, bytes(rows), Loop{part_.n, stride}, matrices_loop);
        const uint32_t width = i_.channel_split ? kPieceColumns / 2 : kPieceColumns * merged();
        const uint64_t whole = part_.n / width, rest = part_.n % width;
        if (whole) put(list, atomic, dst, bytes(rows * width), Loop{whole, stride}, {});
        if (rest)
            put(list, atomic, dst + whole * static_cast<uint64_t>(stride), bytes(rows * rest), {},
                {});
    }

  private:
    void list_source(AccessList& list) const {
        const Loop blocks_loop{blocks(), static_cast<int64_t>(src_block())};
        const Loop matrices_loop{matrices(), static_cast<int64_t>(src_matrix())};
        if (src_row() == kPieceBytes)
            list.read(Space::l0c, part_.src, part_.m * static_cast<uint64_t>(kPieceBytes),
                      {blocks_loop, matrices_loop}, kPieceBytes);
        else
            list.read(Space::l0c, part_.src, kPieceBytes,
                      {Loop{part_.m, static_cast<int64_t>(src_row())}, blocks_loop, matrices_loop},
                      kPieceBytes);
    }
    void put(AccessList& list, bool atomic, uint64_t address, uint64_t bytes, Loop inner,
             Loop outer) const {
        Access& a = list.write(part_.space, address, bytes, {inner, outer},
                               part_.space == Space::gm ? 1 : 32);
        a.core = part_.core;
        a.atomic = atomic;
    }

    const Fixpipe& i_;
    const FixpipePart& part_;
};

}  // namespace asc_emu
