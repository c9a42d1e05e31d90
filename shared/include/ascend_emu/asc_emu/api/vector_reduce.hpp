// Reductions (ascend_c_vector.md section 8.6): sums as binary trees of adjacent pairs, over a
// register, over its blocks of 32 bytes, or one level only; extremes with the index of their lane.
#pragma once

#include <limits>

#include "asc_emu/api/common.hpp"
#include "asc_emu/api/vector_types.hpp"
#include "asc_emu/vector/arithmetic.hpp"
#include "asc_emu/vector/permute.hpp"

namespace asc_emu {

// Sums of pairs of lanes, in the low half of a register; the upper half is zero. Rounds as T does.
template <class T>
ASC_EMU_INLINE void add_pairs(VectorRegister<T>& v) {
    using U = BitsOf<T>;
    ChunkBits r[kChunks];
    each_chunk([&](uint32_t k) ASC_EMU_LAMBDA {
        if (k >= kChunks / 2) {
            r[k] = ChunkBits{};
            return;
        }
        const ChunkBits even = unzip_chunk<U, 0>(v.part[2 * k], v.part[2 * k + 1]);
        const ChunkBits odd = unzip_chunk<U, 1>(v.part[2 * k], v.part[2 * k + 1]);
        r[k] = lane_op<T>(even, odd, Add{});
    });
    each_chunk([&](uint32_t k) ASC_EMU_LAMBDA { v.part[k] = r[k]; });
}
// kLevels levels of the tree over the active lanes; inactive ones count as 0.
template <uint32_t kLevels, class T>
ASC_EMU_INLINE void sum_tree(VectorRegister<T>& dst, const VectorRegister<T>& src,
                             const MaskRegister& mask) {
    VectorRegister<T> v;
    zeroing<sizeof(T)>(v, mask, [&](uint32_t k) ASC_EMU_LAMBDA { return src.part[k]; });
    for (uint32_t level = 0; level < kLevels; ++level) add_pairs(v);
    dst = v;
}
template <class T>
constexpr uint32_t log2_lanes(uint32_t bytes) {
    return static_cast<uint32_t>(__builtin_ctz(bytes / static_cast<uint32_t>(sizeof(T))));
}
// 16-bit integers are widened first: pairs of them are 32-bit lanes.
template <uint32_t kBytes, class D, class S>
ASC_EMU_INLINE void sum(VectorRegister<D>& dst, const VectorRegister<S>& src,
                        const MaskRegister& mask) {
    ASC_EMU_TIMED_OP(kBytes == 32 ? VectorClass::reduce_block : VectorClass::reduce, dst, src,
                     mask);
    if constexpr (std::is_integral_v<S> && sizeof(S) == 2) {
        static_assert(sizeof(D) == 4 && std::is_signed_v<D> == std::is_signed_v<S>,
                      "sums of 16-bit integers are 32-bit integers of the same sign");
        VectorRegister<S> active;
        zeroing<2>(active, mask, [&](uint32_t k) ASC_EMU_LAMBDA { return src.part[k]; });
        VectorRegister<D> pairs;
        each_chunk([&](uint32_t k) ASC_EMU_LAMBDA {
            using W = Chunk<D>;
            const auto v = reinterpret_cast<W>(active.part[k]);
            const auto low = reinterpret_cast<W>(active.part[k] << 16) >> 16;
            pairs.part[k] = reinterpret_cast<ChunkBits>((v >> 16) + low);
        });
        sum_tree<log2_lanes<D>(kBytes)>(dst, pairs, kAllBits);
    } else {
        static_assert(std::is_same_v<D, S> && one_of<S, int32_t, uint32_t, half, float>,
                      "sums take 16- and 32-bit integers, half and float");
        sum_tree<log2_lanes<S>(kBytes)>(dst, src, mask);
    }
}

template <class S>
using SumOf = std::conditional_t<std::is_same_v<S, int16_t>, int32_t,
                                 std::conditional_t<std::is_same_v<S, uint16_t>, uint32_t, S>>;

// Lanes as signed integers of their order, the wanted extreme highest: NaN is above everything.
template <class T, bool kMax>
ASC_EMU_INLINE Chunk<LaneInt<sizeof(T)>> extreme_key(ChunkBits v) {
    using S = LaneInt<sizeof(T)>;
    using U = Chunk<BitsOf<T>>;
    constexpr int kTop = 8 * sizeof(T) - 1;
    constexpr S kHighest = std::numeric_limits<S>::max();
    auto key = reinterpret_cast<Chunk<S>>(v);
    if constexpr (std::is_unsigned_v<T>) {
        key ^= std::numeric_limits<S>::min();
    } else if constexpr (!std::is_integral_v<T>) {
        key ^= (key >> kTop) & kHighest;  // -0 is below +0
    }
    if constexpr (!kMax) key = ~key;
    if constexpr (!std::is_integral_v<T>) {
        constexpr S kInfinity = sizeof(T) == 2 ? 0x7c00 : static_cast<S>(0x7f800000);
        const auto magnitude = reinterpret_cast<U>(v) & static_cast<BitsOf<T>>(kHighest);
        const auto nan = magnitude > static_cast<BitsOf<T>>(kInfinity);
        key = nan ? splat<S>(kHighest) : key;
    }
    return key;
}
template <class T>
constexpr T no_extreme(bool max) {
    if constexpr (std::is_integral_v<T>)
        return max ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
    else
        return static_cast<T>(bits_float(max ? 0xff800000u : 0x7f800000u));
}
template <class T>
struct Extreme {
    T value;
    uint32_t index;
};
template <class T>
using Keys = LaneArray<LaneInt<sizeof(T)>>;
// Order of all lanes; inactive ones are below everything.
template <bool kMax, class T>
ASC_EMU_INLINE Keys<T> extreme_keys(const VectorRegister<T>& src, const MaskRegister& mask) {
    using S = LaneInt<sizeof(T)>;
    const auto lowest = reinterpret_cast<ChunkBits>(splat<S>(std::numeric_limits<S>::min()));
    Keys<T> keys;
    each_chunk([&](uint32_t k) ASC_EMU_LAMBDA {
        const auto key = reinterpret_cast<ChunkBits>(extreme_key<T, kMax>(src.part[k]));
        const ChunkBits active = select_lanes<sizeof(T)>(mask.chunk(k), key, lowest);
        __builtin_memcpy(reinterpret_cast<char*>(&keys) + k * kChunkBytes, &active, kChunkBytes);
    });
    return keys;
}
// The first of the highest active lanes of [first, first + count).
template <bool kMax, class T>
inline Extreme<T> find_extreme(const LaneArray<T>& lanes, const Keys<T>& keys,
                               const MaskRegister& mask, uint32_t first, uint32_t count) {
    auto best = keys[first];
    for (uint32_t i = first; i < first + count; ++i) best = keys[i] > best ? keys[i] : best;
    for (uint32_t i = first; i < first + count; ++i) {
        if (keys[i] != best || !mask.template lane<sizeof(T)>(i)) continue;
        T value = lanes[i];
        if constexpr (!std::is_integral_v<T>) {
            if (best == std::numeric_limits<LaneInt<sizeof(T)>>::max())
                value = static_cast<T>(bits_float(0x7fc00000u));
        }
        return {value, i};
    }
    return {no_extreme<T>(kMax), 0};
}
template <class T>
constexpr bool is_ordered_wide = one_of<T, int16_t, uint16_t, int32_t, uint32_t, half, float>;
template <bool kMax, class T>
inline void reduce_extreme(VectorRegister<T>& dst, const VectorRegister<T>& src,
                           const MaskRegister& mask) {
    static_assert(is_ordered_wide<T>, "reductions take 16- and 32-bit integers, half and float");
    ASC_EMU_TIMED_OP(VectorClass::reduce, dst, src, mask);
    const auto lanes = lanes_of(src);
    const Keys<T> keys = extreme_keys<kMax>(src, mask);
    const Extreme<T> best = find_extreme<kMax>(lanes, keys, mask, 0, VectorRegister<T>::kLanes);
    LaneArray<BitsOf<T>> to{};
    to[0] = __builtin_bit_cast(BitsOf<T>, best.value);
    to[1] = static_cast<BitsOf<T>>(best.index);
    set_lanes(dst, to);
}
template <bool kMax, class T>
inline void reduce_extreme_blocks(VectorRegister<T>& dst, const VectorRegister<T>& src,
                                  const MaskRegister& mask) {
    static_assert(is_ordered_wide<T>, "reductions take 16- and 32-bit integers, half and float");
    ASC_EMU_TIMED_OP(VectorClass::reduce_block, dst, src, mask);
    constexpr uint32_t kPerBlock = 32 / sizeof(T);
    const auto lanes = lanes_of(src);
    const Keys<T> keys = extreme_keys<kMax>(src, mask);
    LaneArray<BitsOf<T>> to{};
    for (uint32_t k = 0; k < 8; ++k) {
        const auto best = find_extreme<kMax>(lanes, keys, mask, k * kPerBlock, kPerBlock);
        to[k] = __builtin_bit_cast(BitsOf<T>, best.value);
    }
    set_lanes(dst, to);
}
template <class T>
ASC_EMU_INLINE void sum_pairs(VectorRegister<T>& dst, const VectorRegister<T>& src,
                              const MaskRegister& mask) {
    static_assert(is_half_or_float<T>, "asc_pair_reduce_sum takes half and float");
    ASC_EMU_TIMED_OP(VectorClass::reduce_pair, dst, src, mask);
    sum_tree<1>(dst, src, mask);
}

}  // namespace asc_emu

#define ASC_EMU_SUM(name, bytes)                                           \
    template <class D, class S>                                            \
    inline ASC_EMU_FORCED void name(asc_emu::VectorRegister<D>& dst,       \
                                    const asc_emu::VectorRegister<S>& src, \
                                    const vector_bool& mask) {             \
        asc_emu::sum<bytes>(dst, src, mask);                               \
    }                                                                      \
    template <class S>                                                     \
    inline ASC_EMU_FORCED auto name(const asc_emu::VectorRegister<S>& src, \
                                    const vector_bool& mask) {             \
        asc_emu::VectorRegister<asc_emu::SumOf<S>> dst;                    \
        asc_emu::sum<bytes>(dst, src, mask);                               \
        return dst;                                                        \
    }
ASC_EMU_SUM(asc_reduce_sum, 256)
ASC_EMU_SUM(asc_reduce_sum_datablock, 32)
#undef ASC_EMU_SUM
#define ASC_EMU_REDUCE(name, rule)                                                               \
    template <class T>                                                                           \
    inline ASC_EMU_FORCED void name(asc_emu::VectorRegister<T>& dst,                             \
                                    const asc_emu::VectorRegister<T>& src,                       \
                                    const vector_bool& mask) {                                   \
        asc_emu::rule(dst, src, mask);                                                           \
    }                                                                                            \
    template <class T>                                                                           \
    inline ASC_EMU_FORCED asc_emu::VectorRegister<T> name(const asc_emu::VectorRegister<T>& src, \
                                                          const vector_bool& mask) {             \
        asc_emu::VectorRegister<T> dst;                                                          \
        asc_emu::rule(dst, src, mask);                                                           \
        return dst;                                                                              \
    }
ASC_EMU_REDUCE(asc_reduce_max, reduce_extreme<true>)
ASC_EMU_REDUCE(asc_reduce_min, reduce_extreme<false>)
ASC_EMU_REDUCE(asc_reduce_max_datablock, reduce_extreme_blocks<true>)
ASC_EMU_REDUCE(asc_reduce_min_datablock, reduce_extreme_blocks<false>)
ASC_EMU_REDUCE(asc_pair_reduce_sum, sum_pairs)
#undef ASC_EMU_REDUCE
