// The rules of issue, queues, flags and unit flags (ascend_c_cube.md sections 3, 9.5 and 13).
#include "timing/core_model.hpp"

#include <algorithm>

namespace asc_emu::timing {

CoreModel::CoreModel(CoreHost& host, uint32_t number, const CoreTrace& trace, const Constants& k, double start,
                     std::vector<Span>* spans)
    : host_(host), number_(number), trace_(trace), k_(k), spans_(spans),
      depth_(static_cast<size_t>(std::clamp(k.queue_depth, 1.0, 4096.0))), scalar_(start) {
    for (PipeModel& q : pipes_) {
        q.ring.resize(depth_);
        q.free = q.done = start;
    }
}

void CoreModel::advance() {
    if (ended_) return;
    for (bool again = true; again;) {
        again = issue();
        for (size_t p = 1; p < kNumPipes; ++p) again |= run_pipe(static_cast<Pipe>(p));
    }
    if (next_ < trace_.records.size() || !pipes_empty()) return;
    ended_ = true;
    host_.core_ended(number_, all_done());
}

bool CoreModel::pipes_empty() const {
    return std::all_of(std::begin(pipes_), std::end(pipes_),
                       [](const PipeModel& q) { return q.issued == q.started; });
}

double CoreModel::all_done() const {
    double time = scalar_;
    for (const PipeModel& q : pipes_) time = std::max({time, q.done, q.free});
    return time;
}

// Issue ------------------------------------------------------------------------------------------
bool CoreModel::issue() {
    const size_t before = next_;
    for (; next_ < trace_.records.size(); ++next_) {
        const Record& r = trace_.records[next_];
        if (r.pipe == Pipe::S || r.pipe == Pipe::all) {
            if (!issue_scalar(r)) break;
            continue;
        }
        PipeModel& q = queue(r.pipe);
        // NOTE: a full queue blocks the scalar unit until the oldest instruction has started.
        if (q.issued - q.started >= depth_) break;
        Entry& e = q.ring[q.issued % depth_];
        scalar_ += k_.issue_cycles;
        if (q.issued >= depth_) scalar_ = std::max(scalar_, e.issue);
        e = {static_cast<uint32_t>(next_), scalar_};
        ++q.issued;
        if (r.kind == Kind::unlock) {
            auto& tickets = tickets_[r.value % kNumMutexes];
            if (tickets.size() <= r.bytes) tickets.resize(r.bytes + 1, {r.pipe, -1});
            tickets[r.bytes] = {r.pipe, -1};
        }
    }
    return next_ != before;
}

bool CoreModel::issue_scalar(const Record& r) {
    scalar_ = std::max(scalar_, queue(Pipe::S).done);
    switch (r.kind) {
        case Kind::wait_flag:
            if (!flags_[r.value % 512].take(scalar_)) return false;
            break;
        case Kind::counter_wait:
            if (!counters_[r.value % 32].take(scalar_)) return false;
            break;
        case Kind::lock:
            if (!lock_free(r, scalar_)) return false;
            break;
        case Kind::barrier:
            if (!pipes_empty()) return false;
            scalar_ = all_done();
            break;
        case Kind::set_flag: flags_[r.value % 512].push(scalar_ + k_.flag_cycles); break;
        case Kind::unlock: {
            auto& tickets = tickets_[r.value % kNumMutexes];
            if (tickets.size() <= r.bytes) tickets.resize(r.bytes + 1, {Pipe::S, -1});
            tickets[r.bytes] = {Pipe::S, scalar_ + k_.flag_cycles};
            break;
        }
        case Kind::intra_arrive: host_.intra_arrive(number_, r.value, scalar_ + k_.counter_cycles); break;
        case Kind::cross_arrive: host_.cross_arrive(number_, r.value, scalar_); break;
        case Kind::work: case Kind::wait_fill: break;
    }
    scalar_ += k_.issue_cycles;
    return true;
}

// Pipes ------------------------------------------------------------------------------------------
bool CoreModel::run_pipe(Pipe pipe) {
    PipeModel& q = queue(pipe);
    const uint64_t before = q.started;
    while (!q.transferring && q.started < q.issued) {
        const Record& r = record(q);
        const double issue = q.ring[q.started % depth_].issue;
        if (!(r.kind == Kind::work ? run_work(r, q, issue) : run_sync(r, q, issue))) break;
    }
    return q.started != before;
}

void CoreModel::leave(PipeModel& q, double start) {
    q.ring[q.started % depth_].issue = start;
    ++q.started;
}

bool CoreModel::run_sync(const Record& r, PipeModel& q, double issue) {
    // A wait holds up its pipe; a set happens when all earlier instructions of the pipe are done.
    double start = std::max(q.free, issue);
    const double done = std::max(q.done, start);
    switch (r.kind) {
        case Kind::wait_flag:
            if (!flags_[r.value % 512].take(start)) return false;
            break;
        case Kind::counter_wait:
            if (!counters_[r.value % 32].take(start)) return false;
            break;
        case Kind::lock:
            if (!lock_free(r, start)) return false;
            break;
        case Kind::wait_fill:
            if (fills_.size() < r.value) return false;
            start = std::max(start, fills_[r.value - 1]);
            break;
        case Kind::barrier: start = done; break;
        case Kind::set_flag: flags_[r.value % 512].push(done + k_.flag_cycles); break;
        case Kind::unlock: tickets_[r.value % kNumMutexes][r.bytes].time = done + k_.flag_cycles; break;
        case Kind::intra_arrive: host_.intra_arrive(number_, r.value, done + k_.counter_cycles); break;
        case Kind::cross_arrive: host_.cross_arrive(number_, r.value, done); break;
        case Kind::work: break;
    }
    q.free = start;
    leave(q, start);
    return true;
}

bool CoreModel::run_work(const Record& r, PipeModel& q, double issue) {
    double start = std::max(q.free, issue);
    if (!unit_flags_done(r, start)) return false;
    if (r.gm != 0) {
        q.start = start;
        q.transferring = true;
        const double end = host_.start_transfer(number_, r.pipe, start);
        if (end < 0) return true;
        q.transferring = false;
        end_work(r, q, start, end);
        return true;
    }
    end_work(r, q, start, start + cost_of(r, k_).busy);
    return true;
}

void CoreModel::transfer_ended(Pipe pipe, double time) {
    PipeModel& q = queue(pipe);
    q.transferring = false;
    end_work(record(q), q, q.start, time);
}

void CoreModel::end_work(const Record& r, PipeModel& q, double start, double end) {
    const Cost cost = cost_of(r, k_);
    q.free = std::max({end, start + cost.interval, start + cost.busy});
    q.done = std::max(q.done, q.free + cost.latency);
    q.busy += q.free - start;
    if (r.flags & kUnitUpdate) unit_updates_[r.pipe == Pipe::M ? 0 : 1].push_back(q.done);
    if (r.flags & kFill) fills_.push_back(q.done);
    if (spans_) spans_->push_back({number_, q.ring[q.started % depth_].record, start, q.free});
    leave(q, start);
}

bool CoreModel::unit_flags_done(const Record& r, double& time) const {
    if (r.wait_unit == 0 || r.pipe == Pipe::V) return true;
    const auto& updates = unit_updates_[r.pipe == Pipe::M ? 1 : 0];
    if (updates.size() < r.wait_unit) return false;
    time = std::max(time, updates[r.wait_unit - 1]);
    return true;
}

bool CoreModel::lock_free(const Record& r, double& time) const {
    // Pipes work in order, so the last unlocks of each pipe decide.
    constexpr uint64_t kLookBack = 64;
    const auto& tickets = tickets_[r.value % kNumMutexes];
    const uint64_t end = std::min<uint64_t>(r.bytes, tickets.size());
    double latest = time;
    for (uint64_t t = end > kLookBack ? end - kLookBack : 0; t < end; ++t) {
        if (tickets[t].pipe == r.pipe) continue;
        if (tickets[t].time < 0) return false;
        latest = std::max(latest, tickets[t].time);
    }
    time = latest;
    return true;
}

}  // namespace asc_emu::timing
