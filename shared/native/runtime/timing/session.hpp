// Timing of the launches of this process: records while a launch runs, simulates when it has ended, and keeps
// the last profile and trace (emulator.md sections 3 and 5).
#pragma once

#include <memory>

#include "launch.hpp"
#include "timing/recorder.hpp"

namespace asc_emu::timing {

// Around one launch, under the launch mutex. Does nothing when the option `timing` is off.
class TimingScope {
public:
    explicit TimingScope(const Launch& launch);
    ~TimingScope();
    TimingScope(const TimingScope&) = delete;

private:
    const Launch& launch_;
    std::unique_ptr<Recorder> recorder_;
    uint32_t observing_ = 0;    // whether checkers want vector accesses too
};

}  // namespace asc_emu::timing
