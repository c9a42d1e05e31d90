// Which bytes of a block's on-chip memories hold something a kernel has put there (emulator.md section 4,
// initcheck). A shadow byte per byte; instructions that only move data run a second time on the shadow, so
// that marks travel exactly as the data does.
#pragma once

#include <algorithm>
#include <bitset>
#include <cstdint>
#include <vector>

#include "checkers/shadow.hpp"

namespace asc_emu {

// Shadow values.
constexpr uint8_t kDefined = 0;
constexpr uint8_t kDerived = 0x01;     // computed or copied from something undefined
constexpr uint8_t kUnwritten = 0xff;

class DefinedMemory {
public:
    static constexpr uint32_t kGranule = 512;
    static constexpr uint64_t kSlack = 4096;   // movers may touch so much more than they list

    DefinedMemory();
    void reset(const Block& block);

    // Core `slot` of a block whose memories are the shadow.
    Core& core(CoreSlot slot) { return cores_.cores[static_cast<size_t>(slot)]; }
    uint8_t* at(Region region, uint64_t offset) { return bytes_.data() + first_[static_cast<size_t>(region)] + offset; }

    bool defined(Region region, uint64_t low, uint64_t high);
    void define(Region region, uint64_t low, uint64_t high);
    void mark(Region region, uint64_t low, uint64_t high, uint8_t value);
    // Call before reading or writing the shadow directly, by at() or through core(), unless defined() has
    // just been asked about these bytes.
    void prepare(Region region, uint64_t low, uint64_t high);
    // Call after writing to the shadow directly.
    void refresh(Region region, uint64_t low, uint64_t high);
    // Line that made the contents of a granule undefined by computing it; null when it was never written.
    const void*& origin(Region region, uint64_t offset) {
        return origins_[(first_[static_cast<size_t>(region)] + offset) / kGranule];
    }

private:
    static constexpr size_t kBytes = 1428 * 1024;

    void touch(Region region, uint64_t high) {
        size_t& used = used_[static_cast<size_t>(region)];
        used = std::max<size_t>(used, high);
    }
    void renew(size_t g);
    size_t granule(Region region, uint64_t offset) const {
        return (first_[static_cast<size_t>(region)] + offset) / kGranule;
    }

    std::vector<uint8_t> bytes_;
    std::vector<const void*> origins_;
    using Granules = std::bitset<kBytes / kGranule>;
    Granules whole_;   // without an undefined byte
    // NOTE: a GEMM defines most of its memories anew in every block, so a reset writes no bytes.
    Granules stale_;   // with the bytes of the block before, to be read as kUnwritten
    Granules zero_;    // of the stale ones: those bytes are all kDefined
    size_t first_[kNumRegions];
    size_t used_[kNumRegions] = {};          // bytes from the start that may be defined
    Block cores_;
};

// Calls visit(low, high) for every contiguous piece of an access.
template <class Visit>
inline void for_each_run(const Access& a, Visit&& visit) {
    if (a.empty()) return;
    for (uint64_t i3 = 0; i3 < a.loops[3].count; ++i3)
        for (uint64_t i2 = 0; i2 < a.loops[2].count; ++i2)
            for (uint64_t i1 = 0; i1 < a.loops[1].count; ++i1) {
                uint64_t at = a.address + static_cast<uint64_t>(
                    static_cast<int64_t>(i3) * a.loops[3].stride + static_cast<int64_t>(i2) * a.loops[2].stride +
                    static_cast<int64_t>(i1) * a.loops[1].stride);
                if (a.loops[0].stride == static_cast<int64_t>(a.bytes)) {
                    visit(at, at + a.bytes * a.loops[0].count);
                    continue;
                }
                for (uint64_t i0 = 0; i0 < a.loops[0].count; ++i0, at += static_cast<uint64_t>(a.loops[0].stride))
                    visit(at, at + a.bytes);
            }
}

}  // namespace asc_emu
