#include "timing/ub_banks.hpp"

#include <algorithm>

namespace asc_emu::timing {

uint32_t cycles_of_blocks(uint32_t offset, uint32_t stride, uint32_t active, bool write) {
    const uint32_t places = write ? kNumBankGroups : kNumBanks;
    uint32_t busy[kNumBanks] = {}, most = 0;
    for (uint32_t k = 0; active >> k; ++k) {
        if (!(active >> k & 1)) continue;
        const uint32_t place = (offset / kBankBytes + k * stride) % places;
        most = std::max(most, ++busy[place]);
        if (stride == 0) break;
    }
    return most;
}

void WordConflicts::add(uint32_t offset, uint32_t bytes) {
    for (uint32_t word = offset / kWordBytes; word <= (offset + bytes - 1) / kWordBytes; ++word) {
        const uint32_t w = word % kNumWords;
        if (seen_[w]) continue;
        seen_[w] = true;
        words_.push_back(static_cast<uint16_t>(w));
        most_ = std::max(most_, ++busy_[w % kNumUnits]);
    }
}

uint32_t WordConflicts::take_cycles() {
    const uint32_t cycles = most_;
    for (const uint16_t w : words_) {
        seen_[w] = false;
        busy_[w % kNumUnits] = 0;
    }
    words_.clear();
    most_ = 0;
    return cycles;
}

}  // namespace asc_emu::timing
