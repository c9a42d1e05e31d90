// Pages of the shadow, kept from launch to launch.
#include "checkers/gm_shadow.hpp"

#include <cstring>
#include <vector>

namespace asc_emu {
namespace {

constexpr size_t kMaxKept = 4096;   // 64 MiB of shadow for the writes, 48 for the reads, for 64 MiB of GM

std::mutex g_mutex;
std::vector<std::unique_ptr<GmShadow::Page>>& kept() {
    static auto* const pages = new std::vector<std::unique_ptr<GmShadow::Page>>;
    return *pages;
}

}  // namespace

void GmShadow::Page::reset() {
    std::memset(static_cast<void*>(writes), 0, sizeof(writes));
    reads_.store(nullptr, std::memory_order_relaxed);
}

GmCells* GmShadow::Page::make_reads() {
    std::lock_guard lock(mutex_);
    if (GmCells* const made = reads_.load(std::memory_order_relaxed)) return made;
    if (memory_) std::memset(static_cast<void*>(memory_.get()), 0, kGranules * sizeof(GmCells));
    else memory_ = std::make_unique<GmCells[]>(kGranules);
    reads_.store(memory_.get(), std::memory_order_release);
    return memory_.get();
}

GmShadow::~GmShadow() {
    std::lock_guard lock(g_mutex);
    for (auto& [number, page] : pages_)
        if (kept().size() < kMaxKept) kept().push_back(std::move(page));
}

GmShadow::Page* GmShadow::page(uint64_t number) {
    std::lock_guard lock(mutex_);
    auto& slot = pages_[number];
    if (slot) return slot.get();
    {
        std::lock_guard pool(g_mutex);
        if (!kept().empty()) {
            slot = std::move(kept().back());
            kept().pop_back();
        }
    }
    if (slot) slot->reset();
    else slot = std::make_unique<Page>();
    return slot.get();
}

}  // namespace asc_emu
