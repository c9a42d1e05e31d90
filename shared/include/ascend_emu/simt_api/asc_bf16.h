// Public header of the SIMT API for the emulator (ascend_c_vector.md section 14).
#pragma once

#include "asc_emu/simt/atomics.hpp"
#include "asc_emu/simt/bfloat16.hpp"
#include "asc_emu/simt/half.hpp"
#include "asc_emu/simt/warp.hpp"
