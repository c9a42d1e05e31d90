// Aligned loads from UB (ascend_c_vector.md section 5). Offsets and advances count elements of the
// pointer's type, bytes for masks; address registers hold bytes.
#pragma once

#include "asc_emu/api/vector_mask.hpp"
#include "asc_emu/api/vector_memory.hpp"

namespace asc_emu {

// Loads read `src`, which may be a literal offset; each rule names its bytes and alignment.
struct LoadNorm {
    template <class T>
    static ASC_EMU_INLINE void run(VectorRegister<T>& dst, T* src) {
        ASC_EMU_TIMED_LOAD(VectorClass::load, dst, src, kVectorBytes);
        const char* from = reinterpret_cast<const char*>(ub_source(src, kVectorBytes, 32));
        ASC_EMU_EACH_CHUNK(k, __builtin_memcpy(&dst.part[k], from + k * kChunkBytes, kChunkBytes))
    }
};
struct LoadBroadcast {
    template <class T>
    static ASC_EMU_INLINE void run(VectorRegister<T>& dst, T* src) {
        ASC_EMU_TIMED_LOAD(VectorClass::load, dst, src, sizeof(T));
        using U = BitsOf<T>;
        U element;
        __builtin_memcpy(&element, ub_source(src, sizeof(T), sizeof(T)), sizeof(T));
        const auto all = reinterpret_cast<ChunkBits>(splat<U>(element));
        ASC_EMU_EACH_CHUNK(k, dst.part[k] = all)
    }
};
struct LoadUpsample {
    template <class T>
    static ASC_EMU_INLINE void run(VectorRegister<T>& dst, T* src) {
        ASC_EMU_TIMED_LOAD(VectorClass::load, dst, src, 128);
        static_assert(sizeof(T) <= 2, "upsampling loads take elements of 1 or 2 bytes");
        LaneArray<BitsOf<T>> lanes;
        BitsOf<T> from[kVectorBytes / 2 / sizeof(T)];
        __builtin_memcpy(from, ub_source(src, 128, 32), 128);
        for (uint32_t i = 0; i < kVectorBytes / sizeof(T); ++i) lanes[i] = from[i >> 1];
        set_lanes(dst, lanes);
    }
};
struct LoadDownsample {
    template <class T>
    static ASC_EMU_INLINE void run(VectorRegister<T>& dst, T* src) {
        ASC_EMU_TIMED_LOAD(VectorClass::load_alone, dst, src, 512);
        static_assert(sizeof(T) <= 2, "downsampling loads take elements of 1 or 2 bytes");
        LaneArray<BitsOf<T>> lanes;
        BitsOf<T> from[2 * kVectorBytes / sizeof(T)];
        __builtin_memcpy(from, ub_source(src, 512, 32), 512);
        for (uint32_t i = 0; i < kVectorBytes / sizeof(T); ++i) lanes[i] = from[2 * i];
        set_lanes(dst, lanes);
    }
};
// Elements of U, zero-extended to kTimes their width.
template <uint32_t kTimes>
struct LoadUnpack {
    template <class T>
    static ASC_EMU_INLINE void run(VectorRegister<T>& dst, T* src) {
        ASC_EMU_TIMED_LOAD(VectorClass::load, dst, src, kVectorBytes / kTimes);
        static_assert(sizeof(T) * kTimes <= 8 && (kTimes == 2 || sizeof(T) == 1),
                      "unpacking loads take elements of 1, 2 or 4 bytes, the fourfold one of 1");
        using Wide = LaneBits<sizeof(T) * kTimes>;
        LaneArray<Wide> lanes;
        constexpr uint32_t kBytes = kVectorBytes / kTimes;
        BitsOf<T> from[kBytes / sizeof(T)];
        __builtin_memcpy(from, ub_source(src, kBytes, 32), kBytes);
        for (uint32_t i = 0; i < kBytes / sizeof(T); ++i) lanes[i] = from[i];
        set_lanes(dst, lanes);
    }
};
struct LoadBlock {
    template <class T>
    static ASC_EMU_INLINE void run(VectorRegister<T>& dst, T* src) {
        ASC_EMU_TIMED_LOAD(VectorClass::load, dst, src, 32);
        const void* from = ub_source(src, 32, 32);
        LaneArray<uint8_t> lanes;
        for (uint32_t k = 0; k < 8; ++k) __builtin_memcpy(lanes.lane + 32 * k, from, 32);
        set_lanes(dst, lanes);
    }
};
struct LoadElementToBlock {
    template <class T>
    static ASC_EMU_INLINE void run(VectorRegister<T>& dst, T* src) {
        ASC_EMU_TIMED_LOAD(VectorClass::load, dst, src, 8 * sizeof(T));
        static_assert(sizeof(T) == 2 || sizeof(T) == 4,
                      "element-to-block loads take elements of 2 or 4 bytes");
        constexpr uint32_t kBytes = 8 * sizeof(T);
        BitsOf<T> from[8];
        __builtin_memcpy(from, ub_source(src, kBytes, kBytes), kBytes);
        LaneArray<BitsOf<T>> lanes;
        for (uint32_t i = 0; i < kVectorBytes / sizeof(T); ++i) lanes[i] = from[i * sizeof(T) / 32];
        set_lanes(dst, lanes);
    }
};
struct LoadDeinterleave {
    template <class T>
    static ASC_EMU_INLINE void run(VectorRegister<T>& dst0, VectorRegister<T>& dst1, T* src) {
        ASC_EMU_TIMED_LOAD(VectorClass::load_alone, dst0, src, 512);
        using U = BitsOf<T>;
        constexpr uint32_t kLanes = kVectorBytes / sizeof(T);
        alignas(64) U from[2 * kLanes];
        __builtin_memcpy(from, ub_source(src, 512, 32), 512);
        LaneArray<U> even, odd;
        for (uint32_t i = 0; i < kLanes; ++i) even[i] = from[2 * i];
        for (uint32_t i = 0; i < kLanes; ++i) odd[i] = from[2 * i + 1];
        set_lanes(dst0, even);
        set_lanes(dst1, odd);
        ASC_EMU_SAME_STAMP(dst1, dst0);
    }
};
// Block k of 32 bytes at base + 32 * block_stride * k, read whole when one of its lanes is active.
template <class T>
inline ASC_EMU_FORCED void load_blocks(VectorRegister<T>& dst, const void* base,
                                       uint32_t block_stride, const MaskRegister& mask) {
    ASC_EMU_TIMED_AT(dst,
                     moved_blocks<sizeof(T)>(VectorClass::load_blocks, base, block_stride, mask));
    LaneArray<uint8_t> lanes;
    for (uint32_t k = 0; k < 8; ++k) {
        const uint64_t bits = mask.word[k / 2] >> (k % 2 * 32);
        uint8_t* to = lanes.lane + 32 * k;
        if ((bits & 0xffffffffu & kLaneLow<sizeof(T)>) != 0) {
            const char* from = static_cast<const char*>(base) + 32 * size_t{block_stride} * k;
            __builtin_memcpy(to, ub_source(from, 32, 32), 32);
        } else {
            __builtin_memset(to, 0, 32);
        }
    }
    set_lanes(dst, lanes);
}
// Masks: 256 bits, 128 bits twice each, or every second of 512.
inline ASC_EMU_FORCED void load_mask(MaskRegister& dst, const void* src) {
    ASC_EMU_TIMED_LOAD(VectorClass::load, dst, src, 32);
    __builtin_memcpy(&dst, ub_source(src, 32, 32), 32);
}
inline ASC_EMU_FORCED void load_mask_upsampled(MaskRegister& dst, const void* src) {
    ASC_EMU_TIMED_LOAD(VectorClass::load, dst, src, 16);
    dst = repeat_bits<2>(ub_source(src, 16, 16));
}
inline ASC_EMU_FORCED void load_mask_downsampled(MaskRegister& dst, const void* src) {
    ASC_EMU_TIMED_LOAD(VectorClass::load, dst, src, 64);
    uint64_t words[8];
    __builtin_memcpy(words, ub_source(src, 64, 32), 64);
    for (uint32_t w = 0; w < 4; ++w)
        dst.word[w] = even_bits(words[2 * w]) | (even_bits(words[2 * w + 1]) << 32);
}

}  // namespace asc_emu

#define ASC_EMU_LOAD(name, rule)                                                            \
    template <class T>                                                                      \
    inline ASC_EMU_FORCED void name(asc_emu::VectorRegister<T>& dst, __ubuf__ T* src) {     \
        asc_emu::rule::run(dst, src);                                                       \
    }                                                                                       \
    template <class T>                                                                      \
    inline ASC_EMU_FORCED void name(asc_emu::VectorRegister<T>& dst, __ubuf__ T* src,       \
                                    int32_t offset) {                                       \
        asc_emu::rule::run(dst, src + offset);                                              \
    }                                                                                       \
    template <class T>                                                                      \
    inline ASC_EMU_FORCED void name(asc_emu::VectorRegister<T>& dst, __ubuf__ T* src,       \
                                    addr_reg offset) {                                      \
        asc_emu::rule::run(dst, asc_emu::moved(src, offset));                               \
    }                                                                                       \
    template <class T>                                                                      \
    inline ASC_EMU_FORCED asc_emu::VectorRegister<T> name(__ubuf__ T* src) {                \
        asc_emu::VectorRegister<T> dst;                                                     \
        asc_emu::rule::run(dst, src);                                                       \
        return dst;                                                                         \
    }                                                                                       \
    template <class T, class Offset>                                                        \
    inline ASC_EMU_FORCED asc_emu::VectorRegister<T> name(__ubuf__ T* src, Offset offset) { \
        asc_emu::VectorRegister<T> dst;                                                     \
        name(dst, src, offset);                                                             \
        return dst;                                                                         \
    }
#define ASC_EMU_LOAD_POST(name, rule)                                                         \
    template <class T>                                                                        \
    inline ASC_EMU_FORCED void name(asc_emu::VectorRegister<T>& dst, __ubuf__ T*& src,        \
                                    int32_t offset) {                                         \
        asc_emu::rule::run(dst, src);                                                         \
        src += offset;                                                                        \
    }                                                                                         \
    template <class T>                                                                        \
    inline ASC_EMU_FORCED asc_emu::VectorRegister<T> name(__ubuf__ T*& src, int32_t offset) { \
        asc_emu::VectorRegister<T> dst;                                                       \
        name(dst, src, offset);                                                               \
        return dst;                                                                           \
    }
ASC_EMU_LOAD(asc_loadalign, LoadNorm)
ASC_EMU_LOAD_POST(asc_loadalign_postupdate, LoadNorm)
ASC_EMU_LOAD(asc_loadalign_brc_elem, LoadBroadcast)
ASC_EMU_LOAD_POST(asc_loadalign_brc_elem_postupdate, LoadBroadcast)
ASC_EMU_LOAD(asc_loadalign_upsample, LoadUpsample)
ASC_EMU_LOAD_POST(asc_loadalign_upsample_postupdate, LoadUpsample)
ASC_EMU_LOAD(asc_loadalign_downsample, LoadDownsample)
ASC_EMU_LOAD_POST(asc_loadalign_downsample_postupdate, LoadDownsample)
ASC_EMU_LOAD(asc_loadalign_unpack, LoadUnpack<2>)
ASC_EMU_LOAD_POST(asc_loadalign_unpack_postupdate, LoadUnpack<2>)
ASC_EMU_LOAD(asc_loadalign_unpack4, LoadUnpack<4>)
ASC_EMU_LOAD_POST(asc_loadalign_unpack4_postupdate, LoadUnpack<4>)
ASC_EMU_LOAD(asc_loadalign_brc_datablock, LoadBlock)
ASC_EMU_LOAD_POST(asc_loadalign_brc_datablock_postupdate, LoadBlock)
ASC_EMU_LOAD(asc_loadalign_brc_elem2datablock, LoadElementToBlock)
ASC_EMU_LOAD_POST(asc_loadalign_brc_elem2datablock_postupdate, LoadElementToBlock)
// Names of the older generation.
ASC_EMU_LOAD(asc_loadalign_brc, LoadBroadcast)
ASC_EMU_LOAD_POST(asc_loadalign_brc_postupdate, LoadBroadcast)
ASC_EMU_LOAD(asc_loadalign_brc_v2, LoadBlock)
ASC_EMU_LOAD_POST(asc_loadalign_brc_postupdate_v2, LoadBlock)
ASC_EMU_LOAD(asc_loadalign_brc_v3, LoadElementToBlock)
ASC_EMU_LOAD_POST(asc_loadalign_brc_postupdate_v3, LoadElementToBlock)
ASC_EMU_LOAD(asc_loadalign_unpack_v2, LoadUnpack<4>)
ASC_EMU_LOAD_POST(asc_loadalign_unpack_postupdate_v2, LoadUnpack<4>)
#undef ASC_EMU_LOAD
#undef ASC_EMU_LOAD_POST

// Two registers from 512 bytes: even and odd elements.
template <class T>
inline ASC_EMU_FORCED void asc_loadalign_deintlv(asc_emu::VectorRegister<T>& dst0,
                                                 asc_emu::VectorRegister<T>& dst1,
                                                 __ubuf__ T* src) {
    asc_emu::LoadDeinterleave::run(dst0, dst1, src);
}
template <class T, class Offset>
inline ASC_EMU_FORCED void asc_loadalign_deintlv(asc_emu::VectorRegister<T>& dst0,
                                                 asc_emu::VectorRegister<T>& dst1, __ubuf__ T* src,
                                                 Offset offset) {
    asc_emu::LoadDeinterleave::run(dst0, dst1, asc_emu::moved(src, offset));
}
template <class T>
inline ASC_EMU_FORCED void asc_loadalign_deintlv_postupdate(asc_emu::VectorRegister<T>& dst0,
                                                            asc_emu::VectorRegister<T>& dst1,
                                                            __ubuf__ T*& src, int32_t offset) {
    asc_emu::LoadDeinterleave::run(dst0, dst1, src);
    src += offset;
}

// Strided blocks; strides in 32 bytes. The plain form starts one repeat_stride behind src.
template <class T>
inline ASC_EMU_FORCED void asc_loadalign(asc_emu::VectorRegister<T>& dst, __ubuf__ T* src,
                                         uint16_t block_stride, uint16_t repeat_stride,
                                         const vector_bool& mask) {
    asc_emu::load_blocks(dst, asc_emu::moved_bytes(src, 32 * int64_t{repeat_stride}), block_stride,
                         mask);
}
template <class T>
inline ASC_EMU_FORCED void asc_loadalign_postupdate(asc_emu::VectorRegister<T>& dst,
                                                    __ubuf__ T*& src, uint16_t block_stride,
                                                    uint16_t repeat_stride,
                                                    const vector_bool& mask) {
    asc_emu::load_blocks(dst, src, block_stride, mask);
    src = asc_emu::moved_bytes(src, 32 * int64_t{repeat_stride});
}

// Masks; offsets and advances in bytes.
#define ASC_EMU_LOAD_MASK(name, rule)                                                     \
    template <class T>                                                                    \
    inline ASC_EMU_FORCED void name(vector_bool& dst, __ubuf__ T* src) {                  \
        asc_emu::rule(dst, src);                                                          \
    }                                                                                     \
    template <class T>                                                                    \
    inline ASC_EMU_FORCED void name(vector_bool& dst, __ubuf__ T* src, int32_t offset) {  \
        asc_emu::rule(dst, asc_emu::moved_bytes(src, offset));                            \
    }                                                                                     \
    template <class T>                                                                    \
    inline ASC_EMU_FORCED void name(vector_bool& dst, __ubuf__ T* src, addr_reg offset) { \
        asc_emu::rule(dst, asc_emu::moved(src, offset));                                  \
    }                                                                                     \
    template <class T>                                                                    \
    inline ASC_EMU_FORCED void name##_postupdate(vector_bool& dst, __ubuf__ T*& src,      \
                                                 int32_t offset) {                        \
        asc_emu::rule(dst, src);                                                          \
        src = asc_emu::moved_bytes(src, offset);                                          \
    }
ASC_EMU_LOAD_MASK(asc_loadalign, load_mask)
ASC_EMU_LOAD_MASK(asc_loadalign_upsample, load_mask_upsampled)
ASC_EMU_LOAD_MASK(asc_loadalign_downsample, load_mask_downsampled)
#undef ASC_EMU_LOAD_MASK
// Without an advance the pointer moves by the mask's own size.
template <class T>
inline ASC_EMU_FORCED void asc_loadalign_postupdate(vector_bool& dst, __ubuf__ T*& src) {
    asc_emu::load_mask(dst, src);
    src = asc_emu::moved_bytes(src, 32);
}
