// Vector clocks of the race checker (emulator.md section 4). An agent is one pipe of one core; the scalar
// unit counts as a pipe. A clock says, for every agent, up to which of its instructions all are complete.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core.hpp"

namespace asc_emu {

constexpr size_t kNumAgents = 3 * kNumPipes;   // of one block
constexpr size_t kClockLanes = 24;             // padded for vector instructions
using Times = std::array<uint32_t, kClockLanes>;

constexpr uint8_t agent_of(CoreSlot slot, Pipe pipe) {
    return static_cast<uint8_t>(static_cast<size_t>(slot) * kNumPipes + static_cast<size_t>(pipe));
}
// What a core's scalar unit has stored into its data cache: an agent of its own, whose time in a clock says up to
// which instruction of the scalar unit the stores have been written back.
constexpr uint8_t cache_of(CoreSlot slot) { return static_cast<uint8_t>(kNumAgents + static_cast<size_t>(slot)); }
constexpr bool is_cache(uint8_t agent) { return agent >= kNumAgents; }
static_assert(kNumAgents + 3 <= kClockLanes);
constexpr CoreSlot slot_of(uint8_t agent) {
    return static_cast<CoreSlot>(is_cache(agent) ? agent - kNumAgents : agent / kNumPipes);
}
constexpr Pipe pipe_of(uint8_t agent) { return is_cache(agent) ? Pipe::S : static_cast<Pipe>(agent % kNumPipes); }

// What is known of other blocks; shared by the clocks that know the same, never changed.
struct World {
    std::vector<std::pair<uint32_t, Times>> blocks;   // ascending
    const Times* find(uint32_t block) const;
};
using WorldPtr = std::shared_ptr<const World>;

struct Clock {
    Times time{};
    WorldPtr world;

    void join(const Clock& other) {
        for (size_t i = 0; i < kClockLanes; ++i)
            time[i] = time[i] < other.time[i] ? other.time[i] : time[i];
        if (other.world && other.world != world) join_world(other.world);
    }
    void join_world(const WorldPtr& other);
};

// A clock as other blocks see it, and back in block `block`.
WorldPtr to_world(const Clock& clock, uint32_t block);
void join_from_world(Clock& clock, const WorldPtr& world, uint32_t block);
WorldPtr merge(const WorldPtr& a, const WorldPtr& b);

}  // namespace asc_emu
