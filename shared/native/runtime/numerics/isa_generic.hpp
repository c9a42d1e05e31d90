// Names of isa.hpp for any compiler target, on 16-byte vectors of the vector extension.
//
// NOTE: there is no fused instruction to count on. multiply_add equals a fused one whenever the
// product is exact in fp32; mmad.cpp checks the ranges of the operands and takes the wide kernel
// (wide.hpp) when that does not hold.
#pragma once

#include "lanes.hpp"
#include "portable_ops.hpp"

namespace asc_emu::numerics::isa {

inline constexpr const char* kName = "generic";
inline constexpr int kLanes = 4;
// NOTE: 2 x 4 accumulators, 4 vectors of B, a broadcast and a product fit 16 registers.
inline constexpr int kTileRows = 2;
inline constexpr int kTileBlocks = 1;
inline constexpr bool kFused = false;

using Float = Lanes<kLanes>::Float;
using Word = Lanes<kLanes>::Word;

inline Float multiply_add(Float a, Float b, Float c) { return a * b + c; }

using portable::transpose_fractal;

inline Word widen_halves(const void* from) { return portable::widen_halves<kLanes>(from); }
inline Word widen_bytes(const void* from) { return portable::widen_bytes<kLanes>(from); }

}  // namespace asc_emu::numerics::isa
