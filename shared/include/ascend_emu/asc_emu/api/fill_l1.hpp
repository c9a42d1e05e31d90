// L1 fill (ascend_c_cube.md section 6).
#pragma once

#include "asc_emu/api/common.hpp"
#include "asc_emu/insn/gm_to_l1.hpp"

// repeat groups of blk_num 32-byte blocks, dst_gap blocks apart.
union asc_fill_value_config {
    uint64_t config = 0;
    struct {
        uint64_t repeat : 15;
        uint64_t : 1;
        uint64_t blk_num : 15;
        uint64_t : 1;
        uint64_t dst_gap : 15;
        uint64_t : 17;
    };
};

namespace asc_emu {

template <class T>
inline void issue_fill(T* dst, uint32_t pattern, const asc_fill_value_config& config) {
    static_assert(sizeof(T) == 2 || sizeof(T) == 4, "asc_fill_l1 fills 2- or 4-byte elements");
    FillL1 i;
    i.dst = offset_of(dst);
    i.pattern = pattern;
    i.repeat = static_cast<uint16_t>(config.repeat);
    i.blocks = static_cast<uint16_t>(config.blk_num);
    i.gap = static_cast<uint16_t>(config.dst_gap);
    i.element_bytes = sizeof(T);
    issue(i);
}

}  // namespace asc_emu

// The pattern is as wide as an element of dst: the low half of `value` for 2-byte elements.
template <class T>
inline void asc_fill_l1(__cbuf__ T* dst, uint32_t value, const asc_fill_value_config& config) {
    asc_emu::issue_fill(dst, value, config);
}
// NOTE: a half value for 4-byte elements: not documented whether it is converted; taken as bits.
template <class T>
inline void asc_fill_l1(__cbuf__ T* dst, half value, const asc_fill_value_config& config) {
    asc_emu::issue_fill(dst, value.bits, config);
}
inline void asc_fill_l1(__cbuf__ bfloat16_t* dst, bfloat16_t value,
                        const asc_fill_value_config& config) {
    asc_emu::issue_fill(dst, value.bits, config);
}
template <class T, class V>
inline void asc_fill_l1_sync(__cbuf__ T* dst, V value, const asc_fill_value_config& config) {
    asc_fill_l1(dst, value, config);
    asc_sync_pipe(PIPE_ALL);
}
