// Meaning of a SIMT vector function: its threads run whenever the scheduler looks at PIPE_V, until all of them have
// returned; scalar code of the core may go on meanwhile (emulator.md section 2).
#include "asc_emu/insn/simt.hpp"

#include <cstdlib>

#include "fiber.hpp"
#include "launch.hpp"
#include "op_table.hpp"
#include "simt/block.hpp"

namespace asc_emu {

void release_simt(Core& core) {
    delete core.simt;
    core.simt = nullptr;
    core.simt_polling = false;
}

static void validate(const Core& core, const SimtFunction& i) {
    const uint64_t n = uint64_t{i.threads.x} * i.threads.y * i.threads.z;
    if (n < 1 || n > kMaxSimtThreads)
        fail(core, "a SIMT function was called with (%u, %u, %u) threads; a block has 1 to %u of them", i.threads.x,
             i.threads.y, i.threads.z, kMaxSimtThreads);
    if (i.most_threads && n > i.most_threads)
        fail(core, "a SIMT function was called with %llu threads; its __launch_bounds__ allows %u: raise the bound or "
             "call it with fewer", static_cast<unsigned long long>(n), i.most_threads);
    const uint32_t arrays = core.array_top[static_cast<size_t>(Space::ub)];
    if (arrays > kMaxSimtUbBytes)
        fail(core, "a SIMT function was called with %u bytes of arrays in UB; beside its data cache there is room for "
             "%u: declare smaller ones", arrays, kMaxSimtUbBytes);
}

// NOTE: threads run on the scheduler's side only: the scalar unit's own fiber must be free to go on.
static bool ready(Core& core, const SimtFunction& i) {
    if (running_fiber()) return core.simt && core.simt->finished();
    if (!core.simt) core.simt = new SimtBlock(core, i);
    return core.simt->advance();
}

static void execute(Core& core, const SimtFunction& i) {
    release_simt(core);
    std::free(i.heap);
}

// Left out under data=skip: only its arguments are given back.
static void skip(Core& core, const SimtFunction& i) {
    std::free(i.heap);
    if (core.block->launch->options.timing != Timing::off)
        fail(core, "a SIMT function cannot be timed with data=skip: what its threads do depends on the data they load; "
                   "time the kernel with data=compute");
}

static std::string describe(const Core& core, const SimtFunction&) {
    return core.simt_polling ? "SIMT function whose threads poll memory" : "SIMT function";
}

static Work work(const Core&, const SimtFunction&) { return {CostClass::vector, 0, 1, 0}; }
ASC_EMU_REGISTER(SimtFunction, Roles::aiv)

}  // namespace asc_emu
