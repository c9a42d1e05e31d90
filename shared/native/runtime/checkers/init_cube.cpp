// Marks through the matrix unit and Fixpipe.
#include "checkers/init_cube.hpp"

#include <cstring>

#include "ops/checks.hpp"
#include "ops/unit_regions.hpp"

namespace asc_emu {
namespace {

constexpr uint64_t kFractalRow = 32, kFractalC = 1024;

struct Operand {
    Region region, scales;
    uint32_t address;
    uint32_t rows;        // M or N
    uint32_t padded;
};

// Which rows (of A; columns of B) hold only defined elements below k; true in `all` when all do.
struct Lines {
    bool all = true;
    std::vector<uint8_t> defined;
    void bad(uint32_t rows, uint32_t row) {
        if (defined.empty()) defined.assign(rows, 1);
        all = false;
        defined[row] = 0;
    }
    bool at(uint32_t row) const { return all || defined[row]; }
};

void check_group(DefinedMemory& memory, const Operand& o, uint64_t start, uint64_t bytes, Lines& lines) {
    if (memory.defined(o.region, start, start + o.rows * kFractalRow)) return;
    for (uint32_t r = 0; r < o.rows; ++r) {
        const uint64_t at = start + r * kFractalRow;
        if (!memory.defined(o.region, at, at + bytes)) lines.bad(o.rows, r);
    }
}

void check_scales(DefinedMemory& memory, const Operand& o, uint32_t k, Lines& lines) {
    const uint32_t pairs = k / 64;
    for (uint32_t r = 0; r < o.rows; ++r)
        for (uint32_t p = 0; p < pairs; ++p) {
            const uint64_t at = o.address / 16 + (r / 16 * pairs + p) * 32ull + r % 16 * 2;
            if (!memory.defined(o.scales, at, at + 2)) lines.bad(o.rows, r);
        }
}

Lines lines_of(DefinedMemory& memory, const Operand& o, const Mmad& i) {
    Lines lines;
    const uint64_t bits = static_cast<uint64_t>(i.k) * dtype_bits(i.a_type);
    if (i.gemv && o.region == Region::l0a) {
        if (!memory.defined(o.region, o.address, o.address + (bits + 7) / 8)) lines.bad(1, 0);
    } else {
        const uint64_t groups = ceil_div(bits, 256);
        for (uint64_t g = 0; g < groups; ++g) {
            const uint64_t left = ceil_div(bits - g * 256, 8);
            check_group(memory, o, o.address + g * o.padded * kFractalRow,
                        left < kFractalRow ? left : kFractalRow, lines);
        }
    }
    if (i.mx) check_scales(memory, o, i.k, lines);
    return lines;
}

bool bias_defined(DefinedMemory& memory, const Mmad& i, uint32_t column) {
    return memory.defined(Region::bt, i.bt + column * 4ull, i.bt + column * 4ull + 4);
}

// A fresh result with nothing undefined in it: rows below m of every column block.
void define_result(DefinedMemory& memory, const Mmad& i) {
    const uint64_t mp = padded_m(i);
    for (uint32_t nb = 0; nb * 16 < i.n; ++nb) {
        const uint64_t start = i.c + nb * mp * 64;
        const uint32_t columns = i.n - nb * 16 < 16 ? i.n - nb * 16 : 16;
        memory.define(Region::l0c, start, start + i.m * 64ull);
        if (columns < 16)
            for (uint32_t r = 0; r < i.m; ++r)
                memory.mark(Region::l0c, start + r * 64ull + columns * 4, start + r * 64ull + 64, kDerived);
        memory.mark(Region::l0c, start + i.m * 64ull, start + mp * 64, kDerived);
    }
}

}  // namespace

void multiply_marks(DefinedMemory& memory, const Core&, const Command& c) {
    const Mmad& i = c.as<Mmad>();
    if (i.m == 0 || i.k == 0 || i.n == 0) return;
    const Lines rows = lines_of(memory, {Region::l0a, Region::l0a_mx, i.a, i.m, padded_m(i)}, i);
    const Lines columns = lines_of(memory, {Region::l0b, Region::l0b_mx, i.b, i.n, padded_n(i)}, i);
    const bool fresh = i.init != MmadInit::accumulate;
    const bool bias = i.init == MmadInit::bias;
    const bool bias_whole = !bias || memory.defined(Region::bt, i.bt, i.bt + i.n * 4ull);
    if (rows.all && columns.all && bias_whole) {
        // NOTE: accumulation of defined operands leaves every mark as it was.
        if (fresh) define_result(memory, i);
        return;
    }
    if (fresh) define_result(memory, i);
    const uint64_t mp = padded_m(i);
    for (uint32_t n = 0; n < i.n; ++n) {
        const bool column = columns.at(n) && (bias_whole || bias_defined(memory, i, n));
        for (uint32_t m = 0; m < i.m; ++m) {
            if (column && rows.at(m)) continue;
            const uint64_t at = i.c + n / 16 * mp * 64 + m * 64ull + n % 16 * 4;
            memory.prepare(Region::l0c, at, at + 4);
            if (!fresh && *memory.at(Region::l0c, at) == kDerived) continue;
            memory.mark(Region::l0c, at, at + 4, kDerived);
            memory.origin(Region::l0c, at) = c.site;
        }
    }
}

namespace {

struct Target {
    Region region;
    bool known;      // a memory whose marks are kept
};

// Elements of one piece: `columns` neighbours of a row.
void drain_piece(DefinedMemory& memory, const FixpipeLayout& layout, const Fixpipe& i, Target target,
                 uint64_t src, uint32_t columns, uint64_t element, DrainResult& result) {
    const uint32_t bits = layout.bits();
    const uint64_t dst = i.dst & kOffsetMask;
    if (memory.defined(Region::l0c, src, src + columns * 4ull) && (!target.known || !i.nz2dn)) {
        if (target.known)
            memory.define(target.region, dst + element * bits / 8, dst + ((element + columns) * bits + 7) / 8);
        return;
    }
    for (uint32_t c = 0; c < columns; ++c) {
        const uint64_t from = src + c * 4ull;
        const bool good = memory.defined(Region::l0c, from, from + 4);
        if (!good && result.undefined_bytes == 0) result.first = from;
        if (!good) result.undefined_bytes += 4;
        if (!target.known) continue;
        const uint64_t index = element + (i.nz2dn ? c * static_cast<uint64_t>(i.dst_stride) : c);
        const uint64_t to = dst + index * bits / 8, end = to + (bits < 8 ? 1 : bits / 8);
        if (good) {
            memory.define(target.region, to, end);
        } else {
            memory.mark(target.region, to, end, kDerived);
            memory.origin(target.region, to) = memory.origin(Region::l0c, from);
        }
    }
}

// How many blocks from `first` on are defined as a whole; their rows lie side by side in the destination.
uint32_t whole_blocks(DefinedMemory& memory, const FixpipeLayout& layout, const FixpipePart& part, const Fixpipe& i,
                      uint32_t matrix, uint32_t first) {
    if (!i.nz2nd) return 0;
    uint32_t count = 0;
    for (uint32_t b = first; b < layout.blocks() && layout.columns(b) == kPieceColumns; ++b, ++count) {
        const uint64_t src = part.src + matrix * layout.src_matrix() + b * layout.src_block();
        if (!memory.defined(Region::l0c, src, src + part.m * static_cast<uint64_t>(kPieceBytes))) break;
    }
    return count;
}

void define_rows(DefinedMemory& memory, const FixpipeLayout& layout, const FixpipePart& part, const Fixpipe& i,
                 Target target, uint32_t matrix, uint32_t first, uint32_t count) {
    const uint64_t bits = layout.bits();
    for (uint32_t r = 0; r < part.m; ++r) {
        const uint64_t element = matrix * static_cast<uint64_t>(i.dst_matrix_stride) + layout.piece_start(first) +
                                 r * layout.row_pitch(first);
        const uint64_t at = (i.dst & kOffsetMask) + element * bits / 8;
        memory.define(target.region, at, at + count * kPieceColumns * bits / 8);
    }
}

void drain_part(DefinedMemory& memory, const Fixpipe& i, const FixpipePart& part, Target target,
                DrainResult& result) {
    const FixpipeLayout layout(i, part);
    for (uint32_t q = 0; q < layout.matrices(); ++q)
        for (uint32_t b = 0; b < layout.blocks(); ++b) {
            if (const uint32_t whole = whole_blocks(memory, layout, part, i, q, b)) {
                if (target.known) define_rows(memory, layout, part, i, target, q, b, whole);
                b += whole - 1;
                continue;
            }
            for (uint32_t r = 0; r < part.m; ++r) {
                const uint64_t src = part.src + q * layout.src_matrix() + b * layout.src_block() +
                                     r * layout.src_row();
                const uint64_t element = q * static_cast<uint64_t>(i.dst_matrix_stride) +
                                         layout.piece_start(b) + r * layout.row_pitch(b);
                drain_piece(memory, layout, i, target, src, layout.columns(b), element, result);
            }
        }
}

}  // namespace

DrainResult drain_marks(DefinedMemory& memory, const Core&, const Command& c) {
    DrainResult result;
    const Fixpipe& i = c.as<Fixpipe>();
    if (empty(i)) return result;
    switch (static_cast<Op>(c.op)) {
        case Op::CopyL0cToUb: {
            const UbParts parts = ub_parts(c.as<CopyL0cToUb>());
            for (uint32_t p = 0; p < parts.count; ++p) {
                const Region ub = parts.part[p].core == CoreSlot::aiv1 ? Region::ub1 : Region::ub0;
                drain_part(memory, i, parts.part[p], {ub, true}, result);
            }
            return result;
        }
        case Op::CopyL0cToL1:
            drain_part(memory, i, {i.src, i.m, i.n, Space::l1}, {Region::l1, true}, result);
            return result;
        default:
            drain_part(memory, i, {i.src, i.m, i.n}, {Region::l0c, false}, result);
            return result;
    }
}

}  // namespace asc_emu
