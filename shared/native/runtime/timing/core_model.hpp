// One core of a simulation: its scalar unit issues a trace in program order into the queues of its pipes.
#pragma once

#include <cstdint>
#include <vector>

#include "timing/cost.hpp"
#include "timing/profile.hpp"

namespace asc_emu::timing {

// What a core needs from the others; `core` is the number given to the core.
class CoreHost {
public:
    // An instruction with global memory starts at `time`. Returns its end, or a negative number when
    // CoreModel::transfer_ended() will tell.
    virtual double start_transfer(uint32_t core, Pipe pipe, double time) = 0;
    virtual void intra_arrive(uint32_t core, uint32_t value, double time) = 0;
    virtual void cross_arrive(uint32_t core, uint32_t value, double time) = 0;
    virtual void core_ended(uint32_t core, double time) = 0;

protected:
    ~CoreHost() = default;
};

class CoreModel {
public:
    CoreModel(CoreHost& host, uint32_t number, const CoreTrace& trace, const Constants& constants, double start,
              std::vector<Span>* spans);

    // Goes on as far as known times allow.
    void advance();
    void transfer_ended(Pipe pipe, double time);
    void raise_counter(uint32_t counter, double time) { counters_[counter].push(time); }
    // The record that `pipe` is transferring.
    const Record& transferring(Pipe pipe) const { return record(queue(pipe)); }
    const CoreTrace& trace() const { return trace_; }
    double busy(Pipe pipe) const { return pipes_[static_cast<size_t>(pipe)].busy; }
    bool ended() const { return ended_; }

private:
    // Times at which something was raised and not yet consumed, oldest first; one too many replaces the last.
    template <uint32_t kMost>
    class Stamps {
    public:
        void push(double time) {
            if (count_ < kMost) ++count_;
            times_[(first_ + count_ - 1) % kMost] = time;
        }
        // False when there is none; else `time` is no earlier than it.
        bool take(double& time) {
            if (count_ == 0) return false;
            if (times_[first_] > time) time = times_[first_];
            first_ = static_cast<uint8_t>((first_ + 1) % kMost);
            --count_;
            return true;
        }

    private:
        double times_[kMost];
        uint8_t first_ = 0, count_ = 0;
    };
    struct Ticket {
        Pipe pipe;
        double time;    // negative: not yet unlocked
    };
    struct Entry {
        uint32_t record;
        double issue;   // then: start
    };
    struct PipeModel {
        std::vector<Entry> ring;       // queue_depth entries, by instruction number
        uint64_t issued = 0, started = 0;
        double free = 0;               // the next instruction may start
        double done = 0;               // all results so far are there
        double start = 0;              // of the transfer in flight
        double busy = 0;
        bool transferring = false;
    };

    PipeModel& queue(Pipe pipe) { return pipes_[static_cast<size_t>(pipe)]; }
    const PipeModel& queue(Pipe pipe) const { return pipes_[static_cast<size_t>(pipe)]; }
    const Record& record(const PipeModel& q) const {
        return trace_.records[q.ring[q.started % depth_].record];
    }
    bool issue();
    bool issue_scalar(const Record& r);
    bool run_pipe(Pipe pipe);
    bool run_sync(const Record& r, PipeModel& q, double issue);
    bool run_work(const Record& r, PipeModel& q, double issue);
    void end_work(const Record& r, PipeModel& q, double start, double end);
    void leave(PipeModel& q, double start);
    // False while the time is not known; else `time` is no earlier than it.
    bool unit_flags_done(const Record& r, double& time) const;
    bool lock_free(const Record& r, double& time) const;
    bool pipes_empty() const;
    double all_done() const;

    CoreHost& host_;
    const uint32_t number_;
    const CoreTrace& trace_;
    const Constants& k_;
    std::vector<Span>* spans_;
    const size_t depth_;
    size_t next_ = 0;                  // record to issue
    double scalar_;
    bool ended_ = false;
    PipeModel pipes_[kNumPipes];
    Stamps<2> flags_[512];
    Stamps<kMaxCounter + 1> counters_[kNumCounters];
    std::vector<Ticket> tickets_[kNumMutexes];
    std::vector<double> unit_updates_[2];   // of M and of FIX, in order
    std::vector<double> fills_;
};

}  // namespace asc_emu::timing
