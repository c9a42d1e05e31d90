// Bounds and alignment of every access, checked at issue (ascend_c_cube.md section 19).
#pragma once

#include "access.hpp"
#include "core.hpp"
#include "op_table.hpp"

namespace asc_emu {

// Throws KernelError at the first bad access; with option out_of_bounds=report notes it and returns false.
bool within_bounds(const Core& core, const Command& c, const OpInfo& info, const AccessList& list);

}  // namespace asc_emu
