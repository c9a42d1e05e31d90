// Meaning of the GM -> L1 copies (ascend_c_cube.md section 5).
#include "asc_emu/insn/gm_to_l1.hpp"

#include <cstring>

#include "launch.hpp"
#include "ops/bursts.hpp"
#include "ops/checks.hpp"
#include "ops/l1_views.hpp"
#include "ops/nd_to_nz.hpp"
#include "ops/transpose.hpp"

namespace asc_emu {
namespace {

// dn2nz: element (n, D) comes from column line D. One call makes one C0 column of the destination.
template <class T>
void dn_column(const std::byte* src, std::byte* dst, const NzShape& s, uint32_t lines) {
    for (uint32_t n = 0; n < s.rows; ++n) {
        T row[kC0Bytes / sizeof(T)] = {};
        for (uint32_t e = 0; e < lines; ++e)
            std::memcpy(&row[e], src + e * s.line_stride + n * sizeof(T), sizeof(T));
        std::memcpy(dst + n * s.row_stride, row, kC0Bytes);
    }
}

void dn_column_b16(const std::byte* src, std::byte* dst, const NzShape& s, uint32_t lines) {
    const uint32_t whole = lines == 16 ? s.rows / 16 * 16 : 0;
    for (uint32_t n = 0; n < whole; n += 16) {
        // The lines of the next C0 column.
        for (uint32_t e = 0; e < 16; ++e)
            __builtin_prefetch(src + (16 + e) * s.line_stride + n * 2);
        transpose_16x16_b16(src + n * 2, s.line_stride, dst + n * s.row_stride, s.row_stride);
    }
    if (whole == s.rows) return;
    NzShape rest = s;
    rest.rows = s.rows - whole;
    dn_column<uint16_t>(src + whole * 2, dst + whole * s.row_stride, rest, lines);
}

void dn_to_nz(const std::byte* src, std::byte* dst, const NzShape& s, uint32_t d,
              uint32_t element_bytes) {
    const uint32_t c0 = kC0Bytes / element_bytes;
    for (uint32_t c = 0; c * c0 < d; ++c) {
        const uint32_t lines = d - c * c0 < c0 ? d - c * c0 : c0;
        const std::byte* from = src + static_cast<uint64_t>(c) * c0 * s.line_stride;
        std::byte* to = dst + c * s.column_stride;
        if (element_bytes == 1)
            dn_column<uint8_t>(from, to, s, lines);
        else if (element_bytes == 2)
            dn_column_b16(from, to, s, lines);
        else
            dn_column<uint32_t>(from, to, s, lines);
    }
}

bool empty(const CopyGmToL1Nz& i) { return i.num == 0 || i.n == 0 || i.d == 0; }
// Rows of four elements, packed: only for at most four columns.
bool small_c0(const CopyGmToL1Nz& i) { return i.small_c0 && i.d <= 4; }

// NOTE: the C-API pages state smallc0_en the other way round; this is the polarity of the basic API
// and of every example.
void copy_small_c0(const CopyGmToL1Nz& i, const std::byte* src, std::byte* dst) {
    const uint32_t s = i.element_bytes, row_bytes = 4 * s;
    std::memset(dst, 0, round_up(static_cast<uint64_t>(i.n) * row_bytes, kC0Bytes));
    for (uint32_t n = 0; n < i.n; ++n)
        for (uint32_t d = 0; d < i.d; ++d)
            std::memcpy(
                dst + n * row_bytes + d * s,
                src + (i.transposed ? d * i.line_stride + n * s : n * i.line_stride + d * s), s);
}

}  // namespace

// Whole fractals of memory that keeps its content: nobody sees whether they are copied now or later.
static bool may_wait(const Core& core, const CopyGmToL1Nz& i) {
    const uint64_t row_bytes = static_cast<uint64_t>(i.d) * i.element_bytes;
    if (i.num != 1 || i.transposed || small_c0(i) || i.n_stride != 1 || i.n % 16 != 0 || row_bytes % kC0Bytes != 0)
        return false;
    return i.c0_stride >= i.n && core.block->launch->constant(i.src, i.src + (i.n - 1) * i.line_stride + row_bytes);
}

// A kernel that walks along K copies the next columns of the same rows next.
static void expect_next(Core& core, const CopyGmToL1Nz& i) {
    const uint64_t row_bytes = static_cast<uint64_t>(i.d) * i.element_bytes, next = i.src + row_bytes;
    core.block->ahead.forget(gm_source(i.src));
    if (!core.block->launch->constant(next, next + (i.n - 1) * i.line_stride + row_bytes)) return;
    core.block->ahead.add({gm_source(next), i.line_stride, i.n});
}

static void accesses(const Core& core, const CopyGmToL1Nz& i, AccessList& list);

static void settle_overwritten(Core& core, const CopyGmToL1Nz& i) {
    if (core.block->l1_views.count == 0) return;
    AccessList list;
    accesses(core, i, list);
    for (const Access& a : list) {
        const auto [low, high] = a.span();
        if (a.write) settle_l1_views(*core.block, static_cast<uint64_t>(low), static_cast<uint64_t>(high));
    }
}

static void execute(Core& core, const CopyGmToL1Nz& i) {
    if (empty(i)) return;
    if (may_wait(core, i)) {
        const L1View view{gm_source(i.src), i.line_stride, i.dst & kOffsetMask, i.c0_stride * 32ull, i.n,
                          i.d * i.element_bytes / kC0Bytes};
        expect_next(core, i);
        return copy_to_l1_later(*core.block, view);
    }
    settle_overwritten(core, i);
    const NzShape shape{i.line_stride, i.n_stride * 32ull, i.c0_stride * 32ull, i.n,
                        i.d * i.element_bytes};
    for (uint32_t b = 0; b < i.num; ++b) {
        const std::byte* src = gm_source(i.src + b * i.src_matrix_stride);
        std::byte* dst = core.at(Space::l1, i.dst) + b * i.dst_matrix_stride * 32ull;
        if (small_c0(i))
            copy_small_c0(i, src, dst);
        else if (i.transposed)
            dn_to_nz(src, dst, shape, i.d, i.element_bytes);
        else
            nd_to_nz(src, dst, shape);
    }
}

static void accesses(const Core&, const CopyGmToL1Nz& i, AccessList& list) {
    if (empty(i)) return;
    const Loop src_matrices{i.num, static_cast<int64_t>(i.src_matrix_stride)};
    const Loop dst_matrices{i.num, i.dst_matrix_stride * 32};
    const uint64_t lines = i.transposed ? i.d : i.n, elements = i.transposed ? i.n : i.d;
    list.read(Space::gm, i.src, elements * i.element_bytes,
              {Loop{lines, static_cast<int64_t>(i.line_stride)}, src_matrices});
    if (small_c0(i)) {
        list.write(Space::l1, i.dst, round_up(4ull * i.n * i.element_bytes, 32), {dst_matrices},
                   32);
        return;
    }
    const Loop columns{ceil_div(static_cast<uint64_t>(i.d) * i.element_bytes, 32),
                       i.c0_stride * 32};
    if (i.n_stride == 1)
        list.write(Space::l1, i.dst, i.n * 32ull, {columns, dst_matrices}, 32);
    else
        list.write(Space::l1, i.dst, 32, {Loop{i.n, i.n_stride * 32}, columns, dst_matrices}, 32);
}

static void validate(const Core& core, const CopyGmToL1Nz& i) {
    if (empty(i)) return;
    check_range(core, "n_value", i.n, 0, 16384, "split the copy by rows");
    check_range(core, "d_value", i.d, 0, i.transposed ? kMaxBurstBytes : 65535,
                "split the copy by columns");
    if (small_c0(i)) return;
    const char* fix = "set it with asc_set_gm2l1_nz_para before the copy";
    if (i.n > 1) check_range(core, "destination row stride", i.n_stride, 1, 16384, fix);
    if (static_cast<uint64_t>(i.d) * i.element_bytes > 32)
        check_range(core, "destination C0 column stride", i.c0_stride, 1, 16384, fix);
}

static Work work(const Core&, const CopyGmToL1Nz& i) {
    const uint64_t lines = static_cast<uint64_t>(i.num) * (i.transposed ? i.d : i.n);
    return {CostClass::gm_to_l1, static_cast<uint64_t>(i.num) * i.n * i.d * i.element_bytes,
            static_cast<uint32_t>(lines), i.l2_hint};
}
ASC_EMU_REGISTER(CopyGmToL1Nz, Roles::aic)

// Bursts -----------------------------------------------------------------------------------------
static void execute(Core& core, const CopyGmToL1Burst& i) {
    load_bursts(i, core.at(Space::l1, i.dst));
}
static void accesses(const Core&, const CopyGmToL1Burst& i, AccessList& list) {
    list_load_accesses(i, Space::l1, list);
}
static void validate(const Core& core, const CopyGmToL1Burst& i) { check_load_bursts(core, i); }
static Work work(const Core&, const CopyGmToL1Burst& i) {
    return bursts_work(i, CostClass::gm_to_l1);
}
ASC_EMU_REGISTER(CopyGmToL1Burst, Roles::aic)

// Plain copy and channel padding -----------------------------------------------------------------
// NOTE: strides of mode 0 have no documented unit, 32 bytes here; a stride of 0 means back to back.
namespace {

struct PadShape {
    uint64_t src_bytes, dst_bytes;    // of one burst
    uint64_t src_stride, dst_stride;  // bytes
};

PadShape pad_shape(const CopyGmToL1Pad& i) {
    const uint64_t burst = i.blocks * 32ull;
    if (i.mode == 0)
        return {burst, burst, i.src_stride ? i.src_stride * 32 : burst,
                i.dst_stride ? i.dst_stride * 32ull : burst};
    if (i.mode <= 5) {
        const uint64_t bytes = 1ull << (i.mode - 1);
        return {bytes, 32, bytes, i.dst_stride ? i.dst_stride * 32ull : 32};
    }
    const uint64_t kept = i.blocks * (4ull << (i.mode - 6));
    return {burst, kept, i.src_stride ? i.src_stride * 32 : burst, kept};
}

void pad_burst(const CopyGmToL1Pad& i, const PadShape& s, const std::byte* src, std::byte* dst) {
    if (i.mode == 0) {
        std::memcpy(dst, src, s.src_bytes);
    } else if (i.mode <= 5) {
        for (uint32_t at = 0; at < 32; at += 4) std::memcpy(dst + at, &i.pad_value, 4);
        std::memcpy(dst, src, s.src_bytes);
    } else {
        const uint64_t kept = s.dst_bytes / i.blocks;
        for (uint32_t b = 0; b < i.blocks; ++b) std::memcpy(dst + b * kept, src + b * 32ull, kept);
    }
}

}  // namespace

static void execute(Core& core, const CopyGmToL1Pad& i) {
    const PadShape s = pad_shape(i);
    std::byte* dst = core.at(Space::l1, i.dst);
    if (i.blocks == 0) return;
    for (uint32_t b = 0; b < i.count; ++b)
        pad_burst(i, s, gm_source(i.src + b * s.src_stride), dst + b * s.dst_stride);
}
static void accesses(const Core&, const CopyGmToL1Pad& i, AccessList& list) {
    const PadShape s = pad_shape(i);
    if (i.blocks == 0) return;
    list.read(Space::gm, i.src, s.src_bytes, {Loop{i.count, static_cast<int64_t>(s.src_stride)}});
    list.write(Space::l1, i.dst, s.dst_bytes, {Loop{i.count, static_cast<int64_t>(s.dst_stride)}},
               32);
}
static void validate(const Core& core, const CopyGmToL1Pad& i) {
    check_range(core, "pad_func_mode", i.mode, 0, 8, "use 0 for a plain copy");
    check_range(core, "n_burst", i.count, 1, kMaxBursts, "split the copy or skip it");
    if (i.mode >= 1 && i.mode <= 5)
        check_range(core, "len_burst", i.blocks, 1, 1,
                    "the expanding modes write one block a burst");
}
static Work work(const Core&, const CopyGmToL1Pad& i) {
    return {CostClass::gm_to_l1, i.count * pad_shape(i).src_bytes, i.count, 0};
}
ASC_EMU_REGISTER(CopyGmToL1Pad, Roles::aic)

// Fractals of an NZ source -----------------------------------------------------------------------
// NOTE: this call has no source stride; the fractals are taken as one column after the other,
// m_step high.
static uint64_t fractal_source(const CopyGmToL1Fractal& i) {
    return i.src + (static_cast<uint64_t>(i.k_start) * i.m_step + i.m_start) * 512;
}
static void execute(Core& core, const CopyGmToL1Fractal& i) {
    const uint64_t column = i.m_step * 512ull;
    for (uint32_t k = 0; k < i.k_step; ++k)
        std::memcpy(core.at(Space::l1, i.dst) + k * i.dst_stride * 512ull,
                    gm_source(fractal_source(i) + k * column), column);
}
static void accesses(const Core&, const CopyGmToL1Fractal& i, AccessList& list) {
    list.read(Space::gm, fractal_source(i), i.m_step * 512ull, {Loop{i.k_step, i.m_step * 512}});
    list.write(Space::l1, i.dst, i.m_step * 512ull, {Loop{i.k_step, i.dst_stride * 512}}, 32);
}
static void validate(const Core& core, const CopyGmToL1Fractal& i) {
    check_range(core, "decomp_mode", i.decompress, 0, 0,
                "compressed sources do not exist on this chip");
}
static Work work(const Core&, const CopyGmToL1Fractal& i) {
    return {CostClass::gm_to_l1, i.m_step * i.k_step * 512ull, i.k_step, i.l2_hint};
}
ASC_EMU_REGISTER(CopyGmToL1Fractal, Roles::aic)

// Fill -------------------------------------------------------------------------------------------
static void execute(Core& core, const FillL1& i) {
    uint32_t pattern = i.pattern;
    if (i.element_bytes == 2) pattern = (pattern & 0xffff) | pattern << 16;
    for (uint32_t r = 0; r < i.repeat; ++r) {
        std::byte* dst = core.at(Space::l1, i.dst) + r * (i.blocks + i.gap) * 32ull;
        for (uint64_t at = 0; at < i.blocks * 32ull; at += 4) std::memcpy(dst + at, &pattern, 4);
    }
}
static void accesses(const Core&, const FillL1& i, AccessList& list) {
    list.write(Space::l1, i.dst, i.blocks * 32ull, {Loop{i.repeat, (i.blocks + i.gap) * 32}}, 32);
}
static Work work(const Core&, const FillL1& i) {
    return {CostClass::fill_l1, static_cast<uint64_t>(i.repeat) * i.blocks * 32, i.repeat, 0};
}
ASC_EMU_REGISTER(FillL1, Roles::aic)

}  // namespace asc_emu
