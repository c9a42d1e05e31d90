// Matrix-multiply numerics of the cube core (emulator.md sections 3 and 8, ascend_c_cube.md
// sections 4 and 10). This header is the only one that other parts of the runtime include, and
// it is the one place that says which bits an mmad produces.
//
// Exact mode: for every element of C, in fp32 and in ascending k,
//
//     acc = init;  for k: acc = fma(a[m][k], b[k][n], acc)
//
// with one rounding per step (nearest even), subnormals kept and IEEE special values. The bits
// do not depend on the instruction set, the thread count or the caller's floating-point
// environment. What hardware does is not documented, so these are choices:
//
//   init    zero starts from +0, bias from bias[n], accumulate from the previous C.
//   mx      a and b are the scaled values a * 2^(sa-127) and b * 2^(sb-127) of unlimited range:
//           a scaled operand above the fp32 range does not turn into Inf, only the sum does.
//           Scale 0xFF is NaN, also for a zero operand.
//   int8    int32 sums wrap modulo 2^32.
//   hf32    fp32 operands are first rounded to 1-8-10 (nearest even, or ties away from zero);
//           a value that rounds past the largest 1-8-10 number becomes Inf, NaN stays NaN.
//   NaN     when an operand tile holds Inf or NaN, every NaN of the result is 0x7fc00000.
//           Otherwise a NaN can only come from the initial value and keeps its bits, quieted.
//   tails   elements of A and B with m >= M, k >= K or n >= N are never looked at, and the same
//           rows and columns of the C fractals keep their old content.
//   empty   M, K or N of zero does nothing.
//
// Fast mode may sum in another order and flush subnormals of the accumulator; it uses AMX tiles
// or vdpbf16ps where that pays (see fast_unit_name) for operands that are exact in bf16, and
// equals exact mode elsewhere. Operands with subnormals, or so small that products could be
// flushed, always take the exact kernel.
#pragma once

#include <cstddef>
#include <cstdint>

namespace asc_emu::numerics {

class Ahead;

enum class Element : uint8_t { bf16, f16, f32, i8, e4m3, e5m2, hif8, e2m1, e1m2 };
enum class Init : uint8_t { zero, accumulate, bias };
enum class Mode : uint8_t { exact, fast };

// One multiply on host addresses. A is NZ, B is ZN, C is NZ with 4-byte elements (fp32, or int32
// for i8 operands). Both operands have the same width: i8 with i8, 8-bit floats mixed, fp4 mixed.
struct MmadProblem {
    const void* a = nullptr;
    const void* b = nullptr;
    void* c = nullptr;  // 64-byte aligned is fastest
    uint32_t m = 0, k = 0, n = 0;
    Element a_type = Element::bf16, b_type = Element::bf16;
    Init init = Init::zero;
    const void* bias = nullptr;        // n elements of 4 bytes, read when init is bias
    const uint8_t* scale_a = nullptr;  // mmad_mx: e8m0 scales in L0A_MX / L0B_MX layout, both or
    const uint8_t* scale_b = nullptr;  // none
    bool hf32 = false;
    bool hf32_ties_away = false;
    bool gemv = false;  // with m == 1: A is k contiguous elements
    // Both operands have no scales, and keep their bytes as long as products with this version come and are settled.
    bool lasting = false;
    // Content versions, 0 = unknown. A call may reuse what this thread unpacked for an earlier one
    // with the same address, shape and version. A version covers the data and its scales, and no
    // two contents of an address may share one: a process-wide counter of writes will do.
    uint64_t a_version = 0, b_version = 0;
    // Bytes from one 32-byte column of K to the next; 0: the rows rounded up to 16, times 32.
    uint64_t a_pitch = 0, b_pitch = 0;
    // Bytes from a row's 32-byte piece to the next row's; 0: 32, as in the fractals of L0.
    uint64_t a_row_pitch = 0, b_row_pitch = 0;
    Ahead* ahead = nullptr;  // what later products read
};

// Sums of this thread may stay open, in fast mode and with lasting operands; nobody looks at C before settle() is
// called. The bits are those of multiplying at once.
void mmad(const MmadProblem& problem, Mode mode);

// Finishes what mmad() has left open on this thread: all of it, or at least what changes some bytes of C.
void settle();
void settle(const void* c, size_t bytes);

// Instruction set these kernels were compiled for: "avx512", "avx2", "neon" or "generic".
const char* isa_name();

// What fast mode uses for bf16 operands on this machine: "amx-bf16", "avx512-bf16" or "exact".
const char* fast_unit_name();

}  // namespace asc_emu::numerics
