// Public header of the SIMT API for the emulator (ascend_c_vector.md section 14).
#pragma once

#include <assert.h>
#include <stdio.h>

#include "simt_api/math_constants.h"

#include "asc_emu/api/common.hpp"
#include "asc_emu/simt/atomics.hpp"
#include "asc_emu/simt/call.hpp"
#include "asc_emu/simt/casts.hpp"
#include "asc_emu/simt/half.hpp"
#include "asc_emu/simt/math.hpp"
#include "asc_emu/simt/min_max.hpp"
#include "asc_emu/simt/memory.hpp"
#include "asc_emu/simt/threads.hpp"
#include "asc_emu/simt/vector_types.hpp"
#include "asc_emu/simt/warp.hpp"
