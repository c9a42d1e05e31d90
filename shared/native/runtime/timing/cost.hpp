// What one instruction costs on its pipe (ascend950_model.md sections 2 and 3).
#pragma once

#include "timing/constants.hpp"
#include "timing/trace.hpp"

namespace asc_emu::timing {

// Times in core cycles. An instruction occupies its pipe for max(`busy`, `interval`); its result is there
// `latency` after the end of `busy`. With global memory, `port` limits its bytes per cycle and `busy` is
// left to the memory system.
struct Cost {
    double busy = 0;
    double interval = 0;
    double latency = 0;
    double port = 0;     // bytes per cycle; 0 = no global memory
};

Cost cost_of(const Record& record, const Constants& constants);

}  // namespace asc_emu::timing
