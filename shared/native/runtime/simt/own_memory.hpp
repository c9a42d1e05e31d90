// Memory that plain C++ of a kernel touches and that is no tensor.
#pragma once

#include <cstdint>

#include "core.hpp"

namespace asc_emu {

// Whether an address lies in an on-chip memory of the core's block, or right behind one.
bool on_chip_memory(const Core& core, uint64_t address);
// Whether it lies on the scalar unit's stack, in its registers, among the kernel's arguments, or in a loaded object.
bool scalar_owns(const Core& core, uint64_t address);

}  // namespace asc_emu
