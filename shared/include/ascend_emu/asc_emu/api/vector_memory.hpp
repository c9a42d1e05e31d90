// Places in UB that vector loads and stores use, and the order of these accesses
// (ascend_c_vector.md sections 5, 6, 11 and 17). Every load and store goes through the functions
// here, which check it and tell checkers of it.
#pragma once

#include <source_location>

#include "asc_emu/api/common.hpp"
#include "asc_emu/api/vector_types.hpp"
#include "asc_emu/vector/state.hpp"

// Offset of an access that hardware loops advance; in bytes.
struct addr_reg {
    uint32_t bytes;
};

namespace asc_emu {

constexpr uint32_t kUbBytes = 256 * 1024;

// What an access tells the runtime.
#if ASC_EMU_TIMED
constexpr uint32_t kTimedKernel = 1;
#else
constexpr uint32_t kTimedKernel = 0;
#endif
constexpr uint32_t kUbLoad = 0 + 4 * kTimedKernel, kUbStore = 1 + 4 * kTimedKernel, kUbTouch = 2;

// Where `p` lies from the UB that accesses compare with.
ASC_EMU_INLINE uintptr_t ub_offset(const volatile void* p) {
    return reinterpret_cast<uintptr_t>(p) - asc_emu_vector.near[kTimedKernel];
}
// Whether `bytes` bytes at `p` are an aligned place in UB that nobody watches. NOTE: in one
// comparison, for which the offset turns so that bits below the alignment become the highest.
ASC_EMU_INLINE bool is_near(const volatile void* p, uint32_t bytes, uint32_t align) {
    const uintptr_t offset = ub_offset(p);
    const int turn = __builtin_ctz(align);
    const uintptr_t turned = offset >> turn | offset << (-turn & 63);
    return __builtin_expect(turned <= (kUbBytes - bytes) >> turn, 1);
}
// Host address of `bytes` bytes at `p`, which may be an offset from 0; checks alignment, and that
// the place is in UB. `bytes` is at most all of UB, `align` a power of 2.
template <uint32_t kAccess = kUbTouch, class T>
ASC_EMU_INLINE T* ub_pointer(T* p, uint32_t bytes, uint32_t align) {
    return is_near(p, bytes, align) ? p
                                    : static_cast<T*>(asc_emu_ub_place(p, bytes, align, kAccess));
}

// The same for a load, which checkers are told of.
template <class T>
ASC_EMU_INLINE const T* ub_source(T* p, uint32_t bytes, uint32_t align) {
    return ub_pointer<kUbLoad>(p, bytes, align);
}
// The same for a store of all bytes.
template <class T>
ASC_EMU_INLINE T* ub_target(T* p, uint32_t bytes, uint32_t align) {
    return ub_pointer<kUbStore>(p, bytes, align);
}
// The same for a store of the active lanes of W bytes, kBytes each in memory. NOTE: the runtime
// takes the lanes apart, since the call must lie in the user's function for a finding to name its
// line.
template <uint32_t W, uint32_t kBytes, class T>
ASC_EMU_INLINE T* ub_target(T* p, const MaskRegister& mask, uint32_t align) {
    if (is_near(p, kVectorBytes / W * kBytes, align)) return p;
    // A copy: a mask whose address leaves the function lives in memory, and is no constant.
    const MaskRegister active = mask;
    return static_cast<T*>(asc_emu_ub_lanes(p, active.word, W, kBytes, align, kUbStore));
}

// The same for a store of many places, one after the other: `more` behind the first.
template <class T>
ASC_EMU_INLINE T* ub_part(T* p, uint32_t bytes, uint32_t align, bool more) {
    if (is_near(p, bytes, align)) return p;
    return static_cast<T*>(asc_emu_ub_place(p, bytes, align, kUbStore + 8 * more));
}

#if ASC_EMU_TIMED
// Blocks of 32 bytes that a store of the active lanes of W bytes touches, kBytes each in memory: a
// bit each.
template <uint32_t W, uint32_t kBytes>
ASC_EMU_INLINE uint32_t stored_blocks(const MaskRegister& mask) {
    constexpr uint32_t kBlocks = kVectorBytes / W * kBytes / 32, kBits = kVectorBytes / kBlocks;
    if (mask.template all<W>()) return (1u << kBlocks) - 1;
    uint32_t blocks = 0;
    for (uint32_t bit = 0; bit < kVectorBytes; bit += 32)
        if ((mask.word[bit / 64] >> bit % 64 & 0xffffffffu & kLaneLow<W>) != 0)
            blocks |= 1u << bit / kBits;
    return blocks;
}
template <uint32_t W, uint32_t kBytes, class T>
ASC_EMU_INLINE uint32_t moved_lanes(VectorClass c, const volatile void* p, const MaskRegister& mask,
                                    const T& source) {
    return asc_emu_vector_move(static_cast<uint32_t>(c), ready_of(source, mask), p,
                               stored_blocks<W, kBytes>(mask));
}
// An unaligned store of `bytes` bytes: the blocks that it makes full. Its state register keeps the
// rest.
template <class... R>
ASC_EMU_INLINE uint32_t moved_whole(VectorClass c, const volatile void* p, uint32_t bytes,
                                    const R&... sources) {
    const uint32_t blocks =
        (static_cast<uint32_t>(reinterpret_cast<uintptr_t>(p) & 31) + bytes) / 32;
    return asc_emu_vector_move(static_cast<uint32_t>(c), ready_of(sources...), p,
                               (1u << blocks) - 1);
}
// Blocks `stride` blocks apart, those with an active lane.
template <uint32_t W, class... R>
ASC_EMU_INLINE uint32_t moved_blocks(VectorClass c, const volatile void* p, uint32_t stride,
                                     const MaskRegister& mask, const R&... sources) {
    return asc_emu_vector_move_blocks(static_cast<uint32_t>(c), ready_of(mask, sources...), p,
                                      stride, stored_blocks<W, W>(mask));
}
// Elements of `bytes` bytes at `scale` times the active lanes of an index.
template <class I, class... R>
inline ASC_EMU_FORCED uint32_t moved_indexed(VectorClass c, const volatile void* base,
                                             const VectorRegister<I>& index, uint32_t lanes,
                                             uint32_t scale, uint32_t bytes,
                                             const MaskRegister& mask, const R&... sources) {
    const auto at = lanes_of(index);
    uint32_t offsets[kVectorBytes / sizeof(I)], half = 0, count = 0;
    for (uint32_t i = 0; i < lanes; ++i) {
        if (i == lanes / 2) half = count;
        if (mask.template lane<sizeof(I)>(i)) offsets[count++] = at[i] * scale;
    }
    return asc_emu_vector_move_indexed(static_cast<uint32_t>(c), ready_of(index, mask, sources...),
                                       base, offsets, half, count, bytes);
}
#endif

// A pointer moved by elements of its type, by an address register, or by bytes.
template <class T>
ASC_EMU_INLINE T* moved(T* p, int32_t elements) {
    return p + elements;
}
template <class T>
ASC_EMU_INLINE T* moved_bytes(T* p, int64_t bytes) {
    return reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(p) + static_cast<uintptr_t>(bytes));
}
template <class T>
ASC_EMU_INLINE T* moved(T* p, addr_reg offset) {
    return moved_bytes(p, static_cast<int64_t>(offset.bytes));
}

}  // namespace asc_emu

// Order of UB accesses inside a vector function: program order on the host. Checkers look up the
// barriers with the next access that they are told of.
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
    ST_VST,
    SS_ALL,
    LD_ST,
    ST_LD,
    ST_ST,
};
inline ASC_EMU_FORCED void asc_mem_bar(mem_bar_t type) {
    ASC_EMU_VECTOR_FENCE();
    asc_emu_vector.barriers |= 1u << type;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
inline ASC_EMU_FORCED void mem_bar(mem_bar_t type) { asc_mem_bar(type); }

// Offsets that grow with the turns of the loop around the call: offset elements of 1, 2 or 4 bytes
// each time. NOTE: the turns of one loop are counted at the call; offsets of outer loops would need
// their indices, so the forms with several offsets take zeros for them.
namespace asc_emu {
ASC_EMU_INLINE addr_reg address_register(uint32_t width, uint32_t inner, uint32_t outer,
                                         const std::source_location& at) {
    if (outer != 0)
        asc_emu_fail(
            "an address register over several loops is not emulated: pass offsets for "
            "the innermost loop only, and add the outer ones to the pointer");
    return {width * inner * asc_emu_loop_index(at.line(), at.column())};
}
}  // namespace asc_emu

#define ASC_EMU_ADDRESS_REGISTER(name, width)                                              \
    inline ASC_EMU_FORCED addr_reg name(                                                   \
        uint32_t offset0, std::source_location at = std::source_location::current()) {     \
        return asc_emu::address_register(width, offset0, 0, at);                           \
    }                                                                                      \
    inline ASC_EMU_FORCED addr_reg name(                                                   \
        uint32_t offset0, uint32_t offset1,                                                \
        std::source_location at = std::source_location::current()) {                       \
        return asc_emu::address_register(width, offset0, offset1, at);                     \
    }                                                                                      \
    inline ASC_EMU_FORCED addr_reg name(                                                   \
        uint32_t offset0, uint32_t offset1, uint32_t offset2,                              \
        std::source_location at = std::source_location::current()) {                       \
        return asc_emu::address_register(width, offset0, offset1 | offset2, at);           \
    }                                                                                      \
    inline ASC_EMU_FORCED addr_reg name(                                                   \
        uint32_t offset0, uint32_t offset1, uint32_t offset2, uint32_t offset3,            \
        std::source_location at = std::source_location::current()) {                       \
        return asc_emu::address_register(width, offset0, offset1 | offset2 | offset3, at); \
    }
ASC_EMU_ADDRESS_REGISTER(asc_update_addr_reg_b8, 1)
ASC_EMU_ADDRESS_REGISTER(asc_update_addr_reg_b16, 2)
ASC_EMU_ADDRESS_REGISTER(asc_update_addr_reg_b32, 4)
ASC_EMU_ADDRESS_REGISTER(asc_create_iter_reg_b8, 1)
ASC_EMU_ADDRESS_REGISTER(asc_create_iter_reg_b16, 2)
ASC_EMU_ADDRESS_REGISTER(asc_create_iter_reg_b32, 4)
#undef ASC_EMU_ADDRESS_REGISTER
