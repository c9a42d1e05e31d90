// Parsing and storage of the options.
#include "options.hpp"

#include <algorithm>
#include <cstdlib>
#include <mutex>

namespace asc_emu {
namespace {

std::mutex g_mutex;
Options g_options;

bool parse_unsigned(const std::string& text, uint64_t max, uint64_t& out) {
    if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos) return false;
    char* end = nullptr;
    errno = 0;
    const unsigned long long v = std::strtoull(text.c_str(), &end, 10);
    if (errno != 0 || *end != 0 || v > max) return false;
    out = v;
    return true;
}

std::string refuse(const std::string& name, const std::string& value, const char* allowed) {
    return "emulator option " + name + " got '" + value + "', allowed: " + allowed;
}

constexpr const char* kCheckNames[] = {"memcheck", "racecheck", "initcheck", "synccheck"};

// Comma-separated names, or none; false for an unknown one.
bool parse_checks(const std::string& text, uint32_t& checks) {
    uint32_t found = 0;
    for (size_t start = 0; start < text.size();) {
        const size_t end = std::min(text.find(',', start), text.size());
        const std::string name = text.substr(start, end - start);
        uint32_t bit = 0;
        for (uint32_t c = 0; c < 4; ++c)
            if (name == kCheckNames[c]) bit = 1u << c;
        if (bit == 0 && name != "none") return false;
        found |= bit;
        start = end + 1;
    }
    checks = found;
    return true;
}

std::string checks_text(uint32_t checks) {
    std::string text;
    for (uint32_t c = 0; c < 4; ++c)
        if (checks >> c & 1) text += (text.empty() ? "" : ",") + std::string(kCheckNames[c]);
    return text.empty() ? "none" : text;
}

}  // namespace

Options current_options() {
    std::lock_guard lock(g_mutex);
    return g_options;
}

std::string set_option(const std::string& name, const std::string& value) {
    std::lock_guard lock(g_mutex);
    Options& o = g_options;
    uint64_t number = 0;
    const auto pick = [&](const char* first, const char* second, bool& target) -> std::string {
        if (value != first && value != second)
            return refuse(name, value, (std::string(first) + ", " + second).c_str());
        target = value == second;
        return "";
    };
    if (name == "schedule") return pick("immediate", "deferred", o.deferred);
    if (name == "numerics") return pick("exact", "fast", o.fast_numerics);
    if (name == "data") return pick("compute", "skip", o.skip_data);
    if (name == "timing") {
        if (value == "off") o.timing = Timing::off;
        else if (value == "fast") o.timing = Timing::fast;
        else if (value == "replay") o.timing = Timing::replay;
        else return refuse(name, value, "off, fast, replay");
        return "";
    }
    if (name == "out_of_bounds") return pick("raise", "report", o.report_bounds);
    if (name == "checks") {
        if (!parse_checks(value, o.checks))
            return refuse(name, value, "none, or names out of memcheck, racecheck, initcheck, synccheck");
        return "";
    }
    if (name == "report_path") {
        o.report_path = value;
        return "";
    }
    if (name == "trace_folder") {
        o.trace_folder = value;
        return "";
    }
    if (name == "uninitialized") {
        if (value == "keep") o.uninitialized = Uninitialized::keep;
        else if (value == "nan") o.uninitialized = Uninitialized::nan;
        else if (value == "zero") o.uninitialized = Uninitialized::zero;
        else return refuse(name, value, "keep, nan, zero");
        return "";
    }
    if (name == "seed") {
        if (!parse_unsigned(value, ~0ull, number)) return refuse(name, value, "0 .. 2^64-1");
        o.seed = number;
        return "";
    }
    if (name == "threads") {
        if (!parse_unsigned(value, 1024, number)) return refuse(name, value, "0 (one per host core) .. 1024");
        o.threads = static_cast<uint32_t>(number);
        return "";
    }
    if (name == "num_cores") {
        if (!parse_unsigned(value, 1024, number) || number == 0) return refuse(name, value, "1 .. 1024");
        o.num_cores = static_cast<uint32_t>(number);
        return "";
    }
    if (name == "queue_depth") {
        if (!parse_unsigned(value, 4096, number) || number == 0) return refuse(name, value, "1 .. 4096");
        o.queue_depth = static_cast<uint32_t>(number);
        return "";
    }
    return "emulator option '" + name +
           "' is not known to the runtime; allowed: schedule, seed, checks, out_of_bounds, uninitialized, numerics, "
           "threads, num_cores, queue_depth, report_path, trace_folder, timing, data";
}

std::string get_option(const std::string& name) {
    const Options o = current_options();
    if (name == "schedule") return o.deferred ? "deferred" : "immediate";
    if (name == "numerics") return o.fast_numerics ? "fast" : "exact";
    if (name == "checks") return checks_text(o.checks);
    if (name == "data") return o.skip_data ? "skip" : "compute";
    if (name == "timing")
        return o.timing == Timing::off ? "off" : o.timing == Timing::fast ? "fast" : "replay";
    if (name == "out_of_bounds") return o.report_bounds ? "report" : "raise";
    if (name == "report_path") return o.report_path;
    if (name == "trace_folder") return o.trace_folder;
    if (name == "uninitialized")
        return o.uninitialized == Uninitialized::keep ? "keep"
             : o.uninitialized == Uninitialized::nan  ? "nan"
                                                      : "zero";
    if (name == "seed") return std::to_string(o.seed);
    if (name == "threads") return std::to_string(o.threads);
    if (name == "num_cores") return std::to_string(o.num_cores);
    if (name == "queue_depth") return std::to_string(o.queue_depth);
    return "";
}

}  // namespace asc_emu
