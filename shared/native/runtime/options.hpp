// Process-wide options of the emulator (emulator.md section 3). A launch works on a copy taken at its start.
#pragma once

#include <cstdint>
#include <string>

namespace asc_emu {

enum class Uninitialized : uint8_t { keep, nan, zero };
enum class Timing : uint8_t { off, fast, replay };

// Checkers of emulator.md section 4, a bit each.
enum Check : uint32_t { kMemcheck = 1, kRacecheck = 2, kInitcheck = 4, kSynccheck = 8 };

struct Options {
    bool deferred = false;                 // schedule: immediate | deferred
    uint64_t seed = 0;
    Uninitialized uninitialized = Uninitialized::keep;
    bool fast_numerics = false;            // numerics: exact | fast
    uint32_t checks = 0;                   // bits of Check
    bool report_bounds = false;            // out_of_bounds: raise | report
    std::string report_path;               // findings of each launch are added to this file
    Timing timing = Timing::off;
    std::string trace_folder;              // the trace of each timed launch becomes a file in it
    bool skip_data = false;                // data: compute | skip
    uint32_t num_cores = 32;
    uint32_t threads = 0;                  // 0: one per host core
    uint32_t queue_depth = 32;             // NOTE: documented for the previous chip only (ascend_c_cube.md section 3)
};

Options current_options();
// Message of a refusal, empty when taken.
std::string set_option(const std::string& name, const std::string& value);
std::string get_option(const std::string& name);

}  // namespace asc_emu
