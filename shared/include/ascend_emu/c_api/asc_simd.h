// Public header of the Ascend C "C API" for the emulator: one include per family
// (ascend_c_cube.md section 20, ascend_c_vector.md).
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "asc_emu/api/common.hpp"
#include "asc_emu/api/sync.hpp"

#include "asc_emu/api/fill_l1.hpp"
#include "asc_emu/api/fixpipe.hpp"
#include "asc_emu/api/gm_to_l1.hpp"
#include "asc_emu/api/l1_to_bt_fb.hpp"
#include "asc_emu/api/l1_to_l0.hpp"
#include "asc_emu/api/mmad.hpp"

#include "asc_emu/api/raw_sync.hpp"
#include "asc_emu/api/ub_copy.hpp"
#include "asc_emu/api/ub_ndim.hpp"
#include "asc_emu/api/vector_call.hpp"
#include "asc_emu/api/vector_raw.hpp"
#include "asc_emu/api/vector_raw_memory.hpp"
#include "asc_emu/api/vector_sort.hpp"

#include "asc_emu/api/atomics.hpp"
#include "asc_emu/api/cache.hpp"
#include "asc_emu/api/scalar.hpp"
#include "asc_emu/api/sysvars.hpp"
