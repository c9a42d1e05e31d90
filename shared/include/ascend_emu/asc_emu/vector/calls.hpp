// Rules of whole registers that the runtime carries out: their code is long, and would be compiled
// again with every kernel. Registers go through memory.
#pragma once

#include <cstdint>

namespace asc_emu {

enum class ElementaryRule : uint32_t { exp, ln };
enum class OrderedType : uint32_t { s16, u16, s32, u32, f16, f32 };

}  // namespace asc_emu

extern "C" {
// exp or ln of all lanes: of fp32, or of half. Every instruction set gives the same bits.
void asc_emu_vector_elementary(asc_emu::ElementaryRule rule, bool of_half, void* dst,
                               const void* src);
// The maximum, or the minimum, of the active lanes of a register, and the index of its lane behind
// it; or of each block of 32 bytes, without indices. All other lanes are zero.
void asc_emu_vector_extreme(asc_emu::OrderedType type, bool max, bool blocks, void* dst,
                            const void* src, const uint64_t* mask);
}
