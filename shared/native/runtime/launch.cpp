// Launches: shared state of the workers, the pool of worker threads, and the C interface for hosts.
#include "launch.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <thread>

#include "checkers/checker.hpp"
#include "fiber.hpp"
#include "numerics/mmad.hpp"
#include "observer.hpp"
#include "op_table.hpp"
#include "thread_object.hpp"
#include "timing/session.hpp"

namespace asc_emu {

std::string json_number(double value) {
    char text[40];
    std::snprintf(text, sizeof(text), "%.12g", value);
    return text;
}

std::string json_quote(const std::string& text) {
    std::string out = "\"";
    for (const unsigned char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
            out += static_cast<char>(c);
        } else if (c < 0x20) {
            char escape[8];
            std::snprintf(escape, sizeof(escape), "\\u%04x", c);
            out += escape;
        } else {
            out += static_cast<char>(c);
        }
    }
    return out + "\"";
}

std::string make_report(const char* kind, const std::string& message, const Core* core,
                        const char* instruction, const void* site) {
    std::string out = std::string("{\"kind\": ") + json_quote(kind) + ", \"message\": " + json_quote(message);
    if (instruction) out += ", \"instruction\": " + json_quote(instruction);
    if (core) {
        out += ", \"block\": " + std::to_string(core->block->index) + ", \"core\": " +
               (core->is_aic() ? "\"AIC\"" : core->sub_block() ? "\"AIV1\"" : "\"AIV0\"");
        out += ", \"kernel\": " + json_quote(core->block->launch->desc.kernel->name);
    }
    Dl_info where;
    if (site && dladdr(site, &where) && where.dli_fname) {
        out += ", \"object\": " + json_quote(where.dli_fname) + ", \"offset\": " +
               std::to_string(static_cast<const char*>(site) - static_cast<const char*>(where.dli_fbase));
    }
    return out + "}";
}

std::string timeout_report(const Launch& launch) {
    return make_report("timeout", "kernel ran longer than its launch timeout of " +
                       std::to_string(launch.desc.timeout_secs) + " s", nullptr);
}

Launch::Launch(const asc_emu_launch_desc& d, const Options& o, uint32_t workers)
    : desc(d), options(o), num_workers(workers) {
    if (options.checks != 0) return;
    const auto begin_of = [](const asc_emu_gm_range& r) { return reinterpret_cast<uint64_t>(r.base); };
    for (const asc_emu_gm_range& input : std::span(desc.gm_ranges, desc.num_gm_ranges)) {
        const uint64_t low = begin_of(input), high = low + input.bytes;
        bool written = input.read_only == 0;
        for (const asc_emu_gm_range& other : std::span(desc.gm_ranges, desc.num_gm_ranges))
            written |= other.read_only == 0 && begin_of(other) < high && low < begin_of(other) + other.bytes;
        if (!written) constant_.push_back({low, high});
    }
}

bool Launch::constant(uint64_t low, uint64_t high) const {
    return std::any_of(constant_.begin(), constant_.end(),
                       [&](const Range& r) { return r.low <= low && high <= r.high; });
}

int64_t Launch::claim_block(int64_t last) {
    if (!blocks_left()) return -1;
    const uint32_t places = places_of_blocks(options.num_cores, desc.kernel->num_aic, desc.kernel->num_aiv);
    if (num_resident_.load() >= std::max(places, num_workers)) return -1;
    std::lock_guard lock(mutex_);
    if (!blocks_left()) return -1;
    ++num_claimed_;
    if (desc.block_stride <= 1 || desc.num_blocks > places) return next_block_++;
    claimed_.resize(desc.num_blocks);
    const uint64_t neighbour = static_cast<uint64_t>(last) + desc.block_stride;
    if (last >= 0 && neighbour < desc.num_blocks && !claimed_[neighbour]) {
        claimed_[neighbour] = true;
        return static_cast<int64_t>(neighbour);
    }
    while (claimed_[next_block_]) ++next_block_;
    claimed_[next_block_] = true;
    return next_block_;
}

void Launch::add_resident(Block* block) {
    std::lock_guard lock(mutex_);
    resident_.push_back(block);
    ++num_resident_;
}

void Launch::remove_resident(Block* block) {
    std::lock_guard lock(mutex_);
    resident_.erase(std::find(resident_.begin(), resident_.end(), block));
    --num_resident_;
    bump_epoch();
}

void Launch::abort_with(const std::string& report) {
    std::lock_guard lock(mutex_);
    if (!aborted_.exchange(true)) report_ = report;
    changed_.notify_all();
}

void Launch::worker_left() {
    // A worker without blocks stays idle for good: the others may be stuck without it.
    std::lock_guard lock(mutex_);
    ++left_;
    bump_epoch();
}

std::string Launch::blocked_cores() const {
    std::string text;
    size_t shown = 0;
    for (const Block* block : resident_)
        for (const Core& core : block->cores) {
            const std::string one = core.fiber ? describe_wait(core) : "";
            if (one.empty()) continue;
            if (++shown > 8) continue;
            text += (text.empty() ? "" : "; ") + one;
        }
    if (shown > 8) text += "; and " + std::to_string(shown - 8) + " more";
    return text;
}

void Launch::arrive_all(const Core& core, uint32_t id) {
    const bool aic = core.is_aic();
    const int needed = static_cast<int>(desc.num_blocks * (aic ? desc.kernel->num_aic : desc.kernel->num_aiv));
    std::lock_guard lock(mutex_);
    int& count = arrivals_[aic ? 0 : 1][id];
    if (++count < needed) return;
    count -= needed;
    for (Block* block : resident_)
        for (Core& c : block->cores)
            if (c.fiber && c.is_aic() == aic) ++c.counters[id];
    bump_epoch();
}

GmAtomicGuard::GmAtomicGuard(const Core& core, bool armed)
    : locked_(armed && core.block->launch->num_workers > 1), launch_(core.block->launch) {
    if (locked_) launch_->gm_atomics.lock();
}
GmAtomicGuard::~GmAtomicGuard() {
    if (locked_) launch_->gm_atomics.unlock();
}

bool fast_numerics(const Core& core) { return core.block->launch->options.fast_numerics; }

namespace {

// Threads that help the calling one. They sleep between launches: a spinning pool would disturb other pools.
class Pool {
public:
    void run(Launch& launch, uint32_t helpers) {
        if (helpers) {
            std::lock_guard lock(mutex_);
            while (num_threads_ < helpers) {
                std::thread(&Pool::loop, this, num_threads_).detach();
                ++num_threads_;
            }
            launch_ = &launch;
            wanted_ = running_ = helpers;
            ++generation_;
            start_.notify_all();
        }
        run_worker(launch);
        if (helpers) {
            std::unique_lock lock(mutex_);
            finished_.wait(lock, [this] { return running_ == 0; });
            launch_ = nullptr;
        }
    }

private:
    void loop(uint32_t index) {
        uint64_t seen = 0;
        std::unique_lock lock(mutex_);
        if (generation_) seen = generation_ - 1;
        for (;;) {
            start_.wait(lock, [&] { return generation_ != seen; });
            seen = generation_;
            if (index >= wanted_ || !launch_) continue;
            Launch& launch = *launch_;
            lock.unlock();
            run_worker(launch);
            lock.lock();
            if (--running_ == 0) finished_.notify_all();
        }
    }

    std::mutex mutex_;
    std::condition_variable start_, finished_;
    uint64_t generation_ = 0;
    uint32_t num_threads_ = 0, wanted_ = 0, running_ = 0;
    Launch* launch_ = nullptr;
};

// One launch at a time in a process. Both objects are leaked: worker threads may outlive static destructors,
// and a forked child starts with new ones.
std::mutex* g_launch_mutex = new std::mutex;
Pool* g_pool = new Pool;

void reset_after_fork() {
    g_launch_mutex = new std::mutex;
    g_pool = new Pool;
}
const int g_fork_handler = pthread_atfork(nullptr, nullptr, &reset_after_fork);

// Texts that the C interface hands out to the calling thread.
struct Texts {
    std::string error, findings = "[]", text;
};
Texts& texts() { return thread_object<Texts, Texts>(); }

int refuse(const std::string& report) {
    texts().error = report;
    return 1;
}

// Text of asc_emu_last_error(), empty for success: findings of the checkers come before what stopped it.
std::string outcome(const Launch& launch) {
    const std::string stopped = launch.aborted() ? launch.report() : "";
    if (launch.reporter.errors() == 0) return stopped;
    return launch.reporter.error_json(launch.desc.kernel->name, stopped);
}

// A line of JSON for each launch with something to say (option report_path).
void write_report(const Launch& launch, const std::string& error) {
    if (launch.options.report_path.empty() || (error.empty() && launch.reporter.empty())) return;
    std::FILE* file = std::fopen(launch.options.report_path.c_str(), "a");
    if (!file) return;
    const std::string line = error.empty() ? "{\"kind\": \"sanitizer\", \"message\": \"warnings only\", "
                                             "\"reports\": " + texts().findings + "}\n"
                                           : error + "\n";
    std::fwrite(line.data(), 1, line.size(), file);
    std::fclose(file);
}

// The checkers of one launch.
class CheckScope {
public:
    explicit CheckScope(Launch& launch) {
        if (launch.options.checks == 0) return;
        checker_ = std::make_unique<Checker>(launch, launch.options.checks);
        add_observer(*checker_);
        asc_emu_observing = 1;
    }
    ~CheckScope() {
        if (!checker_) return;
        asc_emu_observing = 0;
        remove_observer(*checker_);
    }
    CheckScope(const CheckScope&) = delete;

private:
    std::unique_ptr<Checker> checker_;
};

std::string check(const asc_emu_launch_desc* desc) {
    if (!desc || desc->struct_bytes != sizeof(asc_emu_launch_desc))
        return "launch descriptor of another version: build kernel and runtime from one package";
    if (!desc->kernel || !desc->kernel->thunk) return "the launch names no kernel";
    const uint32_t aic = desc->kernel->num_aic, aiv = desc->kernel->num_aiv;
    if (aic > 1 || aiv > 2 || aic + aiv == 0)
        return "a block has (1, 0), (0, 1), (1, 1) or (1, 2) cores, got (" + std::to_string(aic) + ", " +
               std::to_string(aiv) + "); correct __mix__";
    if (desc->num_blocks == 0 || desc->num_blocks > 65535)
        return "number of blocks got " + std::to_string(desc->num_blocks) + ", allowed 1 .. 65535";
    const uint32_t ub = kSpaceBytes[static_cast<size_t>(Space::ub)];
    if (desc->dynamic_ub_bytes > ub)
        return "dynamic UB got " + std::to_string(desc->dynamic_ub_bytes) + " bytes, the memory has " +
               std::to_string(ub);
    return "";
}

}  // namespace
}  // namespace asc_emu

#define ASC_EMU_API extern "C" __attribute__((visibility("default")))

ASC_EMU_API int asc_emu_launch(const asc_emu_launch_desc* desc) {
    using namespace asc_emu;
    const std::string problem = check(desc);
    if (!problem.empty()) return refuse(make_report("argument", problem, nullptr));
    if (running_fiber()) return refuse(make_report("argument", "a kernel cannot launch a kernel", nullptr));
    std::lock_guard lock(*g_launch_mutex);
    const Options options = current_options();
    uint32_t threads = options.threads ? options.threads : std::max(1u, std::thread::hardware_concurrency());
    threads = std::min(threads, desc->num_blocks);
    Launch launch(*desc, options, threads);
    const CheckScope checks(launch);
    const timing::TimingScope timing(launch);
    if (g_observer) g_observer->on_launch(launch);
    {
        FaultScope faults(launch);
        g_pool->run(launch, threads - 1);
    }
    if (g_observer) g_observer->on_finish(launch);
    texts().findings = launch.reporter.list_json(desc->kernel->name);
    const std::string error = outcome(launch);
    write_report(launch, error);
    return error.empty() ? 0 : refuse(error);
}

ASC_EMU_API const char* asc_emu_last_error(void) { return asc_emu::texts().error.c_str(); }

ASC_EMU_API int asc_emu_set_option(const char* name, const char* value) {
    using namespace asc_emu;
    const std::string problem = set_option(name ? name : "", value ? value : "");
    if (problem.empty()) return 0;
    refuse(make_report("argument", problem, nullptr));
    return -1;
}

ASC_EMU_API const char* asc_emu_get_option(const char* name) {
    using namespace asc_emu;
    const std::string option = name ? name : "";
    // Of the last launch of this thread: a JSON array.
    texts().text = option == "findings" ? texts().findings : get_option(option);
    return texts().text.c_str();
}

ASC_EMU_API const char* asc_emu_describe(void) {
    using namespace asc_emu;
    texts().text = "{\"abi\": " + std::to_string(ASC_EMU_ABI_VERSION) + ", \"isa\": " +
              json_quote(numerics::isa_name()) + ", \"instructions\": [";
    bool first = true;
    for (const OpInfo& info : g_op_table) {
        if (!info.name) continue;
        texts().text += (first ? "" : ", ") + json_quote(info.name);
        first = false;
    }
    texts().text += "]}";
    return texts().text.c_str();
}
