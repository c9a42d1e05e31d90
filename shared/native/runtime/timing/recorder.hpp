// Turns the instructions of a launch into a trace (emulator.md section 5). It listens at issue, in program
// order, so that schedule, data and faults of the emulator have no influence on modelled time.
#pragma once

#include <memory>
#include <vector>

#include "observer.hpp"
#include "timing/trace.hpp"

namespace asc_emu::timing {

class Recorder : public Observer {
public:
    Recorder();
    ~Recorder() override;
    void on_launch(const Launch& launch) override;
    void on_block(Block& block) override;
    void on_issue(const Core& core, const Command& c, const OpInfo& info, const AccessList& list) override;
    void on_execute(const Core& core, const Command& c, const OpInfo& info) override;
    void on_vector_access(const Core& core, uint32_t offset, uint32_t bytes, bool write,
                          const void* site) override;
    void on_vector_time(const Core& core, const VectorTime& time) override;
    void on_vector_work(const Core& core, const VectorTime& time) override;
    void on_block_end(Block& block) override;

    // The trace of the launch that ended; blocks that did not end are left out.
    LaunchTrace take();

private:
    struct CoreState;
    CoreState& state(const Core& core) const { return *states_[index(core)]; }
    static size_t index(const Core& core);
    void find_pointers(const Launch& launch);
    // Where the device would have put a tensor's byte: its allocations start at lines of L2.
    uint64_t device_address(uint64_t address) const;

    LaunchTrace trace_;
    uintptr_t object_base_ = 0;
    std::vector<uint64_t> pointers_;                   // in the arguments, sorted
    std::vector<std::unique_ptr<CoreState>> states_;   // by block, then slot
    std::vector<CoreTrace> ended_;                     // the same order; empty records = not there
};

}  // namespace asc_emu::timing
