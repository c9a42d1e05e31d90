// Hook into a launch, and the C interface for hosts (core_api.h).
#include "timing/session.hpp"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <utility>

#include "timing/engine.hpp"
#include "thread_object.hpp"

namespace asc_emu::timing {
namespace {

// What the last timed launch left. Leaked, as worker threads may outlive static destructors.
struct Last {
    std::mutex mutex;
    std::shared_ptr<const LaunchTrace> trace;
    std::string profile;
    uint64_t number = 0;    // when it ended
};
Last& last() {
    static Last* const instance = new Last;
    return *instance;
}

uint64_t now_ns() {
    return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
}

// A file for each launch, in order (option trace_folder).
void keep_trace(const LaunchTrace& trace, const std::string& folder) {
    static std::atomic<uint32_t> count{0};
    char name[32];
    std::snprintf(name, sizeof(name), "/%06u.trace", count++);
    const std::string problem = save_trace(trace, (folder + name).c_str());
    if (!problem.empty()) std::fprintf(stderr, "asc_emu: %s\n", problem.c_str());
}

std::shared_ptr<const LaunchTrace> last_trace() {
    std::lock_guard lock(last().mutex);
    return last().trace;
}

std::string write_spans(const std::vector<Span>& spans, const char* path) {
    std::FILE* file = std::fopen(path, "wb");
    if (!file) return std::string("cannot write ") + path + ": " + std::strerror(errno);
    const bool good = std::fwrite(spans.data(), sizeof(Span), spans.size(), file) == spans.size();
    return (std::fclose(file) == 0 && good) ? "" : std::string("cannot write ") + path;
}

struct Texts {
    std::string text, problem;
};
Texts& texts() { return thread_object<Texts, Texts>(); }

const char* give(std::string text) {
    texts().text = std::move(text);
    return texts().text.c_str();
}
const char* refuse(std::string problem) {
    texts().problem = std::move(problem);
    return nullptr;
}

// "" or null: the trace of the last launch.
std::string find_trace(const char* path, std::shared_ptr<const LaunchTrace>& trace) {
    if (path && *path) {
        auto loaded = std::make_shared<LaunchTrace>();
        const std::string problem = load_trace(*loaded, path);
        trace = loaded;
        return problem;
    }
    trace = last_trace();
    return trace ? "" : "no launch was recorded in this process; run a kernel with timing=fast or replay";
}

}  // namespace

TimingScope::TimingScope(const Launch& launch) : launch_(launch) {
    if (launch.options.timing == Timing::off) return;
    recorder_ = std::make_unique<Recorder>();
    add_observer(*recorder_);
    observing_ = std::exchange(asc_emu_observing, asc_emu_observing | 2);
}

TimingScope::~TimingScope() {
    if (!recorder_) return;
    asc_emu_observing = observing_;
    remove_observer(*recorder_);
    if (launch_.aborted()) return;   // the last good profile stays
    auto trace = std::make_shared<const LaunchTrace>(recorder_->take());
    const bool replay = launch_.options.timing == Timing::replay;
    const std::string profile =
        Engine(*trace, Constants{}, replay ? MemoryMode::shared : MemoryMode::lone, nullptr).run().json();
    if (!launch_.options.trace_folder.empty()) keep_trace(*trace, launch_.options.trace_folder);
    std::lock_guard lock(last().mutex);
    last().trace = std::move(trace);
    last().profile = profile;
    last().number = now_ns();
}

}  // namespace asc_emu::timing

#define ASC_EMU_API extern "C" __attribute__((visibility("default")))

ASC_EMU_API const char* asc_emu_timing_profile(uint64_t* number) {
    using namespace asc_emu::timing;
    std::lock_guard lock(last().mutex);
    if (number) *number = last().number;
    return give(last().profile);
}

ASC_EMU_API const char* asc_emu_timing_constants(void) {
    return asc_emu::timing::give(asc_emu::timing::constants_json());
}

ASC_EMU_API const char* asc_emu_timing_problem(void) { return asc_emu::timing::texts().problem.c_str(); }

ASC_EMU_API int asc_emu_timing_save(const char* path) {
    using namespace asc_emu::timing;
    std::shared_ptr<const LaunchTrace> trace;
    std::string problem = find_trace(nullptr, trace);
    if (problem.empty()) problem = save_trace(*trace, path);
    if (problem.empty()) return 0;
    refuse(problem);
    return -1;
}

ASC_EMU_API const char* asc_emu_timing_replay(const char* trace_path, int shared, const char* overrides,
                                              const char* spans_path) {
    using namespace asc_emu::timing;
    std::shared_ptr<const LaunchTrace> trace;
    std::string problem = find_trace(trace_path, trace);
    if (!problem.empty()) return refuse(problem);
    Constants constants;
    problem = apply_overrides(constants, overrides ? overrides : "");
    if (!problem.empty()) return refuse(problem);
    std::vector<Span> spans;
    const bool wanted = spans_path && *spans_path;
    const Profile profile =
        Engine(*trace, constants, shared ? MemoryMode::shared : MemoryMode::lone, wanted ? &spans : nullptr).run();
    if (wanted) problem = write_spans(spans, spans_path);
    return problem.empty() ? give(profile.json()) : refuse(problem);
}
