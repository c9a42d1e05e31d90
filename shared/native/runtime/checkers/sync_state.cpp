// Clocks of a block's pipes.
#include "checkers/sync_state.hpp"

namespace asc_emu {

void SyncState::reset() {
    for (Agent& a : agents_) a = {};
    for (IssueLog& log : issue_) {
        log.snapshots.clear();
        log.newest = 0;
        log.changed = true;
        for (auto& p : log.pending) p.clear();
    }
    ++epoch_;
    for (UnitTimes& u : units_) u = {};
}

void SyncState::issued(const Core& core, Pipe pipe) {
    IssueLog& log = issue_[static_cast<size_t>(core.slot)];
    if (log.changed || log.snapshots.empty()) {
        log.snapshots.push_back(complete(agent_of(core.slot, Pipe::S)));
        ++log.newest;
        log.changed = false;
    }
    log.pending[static_cast<size_t>(pipe)].push_back(log.newest);
}

Agent& SyncState::begin(const Core& core, Pipe pipe) {
    const uint8_t id = agent_of(core.slot, pipe);
    Agent& a = agents_[id];
    IssueLog& log = issue_[static_cast<size_t>(core.slot)];
    auto& pending = log.pending[static_cast<size_t>(pipe)];
    if (!pending.empty()) {
        const uint64_t number = pending.front();
        pending.pop_front();
        if (number > a.issue_seen) {
            a.clock.join(log.snapshots[log.snapshots.size() - 1 - (log.newest - number)]);
            a.issue_seen = number;
        }
        // NOTE: snapshots that no queue refers to are dropped when there are many.
        if (log.snapshots.size() > 64) {
            uint64_t oldest = log.newest;
            for (const auto& p : log.pending)
                if (!p.empty() && p.front() < oldest) oldest = p.front();
            while (log.newest - log.snapshots.size() + 1 < oldest) log.snapshots.pop_front();
        }
    }
    if (runs_in_order(pipe)) a.clock.time[id] = a.now;
    ++a.now;
    return a;
}

Agent& SyncState::step(const Core& core, Pipe pipe) {
    const uint8_t id = agent_of(core.slot, pipe);
    Agent& a = agents_[id];
    a.clock.time[id] = a.now;
    ++a.now;
    return a;
}

Agent& SyncState::go_on(const Core& core, Pipe pipe) {
    Agent& a = agent(core, pipe);
    if (!a.told) return a;
    a.told = false;
    return step(core, pipe);
}

Clock SyncState::complete(uint8_t agent) {
    agents_[agent].told = true;
    Clock c = agents_[agent].clock;
    c.time[agent] = agents_[agent].now;
    return c;
}

void SyncState::acquire(const Core& core, Pipe pipe, const Clock& clock) {
    agents_[agent_of(core.slot, pipe)].clock.join(clock);
    if (pipe == Pipe::S) scalar_changed(core);
}

}  // namespace asc_emu
