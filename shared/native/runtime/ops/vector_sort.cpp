// Meaning of the vector instructions that sort and transpose (ascend_c_vector.md section 13).
#include "asc_emu/insn/vector_sort.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "asc_emu/number_formats.hpp"
#include "ops/checks.hpp"

namespace asc_emu {
namespace {

// NOTE: the order of equal scores, and of NaN, is not documented: equal ones keep their order, NaN
// counts as the highest.
struct Record {
    uint32_t score;  // a half has two reserved bytes behind it
    uint32_t number;
};
static_assert(sizeof(Record) == 8);
constexpr uint32_t kPerSort = 32;

int64_t order(uint32_t score, bool half_score) {
    const uint32_t b = half_score ? float_bits(half_to_float(static_cast<uint16_t>(score))) : score;
    if (is_nan_bits(b)) return INT64_MAX;
    const int64_t magnitude = b & 0x7fffffffu;
    return b >> 31 ? -magnitude : magnitude;
}

// One merge; returns how many records it wrote.
uint64_t merge(const MergeSort& i, const std::array<const Record*, 4>& queues, Record* out) {
    std::array<uint32_t, 4> taken{};
    uint64_t written = 0;
    for (;;) {
        int best = -1;
        int64_t best_order = 0;
        for (int k = 0; k < 4; ++k) {
            const auto q = static_cast<size_t>(k);
            if (!((i.valid >> k) & 1)) continue;
            if (taken[q] == i.length[k]) {
                if (i.stop_at_empty) return written;
                continue;
            }
            const int64_t rank = order(queues[q][taken[q]].score, i.half_scores);
            if (best < 0 || rank > best_order) {
                best = k;
                best_order = rank;
            }
        }
        if (best < 0) return written;
        const auto q = static_cast<size_t>(best);
        out[written++] = queues[q][taken[q]++];
    }
}
uint64_t total_length(const MergeSort& i) {
    return uint64_t{i.length[0]} + i.length[1] + i.length[2] + i.length[3];
}

}  // namespace

static void execute(Core& core, const BitSort& i) {
    const uint32_t score_bytes = i.half_scores ? 2 : 4;
    for (uint32_t r = 0; r < i.repeat; ++r) {
        std::array<Record, kPerSort> records{};
        for (uint32_t k = 0; k < kPerSort; ++k) {
            const uint32_t at = r * kPerSort + k;
            std::memcpy(&records[k].score, core.at(Space::ub, i.scores + at * score_bytes),
                        score_bytes);
            std::memcpy(&records[k].number, core.at(Space::ub, i.numbers + at * 4), 4);
        }
        std::stable_sort(records.begin(), records.end(), [&](const Record& a, const Record& b) {
            return order(a.score, i.half_scores) > order(b.score, i.half_scores);
        });
        std::memcpy(core.at(Space::ub, i.dst + r * 256), records.data(), sizeof(records));
    }
}
static void accesses(const Core&, const BitSort& i, AccessList& list) {
    if (i.repeat == 0) return;
    list.read(Space::ub, i.scores, uint64_t{i.repeat} * kPerSort * (i.half_scores ? 2 : 4), {}, 32);
    list.read(Space::ub, i.numbers, uint64_t{i.repeat} * kPerSort * 4, {}, 32);
    list.write(Space::ub, i.dst, uint64_t{i.repeat} * 256, {}, 32);
}
static void validate(const Core& core, const BitSort& i) {
    check_range(core, "repeat of asc_bitsort", i.repeat, 0, 255, "sort 32 scores a repeat");
}
static Work work(const Core&, const BitSort& i) { return {CostClass::vector, 0, i.repeat, 0}; }
ASC_EMU_REGISTER(BitSort, Roles::aiv)

static void execute(Core& core, const MergeSort& i) {
    const uint64_t total = total_length(i);
    std::vector<Record> in[4], out(total);
    for (uint32_t r = 0; r < i.repeat; ++r) {
        std::array<const Record*, 4> queues{};
        for (uint32_t k = 0; k < 4; ++k) {
            in[k].resize(i.length[k]);
            std::memcpy(in[k].data(), core.at(Space::ub, i.src[k] + r * total * sizeof(Record)),
                        i.length[k] * sizeof(Record));
            queues[k] = in[k].data();
        }
        const uint64_t written = merge(i, queues, out.data());
        std::memcpy(core.at(Space::ub, i.dst + r * total * sizeof(Record)), out.data(),
                    written * sizeof(Record));
    }
}
static void accesses(const Core&, const MergeSort& i, AccessList& list) {
    const uint64_t bytes = total_length(i) * sizeof(Record);
    if (i.repeat == 0 || bytes == 0) return;
    const Loop repeats{i.repeat, static_cast<int64_t>(bytes)};
    for (uint32_t k = 0; k < 4; ++k)
        if (i.length[k]) list.read(Space::ub, i.src[k], i.length[k] * sizeof(Record), {repeats}, 8);
    list.write(Space::ub, i.dst, bytes, {repeats}, 32);
}
static void validate(const Core& core, const MergeSort& i) {
    if (i.valid != 3 && i.valid != 7 && i.valid != 15)
        fail(core,
             "valid_bit of asc_mrgsort4 got %u, allowed are 3, 7 and 15 (the first 2, 3 or 4 "
             "queues)",
             i.valid);
    if (i.repeat <= 1) return;
    bool regular = i.valid == 15 && !i.stop_at_empty;
    for (uint32_t k = 1; k < 4; ++k)
        regular = regular && i.length[k] == i.length[0] &&
                  i.src[k] == i.src[0] + k * i.length[0] * sizeof(Record);
    if (!regular)
        fail(core,
             "asc_mrgsort4 with repeat %u needs four queues of one length that follow each other, "
             "valid_bit 15 and no suspension; call it once for each merge instead",
             i.repeat);
}
static Work work(const Core&, const MergeSort& i) { return {CostClass::vector, 0, i.repeat, 0}; }
ASC_EMU_REGISTER(MergeSort, Roles::aiv)

static void execute(Core& core, const TransposeBlock& i) {
    uint16_t in[16][16], out[16][16];
    std::memcpy(in, core.at(Space::ub, i.src), sizeof(in));
    for (int r = 0; r < 16; ++r)
        for (int c = 0; c < 16; ++c) out[c][r] = in[r][c];
    std::memcpy(core.at(Space::ub, i.dst), out, sizeof(out));
}
static void accesses(const Core&, const TransposeBlock& i, AccessList& list) {
    list.read(Space::ub, i.src, 512, {}, 32);
    list.write(Space::ub, i.dst, 512, {}, 32);
}
static Work work(const Core&, const TransposeBlock&) { return {CostClass::vector, 0, 1, 0}; }
ASC_EMU_REGISTER(TransposeBlock, Roles::aiv)

}  // namespace asc_emu
