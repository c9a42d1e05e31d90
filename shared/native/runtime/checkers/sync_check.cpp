// Synchronisation instructions: who learns what from whom, and flags that may be raised twice
// (ascend_c_cube.md section 13).
#include "asc_emu/insn/sync.hpp"

#include "checkers/checker.hpp"
#include "launch.hpp"

namespace asc_emu {
namespace {

Finding raised_twice(const Core& core, const Command& c, const SetFlag& i, const FlagState& flag, bool is_set) {
    Finding f;
    f.checker = "synccheck";
    f.message = std::string("flag ") + pipe_name(i.source) + "->" + pipe_name(i.destination) + " id " +
                std::to_string(i.id) + (is_set ? " is raised while it is still set"
                                               : " may be raised while it is still set: nothing orders the "
                                                 "last wait before this notify");
    f.fix = "wait for the flag, and let a flag back tell the source pipe, before raising it again";
    f.places.push_back(place_of(core, i.source, "raises the flag first", "SetFlag", flag.raised.site));
    if (!is_set) f.places.push_back(place_of(core, i.destination, "waits for it", "WaitFlag", flag.wait_site));
    f.places.push_back(place_of(core, i.source, "raises it again", "SetFlag", c.site));
    return f;
}

}  // namespace

void Checker::set_flag(BlockState& s, const Core& core, const Command& c, Agent& agent) {
    const SetFlag& i = c.as<SetFlag>();
    FlagState& flag = s.sync.flag(core, i.source, i.destination, i.id);
    if (has(kSynccheck)) {
        const bool is_set = core.flags[static_cast<size_t>(i.source)][static_cast<size_t>(i.destination)] >> i.id & 1;
        const bool known = agent.clock.time[agent_of(core.slot, i.destination)] >= flag.last_wait;
        if (is_set || !known)
            launch_.reporter.add("synccheck", 7000 + is_set, flag.raised.site, c.site,
                                 [&] { return raised_twice(core, c, i, flag, is_set); });
    }
    const uint8_t id = agent_of(core.slot, i.source);
    flag.raised = {s.sync.complete(id), c.site, id};
}

void Checker::run_sync(BlockState& s, const Core& core, const Command& c, Agent& agent) {
    switch (static_cast<Op>(c.op)) {
        case Op::SetFlag: return set_flag(s, core, c, agent);
        case Op::WaitFlag: {
            const WaitFlag& i = c.as<WaitFlag>();
            FlagState& flag = s.sync.flag(core, i.source, i.destination, i.id);
            s.sync.acquire(core, i.destination, flag.raised.clock);
            flag.last_wait = agent.now;
            flag.wait_site = c.site;
            return;
        }
        case Op::PipeBarrier: {
            const Pipe pipe = c.as<PipeBarrier>().pipe;
            if (pipe != Pipe::all) {
                agent.clock.time[agent_of(core.slot, pipe)] = agent.now;
                return;
            }
            for (size_t p = 0; p < kNumPipes; ++p)
                s.sync.acquire(core, Pipe::S, s.sync.complete(agent_of(core.slot, static_cast<Pipe>(p))));
            return;
        }
        case Op::Lock: {
            const Lock& i = c.as<Lock>();
            s.locks.site[static_cast<size_t>(core.slot)][i.id] = c.site;
            if (i.non_blocking) return;
            for (size_t p = 0; p < kNumPipes; ++p)
                if (static_cast<Pipe>(p) != i.pipe)
                    s.sync.acquire(core, i.pipe, s.sync.unlocked(core, i.id, static_cast<Pipe>(p)).clock);
            return;
        }
        case Op::Unlock: {
            const Unlock& i = c.as<Unlock>();
            const uint8_t id = agent_of(core.slot, i.pipe);
            s.sync.unlocked(core, i.id, i.pipe) = {s.sync.complete(id), c.site, id};
            return;
        }
        case Op::CounterWait: return wait_counter(s, core, c);
        default: return arrive(s, core, c);
    }
}

// Counters: clocks travel in the order of the arrivals.
void Checker::arrive(BlockState& s, const Core& core, const Command& c) {
    const uint8_t agent = agent_of(core.slot, c.pipe);
    const Signal signal{s.sync.complete(agent), c.site, agent};
    const std::lock_guard lock(mutex_);
    if (static_cast<Op>(c.op) == Op::IntraArrive) {
        const uint32_t id = c.as<IntraArrive>().id;
        if (!core.is_aic()) s.sync.counter(CoreSlot::aic, core.sub_block() * 16 + id).push_back(signal);
        else s.sync.counter(id < 16 ? CoreSlot::aiv0 : CoreSlot::aiv1, id % 16).push_back(signal);
        return;
    }
    const CrossArrive& i = c.as<CrossArrive>();
    if (i.mode == 0) return arrive_all(core, i.id, signal);
    const uint32_t vector_cores = core.block->num_aiv;
    if (core.is_aic()) {
        for (uint32_t v = 0; v < vector_cores; ++v)
            s.sync.counter(static_cast<CoreSlot>(1 + v), i.id).push_back(signal);
        return;
    }
    s.sync.arrivals(i.mode, i.id, core.sub_block()).push_back(signal);
    for (uint32_t v = 0; v < vector_cores; ++v)
        if (s.sync.arrivals(i.mode, i.id, v).empty()) return;
    Signal joined = signal;
    for (uint32_t v = 0; v < vector_cores; ++v) {
        auto& arrivals = s.sync.arrivals(i.mode, i.id, v);
        joined.clock.join(arrivals.front().clock);
        arrivals.pop_front();
    }
    if (i.mode == 2) return s.sync.counter(CoreSlot::aic, i.id).push_back(joined);
    for (uint32_t v = 0; v < vector_cores; ++v)
        s.sync.counter(static_cast<CoreSlot>(1 + v), i.id).push_back(joined);
}

void Checker::arrive_all(const Core& core, uint32_t id, const Signal& signal) {
    const asc_emu_kernel& kernel = *launch_.desc.kernel;
    Round& round = rounds_[core.is_aic() ? 0 : 1][id];
    round.known = merge(round.known, to_world(signal.clock, core.block->index));
    if (++round.count < launch_.desc.num_blocks * (core.is_aic() ? kernel.num_aic : kernel.num_aiv)) return;
    Signal all = signal;
    all.clock = {};
    all.clock.world = round.known;
    for (BlockState* state : live_)
        for (const Core& c : state->block->cores)
            if (c.fiber && c.is_aic() == core.is_aic()) state->sync.counter(c.slot, id).push_back(all);
    round = {};
}

void Checker::wait_counter(BlockState& s, const Core& core, const Command& c) {
    Signal signal;
    {
        const std::lock_guard lock(mutex_);
        auto& signals = s.sync.counter(core.slot, c.as<CounterWait>().id);
        if (signals.empty()) return;
        signal = signals.front();
        signals.pop_front();
    }
    s.sync.acquire(core, c.pipe, signal.clock);
    join_from_world(s.sync.agent(core, c.pipe).clock, signal.clock.world, core.block->index);
}

}  // namespace asc_emu
