// Burst copies with two outer loops: the part that GM -> L1, GM -> UB and UB -> GM share
// (ascend_c_cube.md sections 5.6 and 11).
#pragma once

#include "asc_emu/insn/bursts.hpp"
#include "op_table.hpp"

namespace asc_emu {

// GM -> on-chip memory.
void load_bursts(const Bursts& insn, std::byte* dst);
void list_load_accesses(const Bursts& insn, Space dst, AccessList& list);
void check_load_bursts(const Core& core, const Bursts& insn);
// Bytes moved and requests, for the timing model.
Work bursts_work(const Bursts& insn, CostClass cost);

}  // namespace asc_emu
