// Atomic stores of the copy engines: GM[e] = op(GM[e], value[e]) (ascend_c_cube.md section 12).
#pragma once

#include <cstddef>
#include <cstdint>

#include "core.hpp"

namespace asc_emu {

// `bytes` of elements of `type`; the caller holds a GmAtomicGuard.
void atomic_store(AtomicOp op, Dtype type, const std::byte* src, std::byte* dst, uint64_t bytes);

}  // namespace asc_emu
