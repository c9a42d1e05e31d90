#include "simt/own_memory.hpp"

#include <dlfcn.h>

#include <array>

#include "fiber.hpp"
#include "launch.hpp"

namespace asc_emu {
namespace {

bool inside(uint64_t address, const void* begin, size_t bytes) {
    return begin && address - reinterpret_cast<uintptr_t>(begin) < bytes;
}

// NOTE: asking the loader takes a microsecond. What no object holds may be given to one that is loaded later, so
// only the launch that asked keeps the answer.
bool in_loaded_object(const Launch& launch, uint64_t address) {
    struct Known {
        uint64_t launch = 0;
        std::array<uint64_t, 64> no_object{};   // numbers of pages
    };
    static thread_local Known known;
    if (known.launch != launch.number) known = {launch.number, {}};
    const uint64_t page = address / 4096;
    uint64_t& slot = known.no_object[page % known.no_object.size()];
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
    const Launch& launch = *core.block->launch;
    if (inside(address, launch.desc.payload, launch.desc.payload_bytes)) return true;
    return in_loaded_object(launch, address);
}

}  // namespace asc_emu
