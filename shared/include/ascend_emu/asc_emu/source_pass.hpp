// What rewritten text calls (emulator.md section 2): places of on-chip arrays, addresses of
// memories that scalar code reads directly, and the hint of polling loops. Users do not include
// this file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "asc_emu/command.hpp"
#include "asc_emu/core_api.h"

namespace asc_emu {

// The array that a declaration puts into an on-chip memory of the running core. `site` is the
// address of a function-local static, so it differs between declarations and between template
// instances.
template <Space kSpace, class Array>
inline Array& local_array(const void* site, uint64_t wanted_alignment) {
    // 8-bit operands of the MX matrix unit need twice the 512 B that the runtime gives the others.
    constexpr bool kMxOperand = (kSpace == Space::l0a || kSpace == Space::l0b) &&
                                sizeof(std::remove_all_extents_t<Array>) == 1;
    const uint64_t least = kMxOperand ? 1024 : 1;
    const uint64_t alignment = wanted_alignment > least ? wanted_alignment : least;
    void* place = asc_emu_array(static_cast<int>(kSpace), site, sizeof(Array), alignment);
    return *reinterpret_cast<Array*>(place);
}

// `extern __ubuf__ T name[]`: the UB bytes requested at launch.
template <class Array>
inline Array& dynamic_array() {
    return *reinterpret_cast<Array*>(asc_emu_dynamic_ub());
}

// A cast to a pointer into UB or SSBuffer: an integer below 1 MiB is an offset from the memory's
// start.
template <Space kSpace, class Pointer, class Value>
inline Pointer space_cast(Value value) {
    static_assert(std::is_pointer_v<Pointer>, "space_cast makes pointers");
    if constexpr (std::is_null_pointer_v<Value>) {
        return reinterpret_cast<Pointer>(asc_emu_base(static_cast<int>(kSpace)));
    } else if constexpr (std::is_integral_v<Value> || std::is_enum_v<Value>) {
        const uint64_t address = static_cast<uint64_t>(value);
        if (address > kOffsetMask) return reinterpret_cast<Pointer>(address);
        char* base = static_cast<char*>(asc_emu_base(static_cast<int>(kSpace)));
        return reinterpret_cast<Pointer>(base + address);
    } else {
        return (Pointer)value;
    }
}

// Head of a loop that may poll memory; nothing during constant evaluation.
constexpr void spin() {
    if (!std::is_constant_evaluated()) asc_emu_spin_hint();
}

// The same in a loop of a SIMT function that waits for plain memory, in its words; whether to leave
// it, which compilers of the device may do at once.
inline __attribute__((always_inline)) bool plain_wait(const char* what) {
    return asc_emu_simt_plain_wait(what) != 0;
}

// In a SIMT function that runs thread by thread: the lanes of the warp go on together.
inline __attribute__((always_inline)) void meet(const char* file = __builtin_FILE(),
                                                int line = __builtin_LINE()) {
    asc_emu_simt_meet(file + line);
}

}  // namespace asc_emu
