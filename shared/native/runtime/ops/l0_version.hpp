// Numbers for the contents of L0A and L0B, so that the matrix unit can keep an operand it has
// unpacked.
#pragma once

#include "core.hpp"

namespace asc_emu {

// NOTE: drawn per thread and not per core: memories of an ended launch can come back at the same
// address.
inline void new_l0_version(Core& core, bool l0b) {
    static thread_local uint64_t last = 1ull << 32;
    core.l0_version[l0b ? 1 : 0] = ++last;
}

}  // namespace asc_emu
