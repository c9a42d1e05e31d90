// Meaning of the L1 -> BT, FB and UB copies (ascend_c_cube.md sections 8.2, 8.3 and 11).
#include <cstring>

#include "asc_emu/insn/l1_to_l0.hpp"
#include "asc_emu/number_formats.hpp"
#include "ops/block_bursts.hpp"

namespace asc_emu {

// Bias table -------------------------------------------------------------------------------------
static void widen_block(Dtype type, const std::byte* src, std::byte* dst, uint32_t bytes) {
    for (uint32_t at = 0; at < bytes; at += 2) {
        uint16_t bits;
        std::memcpy(&bits, src + at, 2);
        const float v = type == Dtype::bf16 ? bf16_to_float(bits) : half_to_float(bits);
        std::memcpy(dst + at * 2, &v, 4);
    }
}
static void execute(Core& core, const CopyL1ToBt& i) {
    const std::byte* src = core.at(Space::l1, i.src);
    std::byte* dst = core.at(Space::bt, i.dst);
    if (!i.widen) return copy_blocks(i, src, dst);
    for (size_t b = 0; b < i.count; ++b)
        widen_block(i.source_type, src + b * (i.bytes + i.src_gap),
                    dst + b * (2 * i.bytes + i.dst_gap), i.bytes);
}
static void accesses(const Core&, const CopyL1ToBt& i, AccessList& list) {
    const uint32_t written = i.widen ? 2 * i.bytes : i.bytes;
    list.read(Space::l1, i.src, i.bytes, {source_loop(i)}, 32);
    list.write(Space::bt, i.dst, written,
               {Loop{i.count, static_cast<int64_t>(written) + i.dst_gap}}, 64);
}
static void validate(const Core& core, const CopyL1ToBt& i) {
    check_blocks(core, i);
    if (i.widen && i.source_type != Dtype::f16 && i.source_type != Dtype::bf16)
        fail(core, "conv_control 1 widens half and bfloat16_t bias only; pass 0 for 32-bit types");
}
static Work work(const Core&, const CopyL1ToBt& i) { return blocks_work(i, CostClass::l1_to_bt); }
ASC_EMU_REGISTER(CopyL1ToBt, Roles::aic)

// Fixpipe buffer ---------------------------------------------------------------------------------
static void execute(Core& core, const CopyL1ToFb& i) {
    copy_blocks(i, core.at(Space::l1, i.src), core.at(Space::fb, i.dst));
}
static void accesses(const Core&, const CopyL1ToFb& i, AccessList& list) {
    list.read(Space::l1, i.src, i.bytes, {source_loop(i)}, 32);
    list.write(Space::fb, i.dst, i.bytes, {target_loop(i)}, 64);
}
static void validate(const Core& core, const CopyL1ToFb& i) { check_blocks(core, i); }
static Work work(const Core&, const CopyL1ToFb& i) { return blocks_work(i, CostClass::l1_to_fb); }
ASC_EMU_REGISTER(CopyL1ToFb, Roles::aic)

// UB of a vector core ----------------------------------------------------------------------------
static CoreSlot ub_owner(uint8_t sub_block) {
    return sub_block == 0 ? CoreSlot::aiv0 : CoreSlot::aiv1;
}
static void execute(Core& core, const CopyL1ToUb& i) {
    copy_blocks(i, core.at(Space::l1, i.src),
                core.block->core(ub_owner(i.sub_block)).at(Space::ub, i.dst));
}
static void accesses(const Core&, const CopyL1ToUb& i, AccessList& list) {
    list.read(Space::l1, i.src, i.bytes, {source_loop(i)}, 32);
    list.write(Space::ub, i.dst, i.bytes, {target_loop(i)}, 32).core = ub_owner(i.sub_block);
}
static void validate(const Core& core, const CopyL1ToUb& i) {
    check_blocks(core, i);
    if (core.block->num_aiv == 0)
        fail(core, "asc_copy_l12ub needs a vector core; make the kernel __mix__");
    check_range(core, "sub_blockid", i.sub_block, 0, core.block->num_aiv - 1,
                "the block has fewer vector cores; use __mix__(1, 2) or another number");
}
static Work work(const Core&, const CopyL1ToUb& i) { return blocks_work(i, CostClass::l1_to_ub); }
ASC_EMU_REGISTER(CopyL1ToUb, Roles::aic)

}  // namespace asc_emu
