// Copies L1 -> L0A / L0B that wait, see l0_views.hpp.
#include "ops/l0_views.hpp"

#include <algorithm>
#include <cstring>

#include "op_table.hpp"
#include "ops/l1_views.hpp"

namespace asc_emu {
namespace {

bool overlap(uint64_t a, uint64_t a_end, uint64_t b, uint64_t b_end) { return a < b_end && b < a_end; }

void copy(Block& block, const L0View& v) {
    const Core& core = block.core(CoreSlot::aic);
    settle_l1_views(block, v.src, v.src_end());
    const std::byte* src = core.base[static_cast<size_t>(Space::l1)] + v.src;
    std::byte* dst = core.base[static_cast<size_t>(v.l0b ? Space::l0b : Space::l0a)] + v.dst;
    if (v.pitch == v.column_bytes) {
        std::memcpy(dst, src, v.columns * v.column_bytes);
        return;
    }
    for (uint64_t c = 0; c < v.columns; ++c) std::memcpy(dst + c * v.column_bytes, src + c * v.pitch, v.column_bytes);
}

// Makes the copies of the views that `chosen` names, in the order of the instructions.
template <class Chosen>
void settle(Block& block, const Chosen& chosen) {
    L0Views& all = block.l0_views;
    size_t kept = 0;
    for (size_t i = 0; i < all.count; ++i) {
        if (chosen(all.views[i])) copy(block, all.views[i]);
        else all.views[kept++] = all.views[i];
    }
    all.count = kept;
}

// Destinations of views never overlap: a new copy drops what it replaces and settles what it cuts.
void make_room(Block& block, const L0View& next) {
    L0Views& all = block.l0_views;
    const auto replaced = [&](const L0View& v) {
        return v.l0b == next.l0b && next.dst <= v.dst && v.dst_end() <= next.dst_end();
    };
    all.count = static_cast<size_t>(
        std::remove_if(all.views.begin(), all.views.begin() + static_cast<std::ptrdiff_t>(all.count), replaced) -
        all.views.begin());
    settle(block, [&](const L0View& v) {
        return v.l0b == next.l0b && overlap(v.dst, v.dst_end(), next.dst, next.dst_end());
    });
    if (all.count == L0Views::kMax) settle(block, [&](const L0View& v) { return &v == &all.views[0]; });
}

}  // namespace

void copy_to_l0(Core& core, const L0View& view) {
    make_room(*core.block, view);
    L0Views& all = core.block->l0_views;
    all.views[all.count++] = view;
}

const L0View* view_of_operand(Core& core, bool l0b, uint64_t dst, uint64_t column_bytes, uint64_t bytes) {
    Block& block = *core.block;
    const auto touches = [&](const L0View& v) {
        return v.l0b == l0b && overlap(v.dst, v.dst_end(), dst, dst + bytes);
    };
    const auto begin = block.l0_views.views.begin(), end = begin + static_cast<std::ptrdiff_t>(block.l0_views.count);
    const auto found = std::find_if(begin, end, touches);
    if (found == end) return nullptr;
    const bool whole = found->dst == dst && found->column_bytes == column_bytes && dst + bytes <= found->dst_end();
    if (whole) return &*found;
    settle(block, touches);
    return nullptr;
}

void settle_views_for(Core& core, const Command& command, const OpInfo& info) {
    AccessList list;
    info.accesses(core, command.params, list);
    for (const Access& a : list) {
        if (a.empty()) continue;
        const auto [low, high] = a.span();
        if (a.space == Space::l1) {
            const auto begin = static_cast<uint64_t>(low), end = static_cast<uint64_t>(high);
            if (a.write) settle(*core.block, [&](const L0View& v) { return overlap(v.src, v.src_end(), begin, end); });
            // A copy that may wait itself sees to those it replaces.
            if (command.op != static_cast<uint16_t>(Op::CopyGmToL1Nz)) settle_l1_views(*core.block, begin, end);
        } else if (a.space == Space::l0a || a.space == Space::l0b) {
            settle(*core.block, [&](const L0View& v) { return v.l0b == (a.space == Space::l0b); });
        }
    }
}

void settle_views(Block& block) {
    settle(block, [](const L0View&) { return true; });
    settle_l1_views(block);
}

void end_views(Block& block) {
    settle(block, [&](const L0View& v) { return !in_gm(block, v.src, v.src_end()); });
    block.l0_views.count = 0;
    block.l1_views.count = 0;
}

}  // namespace asc_emu
