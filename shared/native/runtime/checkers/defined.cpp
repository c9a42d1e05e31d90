// The shadow of contents.
#include "checkers/defined.hpp"

#include <algorithm>
#include <cstring>

namespace asc_emu {
namespace {

bool all_zero(const uint8_t* p, size_t bytes) {
    uint64_t any = 0;
    for (; bytes >= 8; bytes -= 8, p += 8) {
        uint64_t word;
        std::memcpy(&word, p, 8);
        any |= word;
    }
    for (; bytes; --bytes, ++p) any |= *p;
    return any == 0;
}

}  // namespace

DefinedMemory::DefinedMemory() {
    size_t total = 0;
    for (size_t r = 0; r < kNumRegions; ++r) {
        first_[r] = total;
        const uint64_t bytes = kSpaceBytes[static_cast<size_t>(space_of(static_cast<Region>(r)))];
        total += (bytes + 1023) / 1024 * 1024;
    }
    // NOTE: movers may look a little past a memory's end, where the real ones have a page.
    bytes_.resize(total + 4096, kUnwritten);
    origins_.resize(total / kGranule);
    for (size_t c = 0; c < 3; ++c) {
        Core& core = cores_.cores[c];
        core.slot = static_cast<CoreSlot>(c);
        core.block = &cores_;
        for (size_t r = 0; r < kNumRegions; ++r) {
            const auto region = static_cast<Region>(r);
            if ((region == Region::ub0 && c == 2) || (region == Region::ub1 && c != 2)) continue;
            core.base[static_cast<size_t>(space_of(region))] = reinterpret_cast<std::byte*>(at(region, 0));
        }
    }
}

void DefinedMemory::reset(const Block& block) {
    cores_.num_aic = block.num_aic;
    cores_.num_aiv = block.num_aiv;
    cores_.launch = block.launch;
    zero_ = (zero_ & stale_) | whole_;
    for (size_t r = 0; r < kNumRegions; ++r) {
        if (used_[r] == 0) continue;
        const size_t first = first_[r] / kGranule;
        const size_t end = std::min((first_[r] + used_[r] + kSlack) / kGranule + 1, stale_.size());
        for (size_t g = first; g < end; ++g) stale_[g] = true;
        used_[r] = 0;
    }
    std::fill(origins_.begin(), origins_.end(), nullptr);
    whole_.reset();
}

void DefinedMemory::renew(size_t g) {
    if (!stale_[g]) return;
    std::memset(bytes_.data() + g * kGranule, kUnwritten, kGranule);
    stale_[g] = false;
}

void DefinedMemory::prepare(Region region, uint64_t low, uint64_t high) {
    const size_t end = std::min(granule(region, high + kGranule - 1), stale_.size());
    for (size_t g = granule(region, low); g < end; ++g) renew(g);
}

bool DefinedMemory::defined(Region region, uint64_t low, uint64_t high) {
    for (uint64_t at = low; at < high;) {
        const uint64_t end = std::min<uint64_t>(high, (at / kGranule + 1) * kGranule);
        const size_t g = granule(region, at);
        if (!whole_[g]) {
            renew(g);
            if (!all_zero(this->at(region, at), end - at)) {
                prepare(region, end, high);
                return false;
            }
        }
        at = end;
    }
    return true;
}

void DefinedMemory::define(Region region, uint64_t low, uint64_t high) {
    touch(region, high);
    for (uint64_t at = low; at < high;) {
        const uint64_t start = at / kGranule * kGranule, end = std::min<uint64_t>(high, start + kGranule);
        const size_t g = granule(region, at);
        if (!whole_[g]) {
            const bool all = end - at == kGranule;
            if (!all) renew(g);
            // A granule that the block before has left defined keeps its bytes.
            if (!(all && stale_[g] && zero_[g])) std::memset(this->at(region, at), kDefined, end - at);
            stale_[g] = false;
            whole_[g] = all || all_zero(this->at(region, start), kGranule);
        }
        at = end;
    }
}

void DefinedMemory::mark(Region region, uint64_t low, uint64_t high, uint8_t value) {
    if (low >= high) return;
    touch(region, high);
    prepare(region, low, high);
    std::memset(at(region, low), value, high - low);
    for (uint64_t at = low; at < high; at = (at / kGranule + 1) * kGranule) whole_[granule(region, at)] = false;
}

void DefinedMemory::refresh(Region region, uint64_t low, uint64_t high) {
    touch(region, high);
    for (uint64_t at = low; at < high; at = (at / kGranule + 1) * kGranule) {
        const uint64_t start = at / kGranule * kGranule;
        whole_[granule(region, at)] = all_zero(this->at(region, start), kGranule);
    }
}

}  // namespace asc_emu
