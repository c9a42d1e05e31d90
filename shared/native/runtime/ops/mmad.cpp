// Meaning of the matrix multiply-add (ascend_c_cube.md section 10); the arithmetic is
// numerics/mmad.hpp.
#include "asc_emu/insn/mmad.hpp"

#include "launch.hpp"
#include "numerics/mmad.hpp"
#include "ops/checks.hpp"
#include "ops/l0_version.hpp"
#include "ops/l0_views.hpp"
#include "ops/unit_regions.hpp"

namespace asc_emu {
namespace {

numerics::Element element_of(Dtype type, bool as_hif8) {
    switch (type) {
        case Dtype::bf16:
            return numerics::Element::bf16;
        case Dtype::f16:
            return numerics::Element::f16;
        case Dtype::f32:
            return numerics::Element::f32;
        case Dtype::i8:
            return numerics::Element::i8;
        case Dtype::e4m3:
            return as_hif8 ? numerics::Element::hif8 : numerics::Element::e4m3;
        case Dtype::e5m2:
            return as_hif8 ? numerics::Element::hif8 : numerics::Element::e5m2;
        case Dtype::hif8:
            return numerics::Element::hif8;
        case Dtype::e2m1:
            return numerics::Element::e2m1;
        default:
            return numerics::Element::e1m2;
    }
}

bool empty(const Mmad& i) { return i.m == 0 || i.k == 0 || i.n == 0; }
// 32-byte groups along K of an operand.
uint64_t k_groups(const Mmad& i) {
    return ceil_div(static_cast<uint64_t>(i.k) * dtype_bits(i.a_type), 256);
}

// Bytes of L0A or L0B behind an operand of so many rows, at most; scales lie within the same share.
uint64_t operand_bytes(const Mmad& i, uint32_t rows) {
    return round_up(static_cast<uint64_t>(i.k) * dtype_bits(i.a_type), i.mx ? 512 : 256) / 8 * round_up(rows, 16);
}

const uint8_t* scales(const Core& core, Space space, uint32_t operand) {
    return reinterpret_cast<const uint8_t*>(core.at(space, operand / 16));
}

}  // namespace

// Where an operand of so many rows lies, the bytes from one 32-byte column of K to the next, and from row to row.
struct OperandPlace {
    const void* data;
    uint64_t pitch;
    uint64_t row_pitch = 32;
    bool in_gm = false;     // memory that keeps its content to the end of the launch
};
static OperandPlace place_of(Core& core, const Mmad& i, bool l0b) {
    const uint64_t rows = l0b ? padded_n(i) : padded_m(i), offset = (l0b ? i.b : i.a) & kOffsetMask;
    const bool row_of_k = i.gemv && i.m == 1 && !l0b;
    const uint64_t column = row_of_k ? 32 : rows * 32;
    const L0View* view = view_of_operand(core, l0b, offset, column, column * k_groups(i));
    if (!view) return {core.at(l0b ? Space::l0b : Space::l0a, offset), column};
    const GmPieces in_gm = pieces_in_gm(*core.block, view->src, column, k_groups(i), view->pitch);
    if (in_gm.data) return {in_gm.data, 32, in_gm.row_stride, true};
    return {core.at(Space::l1, view->src), view->pitch};
}

// The number of all content of GM that nobody writes during the launch.
static uint64_t launch_version(const Core& core) { return 1ull << 63 | core.block->launch->number; }

static void execute(Core& core, const Mmad& i) {
    if (empty(i)) return;
    numerics::MmadProblem p;
    const OperandPlace a = place_of(core, i, false), b = place_of(core, i, true);
    p.a = a.data;
    p.b = b.data;
    p.a_pitch = a.pitch;
    p.b_pitch = b.pitch;
    p.a_row_pitch = a.row_pitch;
    p.b_row_pitch = b.row_pitch;
    p.c = core.at(Space::l0c, i.c);
    p.m = i.m;
    p.k = i.k;
    p.n = i.n;
    p.a_type = element_of(i.a_type, i.hif8 && !i.mx);
    p.b_type = element_of(i.b_type, i.hif8 && !i.mx);
    p.init = i.init == MmadInit::zero   ? numerics::Init::zero
             : i.init == MmadInit::bias ? numerics::Init::bias
                                        : numerics::Init::accumulate;
    p.bias = core.at(Space::bt, i.bt);
    if (i.mx) {
        p.scale_a = scales(core, Space::l0a_mx, i.a);
        p.scale_b = scales(core, Space::l0b_mx, i.b);
    }
    p.hf32 = i.hf32;
    p.hf32_ties_away = i.hf32_ties_away;
    p.gemv = i.gemv;
    p.ahead = &core.block->ahead;
    p.lasting = a.in_gm && b.in_gm && !i.mx;   // scales lie in L0, where others follow
    p.a_version = p.lasting ? launch_version(core) : l0_version(core, false, i.a, operand_bytes(i, i.m));
    p.b_version = p.lasting ? launch_version(core) : l0_version(core, true, i.b, operand_bytes(i, i.n));
    numerics::mmad(p, fast_numerics(core) ? numerics::Mode::fast : numerics::Mode::exact);
    if (i.unit_flag == kUnitFlagUpdate) set_unit_flags(core, unit_region(i), true);
}

static void skip(Core& core, const Mmad& i) {
    if (!empty(i) && i.unit_flag == kUnitFlagUpdate) set_unit_flags(core, unit_region(i), true);
}
static bool ready(Core& core, const Mmad& i) {
    if (i.unit_flag < kUnitFlagKeep || empty(i)) return true;
    return unit_flags_equal(core, unit_region(i), false);
}
static std::string describe(const Core&, const Mmad& i) {
    return "mmad waits for Fixpipe to release the unit flags of L0C from byte " +
           std::to_string(i.c);
}

static void accesses(const Core&, const Mmad& i, AccessList& list) {
    if (empty(i)) return;
    const uint64_t groups = k_groups(i);
    const uint16_t align = i.mx && dtype_bits(i.a_type) == 8 ? 1024 : 512;
    if (i.gemv)
        list.read(Space::l0a, i.a,
                  round_up(static_cast<uint64_t>(i.k) * dtype_bits(i.a_type), 8) / 8, {}, align);
    else
        list.read(Space::l0a, i.a, groups * padded_m(i) * 32, {}, align);
    list.read(Space::l0b, i.b, groups * padded_n(i) * 32, {}, align);
    if (i.mx) {
        list.read(Space::l0a_mx, i.a / 16, padded_m(i) / 16 * (i.k / 64u) * 32, {}, 32);
        list.read(Space::l0b_mx, i.b / 16, padded_n(i) / 16 * (i.k / 64u) * 32, {}, 32);
    }
    if (i.init == MmadInit::bias) list.read(Space::bt, i.bt, i.n * 4u, {}, 64);
    const uint64_t bytes = static_cast<uint64_t>(padded_m(i)) * padded_n(i) * 4;
    if (i.init == MmadInit::accumulate) list.read(Space::l0c, i.c, bytes, {}, kFractalCBytes);
    list.write(Space::l0c, i.c, bytes, {}, kFractalCBytes);
}

static void validate(const Core& core, const Mmad& i) {
    const char* fix = "split the product";
    check_range(core, "m", i.m, 0, 4095, fix);
    check_range(core, "k", i.k, 0, 4095, fix);
    check_range(core, "n", i.n, 0, 4095, fix);
    if (i.unit_flag > kUnitFlagUpdate || i.unit_flag == 1)
        fail(core, "unit_flag got %u, allowed 0 (off), 2 (keep) and 3 (update)", i.unit_flag);
    if (i.mx) check_multiple(core, "k of asc_mmad_mx", i.k, 64, "pad K with zeros");
}

static MmadRate rate_of(const Mmad& i) {
    switch (dtype_bits(i.a_type)) {
        case 32: return i.hf32 ? MmadRate::hf32 : MmadRate::f32;
        case 16: return MmadRate::b16;
        case 8: return i.mx ? MmadRate::mx8 : MmadRate::b8;
        default: return MmadRate::mx4;
    }
}
// NOTE: fractals are multiplied whole: M and N count in 16 rows, K in 32 bytes.
static Work work(const Core&, const Mmad& i) {
    const uint64_t k = empty(i) ? 0 : k_groups(i) * 256 / dtype_bits(i.a_type);
    Work w{CostClass::mmad, k * padded_m(i) * padded_n(i), 1, 0};
    w.variant = static_cast<uint8_t>(rate_of(i));
    w.flops = 2ull * i.m * i.n * i.k;
    return w;
}
ASC_EMU_REGISTER(Mmad, Roles::aic)

}  // namespace asc_emu
