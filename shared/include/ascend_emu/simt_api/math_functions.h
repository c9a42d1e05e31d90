// Public header of the SIMT API for the emulator (ascend_c_vector.md section 14).
#pragma once

#include "asc_emu/simt/math.hpp"
#include "asc_emu/simt/min_max.hpp"
