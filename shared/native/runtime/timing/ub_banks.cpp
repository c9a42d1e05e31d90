#include "timing/ub_banks.hpp"

#include <algorithm>
#include <iterator>

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

uint32_t WordConflicts::take_cycles() {
    const uint32_t cycles = most_;
    for (const uint16_t w : words_) seen_[w] = false;
    std::fill(std::begin(busy_), std::end(busy_), 0);
    words_.clear();
    most_ = 0;
    return cycles;
}

}  // namespace asc_emu::timing
