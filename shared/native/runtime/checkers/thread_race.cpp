// Races between SIMT threads.
#include "checkers/thread_race.hpp"

#include "core.hpp"
#include "thread_object.hpp"

namespace asc_emu {

const void* ThreadShadow::add(uint32_t offset, uint32_t bytes, const ThreadAccess& access) {
    if (cells_.empty()) cells_.resize(kSpaceBytes[static_cast<size_t>(Space::ub)]);
    const void* found = nullptr;
    for (uint32_t i = offset; i < offset + bytes && i < cells_.size(); ++i) {
        const Side& other = access.write ? cells_[i].load : cells_[i].store;
        if (other.epoch == access.epoch && other.warp != access.warp && !(other.atomic && access.atomic))
            found = other.site;
        (access.write ? cells_[i].store : cells_[i].load) = {access.epoch, access.site, access.warp, access.atomic};
    }
    return found;
}

ThreadShadow& thread_shadow() { return thread_object<ThreadShadow, ThreadShadow>(); }

}  // namespace asc_emu
