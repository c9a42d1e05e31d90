// Look-up of allocations.
#include "checkers/gm_ranges.hpp"

#include <algorithm>

namespace asc_emu {
namespace {

uint64_t distance(const GmRange& r, uint64_t low, uint64_t high) {
    if (low < r.begin) return r.begin - low;
    return high > r.end ? high - r.end : 0;
}

}  // namespace

GmRanges::GmRanges(const asc_emu_gm_range* ranges, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        const auto begin = reinterpret_cast<uint64_t>(ranges[i].base);
        if (ranges[i].bytes == 0) continue;
        ranges_.push_back({begin, begin + ranges[i].bytes, ranges[i].read_only != 0,
                           ranges[i].name ? ranges[i].name : "?"});
    }
    std::stable_sort(ranges_.begin(), ranges_.end(), [](const GmRange& a, const GmRange& b) {
        return a.begin != b.begin ? a.begin < b.begin : a.read_only < b.read_only;
    });
}

const GmRange* GmRanges::find(uint64_t low, uint64_t high) const {
    // NOTE: a tensor may be given twice, as input and as output: the writable entry counts.
    const GmRange* found = nullptr;
    for (const GmRange& r : ranges_) {
        if (r.begin > low) break;
        if (high <= r.end && (!found || !r.read_only)) found = &r;
    }
    return found;
}

std::string GmRanges::relation(uint64_t low, uint64_t high) const {
    const GmRange* nearest = nullptr;
    for (const GmRange& r : ranges_)
        if (!nearest || distance(r, low, high) < distance(*nearest, low, high)) nearest = &r;
    if (!nearest) return "no allocation is known";
    const std::string what = "'" + nearest->name + "' (" + std::to_string(nearest->end - nearest->begin) +
                             " bytes)";
    if (low < nearest->begin && high <= nearest->begin)
        return "it ends " + std::to_string(nearest->begin - high) + " bytes before " + what;
    if (low >= nearest->end)
        return "it starts " + std::to_string(low - nearest->end) + " bytes behind the end of " + what;
    if (low < nearest->begin)
        return "it starts " + std::to_string(nearest->begin - low) + " bytes before " + what;
    return "it reaches " + std::to_string(high - nearest->end) + " bytes behind the end of " + what;
}

}  // namespace asc_emu
