// Runs of vector functions that nobody needs the results of.
#include "timing/skipped_functions.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "asc_emu/insn/vector.hpp"
#include "op_table.hpp"
#include "thread_object.hpp"

namespace asc_emu::timing {
namespace {

constexpr uint32_t kBytesOfUb = kSpaceBytes[static_cast<size_t>(Space::ub)];
constexpr uint32_t kBytesOfVector = 256;
// The second content: a number that is also a fair index, offset of a block of 32 bytes and count.
constexpr uint32_t kOther = 32;

struct SavedUb {
    std::vector<std::byte> bytes = std::vector<std::byte>(kBytesOfUb);
};
thread_local WorkCount* tl_count = nullptr;

}  // namespace

WorkCount::WorkCount() { tl_count = this; }
WorkCount::~WorkCount() { tl_count = nullptr; }
WorkCount* counting_work() { return tl_count; }

void WorkCount::add(uint32_t bytes, bool write) {
    (write ? stores : loads) += (bytes + kBytesOfVector - 1) / kBytesOfVector;
}

SkippedFunctions::Contents::Contents(Core& core) : ub_(core.at(Space::ub, 0)) {
    std::memcpy(thread_object<SavedUb, SavedUb>().bytes.data(), ub_, kBytesOfUb);
}
void SkippedFunctions::Contents::fill(int content) const {
    auto* const words = reinterpret_cast<uint32_t*>(ub_);
    std::fill(words, words + kBytesOfUb / sizeof(uint32_t), content ? kOther : 0u);
}
void SkippedFunctions::Contents::put_back() const {
    std::memcpy(ub_, thread_object<SavedUb, SavedUb>().bytes.data(), kBytesOfUb);
}

std::string SkippedFunctions::key_of(Core& core, const VectorFunction& function) {
    constexpr uint64_t kOffset = uint64_t{1} << 63;   // marks offsets
    const auto ub = reinterpret_cast<uintptr_t>(core.at(Space::ub, 0));
    std::string key(sizeof(function.run) + VectorFunction::kArgumentBytes, '\0');
    std::memcpy(key.data(), &function.run, sizeof(function.run));
    for (size_t at = 0; at < VectorFunction::kArgumentBytes; at += sizeof(uint64_t)) {
        uint64_t word;
        std::memcpy(&word, function.arguments + at, sizeof(word));
        if (word - ub < kBytesOfUb) word = (word - ub) | kOffset;
        std::memcpy(key.data() + sizeof(function.run) + at, &word, sizeof(word));
    }
    return key;
}

VectorTime SkippedFunctions::time_of(const WorkCount& count) {
    VectorTime time = vector_schedule().time();
    // NOTE: a function of a kernel that was not built for timing has no schedule.
    if (!time.loads && !time.stores) time.loads = count.loads, time.stores = count.stores;
    return time;
}

void SkippedFunctions::refuse(const Core& core) {
    fail(core, "what this vector function does depends on data, which data=skip leaves out: it cannot be timed; time "
               "the kernel with data=compute");
}

}  // namespace asc_emu::timing
