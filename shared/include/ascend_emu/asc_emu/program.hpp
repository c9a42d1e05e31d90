// Launches in programs with their own main() (ascend_c_cube.md section 1): what the source pass
// makes of `kernel<<<numBlocks, ubBytes, stream>>>(arguments)`. The kernel runs to its end before
// `launch` returns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "asc_emu/core_api.h"
#include "asc_emu/host_state.hpp"
#include "asc_emu/insn/simt.hpp"

namespace asc_emu::program {

constexpr int kLaunchArgument = 107000;  // ACL_ERROR_RT_PARAM_INVALID
constexpr int kCoreException = 507015;   // ACL_ERROR_RT_AICORE_EXCEPTION

struct Config {
    int64_t num_blocks;
    int64_t ub_bytes;
    void* stream;
    dim3 grid{0};  // of a SIMT kernel, else x = 0
    dim3 threads{0};
};

// The second value may be nullptr: no dynamic UB.
template <class Blocks, class Bytes>
Config config(Blocks num_blocks, Bytes ub_bytes, void* stream = nullptr) {
    if constexpr (std::is_null_pointer_v<Bytes>) {
        return {static_cast<int64_t>(num_blocks), 0, stream};
    } else {
        return {static_cast<int64_t>(num_blocks), static_cast<int64_t>(ub_bytes), stream};
    }
}

// SIMT kernels: blocks and threads of a block in up to three dimensions.
inline Config config(dim3 grid, dim3 threads, int64_t ub_bytes, void* stream = nullptr) {
    return {static_cast<int64_t>(grid.x) * grid.y * grid.z, ub_bytes, stream, grid, threads};
}
template <class Stream>
    requires std::is_integral_v<Stream>
Config config(dim3 grid, dim3 threads, int64_t ub_bytes, Stream) {
    return config(grid, threads, ub_bytes, nullptr);
}

// The "message" of a JSON report, unescaped as far as a terminal needs it.
inline std::string report_message(const char* report) {
    const std::string key = "\"message\":";
    const std::string text = report ? report : "";
    size_t at = text.find(key);
    if (at == std::string::npos || (at = text.find('"', at + key.size())) == std::string::npos)
        return text;
    std::string message;
    for (++at; at < text.size() && text[at] != '"'; ++at) {
        if (text[at] != '\\') {
            message += text[at];
        } else if (++at < text.size()) {
            message += text[at] == 'n' ? '\n' : text[at] == 't' ? '\t' : text[at];
        }
    }
    return message;
}

inline void record_failure(const char* kernel, int status, const std::string& message) {
    const std::string text = std::string("kernel ") + kernel + ": " + message;
    std::fflush(stdout);
    std::fprintf(stderr, "[ERROR] %s\n", text.c_str());
    host::fail(status, "%s", text.c_str());
    host::State& s = host::state();
    const host::Lock lock(s);
    s.device_error = status;
    s.launch_failed = true;
}

// Emulator options of the process that started this program:
// ASC_EMU_OPTIONS="name=value;name=value".
inline void apply_options() {
    static const bool done = [] {
        const char* text = std::getenv("ASC_EMU_OPTIONS");
        const std::string options = text ? text : "";
        for (size_t start = 0; start < options.size();) {
            const size_t end = std::min(options.find(';', start), options.size());
            const std::string option = options.substr(start, end - start);
            const size_t equals = option.find('=');
            if (equals != std::string::npos &&
                asc_emu_set_option(option.substr(0, equals).c_str(), option.c_str() + equals + 1) !=
                    0) {
                std::fprintf(stderr, "[ERROR] emulator option %s: %s\n", option.c_str(),
                             report_message(asc_emu_last_error()).c_str());
            }
            start = end + 1;
        }
        return true;
    }();
    (void)done;
}

// Device allocations as the launch descriptor wants them, in the order of their addresses.
inline std::vector<asc_emu_gm_range> device_ranges() {
    host::State& s = host::state();
    const host::Lock lock(s);
    std::vector<asc_emu_gm_range> ranges;
    for (const host::Allocation* at = s.device_memory; at != nullptr; at = at->next)
        ranges.push_back({at->base, at->bytes, 0, "aclrtMalloc"});
    std::sort(ranges.begin(), ranges.end(),
              [](const auto& a, const auto& b) { return a.base < b.base; });
    return ranges;
}

inline void run(const asc_emu_kernel& kernel, const void* payload, uint64_t payload_bytes,
                const Config& config) {
    if (config.num_blocks < 1 || config.num_blocks > 65535) {
        return record_failure(kernel.name, kLaunchArgument,
                              "numBlocks = " + std::to_string(config.num_blocks) +
                                  "; allowed: 1 to 65535; change the first value in <<< >>>");
    }
    if (config.ub_bytes < 0 || config.ub_bytes > 256 * 1024) {
        return record_failure(
            kernel.name, kLaunchArgument,
            "dynamic UB of " + std::to_string(config.ub_bytes) +
                " bytes; allowed: 0 to 262144; change the second value in <<< >>>");
    }
    apply_options();
    const std::vector<asc_emu_gm_range> ranges = device_ranges();
    asc_emu_launch_desc desc{};
    desc.struct_bytes = sizeof(desc);
    desc.num_blocks = static_cast<uint32_t>(config.num_blocks);
    desc.dynamic_ub_bytes = static_cast<uint32_t>(config.ub_bytes);
    desc.kernel = &kernel;
    desc.payload = payload;
    desc.payload_bytes = payload_bytes;
    desc.gm_ranges = ranges.data();
    desc.num_gm_ranges = static_cast<uint32_t>(ranges.size());
    if (asc_emu_launch(&desc) != 0) {
        record_failure(kernel.name, kCoreException, report_message(asc_emu_last_error()));
    }
}

// `body` calls the kernel with the arguments; it runs once on each core of each block.
template <class Body, class... Args>
void launch(const char* name, int num_aic, int num_aiv, Body body, const Config& config,
            Args... args) {
    const auto call = [=] { body(args...); };
    using Call = std::remove_const_t<decltype(call)>;
    // The payload: everything that a core reads of the host. Each thread of a SIMT kernel calls.
    struct Start {
        Call call;
        dim3 grid, threads;
    };
    void (*const thunk)(const void*) = [](const void* payload) {
        const auto* const start = static_cast<const Start*>(payload);
        if (start->threads.x == 0) return start->call();
        SimtFunction function{};
        function.threads = start->threads;
        function.grid = start->grid;
        std::memcpy(function.inline_arguments, &start, sizeof(start));
        function.run = [](const void* arguments) {
            const Start* stored;
            std::memcpy(&stored, arguments, sizeof(stored));
            stored->call();
        };
        issue(function);
    };
    const Start start{call, config.grid, config.threads};
    asc_emu_kernel kernel{};
    kernel.name = name;
    kernel.function = reinterpret_cast<const void*>(thunk);
    kernel.thunk = thunk;
    kernel.num_aic = static_cast<uint8_t>(num_aic);
    kernel.num_aiv = static_cast<uint8_t>(num_aiv);
    run(kernel, &start, sizeof(start), config);
}

}  // namespace asc_emu::program
