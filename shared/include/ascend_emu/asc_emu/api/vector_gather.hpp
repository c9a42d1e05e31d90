// Gather from UB and scatter to it (ascend_c_vector.md section 10.2), and histograms
// (section 10.3). Indices are unsigned and count elements of the pointer's type; inactive lanes
// touch nothing.
#pragma once

#include "asc_emu/api/vector_memory.hpp"
#include "asc_emu/on_use.hpp"

namespace asc_emu {

// The base may be anywhere, as long as base + index is in UB.
template <class T, class I>
ASC_EMU_INLINE T* indexed(T* base, I index) {
    return moved_bytes(base, static_cast<int64_t>(index) * static_cast<int64_t>(sizeof(T)));
}
// Lanes of the width of an index: narrower elements are zero-extended to it.
template <class Result, class T, class I>
inline ASC_EMU_FORCED void gather_elements(VectorRegister<Result>& dst, T* base,
                                           const VectorRegister<I>& index,
                                           const MaskRegister& mask) {
    static_assert(std::is_unsigned_v<I>, "asc_gather takes unsigned indices");
    ASC_EMU_TIMED_AT(dst, moved_indexed(VectorClass::gather, base, index, kVectorBytes / sizeof(I),
                                        sizeof(T), sizeof(T), mask));
    constexpr uint32_t W = sizeof(I), kLanes = kVectorBytes / W;
    // Inactive lanes read element 0 where that is allowed, and are cleared.
    VectorRegister<I> used;
    zeroing<W>(used, mask, [&](uint32_t k) ASC_EMU_LAMBDA { return index.part[k]; });
    const auto at = lanes_of(used);
    I highest = 0;
    for (uint32_t i = 0; i < kLanes; ++i) highest = at[i] > highest ? at[i] : highest;
    const uintptr_t offset = ub_offset(base);
    LaneArray<I> to;
    if (offset < kUbBytes && offset % sizeof(T) == 0 &&
        offset + (uint64_t{highest} + 1) * sizeof(T) <= kUbBytes) {
        const auto* from = reinterpret_cast<const BitsOf<T>*>(base);
        for (uint32_t i = 0; i < kLanes; ++i) to[i] = static_cast<I>(from[at[i]]);
        VectorRegister<I> all;
        set_lanes(all, to);
        zeroing<W>(used, mask, [&](uint32_t k) ASC_EMU_LAMBDA { return all.part[k]; });
        dst = VectorRegister<Result>(used);
        return;
    }
    for (uint32_t i = 0; i < kLanes; ++i) {
        BitsOf<T> element = 0;
        if (mask.template lane<W>(i))
            __builtin_memcpy(&element, ub_source(indexed(base, at[i]), sizeof(T), sizeof(T)),
                             sizeof(T));
        to[i] = static_cast<I>(element);
    }
    set_lanes(dst, to);
}
// Block k of 32 bytes comes from the byte offset in lane k.
template <class T>
inline ASC_EMU_FORCED void gather_blocks(VectorRegister<T>& dst, T* base,
                                         const VectorRegister<uint32_t>& index,
                                         const MaskRegister& mask) {
    ASC_EMU_TIMED_AT(dst, moved_indexed(VectorClass::gather, base, index, 8, 1, 32, mask));
    const auto at = lanes_of(index);
    LaneArray<uint8_t> to;
    for (uint32_t k = 0; k < 8; ++k) {
        if (!mask.template lane<4>(k)) {
            __builtin_memset(to.lane + 32 * k, 0, 32);
            continue;
        }
        if (at[k] % 32 != 0)
            asc_emu_fail("asc_gather_datablock got a byte offset that is not a multiple of 32");
        __builtin_memcpy(to.lane + 32 * k, ub_source(moved_bytes(base, at[k]), 32, 32), 32);
    }
    set_lanes(dst, to);
}
// NOTE: of equal indices the last lane wins; the hardware's choice is arbitrary.
template <class T, class I>
inline ASC_EMU_FORCED void scatter_elements(T* base, const VectorRegister<T>& src,
                                            const VectorRegister<I>& index,
                                            const MaskRegister& mask) {
    static_assert(
        std::is_unsigned_v<I> && (sizeof(T) == 1 ? sizeof(I) == 2 : sizeof(I) == sizeof(T)),
        "asc_scatter takes u16 indices for elements of 1 or 2 bytes, u32 ones for 4");
    ASC_EMU_TIMED_CALL(moved_indexed(VectorClass::scatter, base, index, kVectorBytes / sizeof(I),
                                     sizeof(T), sizeof(T), mask, src));
    // Bytes sit at the even places of 16-bit lanes.
    const auto from = lanes_of<I>(src);
    const auto at = lanes_of(index);
    bool more = false;
    for (uint32_t i = 0; i < kVectorBytes / sizeof(I); ++i) {
        if (!mask.template lane<sizeof(I)>(i)) continue;
        T* const to = ub_part(indexed(base, at[i]), sizeof(T), sizeof(T), more);
        __builtin_memcpy(to, &from[i], sizeof(T));
        more = true;
    }
}

// dst[n] += samples with a value of first + n (kCumulative: of at most that).
template <uint32_t kFirst, bool kCumulative>
inline ASC_EMU_FORCED void histogram(VectorRegister<uint16_t>& dst,
                                     const VectorRegister<uint8_t>& src, const MaskRegister& mask) {
    ASC_EMU_TIMED_OP(VectorClass::histogram, dst, dst, src, mask);
    uint16_t counts[256] = {};
    const auto from = lanes_of(src);
    for (uint32_t i = 0; i < 256; ++i) counts[from[i]] += mask.template lane<1>(i);
    if constexpr (kCumulative)
        for (uint32_t n = 1; n < 256; ++n)
            counts[n] = static_cast<uint16_t>(counts[n] + counts[n - 1]);
    auto bins = lanes_of(dst);
    for (uint32_t n = 0; n < 128; ++n)
        bins[n] = static_cast<uint16_t>(bins[n] + counts[kFirst + n]);
    set_lanes(dst, bins);
}

}  // namespace asc_emu

// 16-bit elements by u32 indices give 64 results in 32-bit lanes, 8-bit ones by u16 indices 128 in
// 16-bit lanes; both are zero-extended.
template <class D, class T, class I>
    requires(!std::is_same_v<D, vector_bool>)
inline ASC_EMU_FORCED void asc_gather(asc_emu::VectorRegister<D>& dst, __ubuf__ T* src,
                                      const asc_emu::VectorRegister<I>& index,
                                      const vector_bool& mask) {
    static_assert(sizeof(T) <= sizeof(I),
                  "asc_gather takes u32 indices for elements of 4 bytes, "
                  "u16 or u32 for 2, u16 for 1");
    asc_emu::gather_elements(dst, src, index, mask);
}
template <class T>
inline ASC_EMU_FORCED void asc_gather_datablock(asc_emu::VectorRegister<T>& dst, __ubuf__ T* src,
                                                const vector_uint32_t& index) {
    asc_emu::gather_blocks(dst, src, index, asc_emu::kAllBits);
}
template <class T>
inline ASC_EMU_FORCED void asc_gather_datablock(asc_emu::VectorRegister<T>& dst, __ubuf__ T* src,
                                                const vector_uint32_t& index,
                                                const vector_bool& mask) {
    asc_emu::gather_blocks(dst, src, index, mask);
}
template <class T, class I>
inline ASC_EMU_FORCED void asc_scatter(__ubuf__ T* dst, const asc_emu::VectorRegister<T>& src,
                                       const asc_emu::VectorRegister<I>& index,
                                       const vector_bool& mask) {
    asc_emu::scatter_elements(dst, src, index, mask);
}
// The older order of arguments.
template <class T, class I>
inline ASC_EMU_FORCED void asc_scatter(const asc_emu::VectorRegister<T>& src, __ubuf__ T* dst,
                                       const asc_emu::VectorRegister<I>& index,
                                       const vector_bool& mask) {
    asc_emu::scatter_elements(dst, src, index, mask);
}

#define ASC_EMU_HISTOGRAM(name, first, cumulative)                                  \
    ASC_EMU_ON_USE inline ASC_EMU_FORCED void name(                                 \
        vector_uint16_t& dst, const vector_uint8_t& src, const vector_bool& mask) { \
        asc_emu::histogram<first, cumulative>(dst, src, mask);                      \
    }
ASC_EMU_HISTOGRAM(asc_frequency_histogram_bin0, 0, false)
ASC_EMU_HISTOGRAM(asc_frequency_histogram_bin1, 128, false)
ASC_EMU_HISTOGRAM(asc_cumulative_histogram_bin0, 0, true)
ASC_EMU_HISTOGRAM(asc_cumulative_histogram_bin1, 128, true)
#undef ASC_EMU_HISTOGRAM
