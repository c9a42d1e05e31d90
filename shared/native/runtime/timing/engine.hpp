// Simulates the pipes of all cores of a launch from its trace (emulator.md section 5).
// Everything but global memory is a function of what it waits for, so it is computed as soon as that is known,
// in any order; only transfers go through the clock of the shared memory system.
#pragma once

#include <cstdint>
#include <memory>
#include <queue>
#include <vector>

#include "timing/core_model.hpp"
#include "timing/memory_system.hpp"
#include "timing/profile.hpp"

namespace asc_emu::timing {

enum class MemoryMode : uint8_t { lone, shared };   // timing = fast, replay

class Engine : public CoreHost {
public:
    // `spans`, when given, receives every instruction.
    Engine(const LaunchTrace& trace, const Constants& constants, MemoryMode mode, std::vector<Span>* spans);
    Profile run();

private:
    struct Block {
        std::vector<uint32_t> cores;      // indices of CoreModels
        uint32_t running = 0;
        double end = 0;
        double subblock[16][2] = {}, block[16][2] = {};        // stamps of arrivals, modes 1 and 2
        uint32_t num_subblock[16][2] = {}, num_block[16][2] = {};
    };
    struct Start {
        double time;
        uint32_t core;
        Pipe pipe;
        bool operator>(const Start& o) const {
            return time != o.time ? time > o.time : core != o.core ? core > o.core : pipe > o.pipe;
        }
    };

    double start_transfer(uint32_t core, Pipe pipe, double time) override;
    void intra_arrive(uint32_t core, uint32_t value, double time) override;
    void cross_arrive(uint32_t core, uint32_t value, double time) override;
    void core_ended(uint32_t core, double time) override;

    bool vector_kernel() const;
    uint32_t places() const;    // blocks that run at the same time
    void start_block(uint32_t block, double time);
    void raise(uint32_t core, uint32_t counter, double time);
    void raise_all(uint32_t first_block, uint32_t end_block, bool aic, uint32_t id, double time);
    void run_awake();
    void run_memory();

    const LaunchTrace& trace_;
    const Constants k_;
    const MemoryMode mode_;
    MemorySystem memory_;
    std::vector<Span>* spans_ = nullptr;
    std::vector<std::unique_ptr<CoreModel>> cores_;    // while their block runs
    std::vector<Block> blocks_;
    std::vector<uint32_t> awake_, retired_;
    size_t num_ended_ = 0;
    std::priority_queue<Start, std::vector<Start>, std::greater<>> starts_;
    double inter_[2][16] = {};                         // mode 0: latest arrival of this round, by core type
    uint32_t num_inter_[2][16] = {};
    uint32_t next_block_ = 0;
    uint32_t cores_by_type_[2] = {};
    Profile profile_;
};

}  // namespace asc_emu::timing
