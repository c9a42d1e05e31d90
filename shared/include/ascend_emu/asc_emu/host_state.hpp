// State of the emulated device in a host program: allocations and the error of the last launch.
// Shared by acl/acl.h and the launch of asc_emu/program.hpp.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "asc_emu/core_api.h"

namespace asc_emu::host {

struct State {
    std::mutex mutex;
    std::map<void*, uint64_t> device_memory;  // base -> bytes
    int device = 0;
    int device_error = 0;  // sticky, as after an exception of a core
    int last_error = 0;    // of the last failed call
    std::string message;   // of the last error
    bool message_taken = true;
    bool launch_failed = false;
};

// A program that ignores the status of its calls must not look successful after a failed kernel.
inline void exit_with_failure(int status, void* state) {
    if (status != 0 || !static_cast<State*>(state)->launch_failed) return;
    std::fflush(nullptr);
    std::_Exit(1);
}

inline State& state() {
    static State* const instance = [] {
        State* created = new State;  // lives as long as the process: handlers at exit read it
        ::on_exit(exit_with_failure, created);
        return created;
    }();
    return *instance;
}

// Records a failed call and returns its status.
inline int fail(int status, const std::string& message) {
    State& s = state();
    std::lock_guard<std::mutex> lock(s.mutex);
    s.last_error = status;
    s.message = message;
    s.message_taken = false;
    return status;
}

// Device allocations as the launch descriptor wants them.
inline std::vector<asc_emu_gm_range> device_ranges() {
    State& s = state();
    std::lock_guard<std::mutex> lock(s.mutex);
    std::vector<asc_emu_gm_range> ranges;
    ranges.reserve(s.device_memory.size());
    for (const auto& [base, bytes] : s.device_memory)
        ranges.push_back({base, bytes, 0, "aclrtMalloc"});
    return ranges;
}

}  // namespace asc_emu::host
