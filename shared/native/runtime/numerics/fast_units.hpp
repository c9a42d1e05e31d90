// The bf16 pair units that fast mode may use (emulator.md sections 3 and 6).
#pragma once

#include <span>

#include "panels.hpp"

namespace asc_emu::numerics {

enum class FastUnit : uint8_t { none, bf16_dot, amx };

// The unit that pays on this machine, decided once.
FastUnit fast_unit();

// A product of packed pairs; steps are a multiple of 16.
struct PairProduct {
    RowPanel a;
    ColumnPanel b;
    uint32_t num_steps;
};

// Sums the products on that unit, in their order. `columns` names the C tile; the steps are those of
// the products. Not to be called when the unit is none.
void multiply_fast(std::span<const PairProduct> products, const Columns& columns);

}  // namespace asc_emu::numerics
