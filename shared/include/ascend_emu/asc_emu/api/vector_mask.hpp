// Creation of masks (ascend_c_vector.md section 3.2).
#pragma once

#include "asc_emu/api/vector_types.hpp"

enum mask_pattern_t : uint8_t {
    PAT_ALL = 0,
    PAT_VL1,
    PAT_VL2,
    PAT_VL3,
    PAT_VL4,
    PAT_VL8,
    PAT_VL16,
    PAT_VL32,
    PAT_VL64,
    PAT_VL128,
    PAT_M3,
    PAT_M4,
    PAT_H,
    PAT_Q,
    PAT_ALLF = 15,
};

namespace asc_emu {

// Lanes [0, count) of a W-byte type.
template <uint32_t W>
constexpr MaskRegister first_lanes(uint32_t count) {
    constexpr uint64_t kLow = W == 1   ? ~0ull
                              : W == 2 ? 0x5555555555555555ull
                                       : 0x1111111111111111ull;
    MaskRegister mask{};
    for (uint32_t w = 0; w < 4; ++w) {
        const uint32_t bits = count * W > w * 64 ? count * W - w * 64 : 0;
        mask.word[w] = bits >= 64 ? kLow : kLow & ((1ull << bits) - 1);
    }
    return mask;
}
template <uint32_t W>
constexpr MaskRegister every_nth_lane(uint32_t n) {
    MaskRegister mask{};
    for (uint32_t i = 0; i < kVectorBytes / W; i += n)
        mask.word[i * W / 64] |= 1ull << (i * W % 64);
    return mask;
}
template <uint32_t W>
constexpr MaskRegister create_mask(mask_pattern_t pattern) {
    constexpr uint32_t kLanes = kVectorBytes / W;
    constexpr uint8_t kCounts[] = {0, 1, 2, 3, 4, 8, 16, 32, 64, 128};
    if (pattern >= PAT_VL1 && pattern <= PAT_VL128)
        return first_lanes<W>(kCounts[pattern] < kLanes ? kCounts[pattern] : kLanes);
    switch (pattern) {
        case PAT_M3:
            return every_nth_lane<W>(3);
        case PAT_M4:
            return every_nth_lane<W>(4);
        case PAT_H:
            return first_lanes<W>(kLanes / 2);
        case PAT_Q:
            return first_lanes<W>(kLanes / 4);
        case PAT_ALLF:
            return first_lanes<W>(0);
        default:
            return first_lanes<W>(kLanes);
    }
}
// min(count, lanes) lanes; count is then lowered by what was used.
template <uint32_t W>
constexpr MaskRegister update_mask(uint32_t& count) {
    constexpr uint32_t kLanes = kVectorBytes / W;
    const uint32_t used = count < kLanes ? count : kLanes;
    count -= used;
    return first_lanes<W>(used);
}

}  // namespace asc_emu

inline vector_bool asc_create_mask_b8(mask_pattern_t pattern) {
    return asc_emu::create_mask<1>(pattern);
}
inline vector_bool asc_create_mask_b16(mask_pattern_t pattern) {
    return asc_emu::create_mask<2>(pattern);
}
inline vector_bool asc_create_mask_b32(mask_pattern_t pattern) {
    return asc_emu::create_mask<4>(pattern);
}
inline vector_bool asc_update_mask_b8(uint32_t& count) { return asc_emu::update_mask<1>(count); }
inline vector_bool asc_update_mask_b16(uint32_t& count) { return asc_emu::update_mask<2>(count); }
inline vector_bool asc_update_mask_b32(uint32_t& count) { return asc_emu::update_mask<4>(count); }
