// Block copies with gaps inside the chip: UB -> L1, UB -> UB, L1 -> UB, L1 -> FB, L1 -> BT
// (ascend_c_cube.md sections 8.2, 8.3 and 11).
#pragma once

#include <cstring>

#include "asc_emu/insn/bursts.hpp"
#include "ops/checks.hpp"

namespace asc_emu {

inline void copy_blocks(const BlockBursts& i, const std::byte* src, std::byte* dst) {
    if (i.src_gap == 0 && i.dst_gap == 0) {
        std::memmove(dst, src, static_cast<size_t>(i.count) * i.bytes);
        return;
    }
    for (size_t b = 0; b < i.count; ++b)
        std::memmove(dst + b * (i.bytes + i.dst_gap), src + b * (i.bytes + i.src_gap), i.bytes);
}

inline Loop source_loop(const BlockBursts& i) {
    return {i.count, static_cast<int64_t>(i.bytes) + i.src_gap};
}
inline Loop target_loop(const BlockBursts& i) {
    return {i.count, static_cast<int64_t>(i.bytes) + i.dst_gap};
}

inline Work blocks_work(const BlockBursts& i, CostClass cost) {
    return {cost, static_cast<uint64_t>(i.count) * i.bytes, i.count, 0};
}

inline void check_blocks(const Core& core, const BlockBursts& i) {
    check_range(core, "n_burst", i.count, 1, kMaxBursts, "split the copy or skip it");
}

}  // namespace asc_emu
