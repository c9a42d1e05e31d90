// Public header of device-side printing for the emulator: the host's `printf` serves
// (ascend_c_vector.md 19.3).
#pragma once

#include <stdio.h>
