// Meaning of the L1 -> L0A / L0B copies (ascend_c_cube.md sections 7.1-7.3 and 8.1).
#include "asc_emu/insn/l1_to_l0.hpp"

#include <cstdlib>
#include <cstring>

#include "ops/checks.hpp"
#include "ops/l0_version.hpp"
#include "ops/l0_views.hpp"
#include "ops/transpose.hpp"

namespace asc_emu {
namespace {

constexpr int64_t kFractal = 512;

Space l0_space(bool to_l0b) { return to_l0b ? Space::l0b : Space::l0a; }

// First source fractal; a negative stride walks K backwards from the same start formula.
template <class Insn>
uint64_t source_start(const Insn& i) {
    return i.src +
           (static_cast<uint64_t>(i.k_start) * static_cast<uint64_t>(std::abs(i.src_stride)) +
            i.m_start) *
               kFractal;
}

template <class Insn>
bool empty(const Insn& i) {
    return i.m_step == 0 || i.k_step == 0;
}

template <class Insn>
void list_source(const Insn& i, AccessList& list) {
    list.read(Space::l1, source_start(i), static_cast<uint64_t>(i.m_step * kFractal),
              {Loop{i.k_step, i.src_stride * kFractal}}, 32);
}

}  // namespace

// 2D copy ----------------------------------------------------------------------------------------
static void execute(Core& core, const CopyL1ToL0& i) {
    if (empty(i)) return;
    const auto column = static_cast<uint64_t>(i.m_step * kFractal);
    const auto written = (i.k_step - 1) * i.dst_stride * kFractal + static_cast<int64_t>(column);
    // A copy whose columns lie apart in L0 is made of copies of one column.
    const bool together = i.dst_stride == i.m_step && i.src_stride >= 0;
    const uint64_t columns = together ? i.k_step : 1;
    for (int64_t k = 0; k < i.k_step; k += static_cast<int64_t>(columns))
        copy_to_l0(core, {i.to_l0b, source_start(i) + static_cast<uint64_t>(k * i.src_stride * kFractal),
                          (i.dst + static_cast<uint64_t>(k * i.dst_stride * kFractal)) & kOffsetMask, column,
                          columns, static_cast<uint64_t>(i.src_stride * kFractal)});
    new_l0_version(core, i.to_l0b, i.dst, static_cast<uint64_t>(written));
}
static void accesses(const Core&, const CopyL1ToL0& i, AccessList& list) {
    if (empty(i)) return;
    list_source(i, list);
    list.write(l0_space(i.to_l0b), i.dst, static_cast<uint64_t>(i.m_step * kFractal),
               {Loop{i.k_step, i.dst_stride * kFractal}}, 512);
}
static Work work(const Core&, const CopyL1ToL0& i) {
    return {CostClass::l1_to_l0, static_cast<uint64_t>(i.m_step) * i.k_step * kFractal, i.k_step,
            0};
}
ASC_EMU_REGISTER(CopyL1ToL0, Roles::aic)

// 2D copy with transposed squares -----------------------------------------------------------------
namespace {

// Squares of a transposing load: how many fractals of the source make one, down and across.
struct Square {
    uint32_t down, across;
};
Square square_of(uint32_t element_bits) {
    if (element_bits == 4) return {4, 1};
    if (element_bits == 8) return {2, 1};
    if (element_bits == 16) return {1, 1};
    return {1, 2};
}

}  // namespace

static void execute(Core& core, const CopyL1ToL0Transpose& i) {
    if (empty(i)) return;
    const std::byte* src = core.base[static_cast<size_t>(Space::l1)] + source_start(i);
    std::byte* dst = core.at(l0_space(i.to_l0b), i.dst);
    const Square square = square_of(i.element_bits);
    for (uint32_t row = 0; row < i.m_step / square.down; ++row) {
        for (uint32_t column = 0; column < i.k_step / square.across; ++column) {
            const std::byte* from[4];
            std::byte* to[4];
            for (uint32_t f = 0; f < square_fractals(i.element_bits); ++f) {
                const int64_t m = square.down > 1 ? row * square.down + f : row;
                const int64_t k = square.across > 1 ? column * square.across + f : column;
                from[f] = src + (k * i.src_stride + m) * kFractal;
                const int64_t k_dst = square.across > 1 ? row * square.across + f : row;
                const int64_t m_dst = square.down > 1 ? column * square.down + f : column;
                to[f] = dst + (k_dst * i.dst_stride + m_dst) * kFractal;
            }
            transpose_square(i.element_bits, from, to);
        }
    }
    new_l0_version(core, i.to_l0b);
}
static void accesses(const Core&, const CopyL1ToL0Transpose& i, AccessList& list) {
    if (empty(i)) return;
    list_source(i, list);
    const Square square = square_of(i.element_bits);
    const uint64_t rows = i.k_step / square.across * square.down;
    list.write(l0_space(i.to_l0b), i.dst, rows * kFractal,
               {Loop{i.m_step / square.down * square.across, i.dst_stride * kFractal}}, 512);
}
static void validate(const Core& core, const CopyL1ToL0Transpose& i) {
    const Square square = square_of(i.element_bits);
    check_multiple(core, "m_step", i.m_step, square.down,
                   "whole squares are transposed: load more rows");
    check_multiple(core, "k_step", i.k_step, square.across,
                   "whole squares are transposed: load more columns");
}
static Work work(const Core&, const CopyL1ToL0Transpose& i) {
    return {CostClass::l1_to_l0, static_cast<uint64_t>(i.m_step) * i.k_step * kFractal, i.k_step,
            0};
}
ASC_EMU_REGISTER(CopyL1ToL0Transpose, Roles::aic)

// Repeated transposed squares ---------------------------------------------------------------------
namespace {

struct TransSteps {
    uint32_t fractals;
    int64_t src_repeat, src_fractal, dst_repeat, dst_fractal;  // bytes
};
TransSteps trans_steps(const CopyL1ToL0bTrans& i) {
    return {square_fractals(i.element_bits), i.src_stride * kFractal,
            (1 + i.src_fractal_gap) * kFractal, (1 + i.dst_gap) * kFractal,
            (1 + i.dst_fractal_gap) * kFractal};
}

}  // namespace

static void execute(Core& core, const CopyL1ToL0bTrans& i) {
    if (i.repeat == 0) return;
    const TransSteps s = trans_steps(i);
    const std::byte* src = core.base[static_cast<size_t>(Space::l1)] + i.src + i.index * kFractal;
    std::byte* dst = core.at(Space::l0b, i.dst);
    for (uint32_t r = 0; r < i.repeat; ++r) {
        const std::byte* from[4];
        std::byte* to[4];
        for (uint32_t f = 0; f < s.fractals; ++f) {
            from[f] = src + r * s.src_repeat + f * s.src_fractal;
            to[f] = dst + r * s.dst_repeat + f * s.dst_fractal;
        }
        transpose_square(i.element_bits, from, to);
    }
    new_l0_version(core, true);
}
static void accesses(const Core&, const CopyL1ToL0bTrans& i, AccessList& list) {
    const TransSteps s = trans_steps(i);
    list.read(Space::l1, i.src + static_cast<uint64_t>(i.index * kFractal), kFractal,
              {Loop{s.fractals, s.src_fractal}, Loop{i.repeat, s.src_repeat}}, 32);
    list.write(Space::l0b, i.dst, kFractal,
               {Loop{s.fractals, s.dst_fractal}, Loop{i.repeat, s.dst_repeat}}, 512);
}
static Work work(const Core&, const CopyL1ToL0bTrans& i) {
    const uint32_t fractals = i.repeat * square_fractals(i.element_bits);
    return {CostClass::l1_to_l0, static_cast<uint64_t>(fractals * kFractal), fractals, 0, kLoadTrans};
}
ASC_EMU_REGISTER(CopyL1ToL0bTrans, Roles::aic)

// Scales -----------------------------------------------------------------------------------------
static Space mx_space(bool to_l0b) { return to_l0b ? Space::l0b_mx : Space::l0a_mx; }
static uint64_t mx_source(const CopyL1ToL0Mx& i) {
    return i.src + (static_cast<uint64_t>(i.x_start) * i.src_stride + i.y_start) * 32;
}
static void execute(Core& core, const CopyL1ToL0Mx& i) {
    if (i.x_step == 0 || i.y_step == 0) return;
    const std::byte* src = core.base[static_cast<size_t>(Space::l1)] + mx_source(i);
    std::byte* dst = core.at(mx_space(i.to_l0b), i.dst);
    for (size_t x = 0; x < i.x_step; ++x)
        std::memcpy(dst + x * i.dst_stride * 32, src + x * i.src_stride * 32, i.y_step * 32u);
    // The scales of a granule of data: 16 bytes of operand have one of scales.
    const uint64_t written = (i.x_step - 1u) * static_cast<uint64_t>(i.dst_stride) * 32 + i.y_step * 32u;
    new_l0_version(core, i.to_l0b, i.dst * 16ull, written * 16);
}
static void accesses(const Core&, const CopyL1ToL0Mx& i, AccessList& list) {
    list.read(Space::l1, mx_source(i), i.y_step * 32u, {Loop{i.x_step, i.src_stride * 32}}, 32);
    list.write(mx_space(i.to_l0b), i.dst, i.y_step * 32u, {Loop{i.x_step, i.dst_stride * 32}}, 32);
}
static Work work(const Core&, const CopyL1ToL0Mx& i) {
    return {CostClass::l1_to_l0_mx, i.x_step * i.y_step * 32u, i.x_step, 0};
}
ASC_EMU_REGISTER(CopyL1ToL0Mx, Roles::aic)

}  // namespace asc_emu
