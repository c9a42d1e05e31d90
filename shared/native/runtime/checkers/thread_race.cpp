// Races between SIMT threads.
#include "checkers/thread_race.hpp"

#include "core.hpp"
#include "thread_object.hpp"

namespace asc_emu {

void ThreadShadow::add(Cell& cell, const ThreadAccess& access, const void*& found) {
    const Side& other = access.write ? cell.load : cell.store;
    if (other.epoch == access.epoch && other.warp != access.warp && !(other.atomic && access.atomic))
        found = other.site;
    (access.write ? cell.store : cell.load) = {access.epoch, access.site, access.warp, access.atomic};
}

const void* ThreadShadow::add(uint32_t offset, uint32_t bytes, const ThreadAccess& access) {
    if (cells_.empty()) cells_.resize(kSpaceBytes[static_cast<size_t>(Space::ub)]);
    const void* found = nullptr;
    for (uint32_t i = offset; i < offset + bytes && i < cells_.size(); ++i) add(cells_[i], access, found);
    return found;
}

const void* ThreadShadow::add_global(uint64_t address, uint64_t bytes, const ThreadAccess& access) {
    const void* found = nullptr;
    for (uint64_t at = address; at < address + bytes;) {
        const uint64_t number = at / kPageBytes;
        // NOTE: with all pages in use what they say is forgotten: a race may be missed, none is invented.
        if (pages_.size() >= kMaxPages && !pages_.contains(number)) pages_.clear();
        auto& cells = pages_[number];
        if (cells.empty()) cells.resize(kPageBytes);
        for (; at < address + bytes && at / kPageBytes == number; ++at) add(cells[at % kPageBytes], access, found);
    }
    return found;
}

ThreadShadow& thread_shadow() { return thread_object<ThreadShadow, ThreadShadow>(); }

}  // namespace asc_emu
