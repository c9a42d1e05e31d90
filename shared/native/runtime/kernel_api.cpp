// Functions that kernels call outside the pipes: place of the core, memories, clock, polling (core_api.h).
#include <chrono>
#include <cstring>
#include <string>

#include "fiber.hpp"
#include "launch.hpp"
#include "op_table.hpp"
#include "pipes.hpp"
#include "simt/block.hpp"

namespace asc_emu {

Block* last_block();

namespace {

// Minimal alignment of an array declared in each memory (ascend_c_cube.md section 2).
uint64_t array_alignment(Space space) {
    switch (space) {
        case Space::l0a: case Space::l0b: return 512;
        case Space::l0c: return 1024;
        case Space::bt: return 64;
        case Space::fb: return 128;
        default: return 32;
    }
}

template <class F>
auto guarded(Core& core, F&& body) -> decltype(body()) {
    try {
        return body();
    } catch (const KernelError& error) {
        if (!running_fiber()) throw;   // a vector function that the scheduler runs for its pipe
        core.block->launch->abort_with(error.report);
    }
    abandon_core();
}

}  // namespace
}  // namespace asc_emu

using asc_emu::Core;
using asc_emu::current_core;
using asc_emu::Space;

#define ASC_EMU_API extern "C" __attribute__((visibility("default")))

ASC_EMU_API void* asc_emu_registers(void) { return &current_core().regs; }
ASC_EMU_API int asc_emu_is_aic(void) { return current_core().is_aic(); }
ASC_EMU_API uint32_t asc_emu_block_idx(void) { return current_core().block->index; }
ASC_EMU_API uint32_t asc_emu_block_num(void) { return current_core().block->launch->desc.num_blocks; }
ASC_EMU_API uint32_t asc_emu_sub_block_idx(void) { return current_core().sub_block(); }
ASC_EMU_API uint32_t asc_emu_sub_block_num(void) {
    const Core& core = current_core();
    return core.is_aic() ? 1 : core.block->num_aiv;
}
ASC_EMU_API uint32_t asc_emu_core_id(void) {
    const Core& core = current_core();
    const asc_emu::Block& block = *core.block;
    const uint32_t num_cores = block.launch->options.num_cores;
    const uint32_t place = block.index % asc_emu::places_of_blocks(num_cores, block.num_aic, block.num_aiv);
    if (core.is_aic() || asc_emu::is_vector_kernel(block.num_aic, block.num_aiv)) return place;
    return place * 2 + core.sub_block();
}
ASC_EMU_API uint64_t asc_emu_system_cycle(void) {
    ++current_core().block->launch->clock_reads;
    return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::steady_clock::now().time_since_epoch()).count());
}
ASC_EMU_API void* asc_emu_base(int space) { return current_core().base[space]; }

ASC_EMU_API void* asc_emu_array(int space, const void* site, uint64_t bytes, uint64_t align) {
    Core& core = current_core();
    const void* const caller = __builtin_return_address(0);
    auto& arrays = core.arrays[space];
    for (const Core::Array& a : arrays)
        if (a.site == site && a.bytes == bytes) return core.base[space] + a.offset;
    return asc_emu::guarded(core, [&]() -> void* {
        const Space s = static_cast<Space>(space);
        align = std::max(align, asc_emu::array_alignment(s));
        const uint64_t offset = (core.array_top[space] + align - 1) / align * align;
        const uint32_t size = asc_emu::kSpaceBytes[space];
        if (offset + bytes > size)
            throw asc_emu::KernelError{asc_emu::make_report(
                "api", std::string("arrays in ") + asc_emu::space_name(s) + " need " + std::to_string(offset + bytes) +
                " bytes, the memory has " + std::to_string(size) + "; declare smaller ones", &core, nullptr, caller)};
        arrays.push_back({site, bytes, static_cast<uint32_t>(offset)});
        core.array_top[space] = static_cast<uint32_t>(offset + bytes);
        return core.base[space] + offset;
    });
}

ASC_EMU_API void* asc_emu_dynamic_ub(void) {
    Core& core = current_core();
    const int ub = static_cast<int>(Space::ub);
    static const char site = 0;
    return asc_emu_array(ub, &site, core.block->launch->desc.dynamic_ub_bytes, 32);
}

ASC_EMU_API void asc_emu_spin_hint(void) {
    asm volatile("" ::: "memory");
    if (!asc_emu::running_fiber()) return;   // a loop of a program's host code
    if (asc_emu::in_vector_function() || asc_emu::simt_poll()) return;
    Core& core = current_core();
    if (core.block->launch->aborted()) asc_emu::abandon_core();
    core.fiber->state = asc_emu::FiberState::spinning;
    asc_emu::suspend();
    core.fiber->state = asc_emu::FiberState::ready;
}

ASC_EMU_API void asc_emu_fail(const char* message) {
    Core& core = current_core();
    const void* const caller = __builtin_return_address(0);
    asc_emu::guarded(core, [&] { asc_emu::fail_at(core, caller, message); });
}

// Reads a memory of the last block that ran on the calling thread, until its next launch; core_slot 0 = AIC,
// 1 and 2 = vector cores. Returns 0, or -1 when there is no such memory.
ASC_EMU_API int asc_emu_debug_read(int space, int core_slot, uint64_t offset, void* dst, uint64_t bytes) {
    const asc_emu::Block* block = asc_emu::last_block();
    if (!block || space <= 0 || space >= static_cast<int>(Space::count) || core_slot < 0 || core_slot > 2)
        return -1;
    const std::byte* base = block->cores[core_slot].base[space];
    if (!base || offset + bytes > asc_emu::kSpaceBytes[space]) return -1;
    std::memcpy(dst, base + offset, bytes);
    return 0;
}
