// Vector functions of a launch with data=skip (emulator.md section 5): nothing was copied, so they are run for the
// sake of their schedule only, once for all calls with the same arguments.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "core.hpp"
#include "timing/vector_schedule.hpp"

namespace asc_emu {
struct VectorFunction;
}

namespace asc_emu::timing {

// While one exists on a worker, the loads and stores of vector functions are counted here and told to nobody.
class WorkCount {
public:
    WorkCount();
    ~WorkCount();
    WorkCount(const WorkCount&) = delete;
    void add(uint32_t bytes, bool write);
    uint32_t loads = 0, stores = 0;   // in vectors
};
// Of this worker, or null.
WorkCount* counting_work();

// The functions of one launch.
class SkippedFunctions {
public:
    // Time of a call; `run` runs it once, in UB. It is run on two contents of UB, which is put back.
    // Ends the kernel when the two differ: its work depends on data.
    template <class Run>
    VectorTime find(Core& core, const VectorFunction& function, Run&& run) {
        const std::string key = key_of(core, function);
        {
            std::lock_guard lock(mutex_);
            if (const auto known = times_.find(key); known != times_.end()) return known->second;
        }
        const Contents contents(core);
        VectorTime times[2];
        for (int i = 0; i < 2; ++i) {
            contents.fill(i);
            const WorkCount count;
            run();
            times[i] = time_of(count);
        }
        contents.put_back();
        if (times[0] != times[1]) refuse(core);
        std::lock_guard lock(mutex_);
        return times_.emplace(key, times[0]).first->second;
    }

private:
    // UB of a core, and a copy.
    class Contents {
    public:
        explicit Contents(Core& core);
        void fill(int content) const;
        void put_back() const;

    private:
        std::byte* ub_;
    };
    // The function and its arguments, addresses in UB as offsets.
    static std::string key_of(Core& core, const VectorFunction& function);
    // Of the function that has just run.
    static VectorTime time_of(const WorkCount& count);
    [[noreturn]] static void refuse(const Core& core);

    std::mutex mutex_;
    std::map<std::string, VectorTime> times_;
};

}  // namespace asc_emu::timing
