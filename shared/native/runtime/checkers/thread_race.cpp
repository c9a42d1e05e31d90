// Races between SIMT threads.
#include "checkers/thread_race.hpp"

#include <algorithm>

#include "core.hpp"
#include "thread_object.hpp"

namespace asc_emu {

// NOTE: a cell keeps the last warp on each side. With two warps in one cell a race may be missed, none is invented.
void ThreadShadow::add(Cell& cell, uint8_t bytes, const ThreadAccess& access, const void*& found) {
    const Side& other = access.write ? cell.load : cell.store;
    if (other.epoch == access.epoch && other.warp != access.warp && (other.bytes & bytes) &&
        !(other.atomic && access.atomic))
        found = other.site;
    Side& own = access.write ? cell.store : cell.load;
    const bool again = own.epoch == access.epoch && own.warp == access.warp && own.atomic == access.atomic;
    const auto all = static_cast<uint8_t>(again ? own.bytes | bytes : bytes);
    own = {access.epoch, access.site, static_cast<uint16_t>(access.warp), all, access.atomic};
}

void ThreadShadow::add(Cell* cells, uint64_t low, uint64_t high, const ThreadAccess& access, const void*& found) {
    while (low < high) {
        const uint64_t index = low / kCellBytes, end = std::min(high, (index + 1) * kCellBytes);
        const uint64_t first = low % kCellBytes, count = end - low;
        add(cells[index], static_cast<uint8_t>(((1u << count) - 1) << first), access, found);
        low = end;
    }
}

const void* ThreadShadow::add(uint32_t offset, uint32_t bytes, const ThreadAccess& access) {
    constexpr uint64_t kUb = kSpaceBytes[static_cast<size_t>(Space::ub)];
    if (ub_.empty()) ub_.resize(kUb / kCellBytes);
    const void* found = nullptr;
    add(ub_.data(), offset, std::min<uint64_t>(uint64_t{offset} + bytes, kUb), access, found);
    return found;
}

ThreadShadow::Page& ThreadShadow::page(uint64_t number) {
    Slot& known = known_[number % std::size(known_)];
    if (known.number == number) return *known.page;
    // NOTE: with all pages in use what they say is forgotten: a race may be missed, none is invented.
    if (pages_.size() >= kMaxPages && !pages_.contains(number)) {
        pages_.clear();
        std::fill(std::begin(known_), std::end(known_), Slot{});
    }
    Page& page = pages_[number];
    if (page.empty()) page.resize(kPageBytes / kCellBytes);
    known = {number, &page};
    return page;
}

const void* ThreadShadow::add_global(uint64_t address, uint64_t bytes, const ThreadAccess& access) {
    const void* found = nullptr;
    for (uint64_t at = address; at < address + bytes;) {
        const uint64_t number = at / kPageBytes, end = std::min(address + bytes, (number + 1) * kPageBytes);
        add(page(number).data(), at - number * kPageBytes, end - number * kPageBytes, access, found);
        at = end;
    }
    return found;
}

ThreadShadow& thread_shadow() { return thread_object<ThreadShadow, ThreadShadow>(); }

}  // namespace asc_emu
