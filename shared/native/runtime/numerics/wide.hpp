// The exact kernel for operands whose products fp32 arithmetic cannot hold: fp32 operands without
// a fused instruction, products that under- or overflow, and mx scales that leave the fp32 range.
#pragma once

#include "operand.hpp"
#include "panels.hpp"

namespace asc_emu::numerics {

// Both operands as unscaled floats; the scales come from the views.
struct WideOperands {
    const OperandView& a_view;
    const OperandView& b_view;
    RowPanel a;
    ColumnPanel b;
};

void multiply_wide(const WideOperands& operands, const Columns& columns);

}  // namespace asc_emu::numerics
