// Moves the elements of a Fixpipe copy (ascend_c_cube.md section 9.2).
#pragma once

#include <cstddef>

#include "ops/fixpipe_convert.hpp"
#include "ops/fixpipe_layout.hpp"

namespace asc_emu {

struct FixpipeAtomic {
    AtomicOp op = AtomicOp::none;
    Dtype type = Dtype::none;
};

// l0c: host address of L0C; dst: host address of the copy's first element.
void move_part(const Fixpipe& insn, const FixpipePart& part, const ValueRule& rule,
               const std::byte* l0c, std::byte* dst, FixpipeAtomic atomic);

}  // namespace asc_emu
