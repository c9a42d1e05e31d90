// Aligned loads and stores between UB and registers (ascend_c_vector.md sections 5, 6 and 11).
#pragma once

#include "asc_emu/api/common.hpp"
#include "asc_emu/api/vector_types.hpp"

namespace asc_emu {

constexpr uintptr_t kUbBytes = 256 * 1024;

// Host address of `bytes` bytes at `p`, which may be an offset from 0; checks alignment and the end
// of UB.
template <class T>
inline T* ub_pointer(T* p, uint32_t bytes, uint32_t align) {
    auto address = reinterpret_cast<uintptr_t>(p);
    const uintptr_t offset = address & kOffsetMask;
    if ((offset & (align - 1)) != 0)
        asc_emu_fail(
            "an aligned vector load or store got a UB address that is not a multiple of its "
            "alignment (32 bytes; 16 or the element for the narrow forms)");
    if (offset + bytes > kUbBytes) asc_emu_fail("a vector load or store leaves the 256 KiB of UB");
    if (address < kUbBytes)
        address += reinterpret_cast<uintptr_t>(asc_emu_base(static_cast<int>(Space::ub)));
    return reinterpret_cast<T*>(address);
}

// The same for a load, which checkers are told of.
template <class T>
inline const T* ub_source(T* p, uint32_t bytes, uint32_t align) {
    if (__builtin_expect(asc_emu_observing != 0, 0)) asc_emu_vector_access(p, bytes, 0);
    return ub_pointer(p, bytes, align);
}
// Tells checkers of a store of the active lanes, kBytes each in memory.
template <uint32_t W, uint32_t kBytes>
inline void tell_store(const volatile void* p, const MaskRegister& mask) {
    if (__builtin_expect(asc_emu_observing == 0, 1)) return;
    const auto* at = static_cast<const volatile std::byte*>(p);
    constexpr uint32_t kLanes = kVectorBytes / W;
    for (uint32_t i = 0; i < kLanes;) {
        uint32_t end = i;
        while (end < kLanes && mask.template lane<W>(end)) ++end;
        if (end > i) asc_emu_vector_access(at + i * kBytes, (end - i) * kBytes, 1);
        i = end + 1;
    }
}

}  // namespace asc_emu

// Offsets and advances count elements of the pointer's type.
template <class T>
inline void asc_loadalign(vector_bool& dst, __ubuf__ T* src) {
    __builtin_memcpy(&dst, asc_emu::ub_source(src, 32, 32), 32);
}
template <class T>
inline void asc_loadalign(asc_emu::VectorRegister<T>& dst, __ubuf__ T* src) {
    __builtin_memcpy(&dst, asc_emu::ub_source(src, asc_emu::kVectorBytes, 32),
                     asc_emu::kVectorBytes);
}
template <class T>
inline void asc_loadalign(asc_emu::VectorRegister<T>& dst, __ubuf__ T* src, int32_t offset) {
    asc_loadalign(dst, src + offset);
}
template <class T>
inline void asc_loadalign_postupdate(asc_emu::VectorRegister<T>& dst, __ubuf__ T*& src,
                                     int32_t offset) {
    asc_loadalign(dst, src);
    src += offset;
}

// Inactive lanes leave memory as it is.
template <class T>
inline void asc_storealign(__ubuf__ T* dst, const asc_emu::VectorRegister<T>& src,
                           const vector_bool& mask) {
    T* out = asc_emu::ub_pointer(dst, asc_emu::kVectorBytes, 32);
    asc_emu::tell_store<sizeof(T), sizeof(T)>(out, mask);
    if (mask.template all<sizeof(T)>()) {
        __builtin_memcpy(out, &src, asc_emu::kVectorBytes);
        return;
    }
    for (uint32_t i = 0; i < src.kLanes; ++i)
        if (mask.template lane<sizeof(T)>(i)) out[i] = src.lane[i];
}
template <class T>
inline void asc_storealign(__ubuf__ T* dst, const asc_emu::VectorRegister<T>& src, int32_t offset,
                           const vector_bool& mask) {
    asc_storealign(dst + offset, src, mask);
}
template <class T>
inline void asc_storealign_postupdate(__ubuf__ T*& dst, const asc_emu::VectorRegister<T>& src,
                                      int32_t offset, const vector_bool& mask) {
    asc_storealign(dst, src, mask);
    dst += offset;
}

// The low half of every lane, packed: 128 bytes. Offsets and advances still count elements of T.
template <class T>
inline void asc_storealign_pack(__ubuf__ T* dst, const asc_emu::VectorRegister<T>& src,
                                const vector_bool& mask) {
    static_assert(sizeof(T) >= 2, "asc_storealign_pack halves lanes of 2, 4 or 8 bytes");
    using Lane = std::conditional_t<sizeof(T) == 2, uint16_t,
                                    std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>;
    using Packed = std::conditional_t<sizeof(T) == 2, uint8_t,
                                      std::conditional_t<sizeof(T) == 4, uint16_t, uint32_t>>;
    auto* out = reinterpret_cast<Packed*>(asc_emu::ub_pointer(dst, asc_emu::kVectorBytes / 2, 32));
    asc_emu::tell_store<sizeof(T), sizeof(Packed)>(out, mask);
    Lane lanes[src.kLanes];
    __builtin_memcpy(lanes, &src, asc_emu::kVectorBytes);
    if (mask.template all<sizeof(T)>()) {
        for (uint32_t i = 0; i < src.kLanes; ++i) out[i] = static_cast<Packed>(lanes[i]);
        return;
    }
    for (uint32_t i = 0; i < src.kLanes; ++i)
        if (mask.template lane<sizeof(T)>(i)) out[i] = static_cast<Packed>(lanes[i]);
}
template <class T>
inline void asc_storealign_pack(__ubuf__ T* dst, const asc_emu::VectorRegister<T>& src,
                                int32_t offset, const vector_bool& mask) {
    asc_storealign_pack(dst + offset, src, mask);
}
template <class T>
inline void asc_storealign_pack_postupdate(__ubuf__ T*& dst, const asc_emu::VectorRegister<T>& src,
                                           int32_t offset, const vector_bool& mask) {
    asc_storealign_pack(dst, src, mask);
    dst += offset;
}

// Order of UB accesses inside a vector function: program order on the host.
enum mem_bar_t : uint8_t {
    VV_ALL,
    VST_VLD,
    VLD_VST,
    VST_VST,
    VS_ALL,
    VST_LD,
    VLD_ST,
    VST_ST,
    SV_ALL,
    ST_VLD,
    LD_VST,
    ST_VST
};
inline void asc_mem_bar(mem_bar_t) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
