// Vector functions of a launch with data=skip (emulator.md section 5): nothing was copied, so they are run for the
// sake of their schedule only, once for all calls with the same arguments.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "core.hpp"

namespace asc_emu {
struct VectorFunction;
}

namespace asc_emu::timing {

// What a vector function asked of its pipe.
struct VectorWork {
    uint32_t loads = 0, stores = 0;   // in vectors
    uint32_t cycles = 0;              // of its schedule
    bool operator==(const VectorWork&) const = default;
};

// While one exists on a worker, the loads and stores of vector functions are counted here and told to nobody.
class WorkCount {
public:
    WorkCount();
    ~WorkCount();
    WorkCount(const WorkCount&) = delete;
    void add(uint32_t bytes, bool write);
    VectorWork work;
};
// Of this worker, or null.
WorkCount* counting_work();

// The functions of one launch.
class SkippedFunctions {
public:
    // Work of a call; `run` runs it once, in UB. It is run on two contents of UB, which is put back.
    // Ends the kernel when the two differ: its work depends on data.
    template <class Run>
    VectorWork find(Core& core, const VectorFunction& function, Run&& run) {
        const std::string key = key_of(core, function);
        {
            std::lock_guard lock(mutex_);
            if (const auto known = works_.find(key); known != works_.end()) return known->second;
        }
        const Contents contents(core);
        VectorWork works[2];
        for (int i = 0; i < 2; ++i) {
            contents.fill(i);
            const WorkCount count;
            run();
            works[i] = count.work;
            works[i].cycles = schedule_cycles();
        }
        contents.put_back();
        if (works[0] != works[1]) refuse(core);
        std::lock_guard lock(mutex_);
        return works_.emplace(key, works[0]).first->second;
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
    static uint32_t schedule_cycles();
    [[noreturn]] static void refuse(const Core& core);

    std::mutex mutex_;
    std::map<std::string, VectorWork> works_;
};

}  // namespace asc_emu::timing
