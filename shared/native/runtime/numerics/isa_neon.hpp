// aarch64 NEON names of isa.hpp.
#pragma once

#include <arm_neon.h>

#include "lanes.hpp"
#include "portable_ops.hpp"

namespace asc_emu::numerics::isa {

inline constexpr const char* kName = "neon";
inline constexpr int kLanes = 4;
// NOTE: 6 x 4 accumulators, 4 vectors of B and the broadcasts fit 32 registers.
inline constexpr int kTileRows = 6;
inline constexpr int kTileBlocks = 1;
inline constexpr bool kFused = true;

using Float = Lanes<kLanes>::Float;
using Word = Lanes<kLanes>::Word;

inline Float multiply_add(Float a, Float b, Float c) { return vfmaq_f32(c, a, b); }

using portable::transpose_fractal;

inline Word widen_halves(const void* from) { return portable::widen_halves<kLanes>(from); }
inline Word widen_bytes(const void* from) { return portable::widen_bytes<kLanes>(from); }

}  // namespace asc_emu::numerics::isa
