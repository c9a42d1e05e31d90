// One kernel launch: what its workers share (emulator.md section 2).
#pragma once

#include <time.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "asc_emu/core_api.h"
#include "checkers/report.hpp"
#include "core.hpp"
#include "options.hpp"
#include "timing/skipped_functions.hpp"

namespace asc_emu {

class Launch;

// A kernel ended by an error; `report` is the JSON object of asc_emu_last_error().
struct KernelError {
    std::string report;
};
std::string make_report(const char* kind, const std::string& message, const Core* core,
                        const char* instruction = nullptr, const void* site = nullptr);
std::string json_quote(const std::string& text);
std::string json_number(double value);
std::string timeout_report(const Launch& launch);

class Launch {
public:
    Launch(const asc_emu_launch_desc& desc, const Options& options, uint32_t num_workers);

    const asc_emu_launch_desc& desc;
    const Options options;
    timing::SkippedFunctions skipped_functions;
    const uint32_t num_workers;
    const uint64_t number = ++num_launches;   // in the process, from 1

    // Index of a block nobody runs yet, or -1: none is left, or as many are resident as there are cores. Those that
    // share operands with `last`, the worker's last one or -1, come first if all blocks find a core at once; the
    // lowest one otherwise, as on a device.
    int64_t claim_block(int64_t last);
    bool blocks_left() const { return num_claimed_.load() < desc.num_blocks; }
    void add_resident(Block* block);
    void remove_resident(Block* block);

    void abort_with(const std::string& report);
    bool aborted() const { return aborted_.load(std::memory_order_relaxed); }
    const std::string& report() const { return report_; }

    // Mode 0 of the cross-core synchronisation: all cores of one type.
    void arrive_all(const Core& core, uint32_t id);

    // A worker found nothing to do. Returns when others made progress or the launch ended; detects the
    // deadlock of all workers and then aborts with `describe()`.
    template <class Describe>
    void wait_idle(uint64_t seen_epoch, const Describe& describe);
    uint64_t epoch() const { return epoch_.load(); }
    void worker_left();
    // True when nobody writes [low, high) of GM before the launch ends: it lies in memory that the launch was given
    // as read-only and that no writable memory overlaps. The checkers look for kernels that do so nevertheless, so
    // with them no memory counts as constant.
    bool constant(uint64_t low, uint64_t high) const;

    // For the describe functions, which run under the lock.
    std::string blocked_cores() const;
    const std::vector<Block*>& resident() const { return resident_; }
    bool all_stalled() {
        std::lock_guard lock(mutex_);
        return idle_ + static_cast<uint32_t>(num_spinning.load()) >= num_workers;
    }
    template <class Describe>
    void abort_stalled(const Describe& describe) {
        std::lock_guard lock(mutex_);
        if (!aborted_) report_ = describe();
        aborted_ = true;
        changed_.notify_all();
    }

    std::atomic<bool> timed_out{false};     // set by the timer; workers turn it into an error
    std::mutex gm_atomics;
    Reporter reporter;                      // what the checkers found
    std::atomic<int> num_spinning{0};       // workers whose cores only poll memory
    std::atomic<uint64_t> clock_reads{0};   // a core that polls the clock is not stuck

private:
    inline static std::atomic<uint64_t> num_launches{0};
    // Under the lock: something happened that cores of other workers may wait for.
    void bump_epoch() {
        ++epoch_;
        idle_ = left_;
        changed_.notify_all();
    }

    struct Range {
        uint64_t low, high;
    };
    std::vector<Range> constant_;
    uint32_t next_block_ = 0;                // none below it is left
    std::vector<bool> claimed_;              // empty when blocks are claimed in order
    std::atomic<uint32_t> num_claimed_{0};
    std::atomic<uint32_t> num_resident_{0};
    std::atomic<bool> aborted_{false};
    std::atomic<uint64_t> epoch_{0};
    std::mutex mutex_;
    std::condition_variable changed_;
    uint32_t left_ = 0;         // workers that have ended
    uint32_t idle_ = 0;         // workers that found nothing to do since the last change of the epoch, and left_
    std::string report_;
    std::vector<Block*> resident_;
    int arrivals_[2][16] = {};
};

template <class Describe>
void Launch::wait_idle(uint64_t seen_epoch, const Describe& describe) {
    std::unique_lock lock(mutex_);
    if (aborted_ || epoch_ != seen_epoch) return;
    if (++idle_ == num_workers) {
        report_ = describe();
        aborted_ = true;
        changed_.notify_all();
    } else {
        changed_.wait(lock, [&] { return aborted_.load() || epoch_ != seen_epoch; });
    }
}

// Runs blocks of `launch` on this thread until none is left or the launch is aborted.
void run_worker(Launch& launch);

// What a suspended core waits for, for deadlock reports.
std::string describe_wait(const Core& core);

// Executes what it may of a core's queues; returns the number of executed instructions.
uint32_t pump(Core& core);

// Fault handling (fault.cpp): converts signals raised inside kernels into launch errors.
class FaultScope {
public:
    explicit FaultScope(Launch& launch);
    ~FaultScope();
    FaultScope(const FaultScope&) = delete;
};
// The launch timeout of one worker thread; 0 seconds = none.
class WorkerTimeout {
public:
    explicit WorkerTimeout(uint32_t seconds);
    ~WorkerTimeout();
    WorkerTimeout(const WorkerTimeout&) = delete;

private:
    bool armed_;
    timer_t timer_{};
};
void prepare_fault_stack();
// pump() that survives faults of the vector functions it runs; the launch is aborted then.
uint32_t pump_guarded(Core& core);

}  // namespace asc_emu
