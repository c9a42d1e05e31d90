// Thread and block coordinates of SIMT code (ascend_c_vector.md section 14.1).
#pragma once

#include <cstdint>

struct uint3 {
    unsigned int x, y, z;
};

struct dim3 {
    unsigned int x = 1, y = 1, z = 1;
    constexpr dim3() = default;
    constexpr dim3(unsigned int vx, unsigned int vy = 1, unsigned int vz = 1)
        : x(vx), y(vy), z(vz) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
};

namespace cce {
using ::dim3;
}  // namespace cce
