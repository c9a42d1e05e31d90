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
    for (size_t r = 0; r < kNumRegions; ++r) {
        // NOTE: movers may touch a little more than they list
        const size_t used = std::min(used_[r] + 4096, bytes_.size() - first_[r]);
        if (used_[r]) std::memset(bytes_.data() + first_[r], kUnwritten, used);
        used_[r] = 0;
    }
    std::fill(origins_.begin(), origins_.end(), nullptr);
    whole_.reset();
}

bool DefinedMemory::defined(Region region, uint64_t low, uint64_t high) {
    for (uint64_t at = low; at < high;) {
        const uint64_t end = std::min<uint64_t>(high, (at / kGranule + 1) * kGranule);
        if (!whole_[granule(region, at)] && !all_zero(this->at(region, at), end - at)) return false;
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
            std::memset(this->at(region, at), kDefined, end - at);
            whole_[g] = end - at == kGranule || all_zero(this->at(region, start), kGranule);
        }
        at = end;
    }
}

void DefinedMemory::mark(Region region, uint64_t low, uint64_t high, uint8_t value) {
    if (low >= high) return;
    touch(region, high);
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
