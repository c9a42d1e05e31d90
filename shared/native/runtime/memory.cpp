// Mapping and reset of a block's memories.
#include "memory.hpp"

#include <sys/mman.h>

#include <cstring>
#include <new>

#include "launch.hpp"

namespace asc_emu {
namespace {

constexpr uint64_t kMiB = 1u << 20;

struct OnChip {
    Space space;
    CoreSlot owner;
};
// Mapped regions of a block, in address order. SSB and L1 belong to all cores of the block.
constexpr OnChip kOnChip[] = {
    {Space::l1, CoreSlot::aic},     {Space::l0a, CoreSlot::aic},    {Space::l0b, CoreSlot::aic},
    {Space::l0a_mx, CoreSlot::aic}, {Space::l0b_mx, CoreSlot::aic}, {Space::l0c, CoreSlot::aic},
    {Space::bt, CoreSlot::aic},     {Space::fb, CoreSlot::aic},     {Space::ub, CoreSlot::aiv0},
    {Space::ub, CoreSlot::aiv1},    {Space::ssb, CoreSlot::aic},
};
constexpr size_t kNumOnChip = sizeof(kOnChip) / sizeof(kOnChip[0]);

uint64_t page_up(uint64_t bytes) { return (bytes + 4095) / 4096 * 4096; }

}  // namespace

const char* space_name(Space space) {
    static const char* const names[] = {"GM",  "L1", "L0A", "L0B", "L0A_MX", "L0B_MX",
                                        "L0C", "BT", "FB",  "UB",  "SSBuffer"};
    return names[static_cast<size_t>(space)];
}

const char* pipe_name(Pipe pipe) {
    static const char* const names[] = {"S", "V", "M", "MTE1", "MTE2", "MTE3", "FIX", "ALL"};
    return names[static_cast<size_t>(pipe)];
}

void Core::reset() {
    regs = Registers{};
    for (auto& q : queue) q.clear();
    num_queued = 0;
    sequence = 0;
    last_fill_sequence = 0;
    std::memset(flags, 0, sizeof(flags));
    for (auto& c : counters) c.store(0, std::memory_order_relaxed);
    for (auto& m : mutexes) m.reset();
    unit_flags.reset();
    for (auto& versions : l0_versions) versions.fill(0);
    for (auto& a : arrays) a.clear();
    std::memset(array_top, 0, sizeof(array_top));
    fiber = nullptr;
    wait = nullptr;
    release_simt(*this);
}

bool Block::done() const {
    for (const Core& c : cores)
        if (c.fiber && (c.fiber->state != FiberState::done || c.num_queued)) return false;
    return true;
}

BlockSlot::BlockSlot() {
    map_bytes_ = (kNumOnChip + 1) * kMiB;
    void* map = mmap(nullptr, map_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED) throw std::bad_alloc();
    map_ = static_cast<std::byte*>(map);
    auto* base = reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(map_) + kMiB - 1) & ~(kMiB - 1));
    for (size_t i = 0; i < kNumOnChip; ++i) {
        const OnChip& r = kOnChip[i];
        std::byte* at = base + i * kMiB;
        const size_t s = static_cast<size_t>(r.space);
        if (mprotect(at, page_up(kSpaceBytes[s]), PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
        const bool shared = r.space == Space::l1 || r.space == Space::ssb;
        for (size_t c = 0; c < 3; ++c) {
            const bool own = static_cast<CoreSlot>(c) == r.owner;
            const bool aiv0_of_aic = r.space == Space::ub && r.owner == CoreSlot::aiv0 && c == 0;
            if (own || shared || aiv0_of_aic) block.cores[c].base[s] = at;
        }
    }
    for (size_t c = 0; c < 3; ++c) {
        block.cores[c].slot = static_cast<CoreSlot>(c);
        block.cores[c].block = &block;
    }
}

BlockSlot::~BlockSlot() {
    if (map_) munmap(map_, map_bytes_);
}

void BlockSlot::prepare(Launch& launch, uint32_t index) {
    block.index = index;
    block.num_aic = launch.desc.kernel->num_aic;
    block.num_aiv = launch.desc.kernel->num_aiv;
    block.launch = &launch;
    block.l0_views.count = 0;
    block.l1_views.count = 0;
    block.ahead.clear();
    std::memset(block.subblock_arrivals, 0, sizeof(block.subblock_arrivals));
    std::memset(block.block_arrivals, 0, sizeof(block.block_arrivals));
    for (Core& c : block.cores) c.reset();
    if (launch.options.uninitialized == Uninitialized::keep) return;
    const int fill = launch.options.uninitialized == Uninitialized::nan ? 0xff : 0;
    for (const OnChip& r : kOnChip) {
        const size_t s = static_cast<size_t>(r.space);
        std::memset(block.core(r.owner).base[s], fill, kSpaceBytes[s]);
    }
}

}  // namespace asc_emu
