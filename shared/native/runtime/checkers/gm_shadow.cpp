// Pages of the shadow, kept from launch to launch.
#include "checkers/gm_shadow.hpp"

#include <vector>

namespace asc_emu {
namespace {

constexpr size_t kMaxKept = 4096;   // 50 MiB of shadow, for 64 MiB of GM

std::mutex g_mutex;
std::vector<std::unique_ptr<GmShadow::Page>>& kept() {
    static auto* const pages = new std::vector<std::unique_ptr<GmShadow::Page>>;
    return *pages;
}

}  // namespace

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
