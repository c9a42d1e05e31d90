// Clocks across blocks.
#include "checkers/clock.hpp"

#include <algorithm>

namespace asc_emu {
namespace {

void raise(Times& times, const Times& other) {
    for (size_t i = 0; i < kClockLanes; ++i) times[i] = std::max(times[i], other[i]);
}

bool covers(const Times& a, const Times& b) {
    for (size_t i = 0; i < kClockLanes; ++i)
        if (a[i] < b[i]) return false;
    return true;
}

bool covers(const World& a, const World& b) {
    for (const auto& [block, times] : b.blocks) {
        const Times* own = a.find(block);
        if (!own || !covers(*own, times)) return false;
    }
    return true;
}

}  // namespace

const Times* World::find(uint32_t block) const {
    const auto at = std::lower_bound(blocks.begin(), blocks.end(), block,
                                     [](const auto& entry, uint32_t b) { return entry.first < b; });
    return at != blocks.end() && at->first == block ? &at->second : nullptr;
}

WorldPtr merge(const WorldPtr& a, const WorldPtr& b) {
    if (!a || a == b) return b;
    if (!b) return a;
    // NOTE: equal knowledge keeps one object, so that later joins see it by the pointer.
    if (covers(*b, *a)) return b;
    if (covers(*a, *b)) return a;
    auto out = std::make_shared<World>(*a);
    for (const auto& [block, times] : b->blocks) {
        const auto at = std::lower_bound(out->blocks.begin(), out->blocks.end(), block,
                                         [](const auto& entry, uint32_t x) { return entry.first < x; });
        if (at != out->blocks.end() && at->first == block) raise(at->second, times);
        else out->blocks.insert(at, {block, times});
    }
    return out;
}

void Clock::join_world(const WorldPtr& other) { world = merge(world, other); }

WorldPtr to_world(const Clock& clock, uint32_t block) {
    auto own = std::make_shared<World>();
    own->blocks.push_back({block, clock.time});
    return merge(clock.world, own);
}

void join_from_world(Clock& clock, const WorldPtr& world, uint32_t block) {
    if (!world) return;
    if (const Times* own = world->find(block)) raise(clock.time, *own);
    clock.join_world(world);
}

}  // namespace asc_emu
