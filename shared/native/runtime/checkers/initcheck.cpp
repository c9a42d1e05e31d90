// Movement of marks, and the reports where undefined values reach GM.
#include "checkers/initcheck.hpp"

#include <algorithm>
#include <cstring>

#include "asc_emu/insn/gm_to_l1.hpp"
#include "asc_emu/insn/ub_copy.hpp"
#include "checkers/init_cube.hpp"
#include "launch.hpp"
#include "ops/checks.hpp"
#include "ops/unit_regions.hpp"

namespace asc_emu {
namespace {

// Copies round bursts up to 32 bytes; without a fill value, what they write behind the data is not defined.
void undefine_tails(DefinedMemory& memory, Region region, const Bursts& i) {
    if (i.fill_from_register) return;
    const uint64_t used = i.left_pad + i.bytes + i.right_pad, end = round_up(used, 32);
    const bool compact = i.left_pad == 0 && i.right_pad == 0 && i.dst_stride == i.bytes && i.count > 1;
    for (uint32_t l2 = 0; l2 < i.loops.size2; ++l2)
        for (uint32_t l1 = 0; l1 < i.loops.size1; ++l1) {
            const uint64_t at = (i.dst & kOffsetMask) + l2 * i.loops.dst_stride2 + l1 * i.loops.dst_stride1;
            if (compact) {
                const uint64_t all = static_cast<uint64_t>(i.count) * i.bytes;
                memory.mark(region, at + all, at + round_up(all, 32), kDerived);
                continue;
            }
            if (used != end)
                for (uint32_t b = 0; b < i.count; ++b)
                    memory.mark(region, at + b * i.dst_stride + used, at + b * i.dst_stride + end, kDerived);
        }
}

Finding leaves(const Core& core, const Command& c, const OpInfo& info, Region region, uint64_t offset,
               uint64_t bytes, uint8_t mark, const void* origin) {
    Finding f;
    f.checker = "initcheck";
    const Space space = space_of(region);
    f.memory = space_name(space);
    f.address = offset;
    f.bytes = bytes;
    f.message = std::string(info.name) + " stores to GM " + std::to_string(bytes) + " bytes from " +
                space_name(space) + " offset " + std::to_string(offset) +
                (origin                ? " that were computed from memory never written"
                 : mark == kUnwritten ? " that nothing has written"
                                      : " that lie behind the end of a copy, or come from memory never written");
    f.fix = origin ? "load the operands, or fill their padding, before they are used"
                   : "write the bytes first, or store fewer";
    f.places.push_back({"stores to GM", core.block->index, core.slot, c.pipe, info.name, c.site});
    if (origin)
        f.places.push_back({"makes the value from undefined bytes", core.block->index, CoreSlot::aic,
                            Pipe::M, nullptr, origin});
    return f;
}

}  // namespace

void InitCheck::reset(Block& block) {
    memory_.reset(block);
    const Uninitialized start = block.launch->options.uninitialized;
    poison_ = start == Uninitialized::nan ? kUbNan : kUbPoison;
    poisoned_ = start != Uninitialized::zero;
    if (start != Uninitialized::keep) return;
    for (const CoreSlot slot : {CoreSlot::aiv0, CoreSlot::aiv1})
        if (block.has(slot))
            std::memset(block.core(slot).at(Space::ub, 0), kUbPoison,
                        kSpaceBytes[static_cast<size_t>(Space::ub)]);
}

bool InitCheck::sources_defined(const Core& core, const AccessList& list) {
    for (const Access& a : list) {
        if (a.write || a.space == Space::gm) continue;
        bool all = true;
        for_each_run(a, [&](uint64_t low, uint64_t high) {
            all = all && memory_.defined(region_of(core, a), low, high);
        });
        if (!all) return false;
    }
    return true;
}

void InitCheck::define_writes(const Core& core, const AccessList& list) {
    for (const Access& a : list)
        if (a.write && a.space != Space::gm)
            for_each_run(a, [&](uint64_t low, uint64_t high) { memory_.define(region_of(core, a), low, high); });
}

void InitCheck::move(const Core& core, const Command& c, const OpInfo& info, const AccessList& list) {
    if (sources_defined(core, list)) return define_writes(core, list);
    const void* origin = nullptr;
    for (const Access& a : list)
        if (!a.write && !origin)
            for_each_run(a, [&](uint64_t low, uint64_t high) {
                for (; low < high && !origin; low += DefinedMemory::kGranule)
                    origin = memory_.origin(region_of(core, a), low);
            });
    for (const Access& a : list)
        if (a.space != Space::gm)
            for_each_run(a, [&](uint64_t low, uint64_t high) {
                memory_.prepare(region_of(core, a), low, high + DefinedMemory::kSlack);
            });
    Core& shadow = memory_.core(core.slot);
    info.execute(shadow, c.params);
    settle_views(*shadow.block);   // the marks are looked at now
    for (const Access& a : list)
        if (a.write)
            for_each_run(a, [&](uint64_t low, uint64_t high) {
                memory_.refresh(region_of(core, a), low, high);
                for (; low < high; low += DefinedMemory::kGranule)
                    memory_.origin(region_of(core, a), low) = origin;
            });
}

void InitCheck::load_from_gm(const Core& core, const Command& c, const AccessList& list) {
    define_writes(core, list);
    switch (static_cast<Op>(c.op)) {
        case Op::CopyGmToL1Burst: return undefine_tails(memory_, Region::l1, c.as<CopyGmToL1Burst>());
        case Op::CopyGmToUb:
            return undefine_tails(memory_, core.slot == CoreSlot::aiv1 ? Region::ub1 : Region::ub0,
                                  c.as<CopyGmToUb>());
        default: return;
    }
}

// NOTE: plain stores of the scalar unit and of SIMT threads are not seen, but they change the poison. A byte they
// store may equal it, the whole rest of a 32-byte block hardly.
bool InitCheck::changed(const uint8_t* marks, const uint8_t* ub, uint64_t offset) const {
    if (!poisoned_ || ub[offset] != poison_) return true;
    const uint64_t block = offset / 32 * 32;
    for (uint64_t at = block; at < block + 32; ++at)
        if (marks[at] == kUnwritten && ub[at] != poison_) return true;
    return false;
}

bool InitCheck::undefined(const uint8_t* marks, const uint8_t* ub, uint64_t offset) const {
    const uint8_t mark = marks[offset];
    return mark != kDefined && !(mark == kUnwritten && changed(marks, ub, offset));
}

bool InitCheck::written_ub(const Core& core, uint64_t low, uint64_t high) {
    const Region region = core.slot == CoreSlot::aiv1 ? Region::ub1 : Region::ub0;
    if (memory_.defined(region, low, high)) return true;
    const uint8_t* marks = memory_.at(region, 0);
    const auto* data = reinterpret_cast<const uint8_t*>(core.at(Space::ub, 0));
    // NOTE: threads' own stores are seen here, so a byte that holds the poison was not stored by them.
    for (uint64_t at = low; at < high; ++at)
        if (marks[at] == kUnwritten && poisoned_ && data[at] == poison_) return false;
    return true;
}

void InitCheck::store_ub(const Core& core, const Command& c, const AccessList& list, Reporter& reporter) {
    const OpInfo& info = g_op_table[c.op];
    for (const Access& a : list) {
        if (a.write) continue;
        const Region region = region_of(core, a);
        uint64_t bad = 0, where = 0;
        for_each_run(a, [&](uint64_t low, uint64_t high) {
            if (memory_.defined(region, low, high)) return;
            const uint8_t* marks = memory_.at(region, 0);
            const auto* data = reinterpret_cast<const uint8_t*>(core.at(a.space, 0));
            for (uint64_t at = low; at < high; ++at) {
                if (undefined(marks, data, at) && bad++ == 0) where = at;
            }
        });
        if (bad == 0) continue;
        const uint8_t mark = memory_.at(region, 0)[where];
        const void* origin = mark == kDerived ? memory_.origin(region, where) : nullptr;
        reporter.add("initcheck", c.op, c.site, origin,
                     [&] { return leaves(core, c, info, region, where, bad, mark, origin); });
    }
}

void InitCheck::drain(const Core& core, const Command& c, const AccessList& list, Reporter& reporter) {
    if (sources_defined(core, list)) return define_writes(core, list);
    const DrainResult result = drain_marks(memory_, core, c);
    if (result.undefined_bytes == 0 || static_cast<Op>(c.op) != Op::CopyL0cToGm) return;
    const void* origin = memory_.origin(Region::l0c, result.first);
    reporter.add("initcheck", c.op, c.site, origin, [&] {
        const uint8_t mark = memory_.at(Region::l0c, 0)[result.first];
        return leaves(core, c, g_op_table[c.op], Region::l0c, result.first, result.undefined_bytes, mark,
                      mark == kDerived ? origin : nullptr);
    });
}

void InitCheck::run(const Core& core, const Command& c, const OpInfo& info, const AccessList& list,
                    Reporter& reporter) {
    switch (static_cast<Op>(c.op)) {
        case Op::Mmad: return multiply_marks(memory_, core, c);
        case Op::CopyL0cToGm:
        case Op::CopyL0cToUb:
        case Op::CopyL0cToL1: return drain(core, c, list, reporter);
        case Op::CopyUbToGm: return store_ub(core, c, list, reporter);
        case Op::CopyL1ToL0:
        case Op::CopyL1ToL0Transpose:
        case Op::CopyL1ToL0bTrans:
        case Op::CopyL1ToL0Mx:
        case Op::CopyL1ToBt:
        case Op::CopyL1ToFb:
        case Op::CopyL1ToUb:
        case Op::CopyUbToL1:
        case Op::CopyUbToUb: return move(core, c, info, list);
        default: return load_from_gm(core, c, list);
    }
}

void InitCheck::vector_store(const Core& core, uint64_t low, uint64_t high) {
    memory_.define(core.slot == CoreSlot::aiv1 ? Region::ub1 : Region::ub0, low, high);
}

}  // namespace asc_emu
