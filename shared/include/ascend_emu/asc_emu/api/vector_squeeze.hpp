// Compaction of active lanes, its byte counter AR, and prefix counts (ascend_c_vector.md section
// 7).
#pragma once

#include "asc_emu/api/vector_unalign.hpp"

namespace asc_emu {

// Active elements in order, the rest zero; returns their number.
template <class T>
inline ASC_EMU_FORCED uint32_t squeeze(VectorRegister<T>& dst, const VectorRegister<T>& src,
                                       const MaskRegister& mask) {
    ASC_EMU_TIMED_OP(VectorClass::squeeze, dst, src, mask);
    constexpr uint32_t W = sizeof(T), kLanes = kVectorBytes / W;
    // A whole member is written at each place, so there is room for one behind the register.
    struct alignas(64) {
        BitsOf<T> lane[kLanes + kChunkLanes<BitsOf<T>>];
    } to = {};
    uint32_t count = 0;
#if ASC_EMU_AVX512
    if constexpr (W == 4 || (W < 4 && kCompressesNarrow)) {
        each_chunk([&](uint32_t k) ASC_EMU_LAMBDA {
            const uint64_t bits = mask.chunk(k) & kLaneLow<W>;
            const ChunkBits packed = compress_lanes<W>(bits, src.part[k]);
            __builtin_memcpy(to.lane + count, &packed, kChunkBytes);
            count += static_cast<uint32_t>(__builtin_popcountll(bits));
        });
        __builtin_memcpy(&dst, &to, kVectorBytes);
        return count;
    }
#endif
    const auto from = lanes_of<BitsOf<T>>(src);
    for (uint32_t i = 0; i < kLanes; ++i) {
        to.lane[count] = from[i];
        count += mask.template lane<W>(i);
    }
    for (uint32_t i = count; i < kLanes; ++i) to.lane[i] = 0;
    __builtin_memcpy(&dst, &to, kVectorBytes);
    return count;
}
inline ASC_EMU_FORCED void clear_ar() {
    Registers& r = registers();
    r.ar = r.ar_stored = 0;
    r.ar_squeezed = false;
}

}  // namespace asc_emu

template <class T>
inline ASC_EMU_FORCED void asc_squeeze(asc_emu::VectorRegister<T>& dst,
                                       const asc_emu::VectorRegister<T>& src,
                                       const vector_bool& mask) {
    asc_emu::squeeze(dst, src, mask);
}
template <class T>
inline ASC_EMU_FORCED asc_emu::VectorRegister<T> asc_squeeze(const asc_emu::VectorRegister<T>& src,
                                                             const vector_bool& mask) {
    asc_emu::VectorRegister<T> dst;
    asc_emu::squeeze(dst, src, mask);
    return dst;
}
// The same, and AR grows by the bytes of the active elements.
template <class T>
inline ASC_EMU_FORCED void asc_squeeze_with_status(asc_emu::VectorRegister<T>& dst,
                                                   const asc_emu::VectorRegister<T>& src,
                                                   const vector_bool& mask) {
    asc_emu::Registers& r = asc_emu::registers();
    r.ar += asc_emu::squeeze(dst, src, mask) * sizeof(T);
    r.ar_squeezed = true;
}
template <class T>
inline ASC_EMU_FORCED void asc_squeeze_v2(asc_emu::VectorRegister<T>& dst,
                                          const asc_emu::VectorRegister<T>& src,
                                          const vector_bool& mask) {
    asc_squeeze_with_status(dst, src, mask);
}

inline ASC_EMU_FORCED void asc_clear_ar_spr() { asc_emu::clear_ar(); }
inline ASC_EMU_FORCED void asc_squeeze_and_storeunalign_init() { asc_emu::clear_ar(); }
inline int64_t asc_get_ar_spr() { return static_cast<int64_t>(asc_emu::registers().ar); }
inline int64_t asc_get_squeeze_status() { return asc_get_ar_spr(); }

// Squeezes and stores the active elements at base + AR.
template <class T>
inline ASC_EMU_FORCED void asc_squeeze_and_storeunalign(__ubuf__ T* base,
                                                        asc_emu::VectorRegister<T>& dst,
                                                        vector_store_unalign& state,
                                                        const asc_emu::VectorRegister<T>& src,
                                                        const vector_bool& mask) {
    auto& r = asc_emu::registers();
    const uint32_t count = asc_emu::squeeze(dst, src, mask);
    asc_emu::store_unaligned(asc_emu::moved_bytes(base, static_cast<int64_t>(r.ar)), state, dst,
                             count);
    r.ar += count * sizeof(T);
    r.ar_stored = r.ar;
}
template <class T>
inline ASC_EMU_FORCED void asc_squeeze_and_storeunalign_finalize(__ubuf__ T*,
                                                                 vector_store_unalign& state) {
    asc_emu::post_store(state);
}
// AR as a number in UB.
template <class T>
inline ASC_EMU_FORCED void asc_storealign_squeeze_status(__ubuf__ T* dst, int32_t offset = 0) {
    static_assert(sizeof(T) == 4, "AR is stored as a 32-bit number");
    const auto bytes = static_cast<uint32_t>(asc_emu::registers().ar);
    ASC_EMU_TIMED_MOVE(asc_emu::VectorClass::store, dst + offset, 4);
    __builtin_memcpy(asc_emu::ub_target(dst + offset, 4, 4), &bytes, 4);
}

// Lane i = number of active lanes before it, in every lane.
template <class T>
inline ASC_EMU_FORCED void asc_unsqueeze(asc_emu::VectorRegister<T>& dst, const vector_bool& mask) {
    static_assert(std::is_integral_v<T> && sizeof(T) <= 4,
                  "asc_unsqueeze counts in integers of 1, 2 or 4 bytes");
    ASC_EMU_TIMED_OP(asc_emu::VectorClass::squeeze, dst, mask);
    asc_emu::LaneArray<T> to;
    uint32_t count = 0;
    for (uint32_t i = 0; i < asc_emu::kVectorBytes / sizeof(T); ++i) {
        to[i] = static_cast<T>(count);
        count += mask.template lane<sizeof(T)>(i);
    }
    asc_emu::set_lanes(dst, to);
}
