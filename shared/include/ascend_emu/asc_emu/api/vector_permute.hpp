// Lane movement: interleave, pack, unpack, gather inside a register (ascend_c_vector.md section
// 10.1).
#pragma once

#include "asc_emu/api/common.hpp"
#include "asc_emu/api/vector_types.hpp"
#include "asc_emu/vector/permute.hpp"

namespace asc_emu {

ASC_EMU_INLINE void refuse_equal_destinations() {
    asc_emu_fail("an interleaving instruction got one register as both destinations; use two");
}
// Low halves of the lanes, in the low or high half of dst; its other half is zero.
template <class D, class S>
ASC_EMU_INLINE void pack_lanes(VectorRegister<D>& dst, const VectorRegister<S>& src,
                               uint32_t half) {
    static_assert(std::is_unsigned_v<D> && std::is_integral_v<S> && 2 * sizeof(D) == sizeof(S),
                  "packing goes from integers of 2 or 4 bytes to unsigned ones of half the width");
    ASC_EMU_TIMED_OP(VectorClass::pack, dst, src);
    ChunkBits packed[kChunks / 2];
#pragma GCC unroll 16
    for (uint32_t k = 0; k < kChunks / 2; ++k)
        packed[k] = unzip_chunk<D, 0>(src.part[2 * k], src.part[2 * k + 1]);
    ASC_EMU_EACH_CHUNK(
        k, dst.part[k] = k / (kChunks / 2) == half ? packed[k % (kChunks / 2)] : ChunkBits{})
}
// Lanes of the low or high half of src, zero- or sign-extended.
template <class D, class S>
ASC_EMU_INLINE void unpack_lanes(VectorRegister<D>& dst, const VectorRegister<S>& src,
                                 uint32_t half) {
    static_assert(std::is_integral_v<D> && std::is_integral_v<S> && sizeof(D) == 2 * sizeof(S),
                  "unpacking goes from integers of 1 or 2 bytes to ones of twice the width");
    ASC_EMU_TIMED_OP(VectorClass::pack, dst, src);
    const auto from = lanes_of(src);
    LaneArray<D> to;
    constexpr uint32_t kLanes = kVectorBytes / sizeof(D);
    for (uint32_t i = 0; i < kLanes; ++i) to[i] = static_cast<D>(from[half * kLanes + i]);
    set_lanes(dst, to);
}

}  // namespace asc_emu

template <class T>
inline ASC_EMU_FORCED void asc_intlv(asc_emu::VectorRegister<T>& dst0,
                                     asc_emu::VectorRegister<T>& dst1,
                                     const asc_emu::VectorRegister<T>& src0,
                                     const asc_emu::VectorRegister<T>& src1) {
    if (&dst0 == &dst1) asc_emu::refuse_equal_destinations();
    asc_emu::interleave(dst0, dst1, src0, src1);
    ASC_EMU_SAME_STAMP(dst1, dst0);
}
template <class T>
inline ASC_EMU_FORCED void asc_deintlv(asc_emu::VectorRegister<T>& dst0,
                                       asc_emu::VectorRegister<T>& dst1,
                                       const asc_emu::VectorRegister<T>& src0,
                                       const asc_emu::VectorRegister<T>& src1) {
    if (&dst0 == &dst1) asc_emu::refuse_equal_destinations();
    asc_emu::deinterleave(dst0, dst1, src0, src1);
    ASC_EMU_SAME_STAMP(dst1, dst0);
}

#define ASC_EMU_PACK(name, rule, half)                                       \
    template <class D, class S>                                              \
    inline ASC_EMU_FORCED void name(asc_emu::VectorRegister<D>& dst,         \
                                    const asc_emu::VectorRegister<S>& src) { \
        asc_emu::rule(dst, src, half);                                       \
    }
ASC_EMU_PACK(asc_pack_to_low, pack_lanes, 0)
ASC_EMU_PACK(asc_pack_to_high, pack_lanes, 1)
ASC_EMU_PACK(asc_pack, pack_lanes, 0)
ASC_EMU_PACK(asc_pack_v2, pack_lanes, 1)
ASC_EMU_PACK(asc_unpack_lower, unpack_lanes, 0)
ASC_EMU_PACK(asc_unpack_upper, unpack_lanes, 1)
#undef ASC_EMU_PACK

// dst[i] = src[index[i] mod lanes]
template <class T, class I>
inline void asc_gather(asc_emu::VectorRegister<T>& dst, const asc_emu::VectorRegister<T>& src,
                       const asc_emu::VectorRegister<I>& index) {
    static_assert(std::is_integral_v<I> && sizeof(I) == sizeof(T) && sizeof(T) <= 4,
                  "asc_gather inside a register takes indices of the width of its lanes");
    ASC_EMU_TIMED_OP(asc_emu::VectorClass::gather_register, dst, src, index);
    constexpr uint32_t kLanes = asc_emu::VectorRegister<T>::kLanes;
    const auto from = asc_emu::lanes_of<asc_emu::BitsOf<T>>(src);
    const auto at = asc_emu::lanes_of(index);
    asc_emu::LaneArray<asc_emu::BitsOf<T>> to;
    for (uint32_t i = 0; i < kLanes; ++i) to[i] = from[static_cast<uint32_t>(at[i]) % kLanes];
    asc_emu::set_lanes(dst, to);
}
template <class T, class I>
inline asc_emu::VectorRegister<T> asc_gather(const asc_emu::VectorRegister<T>& src,
                                             const asc_emu::VectorRegister<I>& index) {
    asc_emu::VectorRegister<T> dst;
    asc_gather(dst, src, index);
    return dst;
}
