// Marks of undefined bytes through the matrix unit and Fixpipe (ascend_c_cube.md sections 9.2, 10.1, 19).
#pragma once

#include "checkers/defined.hpp"
#include "op_table.hpp"

namespace asc_emu {

// A result element is defined when its row of A, its column of B and its initial value are; elements outside
// m x n are not. K beyond `k` is not looked at.
void multiply_marks(DefinedMemory& memory, const Core& core, const Command& c);

struct DrainResult {
    uint64_t undefined_bytes = 0;   // of L0C among the copied elements
    uint64_t first = 0;             // offset of the first one
};
// Moves the marks of a Fixpipe copy to UB or L1, and counts undefined source bytes.
DrainResult drain_marks(DefinedMemory& memory, const Core& core, const Command& c);

}  // namespace asc_emu
