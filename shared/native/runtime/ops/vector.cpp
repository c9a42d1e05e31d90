// Meaning of a vector function: it runs to its end when PIPE_V reaches it (ascend_c_vector.md
// section 2). Its loads and stores check their own addresses (api/vector_memory.hpp).
#include "asc_emu/insn/vector.hpp"

#include "op_table.hpp"

namespace asc_emu {

static void execute(Core&, const VectorFunction& i) { i.run(i.arguments); }
static Work work(const Core&, const VectorFunction&) { return {CostClass::vector, 0, 1, 0}; }
ASC_EMU_REGISTER(VectorFunction, Roles::aiv)

}  // namespace asc_emu
