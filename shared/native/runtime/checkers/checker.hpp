// The four checkers as one observer of a launch (emulator.md section 4).
#pragma once

#include <memory>

#include "checkers/gm_ranges.hpp"
#include "checkers/initcheck.hpp"
#include "checkers/leftovers.hpp"
#include "checkers/race.hpp"
#include "checkers/store_order.hpp"
#include "observer.hpp"

namespace asc_emu {

// What the checkers know of one block.
struct BlockState {
    Block* block = nullptr;
    SyncState sync;
    Shadow shadow;
    LockSites locks;
    const void* atomic_site[3] = {};   // last store of each core in an atomic mode
    uint64_t polled[3] = {};           // GM address of each scalar unit's last volatile load
    GmShadow::Cache gm_cache;
    std::unique_ptr<InitCheck> init;
    void reset(Block& b, bool with_init);
};

class Checker : public Observer {
public:
    Checker(Launch& launch, uint32_t checks);
    ~Checker() override;

    void on_block(Block& block) override;
    bool permits(const Core&, const Command&, const OpInfo&, const AccessList&) override;
    void on_issue(const Core&, const Command&, const OpInfo&, const AccessList&) override;
    void on_execute(const Core&, const Command&, const OpInfo&) override;
    void on_vector_access(const Core&, uint32_t offset, uint32_t bytes, bool write, const void* site) override;
    void on_function_access(const Core&, const OrderedAccess& access) override;
    void on_function_end(const Core&) override;
    void on_scalar_access(const Core&, ScalarAccess, uint64_t address, uint32_t bytes, const void* site) override;
    void on_plain_access(const Core&, uint64_t address, uint64_t bytes, bool write, bool polling,
                         const void* site) override;
    void on_thread_access(const Core&, uint32_t offset, uint32_t bytes, const ThreadAccess& access) override;
    void on_thread_memory(const Core&, uint64_t address, uint64_t bytes, const ThreadAccess& access) override;
    void on_misaligned(const Core&, uint64_t address, uint64_t bytes, const ThreadAccess& access) override;
    void on_divergent_barrier(const Core&, const void* first, const void* second, uint32_t waiting,
                              uint32_t total) override;
    void on_wait_in_vain(const Core&, const char* what, const void* site) override;
    void on_stray_shuffle(const Core&, const void* site, uint32_t lanes, uint32_t active) override;
    void on_wrong_core(const Core&, const OpInfo&, const void* site) override;
    void on_block_end(Block& block) override;
    void on_deadlock(const std::vector<Block*>& blocks) override;

private:
    bool has(uint32_t check) const { return checks_ & check; }
    bool check_gm(const Core& core, Pipe pipe, uint16_t op, const char* name, const void* site, bool write,
                  uint64_t low, uint64_t high);
    void out_of_bounds(const Core& core, Pipe pipe, uint16_t op, const char* name, const void* site, bool write,
                       uint64_t low, uint64_t high, const GmRange* range);
    void report_ub_bounds(const Core& core, int64_t offset, uint64_t bytes, const ThreadAccess& access);
    void report_thread_race(const Core& core, const char* memory, uint64_t address, uint64_t bytes,
                            const ThreadAccess& access, const void* other);
    void report_order(const Core& core, const UnorderedStore& old, const OrderedAccess& access);
    // What accesses that poll or change one address tell one another.
    void hand_over(BlockState& s, const Core& core, Pipe pipe, Agent& agent, ScalarAccess kind, uint64_t address);
    // Volatile loads are told before they are made: what a store meanwhile told is taken over with what comes next.
    void settle_polled(BlockState& s, const Core& core);
    // The data cache of a core writes back a line, or all.
    void write_back(const Core& core, ScalarAccess kind, uint64_t address, const void* site);
    void run_data(BlockState& s, const Core& core, const Command& c, const OpInfo& info, Agent& agent);
    void check_races(BlockState& s, const Core& core, const Command& c, const AccessList& list, Agent& agent);
    void run_sync(BlockState& s, const Core& core, const Command& c, Agent& agent);
    void set_flag(BlockState& s, const Core& core, const Command& c, Agent& agent);
    void arrive(BlockState& s, const Core& core, const Command& c);
    void arrive_all(const Core& core, uint32_t id, const Signal& signal);
    void wait_counter(BlockState& s, const Core& core, const Command& c);

    Launch& launch_;
    const uint32_t checks_;
    GmRanges ranges_;
    RaceCheck race_;
    std::mutex mutex_;                        // what blocks share: the rest
    std::vector<BlockState*> live_;
    struct Round {                            // mode 0: arrivals of one type of core
        WorldPtr known;
        uint32_t count = 0;
    };
    Round rounds_[2][16];
    std::unordered_map<uint64_t, WorldPtr> released_;   // by GM address of scalar stores and updates
};

inline BlockState& state_of(const Core& core) { return *static_cast<BlockState*>(core.block->checker); }

}  // namespace asc_emu
