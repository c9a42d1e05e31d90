// Public header of device-side assertions for the emulator: a failed one ends the kernel
// (ascend_c_vector.md 19.3).
#pragma once

#include <assert.h>
#include <stdio.h>
