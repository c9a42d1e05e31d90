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

// Host address of `bytes` bytes at `p`, which may be an offset from 0; checks alignment, and that
// the place is in UB.
template <class T>
ASC_EMU_INLINE T* ub_pointer(T* p, uint32_t bytes, uint32_t align) {
    const uintptr_t offset = reinterpret_cast<uintptr_t>(p) - asc_emu_vector.ub;
    if (__builtin_expect(offset > kUbBytes - bytes || (offset & (align - 1)) != 0, 0))
        return static_cast<T*>(asc_emu_ub_place(p, bytes, align));
    return p;
}

// The same for a load, which checkers are told of.
template <class T>
ASC_EMU_INLINE const T* ub_source(T* p, uint32_t bytes, uint32_t align) {
    if (__builtin_expect(asc_emu_observing != 0, 0)) asc_emu_vector_access(p, bytes, 0);
    return ub_pointer(p, bytes, align);
}
// The same for a store of all bytes.
template <class T>
ASC_EMU_INLINE T* ub_target(T* p, uint32_t bytes, uint32_t align) {
    if (__builtin_expect(asc_emu_observing != 0, 0)) asc_emu_vector_access(p, bytes, 1);
    return ub_pointer(p, bytes, align);
}
// The same for a store of the active lanes of W bytes, kBytes each in memory. NOTE: the runtime takes
// the lanes apart, since the call must lie in the user's function for a finding to name its line.
template <uint32_t W, uint32_t kBytes, class T>
ASC_EMU_INLINE T* ub_target(T* p, const MaskRegister& mask, uint32_t align) {
    if (__builtin_expect(asc_emu_observing != 0, 0)) asc_emu_vector_lanes(p, mask.word, W, kBytes);
    return ub_pointer(p, kVectorBytes / W * kBytes, align);
}

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
    ST_VST,
    SS_ALL,
    LD_ST,
    ST_LD,
    ST_ST,
};
inline ASC_EMU_FORCED void asc_mem_bar(mem_bar_t) {
    ASC_EMU_VECTOR_FENCE();
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
