// Leftovers and deadlocks.
#include "checkers/leftovers.hpp"

#include "checkers/checker.hpp"
#include "fiber.hpp"
#include "pipes.hpp"

namespace asc_emu {
namespace {

constexpr size_t kMaxPlaces = 8;

Finding leftover(std::string message, std::string fix) {
    Finding f;
    f.checker = "synccheck";
    f.severity = Severity::warning;
    f.message = std::move(message);
    f.fix = std::move(fix);
    return f;
}

// Calls visit(source, destination, id) for every raised flag of a core.
template <class Visit>
void for_each_flag(const Core& core, Visit&& visit) {
    for (size_t p = 0; p < kNumPipes; ++p)
        for (size_t q = 0; q < kNumPipes; ++q)
            for (uint32_t id = 0; core.flags[p][q] >> id; ++id)
                if (core.flags[p][q] >> id & 1) visit(static_cast<Pipe>(p), static_cast<Pipe>(q), id);
}

std::string flag_name(Pipe source, Pipe destination, uint32_t id) {
    return std::string("flag ") + pipe_name(source) + "->" + pipe_name(destination) + " id " + std::to_string(id);
}

void leftover_flags(const Core& core, SyncState& sync, Reporter& reporter) {
    for_each_flag(core, [&](Pipe source, Pipe destination, uint32_t id) {
        const FlagState& flag = sync.flag(core, source, destination, id);
        const auto subject = static_cast<uint32_t>(source) * 64 + static_cast<uint32_t>(destination) * 8 + id;
        reporter.add("synccheck", subject, flag.raised.site, nullptr, [&] {
            Finding f = leftover(flag_name(source, destination, id) + " is still set when the kernel ends",
                                 "wait for it once more: a set flag disturbs the next kernel");
            f.places.push_back(place_of(core, source, "sets the flag", "SetFlag", flag.raised.site));
            if (flag.wait_site)
                f.places.push_back(place_of(core, destination, "waited last", "WaitFlag", flag.wait_site));
            return f;
        });
    });
}

void leftover_counters(const Core& core, SyncState& sync, Reporter& reporter) {
    for (uint32_t id = 0; id < kNumCounters; ++id) {
        const int value = core.counters[id].load();
        if (value == 0) continue;
        auto& signals = sync.counter(core.slot, id);
        const Signal* last = signals.empty() ? nullptr : &signals.back();
        reporter.add("synccheck", 1000 + id, last ? last->site : nullptr, nullptr, [&] {
            Finding f = leftover("counter " + std::to_string(id) + " of " + core_name(core.slot) + " is " +
                                     std::to_string(value) + " when the kernel ends",
                                 "wait as often as the other side arrives");
            if (last)
                f.places.push_back({"raises the counter", core.block->index, slot_of(last->agent),
                                    pipe_of(last->agent), nullptr, last->site});
            return f;
        });
    }
}

void leftover_locks(const Core& core, const LockSites& locks, Reporter& reporter) {
    for (uint32_t id = 0; id < kNumMutexes; ++id) {
        const Mutex& m = core.mutexes[id];
        if (!m.held) continue;
        const void* site = locks.site[static_cast<size_t>(core.slot)][id];
        reporter.add("synccheck", 2000 + id, site, nullptr, [&] {
            Finding f = leftover("mutex " + std::to_string(id) + " is still locked by pipe " +
                                     pipe_name(m.held_by) + " when the kernel ends",
                                 "unlock it on the same pipe");
            f.severity = Severity::error;
            f.places.push_back(place_of(core, m.held_by, "locks", "Lock", site));
            return f;
        });
    }
}

void leftover_units(const Core& core, SyncState& sync, Reporter& reporter) {
    for (uint32_t u = 0; core.unit_flags.any() && u < core.unit_flags.size(); ++u) {
        if (!core.unit_flags[u]) continue;
        const void* site = sync.unit(u).site;
        reporter.add("synccheck", 3000, site, nullptr, [&] {
            Finding f = leftover("unit flags of L0C are still set when the kernel ends, from byte " +
                                     std::to_string(u * kUnitFlagBytes),
                                 "drain the whole region with unit_flag 3: mmad and Fixpipe must cover the "
                                 "same blocks");
            f.places.push_back(place_of(core, Pipe::M, "sets the unit flags", "Mmad", site));
            return f;
        });
    }
}

void leftover_atomic(const Core& core, const void* last_store, Reporter& reporter) {
    if (core.regs.atomic_op == AtomicOp::none) return;
    reporter.add("synccheck", 3001, last_store, nullptr, [&] {
        Finding f = leftover(std::string("an atomic mode is still armed on ") + core_name(core.slot) +
                                 " when the kernel ends",
                             "call asc_set_atomic_none() after the last atomic store");
        if (last_store)
            f.places.push_back(place_of(core, core.is_aic() ? Pipe::FIX : Pipe::MTE3, "stores last in that mode", "",
                                        last_store));
        return f;
    });
}

void add_waiting(Finding& f, const Core& core, Pipe pipe, const Command& c) {
    if (f.places.size() >= kMaxPlaces) return;
    const OpInfo& info = g_op_table[c.op];
    const std::string what = info.describe ? info.describe(core, c.params) : std::string(info.name);
    f.places.push_back(place_of(core, pipe, ("waits for " + what).c_str(), info.name, c.site));
}

}  // namespace

Place place_of(const Core& core, Pipe pipe, const char* role, const char* instruction, const void* site) {
    return {role, core.block->index, core.slot, pipe == Pipe::all ? Pipe::S : pipe, instruction, site};
}

void report_leftovers(Block& block, BlockState& state, Reporter& reporter) {
    SyncState& sync = state.sync;
    for (const Core& core : block.cores) {
        if (!core.fiber) continue;
        leftover_flags(core, sync, reporter);
        leftover_counters(core, sync, reporter);
        leftover_locks(core, state.locks, reporter);
        leftover_units(core, sync, reporter);
        leftover_atomic(core, state.atomic_site[static_cast<size_t>(core.slot)], reporter);
    }
}

void report_deadlock(const std::vector<Block*>& blocks, Reporter& reporter) {
    Finding f;
    f.checker = "synccheck";
    f.message = "deadlock: no core can go on";
    f.fix = "post the missing flag or counter, or check its pipe and id";
    for (const Block* block : blocks)
        for (const Core& core : block->cores) {
            if (!core.fiber || (core.fiber->state == FiberState::done && !core.num_queued)) continue;
            if (core.wait && core.wait->command) add_waiting(f, core, core.wait->pipe, *core.wait->command);
            for (size_t p = 0; p < kNumPipes; ++p)
                if (!core.queue[p].empty()) add_waiting(f, core, static_cast<Pipe>(p), core.queue[p].front());
        }
    for (const Block* block : blocks)
        for (const Core& core : block->cores)
            if (core.fiber)
                for_each_flag(core, [&](Pipe source, Pipe destination, uint32_t id) {
                    const FlagState& flag = state_of(core).sync.flag(core, source, destination, id);
                    const std::string role = "has set " + flag_name(source, destination, id) +
                                             ", for which nothing waits";
                    if (f.places.size() < kMaxPlaces)
                        f.places.push_back(place_of(core, source, role.c_str(), "SetFlag", flag.raised.site));
                });
    reporter.add("synccheck", 4000, nullptr, nullptr, [&] { return f; });
}

void report_missing_pipe(const Core& core, const Command& c, Pipe pipe, Reporter& reporter) {
    reporter.add("synccheck", 5000 + static_cast<uint32_t>(pipe), c.site, nullptr, [&] {
        Finding f = leftover(std::string("pipe ") + pipe_name(pipe) + " does not run on a " +
                                 (core.is_aic() ? "cube core" : "vector core"),
                             core.is_aic() ? "a cube core has S, M, MTE1, MTE2 and FIX"
                                           : "a vector core has S, V, MTE2 and MTE3");
        f.places.push_back(place_of(core, pipe, "names the pipe", g_op_table[c.op].name, c.site));
        return f;
    });
}

}  // namespace asc_emu
