// The observer: bounds at issue; clocks, races and contents when an instruction runs.
#include "checkers/checker.hpp"

#include <algorithm>

#include "asc_emu/insn/sync.hpp"
#include "launch.hpp"
#include "ops/unit_regions.hpp"
#include "simt/block.hpp"

namespace asc_emu {
namespace {

// States are kept for later launches.
std::mutex g_pool_mutex;
std::vector<std::unique_ptr<BlockState>>& pool() {
    static auto* const states = new std::vector<std::unique_ptr<BlockState>>;
    return *states;
}

bool is_sync(uint16_t op) { return op <= static_cast<uint16_t>(Op::CounterWait); }

bool pipe_exists(const Core& core, Pipe pipe) {
    switch (pipe) {
        case Pipe::S: case Pipe::MTE2: case Pipe::all: return true;
        case Pipe::M: case Pipe::MTE1: case Pipe::FIX: return core.is_aic();
        default: return !core.is_aic();
    }
}

// unit_flag of mmad and Fixpipe, 0 for others.
uint8_t unit_flag_of(const Command& c) {
    switch (static_cast<Op>(c.op)) {
        case Op::Mmad: return c.as<Mmad>().unit_flag;
        case Op::CopyL0cToGm: case Op::CopyL0cToUb: case Op::CopyL0cToL1: return c.as<Fixpipe>().unit_flag;
        default: return 0;
    }
}

// A read of what the same instruction writes: the write meets whatever the read could.
bool covered_by_write(const AccessList& list, const Access& read) {
    if (read.space != Space::l0c) return false;
    for (const Access& a : list)
        if (a.write && a.space == read.space && a.address == read.address && a.bytes == read.bytes) return true;
    return false;
}

void pass_unit_flags(SyncState& sync, const Command& c, const Agent& agent) {
    if (unit_flag_of(c) != kUnitFlagUpdate) return;
    if (static_cast<Op>(c.op) == Op::Mmad) {
        const Mmad& i = c.as<Mmad>();
        if (i.m == 0 || i.k == 0 || i.n == 0) return;
        unit_region(i).all([&](uint32_t f) {
            sync.unit(f).raised = agent.now;
            sync.unit(f).site = c.site;
            return true;
        });
        return;
    }
    const Fixpipe& i = c.as<Fixpipe>();
    if (empty(i)) return;
    for (uint32_t q = 0; q < matrices(i); ++q)
        unit_region(i, q).all([&](uint32_t f) {
            sync.unit(f).cleared = agent.now;
            return true;
        });
}

}  // namespace

void BlockState::reset(Block& b, bool with_init) {
    block = &b;
    sync.reset();
    shadow.reset();
    locks = {};
    for (const void*& site : atomic_site) site = nullptr;
    for (uint64_t& address : polled) address = 0;
    gm_cache = {};
    if (with_init && !init) init = std::make_unique<InitCheck>();
    if (with_init) init->reset(b);
}

Checker::Checker(Launch& launch, uint32_t checks)
    : launch_(launch), checks_(checks), ranges_(launch.desc.gm_ranges, launch.desc.num_gm_ranges),
      race_(launch.desc.kernel->function, launch.reporter) {}

Checker::~Checker() {
    std::lock_guard lock(g_pool_mutex);
    for (BlockState* s : live_) pool().emplace_back(s);
}

void Checker::on_block(Block& block) {
    std::unique_ptr<BlockState> state;
    {
        std::lock_guard lock(g_pool_mutex);
        if (!pool().empty()) {
            state = std::move(pool().back());
            pool().pop_back();
        }
    }
    if (!state) state = std::make_unique<BlockState>();
    state->reset(block, has(kInitcheck));
    block.checker = state.get();
    std::lock_guard lock(mutex_);
    live_.push_back(state.release());
}

void Checker::on_block_end(Block& block) {
    BlockState* state = static_cast<BlockState*>(block.checker);
    if (has(kSynccheck)) report_leftovers(block, *state, launch_.reporter);
    {
        std::lock_guard lock(mutex_);
        live_.erase(std::find(live_.begin(), live_.end(), state));
    }
    block.checker = nullptr;
    std::lock_guard lock(g_pool_mutex);
    pool().emplace_back(state);
}

void Checker::on_deadlock(const std::vector<Block*>& blocks) {
    if (has(kSynccheck)) report_deadlock(blocks, launch_.reporter);
}

void Checker::on_wrong_core(const Core& core, const OpInfo& info, const void* site) {
    if (!has(kSynccheck)) return;
    launch_.reporter.add("synccheck", 6000, site, nullptr, [&] {
        Finding f;
        f.checker = "synccheck";
        f.severity = Severity::warning;
        f.message = std::string(info.name) + " does nothing on a " + (core.is_aic() ? "cube" : "vector") + " core";
        f.fix = "call it under ASC_IS_AIC or ASC_IS_AIV";
        f.places.push_back(place_of(core, Pipe::S, "calls", info.name, site));
        return f;
    });
}

// Bounds of global memory ------------------------------------------------------------------------
void Checker::out_of_bounds(const Core& core, Pipe pipe, uint16_t op, const char* name, const void* site,
                            bool write, uint64_t low, uint64_t high, const GmRange* range) {
    launch_.reporter.add("memcheck", op * 2u + (range ? 1 : 0), site, nullptr, [&] {
        Finding f;
        f.checker = "memcheck";
        f.memory = "GM";
        f.address = low;
        f.bytes = high - low;
        f.message = std::string(name) + (write ? " writes " : " reads ") + std::to_string(high - low) +
                    " bytes of GM" + (range ? " in the read-only input '" + range->name + "'"
                                            : " outside every tensor: " + ranges_.relation(low, high));
        f.fix = range             ? "write to an output, or pass the tensor as one"
                : pipe == Pipe::S ? "compare the index with the tensor's size"
                : pipe == Pipe::V ? "keep the thread from the access: compare its index with the tensor's size"
                                  : "clip the size of the copy at the tensor's edge, or check address and strides";
        f.places.push_back(place_of(core, pipe, write ? "writes" : "reads", name, site));
        return f;
    });
    if (!launch_.options.report_bounds)
        throw KernelError{make_report("bounds", std::string(name) + ": the access to GM is out of bounds; it " +
                                      "would have damaged memory of the process", &core, name, site)};
}

bool Checker::check_gm(const Core& core, Pipe pipe, uint16_t op, const char* name, const void* site, bool write,
                       uint64_t low, uint64_t high) {
    if (!ranges_.known()) return true;
    const GmRange* range = ranges_.find(low, high);
    if (range && !(write && range->read_only)) return true;
    out_of_bounds(core, pipe, op, name, site, write, low, high, range);
    return false;
}

bool Checker::permits(const Core& core, const Command& c, const OpInfo& info, const AccessList& list) {
    if (!has(kMemcheck)) return true;
    bool good = true;
    for (const Access& a : list) {
        if (a.space != Space::gm || a.empty()) continue;
        const auto [low, high] = a.span();
        good &= check_gm(core, c.pipe, c.op, info.name, c.site, a.write, static_cast<uint64_t>(low),
                         static_cast<uint64_t>(high));
    }
    return good;
}

void Checker::on_issue(const Core& core, const Command& c, const OpInfo&, const AccessList& list) {
    settle_polled(state_of(core), core);
    for (const Access& a : list)
        if (a.atomic) state_of(core).atomic_site[static_cast<size_t>(core.slot)] = c.site;
    if (has(kSynccheck) && is_sync(c.op)) {
        if (!pipe_exists(core, c.pipe)) report_missing_pipe(core, c, c.pipe, launch_.reporter);
        else if (static_cast<Op>(c.op) == Op::SetFlag && !pipe_exists(core, c.as<SetFlag>().destination))
            report_missing_pipe(core, c, c.as<SetFlag>().destination, launch_.reporter);
    }
    if (c.pipe != Pipe::S && c.pipe != Pipe::all) state_of(core).sync.issued(core, c.pipe);
}

// Execution --------------------------------------------------------------------------------------
void Checker::on_execute(const Core& core, const Command& c, const OpInfo& info) {
    BlockState& s = state_of(core);
    Agent& agent = s.sync.begin(core, c.pipe == Pipe::all ? Pipe::S : c.pipe);
    if (is_sync(c.op)) run_sync(s, core, c, agent);
    else if (!c.skip) run_data(s, core, c, info, agent);
}

void Checker::run_data(BlockState& s, const Core& core, const Command& c, const OpInfo& info, Agent& agent) {
    if (!info.accesses) return;
    AccessList list;
    info.accesses(core, c.params, list);
    if (has(kInitcheck)) s.init->run(core, c, info, list, launch_.reporter);
    if (has(kRacecheck)) check_races(s, core, c, list, agent);
    pass_unit_flags(s.sync, c, agent);
}

void Checker::check_races(BlockState& s, const Core& core, const Command& c, const AccessList& list,
                          Agent& agent) {
    const Accessor who{core, c.pipe, c.op, c.site, agent, agent_of(core.slot, c.pipe),
                       unit_flag_of(c) >= kUnitFlagKeep};
    for (const bool writes : {false, true})
        for (const Access& a : list) {
            if (a.write != writes || (!a.write && covered_by_write(list, a))) continue;
            if (a.space != Space::gm) {
                for_each_run(a, [&](uint64_t low, uint64_t high) {
                    race_.on_chip(s.shadow, s.sync, who, region_of(core, a), a.write, low, high);
                });
                continue;
            }
            if (!a.write && ranges_.known()) {
                const auto [low, high] = a.span();
                const GmRange* range = ranges_.find(static_cast<uint64_t>(low), static_cast<uint64_t>(high));
                if (range && range->read_only) continue;
            }
            for_each_run(a, [&](uint64_t low, uint64_t high) {
                race_.global(s.gm_cache, who, a.write, a.atomic, low, high);
            });
        }
}

void Checker::on_vector_access(const Core& core, uint32_t offset, uint32_t bytes, bool write, const void* site) {
    BlockState& s = state_of(core);
    const Region ub = core.slot == CoreSlot::aiv1 ? Region::ub1 : Region::ub0;
    if (has(kInitcheck) && write) s.init->vector_store(core, offset, offset + bytes);
    if (!has(kRacecheck)) return;
    Agent& agent = s.sync.agent(core, Pipe::V);
    const Accessor who{core, Pipe::V, static_cast<uint16_t>(Op::VectorFunction), site, agent,
                       agent_of(core.slot, Pipe::V)};
    race_.on_chip(s.shadow, s.sync, who, ub, write, offset, offset + bytes);
}

void Checker::on_scalar_access(const Core& core, ScalarAccess kind, uint64_t address, uint32_t bytes,
                               const void* site) {
    if (kind >= ScalarAccess::clean_line) return write_back(core, kind, address, site);
    static const char* const names[] = {"asc_load_dev", "asc_store_dev", "asc_atomic"};
    BlockState& s = state_of(core);
    const bool write = kind != ScalarAccess::load;
    const Pipe pipe = running_simt() ? Pipe::V : Pipe::S;   // a thread's, or the scalar unit's own
    if (has(kMemcheck))
        check_gm(core, pipe, 200, names[static_cast<size_t>(kind)], site, write, address, address + bytes);
    Agent& agent = pipe == Pipe::V ? s.sync.step(core, pipe) : s.sync.begin(core, pipe);
    if (pipe == Pipe::S) s.sync.scalar_changed(core);
    hand_over(s, core, pipe, agent, kind, address);
    if (has(kRacecheck)) {
        const Accessor who{core, pipe, static_cast<uint16_t>(Op::count), site, agent, agent_of(core.slot, pipe)};
        race_.global(s.gm_cache, who, write, true, address, address + bytes);
    }
    if (pipe == Pipe::V) s.sync.step(core, pipe);
}

void Checker::hand_over(BlockState& s, const Core& core, Pipe pipe, Agent& agent, ScalarAccess kind,
                        uint64_t address) {
    std::lock_guard lock(mutex_);
    const auto known = released_.find(address);
    if (kind != ScalarAccess::store && known != released_.end())
        join_from_world(agent.clock, known->second, core.block->index);
    if (kind == ScalarAccess::load) return;
    WorldPtr& released = released_[address];
    released = merge(released, to_world(s.sync.complete(agent_of(core.slot, pipe)), core.block->index));
}

}  // namespace asc_emu
