// Meaning of a vector function: it runs to its end when PIPE_V reaches it (ascend_c_vector.md
// section 2). Its loads and stores check their own addresses (api/vector_memory.hpp) and come here
// with those that are not plainly inside UB.
#include "asc_emu/insn/vector.hpp"

#include "asc_emu/vector/state.hpp"
#include "launch.hpp"
#include "observer.hpp"
#include "op_table.hpp"
#include "pipes.hpp"
#include "thread_object.hpp"
#include "timing/vector_schedule.hpp"

#define ASC_EMU_API extern "C" __attribute__((visibility("default")))

// Outside vector functions no address is near the place of UB.
constexpr uintptr_t kNoUb = uintptr_t{1} << 63;
extern "C" {
__attribute__((visibility("default"))) __thread asc_emu_vector_state asc_emu_vector = {kNoUb, 0, 0, {kNoUb, kNoUb}, 0};
}

namespace asc_emu {
namespace {

// Bits of asc_emu_observing for which accesses of kernels built without and with the timing model are told: in the
// latter, instructions tell the timing model of themselves.
constexpr uint32_t kWatching[2] = {3, 1};
bool is_told(uint32_t access) { return (access & 2) == 0 && (asc_emu_observing & kWatching[access >> 2 & 1]) != 0; }

// Evaluations of address registers, by call site, of the running vector function.
struct CallSite {
    uint32_t line, column, count, serial;
};
constexpr uint32_t kMaxCallSites = 64;
struct VectorThread {
    uint32_t serial = 0;
    CallSite sites[kMaxCallSites] = {};
};
VectorThread& vector_thread() { return thread_object<VectorThread, VectorThread>(); }

uint32_t vector_modes(uint64_t ctrl) {
    const auto bit = [&](CtrlBit b) { return ((ctrl >> b) & 1) != 0; };
    const bool global = bit(kCtrlCastTruncateEnable);
    return (bit(kCtrlIntSaturate) ? kIntSaturate : 0u) |
           (global && !bit(kCtrlKeepInfNan) ? kFloatSaturate : 0u) | (global ? kCastGlobal : 0u) |
           (bit(kCtrlCastTruncate) ? kCastTruncate : 0u) |
           (bit(kCtrlE4m3KeepNan) ? kKeepNan : 0u);
}

[[noreturn]] void refuse(const Core& core, const std::string& message, const void* site) {
    const Options& options = core.block->launch->options;
    if (options.report_bounds || options.checks)
        core.block->launch->reporter.add("memcheck", 130, site, nullptr, [&] {
            Finding f;
            f.checker = "memcheck";
            f.memory = "UB";
            f.message = message;
            f.places.push_back({"touches UB", core.block->index, core.slot, Pipe::V, "VectorFunction", site});
            return f;
        });
    core.block->launch->abort_with(make_report("bounds", message, &core, "vector load or store", site));
    abandon_core();
}

}  // namespace

bool in_vector_function() { return asc_emu_vector.ub != kNoUb; }
void leave_vector_function() { asc_emu_vector.ub = asc_emu_vector.near[0] = asc_emu_vector.near[1] = kNoUb; }

static void run(Core& core, const VectorFunction& i) {
    const auto ub = reinterpret_cast<uintptr_t>(core.at(Space::ub, 0));
    const auto near = [&](uint32_t watching) { return asc_emu_observing & watching ? kNoUb : ub; };
    asc_emu_vector = {ub, vector_modes(core.regs.ctrl), ++vector_thread().serial,
                      {near(kWatching[0]), near(kWatching[1])}, 0};
    if (g_observer) timing::vector_schedule().start();
    i.run(i.arguments);
    if (g_observer && asc_emu_observing != 0) g_observer->on_function_end(core);
    leave_vector_function();
}
// Under data=skip: only for its time.
static void skip(Core& core, const VectorFunction& i) {
    Launch& launch = *core.block->launch;
    if (!g_observer || launch.options.timing == Timing::off) return;
    g_observer->on_vector_work(core, launch.skipped_functions.find(core, i, [&] { run(core, i); }));
}
static void execute(Core& core, const VectorFunction& i) {
    run(core, i);
    if (g_observer) g_observer->on_vector_time(core, timing::vector_schedule().time());
}
static Work work(const Core&, const VectorFunction&) { return {CostClass::vector, 0, 1, 0}; }
ASC_EMU_REGISTER(VectorFunction, Roles::aiv)

// Host address of an access; refuses places outside UB and misaligned ones.
static void* place(const volatile void* address, uint32_t bytes, uint32_t align, const void* site) {
    const Core& core = current_core();
    const uint32_t size = kSpaceBytes[static_cast<size_t>(Space::ub)];
    const uintptr_t ub = reinterpret_cast<uintptr_t>(core.at(Space::ub, 0));
    const uintptr_t given = reinterpret_cast<uintptr_t>(address);
    if (asc_emu_vector.ub == kNoUb)
        refuse(core, "a vector load or store outside a vector function; call it from a __simd_vf__ function", site);
    // Small numbers are offsets, also when something was subtracted from them.
    const bool literal = given <= kOffsetMask || ~given <= kOffsetMask;
    const uintptr_t offset = literal ? given : given - ub;
    char text[256];
    if (offset > kOffsetMask && offset < ~uintptr_t{0} - kOffsetMask) {
        std::snprintf(text, sizeof(text), "a vector load or store of address 0x%zx, which is not in UB; vector "
                      "functions reach UB only, copy GM data there first", static_cast<size_t>(given));
        refuse(core, text, site);
    }
    const auto at = static_cast<long long>(offset);
    if (at < 0 || static_cast<uint64_t>(at) + bytes > size) {
        std::snprintf(text, sizeof(text), "a vector load or store of UB bytes [%lld, %lld), which leaves the %u KiB "
                      "of UB; check the offset and the number of repeats", at, at + bytes, size / 1024);
        refuse(core, text, site);
    }
    if (offset & (align - 1)) {
        std::snprintf(text, sizeof(text), "an aligned vector load or store of UB offset %lld, allowed are multiples "
                      "of %u; align the address or use the unaligned form", at, align);
        refuse(core, text, site);
    }
    return reinterpret_cast<void*>(ub + offset);
}

}  // namespace asc_emu

ASC_EMU_API void* asc_emu_ub_place(const volatile void* address, uint32_t bytes, uint32_t align, uint32_t access) {
    using namespace asc_emu;
    const void* site = __builtin_return_address(0);
    if (is_told(access)) tell_vector_access(address, bytes, (access & 1) != 0, (access & 8) != 0, site);
    return place(address, bytes, align, site);
}

ASC_EMU_API void* asc_emu_ub_lanes(const volatile void* address, const uint64_t* mask, uint32_t width, uint32_t bytes,
                                   uint32_t align, uint32_t access) {
    using namespace asc_emu;
    constexpr uint32_t kVectorBytes = 256;
    const void* site = __builtin_return_address(0);
    if (is_told(access)) tell_vector_lanes(address, mask, width, bytes, site);
    return place(address, kVectorBytes / width * bytes, align, site);
}

ASC_EMU_API uint32_t asc_emu_loop_index(uint32_t line, uint32_t column) {
    using namespace asc_emu;
    for (CallSite& s : vector_thread().sites) {
        if (s.serial != asc_emu_vector.serial) s = {line, column, 0, asc_emu_vector.serial};
        if (s.line == line && s.column == column) return s.count++;
    }
    asc_emu_fail("a vector function updates address registers at more than 64 places");
    return 0;
}
