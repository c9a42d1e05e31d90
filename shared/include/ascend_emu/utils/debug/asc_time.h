// Public header of the device clock for the emulator: the host's `clock` serves
// (ascend_c_vector.md 19.3).
#pragma once

#include <time.h>
