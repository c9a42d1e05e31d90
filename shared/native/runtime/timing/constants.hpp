// Constants of the timing model: one named table with sources (constants.inc; ascend950_model.md).
#pragma once

#include <string>

namespace asc_emu::timing {

struct Constants {
#define ASC_EMU_CONSTANT(name, value, unit, source, meaning) double name = value;
#include "timing/constants.inc"
#undef ASC_EMU_CONSTANT

    double cycles_of_us(double us) const { return us * clock_mhz; }
    // GB/s as bytes per core cycle.
    double per_cycle(double gbps) const { return gbps * 1000 / clock_mhz; }
    // Duration of an empty launch, interpolated between the documented numbers of blocks.
    double launch_us(double num_blocks) const;
};

// Applies "name=value,name=value"; returns what is wrong with it, empty when all was taken.
std::string apply_overrides(Constants& constants, const std::string& text);

// JSON array of {"name", "value", "unit", "source", "meaning"} with the default values.
std::string constants_json();

}  // namespace asc_emu::timing
