// SIMT API for precompiled headers: all but the global `min` and `max`.
#pragma once

#include "asc_emu/simt/all_reduce.hpp"
#include "asc_emu/simt/atomics.hpp"
#include "asc_emu/simt/fp8.hpp"
#include "asc_emu/simt/lanes.hpp"
#include "asc_emu/simt/memory.hpp"
