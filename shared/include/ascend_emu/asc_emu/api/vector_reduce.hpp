// Reductions (ascend_c_vector.md section 8.6): sums as binary trees of adjacent pairs, over a
// register, over its blocks of 32 bytes, or one level only; extremes with the index of their lane.
#pragma once

#include "asc_emu/api/common.hpp"
#include "asc_emu/api/vector_types.hpp"
#include "asc_emu/vector/arithmetic.hpp"
#include "asc_emu/vector/calls.hpp"
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

template <class T>
constexpr bool is_ordered_wide = one_of<T, int16_t, uint16_t, int32_t, uint32_t, half, float>;
template <class T>
constexpr OrderedType kOrderedType = std::is_same_v<T, int16_t>    ? OrderedType::s16
                                     : std::is_same_v<T, uint16_t> ? OrderedType::u16
                                     : std::is_same_v<T, int32_t>  ? OrderedType::s32
                                     : std::is_same_v<T, uint32_t> ? OrderedType::u32
                                     : std::is_same_v<T, half>     ? OrderedType::f16
                                                                   : OrderedType::f32;
template <bool kMax, bool kBlocks, class T>
ASC_EMU_INLINE void extreme(VectorRegister<T>& dst, const VectorRegister<T>& src,
                            const MaskRegister& mask) {
    static_assert(is_ordered_wide<T>, "reductions take 16- and 32-bit integers, half and float");
    ASC_EMU_TIMED_OP(kBlocks ? VectorClass::reduce_block : VectorClass::reduce, dst, src, mask);
    VectorRegister<T> from = src, to;
    const MaskRegister active = mask;
    asc_emu_vector_extreme(kOrderedType<T>, kMax, kBlocks, &to, &from, active.word);
    dst = to;
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
#define ASC_EMU_REDUCE(name, ...)                                                                \
    template <class T>                                                                           \
    inline ASC_EMU_FORCED void name(asc_emu::VectorRegister<T>& dst,                             \
                                    const asc_emu::VectorRegister<T>& src,                       \
                                    const vector_bool& mask) {                                   \
        asc_emu::__VA_ARGS__(dst, src, mask);                                                    \
    }                                                                                            \
    template <class T>                                                                           \
    inline ASC_EMU_FORCED asc_emu::VectorRegister<T> name(const asc_emu::VectorRegister<T>& src, \
                                                          const vector_bool& mask) {             \
        asc_emu::VectorRegister<T> dst;                                                          \
        asc_emu::__VA_ARGS__(dst, src, mask);                                                    \
        return dst;                                                                              \
    }
ASC_EMU_REDUCE(asc_reduce_max, extreme<true, false>)
ASC_EMU_REDUCE(asc_reduce_min, extreme<false, false>)
ASC_EMU_REDUCE(asc_reduce_max_datablock, extreme<true, true>)
ASC_EMU_REDUCE(asc_reduce_min_datablock, extreme<false, true>)
ASC_EMU_REDUCE(asc_pair_reduce_sum, sum_pairs)
#undef ASC_EMU_REDUCE
