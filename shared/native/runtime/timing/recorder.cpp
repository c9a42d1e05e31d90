// From commands to records: synchronisation by its operands, everything else by its Work and its GM access.
#include "timing/recorder.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "asc_emu/insn/sync.hpp"
#include "launch.hpp"
#include "ops/unit_regions.hpp"
#include "simt/block.hpp"
#include "timing/vector_schedule.hpp"

namespace asc_emu::timing {
namespace {

constexpr uint32_t kNumUnitFlags = kSpaceBytes[static_cast<size_t>(Space::l0c)] / kUnitFlagBytes;
constexpr size_t kSlots = 3;
constexpr uint32_t kVectorBytes = 256;
constexpr size_t kFirstRecords = 256;
constexpr uint64_t kDeviceAlign = 512, kHostAlign = 16;   // of allocations

template <class Insn>
Insn insn_of(const Command& c) {
    Insn insn;
    std::memcpy(&insn, c.params, sizeof(insn));
    return insn;
}

uint32_t flag_value(Pipe source, Pipe destination, uint32_t id) {
    return (static_cast<uint32_t>(source) * 8 + static_cast<uint32_t>(destination)) * 8 + id;
}

// Counter of the other core, as ascend_c_cube.md section 13.3 maps ids.
uint32_t intra_value(const Core& core, uint32_t id) {
    if (!core.is_aic()) return static_cast<uint32_t>(CoreSlot::aic) * 32 + core.sub_block() * 16 + id;
    return id < 16 ? static_cast<uint32_t>(CoreSlot::aiv0) * 32 + id
                   : static_cast<uint32_t>(CoreSlot::aiv1) * 32 + id - 16;
}

GmShape shape_of(const Access& a, uint8_t hint) {
    GmShape s = {a.address, static_cast<uint32_t>(a.bytes), a.write, hint, 0, {{1, 0}, {1, 0}, {1, 0}}};
    size_t used = 0;
    for (const Loop& l : a.loops) {
        if (l.count == 1) continue;
        const bool continues = used == 0 && l.stride == static_cast<int64_t>(s.bytes) &&
                               l.count * s.bytes <= UINT32_MAX;
        if (continues) s.bytes *= static_cast<uint32_t>(l.count);
        else if (used < 3) s.loops[used++] = {l.count, l.stride};
        else s.loops[2].count *= l.count;   // NOTE: a fourth loop repeats the third: right bytes, wrong lines
    }
    return s;
}

bool is_vector_function(const Command& c) {
    return c.op == static_cast<uint16_t>(Op::VectorFunction) || c.op == static_cast<uint16_t>(Op::SimtFunction);
}

}  // namespace

struct Recorder::CoreState {
    CoreTrace trace;
    // Updates of unit flags so far, and the last one of each block of L0C.
    uint32_t num_raised = 0, num_cleared = 0;
    uint32_t raised[kNumUnitFlags] = {}, cleared[kNumUnitFlags] = {};
    uint32_t num_fills = 0, fills_waited = 0;
    // Vector functions: their records in order, how many have run, and the one that runs.
    std::vector<size_t> vector_functions;
    size_t num_run = 0;
    Record* running = nullptr;

    Record& add(Kind kind, const Command& c, uintptr_t object_base) {
        Record& r = trace.records.emplace_back();
        r.kind = kind;
        r.pipe = c.pipe;
        r.op = c.op;
        r.site = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(c.site) - object_base);
        return r;
    }

    // The flags of `region` are to be raised by M (or cleared by FIX) after the other pipe's last update.
    static void use(Record& r, const UnitRegion& region, bool update, uint32_t& count, uint32_t* own,
                    const uint32_t* other) {
        region.all([&](uint32_t f) {
            r.wait_unit = std::max(r.wait_unit, other[f]);
            return true;
        });
        if (!update) return;
        if (!(r.flags & kUnitUpdate)) ++count;
        r.flags |= kUnitUpdate;
        region.all([&](uint32_t f) {
            own[f] = count;
            return true;
        });
    }
    void unit_flags(Record& r, const Command& c) {
        if (r.pipe == Pipe::M) {
            const auto i = insn_of<Mmad>(c);
            if (i.unit_flag >= kUnitFlagKeep)
                use(r, unit_region(i), i.unit_flag == kUnitFlagUpdate, num_raised, raised, cleared);
        } else if (r.cost == CostClass::l0c_to_gm || r.cost == CostClass::l0c_to_ub ||
                   r.cost == CostClass::l0c_to_l1) {
            const auto i = insn_of<Fixpipe>(c);
            if (i.unit_flag < kUnitFlagKeep || empty(i)) return;
            for (uint32_t q = 0; q < matrices(i); ++q)
                use(r, unit_region(i, q), i.unit_flag == kUnitFlagUpdate, num_cleared, cleared, raised);
        }
    }
};

Recorder::Recorder() = default;
Recorder::~Recorder() = default;

size_t Recorder::index(const Core& core) {
    return core.block->index * kSlots + static_cast<size_t>(core.slot);
}

void Recorder::on_launch(const Launch& launch) {
    trace_ = LaunchTrace{};
    const asc_emu_kernel& kernel = *launch.desc.kernel;
    trace_.kernel = kernel.name;
    trace_.num_blocks = launch.desc.num_blocks;
    trace_.num_aic = kernel.num_aic;
    trace_.num_aiv = kernel.num_aiv;
    trace_.num_cores = launch.options.num_cores;
    for (const OpInfo& info : g_op_table) trace_.op_names.emplace_back(info.name ? info.name : "");
    Dl_info where = {};
    object_base_ = 0;
    if (dladdr(reinterpret_cast<const void*>(kernel.thunk), &where) && where.dli_fname) {
        trace_.object = where.dli_fname;
        object_base_ = reinterpret_cast<uintptr_t>(where.dli_fbase);
    }
    find_pointers(launch);
    states_.clear();
    states_.resize(trace_.num_blocks * kSlots);
    ended_.clear();
    ended_.resize(trace_.num_blocks * kSlots);
}

void Recorder::find_pointers(const Launch& launch) {
    pointers_.clear();
    const auto* payload = static_cast<const std::byte*>(launch.desc.payload);
    for (uint64_t at = 0; at + 8 <= launch.desc.payload_bytes; at += 8) {
        uint64_t word;
        std::memcpy(&word, payload + at, 8);
        if (word >= 4096) pointers_.push_back(word);
    }
    std::sort(pointers_.begin(), pointers_.end());
}

uint64_t Recorder::device_address(uint64_t address) const {
    // NOTE: host allocations begin at any multiple of 16 bytes. What a slice adds to less than that stays.
    const auto next = std::upper_bound(pointers_.begin(), pointers_.end(), address);
    const uint64_t base = next == pointers_.begin() ? 0 : *std::prev(next);
    return address - base % kDeviceAlign / kHostAlign * kHostAlign;
}

void Recorder::on_block(Block& block) {
    for (Core& core : block.cores) {
        if (!block.has(core.slot)) continue;
        auto fresh = std::make_unique<CoreState>();
        fresh->trace.block = block.index;
        fresh->trace.slot = core.slot;
        fresh->trace.records.reserve(kFirstRecords);
        states_[index(core)] = std::move(fresh);
    }
}

void Recorder::on_execute(const Core& core, const Command& c, const OpInfo& info) {
    CoreState& s = state(core);
    s.running = nullptr;
    if (!is_vector_function(c) || s.num_run >= s.vector_functions.size()) return;
    (void)info;
    s.running = &s.trace.records[s.vector_functions[s.num_run++]];
}

// Counts for functions that were not built for timing; their schedule tells it of the others.
void Recorder::on_vector_access(const Core& core, uint32_t, uint32_t bytes, bool write, const void*) {
    if (running_simt()) return;   // threads count their own work (simt/work.hpp); checkers tell of it once more
    Record* r = state(core).running;
    if (!r) return;
    const uint32_t vectors = (bytes + kVectorBytes - 1) / kVectorBytes;
    if (write) r->value += vectors;
    else r->vector.loads += vectors;
}

void Recorder::on_vector_time(const Core& core, const VectorTime& time) {
    CoreState& s = state(core);
    // The threads of a SIMT function run before the pipe executes it.
    if (!s.running && s.num_run < s.vector_functions.size())
        s.running = &s.trace.records[s.vector_functions[s.num_run]];
    if (Record* r = std::exchange(s.running, nullptr)) {
        r->cycles = time.cycles;
        r->vector.conflicts = time.conflicts;
        if (time.loads + time.stores) r->vector.loads = time.loads, r->value = time.stores;
    }
}

void Recorder::on_vector_work(const Core& core, const VectorTime& time) {
    if (Record* r = std::exchange(state(core).running, nullptr)) {
        r->vector = {.loads = time.loads, .conflicts = time.conflicts};
        r->value = time.stores;
        r->cycles = time.cycles;
    }
}

void Recorder::on_block_end(Block& block) {
    for (Core& core : block.cores) {
        auto& s = states_[index(core)];
        if (!s) continue;
        ended_[index(core)] = std::move(s->trace);
        s.reset();
    }
}

LaunchTrace Recorder::take() {
    for (CoreTrace& core : ended_)
        if (!core.records.empty()) trace_.cores.push_back(std::move(core));
    states_.clear();
    ended_.clear();
    return std::move(trace_);
}

void Recorder::on_issue(const Core& core, const Command& c, const OpInfo& info, const AccessList& list) {
    CoreState& s = state(core);
    switch (static_cast<Op>(c.op)) {
        case Op::SetFlag: {
            const auto i = insn_of<SetFlag>(c);
            s.add(Kind::set_flag, c, object_base_).value = flag_value(i.source, i.destination, i.id);
            return;
        }
        case Op::WaitFlag: {
            const auto i = insn_of<WaitFlag>(c);
            s.add(Kind::wait_flag, c, object_base_).value = flag_value(i.source, i.destination, i.id);
            return;
        }
        case Op::PipeBarrier: s.add(Kind::barrier, c, object_base_); return;
        case Op::Lock: {
            const auto i = insn_of<Lock>(c);
            if (i.non_blocking) return;
            Record& r = s.add(Kind::lock, c, object_base_);
            r.value = i.id;
            r.bytes = i.tickets;
            return;
        }
        case Op::Unlock: {
            const auto i = insn_of<Unlock>(c);
            Record& r = s.add(Kind::unlock, c, object_base_);
            r.value = i.id;
            r.bytes = i.ticket;
            return;
        }
        case Op::IntraArrive:
            s.add(Kind::intra_arrive, c, object_base_).value = intra_value(core, insn_of<IntraArrive>(c).id);
            return;
        case Op::CrossArrive: {
            const auto i = insn_of<CrossArrive>(c);
            s.add(Kind::cross_arrive, c, object_base_).value = i.mode * 32u + i.id;
            return;
        }
        case Op::CounterWait:
            s.add(Kind::counter_wait, c, object_base_).value = insn_of<CounterWait>(c).id;
            return;
        default: break;
    }
    if (!info.work) return;
    if (c.pipe == Pipe::MTE1 && s.fills_waited < s.num_fills) {
        s.add(Kind::wait_fill, c, object_base_).value = s.num_fills;
        s.fills_waited = s.num_fills;
    }
    const Work work = info.work(core, c.params);
    Record& r = s.add(Kind::work, c, object_base_);
    r.cost = work.cost;
    r.variant = work.variant;
    r.value = work.descriptors;
    r.bytes = work.bytes;
    s.trace.flops += work.flops;
    if (is_vector_function(c)) {
        r.value = 0;
        s.vector_functions.push_back(s.trace.records.size() - 1);
    }
    s.unit_flags(r, c);
    if (r.cost == CostClass::fill_l1) {
        r.flags |= kFill;
        ++s.num_fills;
    }
    for (const Access& a : list) {
        if (a.space != Space::gm || a.empty()) continue;
        s.trace.gm.push_back(shape_of(a, work.l2_hint));
        s.trace.gm.back().address = device_address(a.address);
        r.gm = static_cast<uint32_t>(s.trace.gm.size());
        break;
    }
}

}  // namespace asc_emu::timing
