// Masks: creation, logic and shuffles (ascend_c_vector.md sections 3.2 and 3.3), with the raw names
// (section 15).
#pragma once

#include "asc_emu/api/common.hpp"
#include "asc_emu/api/vector_types.hpp"
#include "asc_emu/on_use.hpp"

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
constexpr ASC_EMU_FORCED MaskRegister first_lanes(uint32_t count) {
    const auto word = [bits = count * W](uint32_t w) ASC_EMU_LAMBDA {
        const uint32_t here = bits > w * 64 ? bits - w * 64 : 0;
        const uint64_t some = ~(~0ull << (here & 63));
        return kLaneLow<W> & (here >= 64 ? ~0ull : some);
    };
    return MaskRegister{{word(0), word(1), word(2), word(3)}};
}
template <uint32_t W>
constexpr MaskRegister every_nth_lane(uint32_t n) {
    MaskRegister mask{};
    for (uint32_t i = 0; i < kVectorBytes / W; i += n)
        mask.word[i * W / 64] |= 1ull << (i * W % 64);
    return mask;
}
template <uint32_t W>
constexpr ASC_EMU_FORCED MaskRegister create_mask(mask_pattern_t pattern) {
    constexpr uint32_t kLanes = kVectorBytes / W;
    constexpr uint8_t kCounts[] = {0, 1, 2, 3, 4, 8, 16, 32, 64, 128};
    if (pattern >= PAT_VL1 && pattern <= PAT_VL128)
        return first_lanes<W>(kCounts[pattern] < kLanes ? kCounts[pattern] : kLanes);
    switch (pattern) {
        case PAT_ALL:
            return first_lanes<W>(kLanes);
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
            asc_emu_fail(
                "a mask was created with an unknown pattern; use one of PAT_ALL, PAT_VL1 "
                "to PAT_VL128, PAT_M3, PAT_M4, PAT_H, PAT_Q and PAT_ALLF");
            return first_lanes<W>(0);
    }
}
// min(count, lanes) lanes; count is then lowered by what was used.
template <uint32_t W>
constexpr ASC_EMU_FORCED MaskRegister update_mask(uint32_t& count) {
    constexpr uint32_t kLanes = kVectorBytes / W;
    const uint32_t used = count < kLanes ? count : kLanes;
    count -= used;
    return first_lanes<W>(used);
}

// dst.word[w] = rule(w).
template <class Rule>
ASC_EMU_INLINE void each_word(MaskRegister& dst, Rule rule) {
    MaskRegister r;
    r.word[0] = rule(0);
    r.word[1] = rule(1);
    r.word[2] = rule(2);
    r.word[3] = rule(3);
    dst = r;
}

// Masks as 256 / kBits elements of kBits bits.
template <uint32_t kBits>
ASC_EMU_INLINE uint64_t mask_element(const MaskRegister& m, uint32_t i) {
    return (m.word[i * kBits / 64] >> (i * kBits % 64)) & ((1ull << kBits) - 1);
}
template <uint32_t kBits>
inline void interleave_masks(MaskRegister& dst0, MaskRegister& dst1, const MaskRegister& a,
                             const MaskRegister& b) {
    constexpr uint32_t kCount = 256 / kBits;
    MaskRegister r[2] = {};
    for (uint32_t i = 0; i < 2 * kCount; ++i) {
        const uint64_t element = mask_element<kBits>(i % 2 ? b : a, i / 2);
        const uint32_t at = i % kCount * kBits;
        r[i / kCount].word[at / 64] |= element << (at % 64);
    }
    dst0 = r[0];
    dst1 = r[1];
}
template <uint32_t kBits>
inline void deinterleave_masks(MaskRegister& dst0, MaskRegister& dst1, const MaskRegister& a,
                               const MaskRegister& b) {
    constexpr uint32_t kCount = 256 / kBits;
    MaskRegister r[2] = {};
    for (uint32_t i = 0; i < 2 * kCount; ++i) {
        const uint64_t element = mask_element<kBits>(i < kCount ? a : b, i % kCount);
        const uint32_t at = i / 2 * kBits;
        r[i % 2].word[at / 64] |= element << (at % 64);
    }
    dst0 = r[0];
    dst1 = r[1];
}

// The bits at even positions of a word, in its low half, and back.
constexpr uint64_t even_bits(uint64_t w) {
    uint64_t r = 0;
    for (uint32_t i = 0; i < 32; ++i) r |= ((w >> (2 * i)) & 1) << i;
    return r;
}
constexpr uint64_t spread_bits(uint64_t half) {
    uint64_t r = 0;
    for (uint32_t i = 0; i < 32; ++i) r |= ((half >> i) & 1) << (2 * i);
    return r;
}
inline void pack_mask(MaskRegister& dst, const MaskRegister& src, uint32_t half) {
    MaskRegister r{};
    for (uint32_t w = 0; w < 4; ++w)
        r.word[2 * half + w / 2] |= even_bits(src.word[w]) << (w % 2 * 32);
    dst = r;
}
inline void unpack_mask(MaskRegister& dst, const MaskRegister& src, uint32_t half) {
    MaskRegister r;
    for (uint32_t w = 0; w < 4; ++w)
        r.word[w] = spread_bits(src.word[2 * half + w / 2] >> (w % 2 * 32));
    dst = r;
}

// Mask from `256 / kRepeat` bits of memory or of a register, every bit kRepeat times.
template <uint32_t kRepeat>
inline MaskRegister repeat_bits(const void* bits) {
    uint8_t bytes[32 / kRepeat];
    __builtin_memcpy(bytes, bits, sizeof(bytes));
    MaskRegister r{};
    for (uint32_t i = 0; i < 256; ++i) {
        const uint32_t from = i / kRepeat;
        r.word[i / 64] |= static_cast<uint64_t>((bytes[from / 8] >> (from % 8)) & 1) << (i % 64);
    }
    return r;
}
template <uint32_t kRepeat, class T>
ASC_EMU_INLINE void mask_of_chunk(MaskRegister& dst, const VectorRegister<T>& src, int32_t part) {
    constexpr int32_t kParts = 8 * kRepeat;
    if (part < 0 || part >= kParts)
        asc_emu_fail(kRepeat == 2 ? "asc_copy of a vector to a mask got a part outside 0 .. 15"
                                  : "asc_copy of a vector to a mask got a part outside 0 .. 31");
    const LaneArray<uint8_t> bytes = lanes_of<uint8_t>(src);
    dst = repeat_bits<kRepeat>(bytes.lane + 32 / kRepeat * part);
}

}  // namespace asc_emu

// Creation ---------------------------------------------------------------------------------------
#define ASC_EMU_MASKS(suffix, width)                                                               \
    ASC_EMU_ON_USE inline ASC_EMU_FORCED vector_bool asc_create_mask_##suffix(                     \
        mask_pattern_t pattern) {                                                                  \
        return asc_emu::create_mask<width>(pattern);                                               \
    }                                                                                              \
    ASC_EMU_ON_USE inline ASC_EMU_FORCED vector_bool asc_update_mask_##suffix(uint32_t& value) {   \
        return asc_emu::update_mask<width>(value);                                                 \
    }                                                                                              \
    ASC_EMU_ON_USE ASC_EMU_INLINE vector_bool pset_##suffix(mask_pattern_t pattern) {              \
        return asc_emu::create_mask<width>(pattern);                                               \
    }                                                                                              \
    ASC_EMU_ON_USE ASC_EMU_INLINE vector_bool pge_##suffix(mask_pattern_t pattern) {               \
        return asc_emu::create_mask<width>(pattern);                                               \
    }                                                                                              \
    ASC_EMU_ON_USE ASC_EMU_INLINE vector_bool plt_##suffix(                                        \
        uint32_t& value, asc_emu::Constant<asc_emu::PostKind, 1> = POST_UPDATE) {                  \
        return asc_emu::update_mask<width>(value);                                                 \
    }                                                                                              \
    ASC_EMU_ON_USE inline void asc_intlv_##suffix(                                                 \
        vector_bool& dst0, vector_bool& dst1, const vector_bool& src0, const vector_bool& src1) {  \
        asc_emu::interleave_masks<width>(dst0, dst1, src0, src1);                                  \
    }                                                                                              \
    ASC_EMU_ON_USE inline void asc_deintlv_##suffix(                                               \
        vector_bool& dst0, vector_bool& dst1, const vector_bool& src0, const vector_bool& src1) {  \
        asc_emu::deinterleave_masks<width>(dst0, dst1, src0, src1);                                \
    }                                                                                              \
    ASC_EMU_ON_USE inline void pintlv_##suffix(vector_bool& dst0, vector_bool& dst1,               \
                                               const vector_bool& src0, const vector_bool& src1) { \
        asc_emu::interleave_masks<width>(dst0, dst1, src0, src1);                                  \
    }                                                                                              \
    ASC_EMU_ON_USE inline void pdintlv_##suffix(                                                   \
        vector_bool& dst0, vector_bool& dst1, const vector_bool& src0, const vector_bool& src1) {  \
        asc_emu::deinterleave_masks<width>(dst0, dst1, src0, src1);                                \
    }
ASC_EMU_MASKS(b8, 1)
ASC_EMU_MASKS(b16, 2)
ASC_EMU_MASKS(b32, 4)
#undef ASC_EMU_MASKS

// From the 128 bits that scalar code set: every bit twice, or each of the first 64 four times.
ASC_EMU_ON_USE inline vector_bool asc_get_mask_spr_b16() {
    return asc_emu::repeat_bits<2>(asc_emu::registers().vector_mask);
}
ASC_EMU_ON_USE inline vector_bool asc_get_mask_spr_b32() {
    return asc_emu::repeat_bits<4>(asc_emu::registers().vector_mask);
}

// Logic: all 256 bits, cut by the mask -----------------------------------------------------------
#define ASC_EMU_MASK_LOGIC(name, raw, expression)                                              \
    ASC_EMU_ON_USE inline ASC_EMU_FORCED void name(vector_bool& dst, const vector_bool& src0,  \
                                                   const vector_bool& src1,                    \
                                                   const vector_bool& mask) {                  \
        asc_emu::each_word(dst, [&](uint32_t w) ASC_EMU_LAMBDA {                               \
            const uint64_t a = src0.word[w], b = src1.word[w], m = mask.word[w];               \
            return expression;                                                                 \
        });                                                                                    \
    }                                                                                          \
    ASC_EMU_ON_USE inline ASC_EMU_FORCED vector_bool name(                                     \
        const vector_bool& src0, const vector_bool& src1, const vector_bool& mask) {           \
        vector_bool dst;                                                                       \
        name(dst, src0, src1, mask);                                                           \
        return dst;                                                                            \
    }                                                                                          \
    ASC_EMU_ON_USE ASC_EMU_INLINE void raw(vector_bool& dst, const vector_bool& src0,          \
                                           const vector_bool& src1, const vector_bool& mask) { \
        name(dst, src0, src1, mask);                                                           \
    }
ASC_EMU_MASK_LOGIC(asc_and, pand, (a & b) & m)
ASC_EMU_MASK_LOGIC(asc_or, por, (a | b) & m)
ASC_EMU_MASK_LOGIC(asc_xor, pxor, (a ^ b) & m)
ASC_EMU_MASK_LOGIC(asc_select, psel, (a & m) | (b & ~m))
#undef ASC_EMU_MASK_LOGIC
ASC_EMU_ON_USE inline ASC_EMU_FORCED void asc_not(vector_bool& dst, const vector_bool& src,
                                                  const vector_bool& mask) {
    asc_emu::each_word(dst, [&](uint32_t w) ASC_EMU_LAMBDA { return ~src.word[w] & mask.word[w]; });
}
ASC_EMU_ON_USE ASC_EMU_INLINE void pnot(vector_bool& dst, const vector_bool& src,
                                        const vector_bool& mask) {
    asc_not(dst, src, mask);
}

// Copies and shuffles ----------------------------------------------------------------------------
inline ASC_EMU_FORCED void asc_copy(vector_bool& dst, const vector_bool& src) { dst = src; }
ASC_EMU_ON_USE inline ASC_EMU_FORCED void asc_copy(vector_bool& dst, const vector_bool& src,
                                                   const vector_bool& mask) {
    asc_emu::each_word(dst, [&](uint32_t w) ASC_EMU_LAMBDA { return src.word[w] & mask.word[w]; });
}
ASC_EMU_ON_USE inline ASC_EMU_FORCED void asc_copy(vector_bool& dst, const vector_uint16_t& src,
                                                   int16_t part) {
    asc_emu::mask_of_chunk<2>(dst, src, part);
}
ASC_EMU_ON_USE inline ASC_EMU_FORCED void asc_copy(vector_bool& dst, const vector_uint32_t& src,
                                                   int16_t part) {
    asc_emu::mask_of_chunk<4>(dst, src, part);
}
#define ASC_EMU_MASK_PACK(name, rule, half) \
    inline void name(vector_bool& dst, const vector_bool& src) { asc_emu::rule(dst, src, half); }
ASC_EMU_MASK_PACK(asc_pack_to_low, pack_mask, 0)
ASC_EMU_MASK_PACK(asc_pack_to_high, pack_mask, 1)
ASC_EMU_MASK_PACK(asc_pack, pack_mask, 0)
ASC_EMU_MASK_PACK(asc_pack_v2, pack_mask, 1)
ASC_EMU_MASK_PACK(asc_unpack_lower, unpack_mask, 0)
ASC_EMU_MASK_PACK(asc_unpack_upper, unpack_mask, 1)
#undef ASC_EMU_MASK_PACK
template <uint32_t kHalf>
inline void ppack(vector_bool& dst, const vector_bool& src,
                  asc_emu::Constant<asc_emu::HalfKind, kHalf>) {
    asc_emu::pack_mask(dst, src, kHalf);
}
template <uint32_t kHalf>
inline void punpack(vector_bool& dst, const vector_bool& src,
                    asc_emu::Constant<asc_emu::HalfKind, kHalf>) {
    asc_emu::unpack_mask(dst, src, kHalf);
}
