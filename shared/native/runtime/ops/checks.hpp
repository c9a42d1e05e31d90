// Parameter checks shared by the instructions (ascend_c_cube.md section 19): each message says what
// was got, what is allowed, and how to fix the call.
#pragma once

#include <cstdint>

#include "op_table.hpp"

namespace asc_emu {

constexpr uint64_t kMaxBurstBytes = (1u << 21) - 1;
constexpr uint64_t kMaxBursts = 4095;

inline void check_range(const Core& core, const char* what, uint64_t got, uint64_t low,
                        uint64_t high, const char* fix) {
    if (got < low || got > high)
        fail(core, "%s got %llu, allowed %llu .. %llu; %s", what,
             static_cast<unsigned long long>(got), static_cast<unsigned long long>(low),
             static_cast<unsigned long long>(high), fix);
}

inline void check_multiple(const Core& core, const char* what, uint64_t got, uint64_t of,
                           const char* fix) {
    if (got % of != 0)
        fail(core, "%s got %llu, allowed are multiples of %llu; %s", what,
             static_cast<unsigned long long>(got), static_cast<unsigned long long>(of), fix);
}

constexpr uint64_t round_up(uint64_t v, uint64_t to) { return (v + to - 1) / to * to; }
constexpr uint64_t ceil_div(uint64_t v, uint64_t by) { return (v + by - 1) / by; }

inline const std::byte* gm_source(uint64_t address) {
    return reinterpret_cast<const std::byte*>(static_cast<uintptr_t>(address));
}
inline std::byte* gm_target(uint64_t address) {
    return reinterpret_cast<std::byte*>(static_cast<uintptr_t>(address));
}

}  // namespace asc_emu
