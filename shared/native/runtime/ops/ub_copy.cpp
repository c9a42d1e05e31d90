// Meaning of the UB-side copies (ascend_c_cube.md section 11).
#include "asc_emu/insn/ub_copy.hpp"

#include <cstring>

#include "ops/atomic_store.hpp"
#include "ops/block_bursts.hpp"
#include "ops/bursts.hpp"
#include "ops/stream_copy.hpp"

namespace asc_emu {

// GM -> UB ---------------------------------------------------------------------------------------
static void execute(Core& core, const CopyGmToUb& i) { load_bursts(i, core.at(Space::ub, i.dst)); }
static void accesses(const Core&, const CopyGmToUb& i, AccessList& list) {
    list_load_accesses(i, Space::ub, list);
}
static void validate(const Core& core, const CopyGmToUb& i) { check_load_bursts(core, i); }
static Work work(const Core&, const CopyGmToUb& i) { return bursts_work(i, CostClass::gm_to_ub); }
ASC_EMU_REGISTER(CopyGmToUb, Roles::aiv)

// UB -> GM ---------------------------------------------------------------------------------------
static bool streams(const CopyUbToGm& i) {
    const uint64_t stride = i.count > 1 ? i.dst_stride : 0;
    return may_stream(i.dst | i.loops.dst_stride1 | i.loops.dst_stride2, stride,
                      static_cast<uint64_t>(i.count) * i.bytes);
}
static void store_group(const CopyUbToGm& i, const std::byte* src, std::byte* dst) {
    if (i.atomic_op != AtomicOp::none) {
        for (uint32_t b = 0; b < i.count; ++b)
            atomic_store(i.atomic_op, static_cast<Dtype>(i.atomic_type), src + b * i.src_stride,
                         dst + b * i.dst_stride, i.bytes);
    } else if (streams(i)) {
        for (uint32_t b = 0; b < i.count; ++b)
            stream_copy(dst + b * i.dst_stride, src + b * i.src_stride, i.bytes);
    } else {
        for (uint32_t b = 0; b < i.count; ++b)
            std::memcpy(dst + b * i.dst_stride, src + b * i.src_stride, i.bytes);
    }
}
static void execute(Core& core, const CopyUbToGm& i) {
    if (i.bytes == 0) return;
    const GmAtomicGuard guard(core, i.atomic_op != AtomicOp::none);
    const std::byte* src = core.at(Space::ub, i.src);
    for (uint32_t l2 = 0; l2 < i.loops.size2; ++l2)
        for (uint32_t l1 = 0; l1 < i.loops.size1; ++l1)
            store_group(i, src + l2 * i.loops.src_stride2 + l1 * i.loops.src_stride1,
                        gm_target(i.dst + l2 * i.loops.dst_stride2 + l1 * i.loops.dst_stride1));
    if (streams(i)) stream_fence();
}
static void accesses(const Core&, const CopyUbToGm& i, AccessList& list) {
    if (i.bytes == 0) return;
    const auto loop = [](uint32_t count, uint64_t stride) {
        return Loop{count, static_cast<int64_t>(stride)};
    };
    const LoopRegisters& l = i.loops;
    list.read(
        Space::ub, i.src, i.bytes,
        {loop(i.count, i.src_stride), loop(l.size1, l.src_stride1), loop(l.size2, l.src_stride2)},
        32);
    list.write(Space::gm, i.dst, i.bytes,
               {loop(i.count, i.dst_stride), loop(l.size1, l.dst_stride1),
                loop(l.size2, l.dst_stride2)})
        .atomic = i.atomic_op != AtomicOp::none;
}
static void validate(const Core& core, const CopyUbToGm& i) {
    check_range(core, "n_burst", i.count, 1, kMaxBursts, "split the copy or skip it");
    check_range(core, "len_burst", i.bytes, 0, kMaxBurstBytes,
                "lengths are in bytes; split the burst");
    if (i.count > 1 && i.src_stride != i.bytes)
        check_multiple(core, "source stride", i.src_stride, 32,
                       "bursts start at 32-byte boundaries unless the stride equals len_burst");
    if (i.atomic_op != AtomicOp::none)
        check_multiple(core, "len_burst of an atomic store", i.bytes,
                       dtype_bits(static_cast<Dtype>(i.atomic_type)) / 8, "store whole elements");
}
static Work work(const Core&, const CopyUbToGm& i) { return bursts_work(i, CostClass::ub_to_gm); }
ASC_EMU_REGISTER(CopyUbToGm, Roles::aiv)

// UB -> L1 of the block, UB -> UB -----------------------------------------------------------------
static void execute(Core& core, const CopyUbToL1& i) {
    copy_blocks(i, core.at(Space::ub, i.src), core.at(Space::l1, i.dst));
}
static void accesses(const Core&, const CopyUbToL1& i, AccessList& list) {
    list.read(Space::ub, i.src, i.bytes, {source_loop(i)}, 32);
    list.write(Space::l1, i.dst, i.bytes, {target_loop(i)}, 32).core = CoreSlot::aic;
}
static void validate(const Core& core, const CopyUbToL1& i) {
    check_blocks(core, i);
    if (core.block->num_aic == 0)
        fail(core, "asc_copy_ub2l1 needs a cube core; make the kernel __mix__");
}
static Work work(const Core&, const CopyUbToL1& i) { return blocks_work(i, CostClass::ub_to_l1); }
ASC_EMU_REGISTER(CopyUbToL1, Roles::aiv)

static void execute(Core& core, const CopyUbToUb& i) {
    copy_blocks(i, core.at(Space::ub, i.src), core.at(Space::ub, i.dst));
}
static void accesses(const Core&, const CopyUbToUb& i, AccessList& list) {
    list.read(Space::ub, i.src, i.bytes, {source_loop(i)}, 32);
    list.write(Space::ub, i.dst, i.bytes, {target_loop(i)}, 32);
}
static void validate(const Core& core, const CopyUbToUb& i) { check_blocks(core, i); }
static Work work(const Core&, const CopyUbToUb& i) { return blocks_work(i, CostClass::ub_to_ub); }
ASC_EMU_REGISTER(CopyUbToUb, Roles::aiv)

}  // namespace asc_emu
