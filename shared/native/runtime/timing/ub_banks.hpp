// Which parts of UB an access takes, and for how many cycles (ascend_c_vector.md sections 1.3 and 1.4).
#pragma once

#include <bitset>
#include <cstdint>
#include <vector>

namespace asc_emu::timing {

// Address map: byte [4:0], group [7:5], bank [8], row [17:9]. So the 16 banks are the places of 16 neighbouring
// blocks of 32 bytes, and bank b is in group b % 8. A bank serves one read or one write a cycle.
constexpr uint32_t kBankBytes = 32, kNumBanks = 16, kNumBankGroups = 8;

// Banks of up to 16 neighbouring blocks: bit i of `blocks` is the block i behind that of `offset`.
constexpr uint32_t banks_of(uint32_t offset, uint32_t blocks) {
    const uint32_t first = offset / kBankBytes % kNumBanks;
    return (blocks << first | blocks >> (kNumBanks - first)) & 0xffff;
}

// Cycles that blocks take which lie `stride` blocks apart; bit k of `active`: block k is touched. A bank gives one
// block a cycle, a group takes one a cycle. Several accesses of one block count once.
uint32_t cycles_of_blocks(uint32_t offset, uint32_t stride, uint32_t active, bool write);

// Cycles that elements by index take: those of half a gather or scatter, or of the lanes of a warp. A unit of 8 bytes of a group
// serves one word a cycle, whichever of the group's two banks holds it; elements of the same word share it.
class WordConflicts {
public:
    void add(uint32_t offset, uint32_t bytes) {
        const uint32_t last = (offset + bytes - 1) / kWordBytes;
        for (uint32_t word = offset / kWordBytes; word <= last; ++word) add_word(word % kNumWords);
    }
    // Of what was added since the last call; 0 when nothing was.
    uint32_t take_cycles();

private:
    void add_word(uint32_t w) {
        if (seen_[w]) return;
        seen_[w] = true;
        words_.push_back(static_cast<uint16_t>(w));
        if (++busy_[w % kNumUnits] > most_) most_ = busy_[w % kNumUnits];
    }

    static constexpr uint32_t kWordBytes = 8, kNumWords = 256 * 1024 / kWordBytes, kNumUnits = 32;
    std::bitset<kNumWords> seen_;
    std::vector<uint16_t> words_;
    uint32_t busy_[kNumUnits] = {};
    uint32_t most_ = 0;
};

}  // namespace asc_emu::timing
