// Picks the instruction set of the kernels from the compiler's target flags (emulator.md section
// 2: one ISA per built runtime). Each isa_*.hpp defines the same names in namespace isa:
//
//   kName               name reported by isa_name()
//   kLanes              floats in a native vector (16 columns of C are 16 / kLanes vectors)
//   kTileRows           rows of C kept in registers by the multiply kernel
//   kTileBlocks         16-column blocks of C kept in registers by the multiply kernel
//   kFused              multiply_add rounds once; otherwise it does so only for exact products
//   multiply_add        a * b + c on native vectors
//   transpose_fractal   16 rows of 8 words, row_pitch bytes apart, to 8 rows of 16 words
//   widen_halves/bytes  kLanes 16-bit or 8-bit codes in memory to a vector of words
//
// ASC_EMU_ISA_GENERIC selects the generic one whatever the flags say.
#pragma once

#if defined(ASC_EMU_ISA_GENERIC)
#include "isa_generic.hpp"
#elif defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#include "isa_avx512.hpp"
#elif defined(__AVX2__) && defined(__FMA__)
#include "isa_avx2.hpp"
#elif defined(__ARM_NEON) && defined(__aarch64__)
#include "isa_neon.hpp"
#else
#include "isa_generic.hpp"
#endif
