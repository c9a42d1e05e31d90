// The bf16 pair units that fast mode may use (emulator.md sections 3 and 6).
#pragma once

#include "panels.hpp"

namespace asc_emu::numerics {

enum class FastUnit : uint8_t { none, bf16_dot, amx };

// The unit that pays on this machine, decided once.
FastUnit fast_unit();

// Multiplies packed pairs on that unit. Not to be called when it is none.
void multiply_fast(const RowPanel& a, const ColumnPanel& b, const Columns& columns);

}  // namespace asc_emu::numerics
