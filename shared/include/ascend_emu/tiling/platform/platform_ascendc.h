// Host query of the emulated chip, as public programs use it to size their grids
// (ascend950_model.md).
#pragma once

#include <cstdint>

namespace platform_ascendc {

class PlatformAscendC {
public:
    uint32_t GetCoreNum() const { return 32; }
    uint32_t GetCoreNumAic() const { return 32; }
    uint32_t GetCoreNumAiv() const { return 64; }
};

class PlatformAscendCManager {
public:
    static PlatformAscendC* GetInstance(const char* = "") {
        static PlatformAscendC chip;
        return &chip;
    }
};

}  // namespace platform_ascendc
