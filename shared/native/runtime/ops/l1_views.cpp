// Copies GM -> L1 that wait, see l1_views.hpp.
#include "ops/l1_views.hpp"

#include <algorithm>

#include "core.hpp"
#include "ops/nd_to_nz.hpp"

namespace asc_emu {
namespace {

bool touches(const L1View& v, uint64_t low, uint64_t high) { return v.dst < high && low < v.dst_end(); }

// Every byte of `old` is written by `next` too.
bool replaces(const L1View& next, const L1View& old) {
    const bool dense = next.column_stride == next.rows * 32ull;
    if (dense && next.dst <= old.dst && old.dst_end() <= next.dst_end()) return true;
    return next.dst == old.dst && next.column_stride == old.column_stride && next.rows >= old.rows &&
           next.columns >= old.columns;
}

void copy(const Block& block, const L1View& v) {
    std::byte* const l1 = block.core(CoreSlot::aic).base[static_cast<size_t>(Space::l1)];
    nd_to_nz(v.src, l1 + v.dst, {v.line_stride, 32, v.column_stride, v.rows, v.columns * 32});
}

template <class Chosen>
void drop(L1Views& all, const Chosen& chosen) {
    const auto begin = all.views.begin(), end = begin + static_cast<std::ptrdiff_t>(all.count);
    all.count = static_cast<size_t>(std::remove_if(begin, end, chosen) - begin);
}

}  // namespace

void settle_l1_views(Block& block, uint64_t low, uint64_t high) {
    drop(block.l1_views, [&](const L1View& v) {
        if (!touches(v, low, high)) return false;
        copy(block, v);
        return true;
    });
}

bool in_gm(const Block& block, uint64_t low, uint64_t high) {
    const auto begin = block.l1_views.views.begin(), end = begin + static_cast<std::ptrdiff_t>(block.l1_views.count);
    return std::any_of(begin, end, [&](const L1View& v) { return touches(v, low, high); });
}

void settle_l1_views(Block& block) {
    settle_l1_views(block, 0, kSpaceBytes[static_cast<size_t>(Space::l1)]);
}

void copy_to_l1_later(Block& block, const L1View& view) {
    L1Views& all = block.l1_views;
    drop(all, [&](const L1View& old) { return replaces(view, old); });
    settle_l1_views(block, view.dst, view.dst_end());
    if (all.count == L1Views::kMax) settle_l1_views(block, all.views[0].dst, all.views[0].dst_end());
    all.views[all.count++] = view;
}

GmPieces pieces_in_gm(Block& block, uint64_t src, uint64_t column_bytes, uint64_t columns, uint64_t pitch) {
    const L1Views& all = block.l1_views;
    const uint64_t end = src + (columns - 1) * pitch + column_bytes;
    const auto first = all.views.begin(), last = first + static_cast<std::ptrdiff_t>(all.count);
    const auto v = std::find_if(first, last, [&](const L1View& view) { return touches(view, src, end); });
    if (v == last) return {nullptr, 0};
    if (src >= v->dst && (pitch == v->column_stride || columns == 1)) {
        const uint64_t column = (src - v->dst) / v->column_stride, in_column = (src - v->dst) % v->column_stride;
        if (column + columns <= v->columns && in_column % 32 == 0 && in_column + column_bytes <= v->rows * 32ull)
            return {v->src + in_column / 32 * v->line_stride + column * 32, v->line_stride};
    }
    settle_l1_views(block, src, end);
    return {nullptr, 0};
}

}  // namespace asc_emu
