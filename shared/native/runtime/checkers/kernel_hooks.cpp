// What observers are told of accesses that are no instructions: loads and stores of vector functions, and scalar
// accesses to GM. Kernels come here only while `asc_emu_observing` is set.
#include "asc_emu/core_api.h"
#include "checkers/store_order.hpp"
#include "launch.hpp"
#include "observer.hpp"
#include "pipes.hpp"
#include "simt/block.hpp"

#define ASC_EMU_API extern "C" __attribute__((visibility("default")))

extern "C" {
__attribute__((visibility("default"))) uint32_t asc_emu_observing = 0;
}

namespace asc_emu {
namespace {

// Tells of bytes of UB. A place that leaves UB is refused behind this (asc_emu_ub_place).
void tell(uint32_t offset, uint32_t bytes, bool write, bool more, const void* site) {
    if (timing::WorkCount* const count = timing::counting_work()) return count->add(bytes, write);
    constexpr uint32_t kUb = kSpaceBytes[static_cast<size_t>(Space::ub)];
    if (offset > kUb || bytes > kUb - offset) return;
    const Core& core = current_core();
    g_observer->on_vector_access(core, offset, bytes, write, site);
    g_observer->on_function_access(core, {offset, bytes, StoreUnit::vector, write, more, site});
}

}  // namespace

void tell_vector_access(const volatile void* address, uint32_t bytes, bool write, bool more, const void* site) {
    if (g_observer) tell(offset_of(address), bytes, write, more, site);
}

void tell_vector_lanes(const volatile void* address, const uint64_t* mask, uint32_t width, uint32_t bytes,
                       const void* site) {
    if (!g_observer) return;
    constexpr uint32_t kVectorBytes = 256;
    const auto active = [&](uint32_t lane) { return mask[lane * width / 64] >> (lane * width % 64) & 1; };
    const uint32_t offset = offset_of(address), lanes = kVectorBytes / width;
    bool more = false;
    for (uint32_t first = 0; first < lanes;) {
        uint32_t end = first;
        while (end < lanes && active(end)) ++end;
        if (end > first) {
            tell(offset + first * bytes, (end - first) * bytes, true, more, site);
            more = true;
        }
        first = end + 1;
    }
}

}  // namespace asc_emu

ASC_EMU_API void asc_emu_scalar_access(const volatile void* address, uint32_t bytes, int kind) {
    using namespace asc_emu;
    if (!g_observer) return;
    Core& core = current_core();
    // Atomics on UB, which simt_hooks.cpp has told of.
    const uint64_t offset = gm_address(address) - reinterpret_cast<uintptr_t>(core.at(Space::ub, 0));
    if (running_simt() && offset < kSpaceBytes[static_cast<size_t>(Space::ub)]) return;
    bool failed = false;
    try {
        g_observer->on_scalar_access(core, static_cast<ScalarAccess>(kind), gm_address(address), bytes,
                                     __builtin_return_address(0));
    } catch (const KernelError& error) {
        core.block->launch->abort_with(error.report);
        failed = true;
    }
    if (failed) abandon_core();
}
