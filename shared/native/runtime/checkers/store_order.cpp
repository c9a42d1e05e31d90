// Stamps of stores, what each type of barrier orders, and findings.
#include "checkers/store_order.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "asc_emu/vector/state.hpp"
#include "checkers/checker.hpp"
#include "launch.hpp"
#include "thread_object.hpp"

namespace asc_emu {
namespace {

constexpr uint32_t kUbBytes = kSpaceBytes[static_cast<size_t>(Space::ub)];

// Rows and column of StoreOrder's table, by mem_bar_t (api/vector_memory.hpp): what comes later, a bit each, and who
// stored. Barriers that only make stores wait for loads have no rows.
enum Later : uint8_t { kVectorLoad = 1, kVectorStore = 2, kScalarLoad = 4, kScalarStore = 8 };
struct Barrier {
    StoreUnit first;
    uint8_t later;
};
constexpr Barrier kBarriers[] = {
    {StoreUnit::vector, kVectorLoad | kVectorStore},   // VV_ALL
    {StoreUnit::vector, kVectorLoad},                  // VST_VLD
    {StoreUnit::vector, 0},                            // VLD_VST
    {StoreUnit::vector, kVectorStore},                 // VST_VST
    {StoreUnit::vector, kScalarLoad | kScalarStore},   // VS_ALL
    {StoreUnit::vector, kScalarLoad},                  // VST_LD
    {StoreUnit::vector, 0},                            // VLD_ST
    {StoreUnit::vector, kScalarStore},                 // VST_ST
    {StoreUnit::scalar, kVectorLoad | kVectorStore},   // SV_ALL
    {StoreUnit::scalar, kVectorLoad},                  // ST_VLD
    {StoreUnit::scalar, 0},                            // LD_VST
    {StoreUnit::scalar, kVectorStore},                 // ST_VST
    {StoreUnit::scalar, kScalarLoad | kScalarStore},   // SS_ALL
    {StoreUnit::scalar, 0},                            // LD_ST
    {StoreUnit::scalar, kScalarLoad},                  // ST_LD
    {StoreUnit::scalar, kScalarStore},                 // ST_ST
};

std::string text_of(StoreUnit unit, bool write) {
    return std::string(unit == StoreUnit::vector ? "vector " : "scalar ") + (write ? "store" : "load");
}

}  // namespace

bool StoreOrder::enter(uint32_t function) {
    if (function == function_) return false;
    function_ = function;
    base_ = nullptr;
    scalar_stores_ = false;
    if (blocks_.empty() || instruction_ >= kMaxInstruction) {
        blocks_.assign(kUbBytes / kBlockBytes, {});
        bytes_.resize(kUbBytes);
        instruction_ = 0;
    }
    for (auto& row : ordered_) row[0] = row[1] = instruction_;
    return true;
}

void StoreOrder::barriers(uint32_t types) {
    for (uint32_t type = 0; type < std::size(kBarriers); ++type) {
        if (!(types >> type & 1)) continue;
        for (uint32_t row = 0; row < std::size(ordered_); ++row)
            if (kBarriers[type].later >> row & 1) ordered_[row][static_cast<size_t>(kBarriers[type].first)] = instruction_;
    }
}

StoreOrder::Stamp StoreOrder::latest_of(const OrderedAccess& access) const {
    const uint32_t end = (access.offset + access.bytes + kBlockBytes - 1) / kBlockBytes;
    Stamp latest = 0;
    for (uint32_t b = access.offset / kBlockBytes; b < end; ++b) latest = std::max(latest, blocks_[b].last.stamp);
    return latest;
}

void StoreOrder::pass_on(const OrderedAccess& load) {
    const size_t row = static_cast<size_t>(load.unit) * 2;
    for (size_t unit = 0; unit < 2; ++unit) ordered_[row + 1][unit] = std::max(ordered_[row + 1][unit], ordered_[row][unit]);
}

void StoreOrder::remember(const OrderedAccess& access) {
    const auto* const site = static_cast<const char*>(access.site);
    if (!base_) base_ = site;
    scalar_stores_ |= access.unit == StoreUnit::scalar;
    const Writer writer{instruction_ << 1 | static_cast<Stamp>(access.unit), static_cast<int32_t>(site - base_)};
    const uint32_t end = access.offset + access.bytes;
    for (uint32_t at = access.offset; at < end;) {
        Block& block = blocks_[at / kBlockBytes];
        const uint32_t start = at / kBlockBytes * kBlockBytes, next = std::min(end, start + kBlockBytes);
        const bool whole = next - at == kBlockBytes;
        if (!whole) {
            if (!block.split) std::fill_n(bytes_.begin() + start, kBlockBytes, block.last);
            std::fill(bytes_.begin() + at, bytes_.begin() + next, writer);
        }
        block = {writer, !whole};
        at = next;
    }
}

const char* barrier_between(StoreUnit first, const OrderedAccess& access) {
    static const char* const names[2][4] = {{"VST_VLD", "VST_VST", "VST_LD", "VST_ST"},
                                            {"ST_VLD", "ST_VST", "ST_LD", "ST_ST"}};
    return names[static_cast<size_t>(first)][static_cast<size_t>(access.unit) * 2 + access.write];
}

FunctionOrder& function_order() { return thread_object<FunctionOrder, FunctionOrder>(); }

void Checker::on_function_access(const Core& core, const OrderedAccess& access) {
    FunctionOrder& order = function_order();
    if (order.stores.enter(asc_emu_vector.serial)) order.low = order.high = 0;
    if (access.unit == StoreUnit::vector) order.begin(access);
    else if (order.is_own(access)) return;
    else on_vector_access(core, access.offset, access.bytes, access.write, access.site);
    if (!has(kRacecheck)) return;
    if (!access.more) on_function_end(core);
    if (const uint32_t types = std::exchange(asc_emu_vector.barriers, 0)) order.stores.barriers(types);
    order.stores.add(access, [&](const UnorderedStore& old) {
        if (!access.write) return report_order(core, old, access);
        const auto* const now = reinterpret_cast<const std::byte*>(core.at(Space::ub, old.offset));
        order.pending.push_back({access, old, {now, now + old.bytes}});
    });
}

// What pending stores did has come to UB.
void Checker::on_function_end(const Core& core) {
    std::vector<PendingStore>& pending = function_order().pending;
    for (PendingStore& store : pending) {
        const auto* const now = reinterpret_cast<const std::byte*>(core.at(Space::ub, store.old.offset));
        uint32_t first = 0, end = store.old.bytes;
        while (first < end && now[first] == store.bytes[first]) ++first;
        while (first < end && now[end - 1] == store.bytes[end - 1]) --end;
        if (first == end) continue;
        store.old.offset += first;
        store.old.bytes = end - first;
        report_order(core, store.old, store.access);
    }
    pending.clear();
}

void Checker::report_order(const Core& core, const UnorderedStore& old, const OrderedAccess& access) {
    constexpr uint32_t kSubject = 300;
    const uint32_t subject =
        kSubject + static_cast<uint32_t>(access.unit) * 4 + access.write * 2 + static_cast<uint32_t>(old.unit);
    launch_.reporter.add("racecheck", subject, old.site, access.site, [&] {
        const char* const barrier = barrier_between(old.unit, access);
        Finding f;
        f.checker = "racecheck";
        f.memory = "UB";
        f.address = old.offset;
        f.bytes = old.bytes;
        f.message = "race on UB: a " + text_of(access.unit, access.write) + " in a vector function on " +
                    core_name(core.slot) + " V of block " + std::to_string(core.block->index) +
                    (access.write ? " writes" : " reads") + " what a " + text_of(old.unit, true) +
                    " in the same function writes; no asc_mem_bar(" + barrier + ") comes between the two";
        f.fix = std::string("asc_mem_bar(") + barrier + ") between the two";
        f.places.push_back(place_of(core, Pipe::V, "writes", "VectorFunction", old.site));
        f.places.push_back(place_of(core, Pipe::V, access.write ? "writes" : "reads", "VectorFunction", access.site));
        return f;
    });
}

}  // namespace asc_emu
