// The instruction record that kernels hand to the runtime (emulator.md section 2).
// Each instruction is a small trivially copyable struct with named fields: the wrapper in api/<family>.hpp
// fills it (operands, lengths, and the configuration registers as they are at issue), the runtime executes
// it from its pipe, immediately or later. Checkers and the timing model see the same record.
#pragma once

#include <cstdint>
#include <type_traits>

#include "asc_emu/core_api.h"
#include "asc_emu/registers.hpp"

namespace asc_emu {

// Memories of ascend_c_cube.md section 2.
enum class Space : uint8_t { gm, l1, l0a, l0b, l0a_mx, l0b_mx, l0c, bt, fb, ub, ssb, count };

// Pipes of ascend_c_cube.md section 3; `all` stands for every pipe of the core.
enum class Pipe : uint8_t { S, V, M, MTE1, MTE2, MTE3, FIX, all };

// Element types of operands.
enum class Dtype : uint8_t {
    none, i4, i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32, e4m3, e5m2, hif8, e8m0, e2m1, e1m2
};

constexpr uint32_t dtype_bits(Dtype t) {
    switch (t) {
        case Dtype::none: return 0;
        case Dtype::i4: case Dtype::e2m1: case Dtype::e1m2: return 4;
        case Dtype::i8: case Dtype::u8: case Dtype::e4m3: case Dtype::e5m2: case Dtype::hif8:
        case Dtype::e8m0: return 8;
        case Dtype::i16: case Dtype::u16: case Dtype::f16: case Dtype::bf16: return 16;
        case Dtype::i32: case Dtype::u32: case Dtype::f32: return 32;
        case Dtype::i64: case Dtype::u64: return 64;
    }
    return 0;
}

// Every instruction of the emulator. Order is free; the runtime's table is indexed by it.
enum class Op : uint16_t {
#define ASC_EMU_INSN(name) name,
#include "asc_emu/insn_list.inc"
#undef ASC_EMU_INSN
    count
};

// On-chip memories are at most 1 MiB and their host bases are 1 MiB aligned: the low 20 bits of an
// address are the offset, for host addresses and for literal offsets alike.
constexpr uint64_t kOffsetMask = (1u << 20) - 1;

inline uint32_t offset_of(const volatile void* p) {
    return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(p) & kOffsetMask);
}
inline uint64_t gm_address(const volatile void* p) { return reinterpret_cast<uintptr_t>(p); }

constexpr uint32_t kMaxInsnBytes = 160;

// Insn: a struct with `static constexpr Op kOp` and `static constexpr Pipe kPipe`.
template <class Insn>
inline __attribute__((always_inline)) void issue(const Insn& insn) {
    static_assert(std::is_trivially_copyable_v<Insn>, "an instruction is copied into its pipe's queue");
    static_assert(sizeof(Insn) <= kMaxInsnBytes, "enlarge kMaxInsnBytes");
    asc_emu_issue(static_cast<uint16_t>(Insn::kOp), static_cast<uint8_t>(Insn::kPipe), &insn);
}
// The same for instructions whose pipe is an argument of the call (flags, barriers, locks).
template <class Insn>
inline __attribute__((always_inline)) void issue_on(Pipe pipe, const Insn& insn) {
    static_assert(std::is_trivially_copyable_v<Insn>, "an instruction is copied into its pipe's queue");
    asc_emu_issue(static_cast<uint16_t>(Insn::kOp), static_cast<uint8_t>(pipe), &insn);
}

inline Registers& registers() { return *static_cast<Registers*>(asc_emu_registers()); }

}  // namespace asc_emu
