// Meaning of the Fixpipe copies (ascend_c_cube.md section 9).
#include "asc_emu/insn/fixpipe.hpp"

#include "asc_emu/number_formats.hpp"
#include "ops/fixpipe_move.hpp"
#include "ops/unit_regions.hpp"

namespace asc_emu {
namespace {

constexpr uint32_t kFbGranule = 128;

bool flags_ready(const Core& core, const Fixpipe& i) {
    if (i.unit_flag < kUnitFlagKeep || empty(i)) return true;
    for (uint32_t q = 0; q < matrices(i); ++q)
        if (!unit_flags_equal(core, unit_region(i, q), true)) return false;
    return true;
}
void release_flags(Core& core, const Fixpipe& i) {
    if (i.unit_flag != kUnitFlagUpdate) return;
    for (uint32_t q = 0; q < matrices(i); ++q) set_unit_flags(core, unit_region(i, q), false);
}
void skip_flags(Core& core, const Fixpipe& i) {
    if (!empty(i)) release_flags(core, i);
}
std::string describe_flags(const Fixpipe& i) {
    return "Fixpipe waits for an mmad with unit_flag 3 on L0C from byte " + std::to_string(i.src);
}

Work result_work(const Fixpipe& i, CostClass cost) {
    if (empty(i)) return {cost};
    const uint64_t elements = static_cast<uint64_t>(i.m) * i.n * matrices(i);
    Work w{cost, elements * dtype_bits(i.dst_type) / 8, matrices(i), 0};
    if (dtype_bits(i.dst_type) == 8) w.variant = kFixNarrow;
    return w;
}

void list_parameters(const Fixpipe& i, AccessList& list) {
    if (quant_info(i.quant_mode).vector)
        list.read(Space::fb, i.quant_address * kFbGranule, i.n * 8u, {}, kFbGranule);
    if (i.relu == 3) list.read(Space::fb, i.relu_address * kFbGranule, i.n * 8u, {}, kFbGranule);
}

ValueRule rule_of(const Core& core, const Fixpipe& i) {
    return {quant_info(i.quant_mode),
            i.src_type,
            i.dst_type,
            i.relu,
            i.keep_inf_nan,
            i.e4m3_keep_nan,
            i.quant_scalar,
            bits_float(static_cast<uint32_t>(i.relu_alpha) & 0xffffe000u),
            core.at(Space::fb, i.quant_address * kFbGranule),
            core.at(Space::fb, i.relu_address * kFbGranule)};
}

// Parameter checks -------------------------------------------------------------------------------
void check_types(const Core& core, const Fixpipe& i) {
    const QuantInfo quant = quant_info(i.quant_mode);
    if (!quant.name)
        fail(
            core,
            "quant mode got %u, allowed are the names of QuantMode_t; use NoQuant for a plain copy",
            i.quant_mode);
    const Dtype to = quant.to == Dtype::none ? i.src_type : quant.to;
    const bool b8 = to == Dtype::i8 && (i.dst_type == Dtype::i8 || i.dst_type == Dtype::u8);
    if ((quant.from != Dtype::none && quant.from != i.src_type) || (!b8 && to != i.dst_type))
        fail(core,
             "quant mode %s does not convert %u-bit L0C elements of this type into the "
             "destination's "
             "type; choose the mode for the two pointer types",
             quant.name, dtype_bits(i.src_type));
    if (quant.to == Dtype::none && i.src_type == Dtype::i32 && i.relu > 1)
        fail(core, "scalar and vector ReLU need float values; quantise or use mode NORMAL");
}

void check_modes(const Core& core, const Fixpipe& i) {
    if (i.nz2nd && i.nz2dn) fail(core, "nz2nd and nz2dn exclude each other; set one of them");
    if (i.channel_split && (i.nz2nd || i.nz2dn))
        fail(core, "channel_split excludes nz2nd and nz2dn; set one of them");
    if (i.channel_split && i.unit_flag) fail(core, "channel_split excludes the unit flag; pass 0");
    if (i.channel_split && (i.dst_type != Dtype::f32 || i.src_type != Dtype::f32))
        fail(core, "channel_split is for float destinations only");
    if (i.relu > 3) fail(core, "relu_pre got %u, allowed 0 .. 3", i.relu);
    if (i.clip_relu)
        fail(core, "clip_relu_pre: the device's clip value cannot be set by this API; pass 0");
    if (i.post_stage)
        fail(core,
             "post-stage options (quant_post, relu_post, eltwise, padding, broadcast) "
             "are not emulated; pass 0 and NoConv");
    if (i.unit_flag > kUnitFlagUpdate || i.unit_flag == 1)
        fail(core, "unit_flag got %u, allowed 0 (off), 2 (keep) and 3 (update)", i.unit_flag);
    if (i.nz2dn && i.unit_flag && i.row_pitch != 1)
        fail(core, "nz2dn with a row pitch of %u excludes the unit flag; use pitch 1", i.row_pitch);
    if (i.nz2dn && i.row_pitch == 0)
        fail(core, "nz2dn needs a row pitch; call asc_set_l0c2gm_channel_para(1ull << 48) before");
    if ((i.nz2nd || i.nz2dn) && !i.loop3_written)
        fail(core,
             "nz2nd and nz2dn read the matrix count; call asc_set_l0c2gm_nz2nd(1, 0, 0) before");
}

void check_sizes(const Core& core, const Fixpipe& i, bool to_gm) {
    check_range(core, "n_size", i.n, 0, 4095, "split the copy by columns");
    if (i.nz2nd) check_range(core, "m_size", i.m, 0, 8192, "split the copy by rows");
    if (i.dst_stride == 0)
        fail(core, "dst_stride got 0; pass the distance of rows or columns in elements");
    const uint32_t bits = dtype_bits(i.dst_type);
    if (i.nz2nd) {
        if (!to_gm)
            check_multiple(core, "bytes of a row (n_size)", i.n * bits / 8, 32, "pad n_size");
        else if (bits == 4)
            check_multiple(core, "n_size of a 4-bit type", i.n, 2, "copy whole bytes");
    } else if (i.nz2dn) {
        check_multiple(core, "bytes of a column (m_size)", i.m * bits / 8, 32, "pad m_size");
    } else {
        check_multiple(core, "n_size", i.n,
                       bits == 4         ? 64
                       : i.channel_split ? 8
                                         : 16,
                       "NZ output has whole fractals: pad n_size");
    }
}

void check_common(const Core& core, const Fixpipe& i, bool to_gm) {
    if (i.m == 0 || i.n == 0) return;
    check_types(core, i);
    check_modes(core, i);
    check_sizes(core, i, to_gm);
}

}  // namespace

// L0C -> GM --------------------------------------------------------------------------------------
static void execute(Core& core, const CopyL0cToGm& i) {
    if (empty(i)) return;
    const FixpipePart part{i.src, i.m, i.n};
    const GmAtomicGuard guard(core, i.atomic_op != AtomicOp::none);
    move_part(i, part, rule_of(core, i), core.base[static_cast<size_t>(Space::l0c)],
              gm_target(i.dst), {i.atomic_op, static_cast<Dtype>(i.atomic_type)});
    release_flags(core, i);
}
static void accesses(const Core&, const CopyL0cToGm& i, AccessList& list) {
    if (empty(i)) return;
    const FixpipePart part{i.src, i.m, i.n};
    FixpipeLayout(i, part).list(list, i.atomic_op != AtomicOp::none);
    list_parameters(i, list);
}
static bool ready(Core& core, const CopyL0cToGm& i) { return flags_ready(core, i); }
static void skip(Core& core, const CopyL0cToGm& i) { skip_flags(core, i); }
static std::string describe(const Core&, const CopyL0cToGm& i) { return describe_flags(i); }
static void validate(const Core& core, const CopyL0cToGm& i) {
    check_common(core, i, true);
    if (i.atomic_op != AtomicOp::none && static_cast<Dtype>(i.atomic_type) != i.dst_type)
        fail(core,
             "the armed atomic mode has another element type than the destination; arm the type "
             "of the destination or call asc_set_atomic_none");
}
static Work work(const Core&, const CopyL0cToGm& i) {
    Work w = result_work(i, CostClass::l0c_to_gm);
    w.descriptors *= i.nz2nd ? i.m : static_cast<uint32_t>(ceil_div(i.n, kPieceColumns));
    w.l2_hint = i.l2_hint;
    return w;
}
ASC_EMU_REGISTER(CopyL0cToGm, Roles::aic)

// L0C -> UB --------------------------------------------------------------------------------------
static void execute(Core& core, const CopyL0cToUb& i) {
    if (empty(i)) return;
    const UbParts parts = ub_parts(i);
    for (uint32_t p = 0; p < parts.count; ++p)
        move_part(i, parts.part[p], rule_of(core, i), core.base[static_cast<size_t>(Space::l0c)],
                  core.block->core(parts.part[p].core).at(Space::ub, i.dst), {});
    release_flags(core, i);
}
static void accesses(const Core&, const CopyL0cToUb& i, AccessList& list) {
    if (empty(i)) return;
    const UbParts parts = ub_parts(i);
    for (uint32_t p = 0; p < parts.count; ++p) FixpipeLayout(i, parts.part[p]).list(list, false);
    list_parameters(i, list);
}
static bool ready(Core& core, const CopyL0cToUb& i) { return flags_ready(core, i); }
static void skip(Core& core, const CopyL0cToUb& i) { skip_flags(core, i); }
static std::string describe(const Core&, const CopyL0cToUb& i) { return describe_flags(i); }
static void validate(const Core& core, const CopyL0cToUb& i) {
    if (empty(i)) return;
    check_common(core, i, false);
    const uint32_t vector_cores = core.block->num_aiv;
    if (i.dual > kSplitN)
        fail(core, "dual_dst_mode got %u, allowed 0 (off), 1 (split M), 2 (split N)", i.dual);
    if (i.dual && vector_cores < 2)
        fail(core, "a dual destination needs two vector cores; use __mix__(1, 2)");
    if (!i.dual && i.sub_block >= vector_cores)
        fail(core, "sub_blockid got %u, but the block has %u vector cores; use __mix__",
             i.sub_block, vector_cores);
    if (i.dual && (i.quant_mode != 0 || i.relu != 0 || i.nz2dn || i.channel_split))
        fail(core,
             "a dual destination excludes quantisation, ReLU, nz2dn and channel_split; use two "
             "copies");
    if (i.dual == kSplitM) check_multiple(core, "m_size of a split by M", i.m, 2, "pad m_size");
    if (i.dual == kSplitN) check_multiple(core, "n_size of a split by N", i.n, 32, "pad n_size");
}
static Work work(const Core&, const CopyL0cToUb& i) {
    Work w = result_work(i, CostClass::l0c_to_ub);
    if (i.dual) w.variant = kFixDual;
    return w;
}
ASC_EMU_REGISTER(CopyL0cToUb, Roles::aic)

// L0C -> L1 --------------------------------------------------------------------------------------
static void execute(Core& core, const CopyL0cToL1& i) {
    if (empty(i)) return;
    const FixpipePart part{i.src, i.m, i.n, Space::l1};
    move_part(i, part, rule_of(core, i), core.base[static_cast<size_t>(Space::l0c)],
              core.at(Space::l1, i.dst), {});
    release_flags(core, i);
}
static void accesses(const Core&, const CopyL0cToL1& i, AccessList& list) {
    if (empty(i)) return;
    const FixpipePart part{i.src, i.m, i.n, Space::l1};
    FixpipeLayout(i, part).list(list, false);
    list_parameters(i, list);
}
static bool ready(Core& core, const CopyL0cToL1& i) { return flags_ready(core, i); }
static void skip(Core& core, const CopyL0cToL1& i) { skip_flags(core, i); }
static std::string describe(const Core&, const CopyL0cToL1& i) { return describe_flags(i); }
static void validate(const Core& core, const CopyL0cToL1& i) {
    check_common(core, i, false);
    if (i.channel_split) fail(core, "channel_split writes to GM only");
}
static Work work(const Core&, const CopyL0cToL1& i) {
    return result_work(i, CostClass::l0c_to_l1);
}
ASC_EMU_REGISTER(CopyL0cToL1, Roles::aic)

}  // namespace asc_emu
