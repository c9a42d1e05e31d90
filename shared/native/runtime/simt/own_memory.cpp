#include "simt/own_memory.hpp"

#include <dlfcn.h>

#include "fiber.hpp"
#include "launch.hpp"

namespace asc_emu {
namespace {

bool inside(uint64_t address, const void* begin, size_t bytes) {
    return begin && address - reinterpret_cast<uintptr_t>(begin) < bytes;
}

// NOTE: asking the loader takes a microsecond. What no object holds may be given to one that is loaded later, so
// an answer is kept for one launch.
bool in_loaded_object(const Core& core, uint64_t address) {
    Core::NoObject& known = core.no_object;
    const uint64_t launch = core.block->launch->number, page = address / 4096;
    if (known.launch != launch) known = {launch, {}};
    uint64_t& slot = known.pages[page % known.pages.size()];
    if (slot == page) return false;
    Dl_info where;
    if (dladdr(reinterpret_cast<const void*>(address), &where)) return true;
    slot = page;
    return false;
}

}  // namespace

bool on_chip_memory(const Core& core, uint64_t address) {
    constexpr size_t kMiB = 1 << 20;   // each has its own (memory.hpp)
    for (const Core& c : core.block->cores)
        for (const std::byte* const base : c.base)
            if (inside(address, base, kMiB)) return true;
    return false;
}

bool scalar_owns(const Core& core, uint64_t address) {
    if (core.fiber && inside(address, core.fiber->stack, kStackBytes)) return true;
    if (inside(address, core.block, sizeof(Block))) return true;
    const asc_emu_launch_desc& desc = core.block->launch->desc;
    if (inside(address, desc.payload, desc.payload_bytes)) return true;
    return in_loaded_object(core, address);
}

}  // namespace asc_emu
