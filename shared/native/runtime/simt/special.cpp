// Special functions of SIMT code (ascend_c_vector.md section 14.5), compiled once a machine.
#include <cmath>

#include "asc_emu/simt/runtime_api.h"

extern "C" __attribute__((visibility("default"))) double asc_emu_simt_bessel_i(double order, double x) {
    return std::cyl_bessel_i(order, x);
}
