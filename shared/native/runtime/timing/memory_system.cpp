// Processor sharing with a cap for each port.
#include "timing/memory_system.hpp"

#include <algorithm>
#include <limits>

namespace asc_emu::timing {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kDone = 1e-6;           // cycles

double l2_time(const Constants& k, double bytes, double segment) {
    return bytes / k.per_cycle(k.l2_gbps) * (segment + k.l2_segment_bytes) / segment;
}
double shape_bytes(const GmShape& s) {
    return static_cast<double>(s.segments()) * s.bytes;
}

}  // namespace

double lone_transfer(const Constants& k, const GmShape& s, double port_rate, double num_streams) {
    const double bytes = shape_bytes(s), port = bytes / port_rate;
    if (s.write) return port;
    const bool bypass = s.hint >= kFirstBypass;
    const double server = bypass ? bytes / k.per_cycle(k.hbm_read_gbps) : l2_time(k, bytes, s.bytes);
    return std::max(port, server * num_streams);
}

MemorySystem::MemorySystem(const Constants& k) : k_(k), next_end_(kNever) {}

MemorySystem::Demand MemorySystem::demand(const GmShape& s) {
    if (!l2_) l2_ = std::make_unique<L2Cache>(k_);
    const L2Cache::Bytes b = l2_->access(s);
    const double hit = static_cast<double>(b.hit), miss = static_cast<double>(b.miss);
    if (s.write) {
        // NOTE: D is written behind: a store waits for HBM only when L2 holds too much that is not written yet.
        const double bytes = shape_bytes(s);
        totals_.written += bytes;
        if (write_behind_ < k_.write_behind_bytes) {
            write_behind_ += bytes;
            return {};
        }
        totals_.hbm_time += bytes / k_.per_cycle(k_.hbm_write_gbps);
        return {bytes / k_.per_cycle(k_.hbm_write_gbps), 0};
    }
    const double hbm = miss / k_.per_cycle(k_.hbm_read_gbps), l2 = l2_time(k_, hit, s.bytes);
    totals_.hbm_read += miss;
    totals_.l2_read += hit;
    totals_.hbm_time += hbm;
    totals_.l2_time += l2;
    return {hbm, l2};
}

void MemorySystem::start(double now, uint32_t owner, uint32_t port_id, const GmShape& s, double port_rate) {
    advance(now);
    const double port = std::max(shape_bytes(s) / port_rate, kDone);
    // NOTE: a transfer that needs no server still takes its port's time: give it a sliver of a share.
    const Demand d = demand(s);
    const double left = std::max(d.hbm + d.l2, port * 1e-9);
    if (port_id >= port_users_.size()) port_users_.resize(port_id + 1);
    ++port_users_[port_id];
    transfers_.push_back({owner, port_id, left, left / port, 0, d.hbm / left});
    divide();
}

void MemorySystem::advance(double now) {
    const double dt = now - now_;
    if (dt <= 0) return;
    double hbm_used = 0;
    for (Transfer& t : transfers_) {
        t.left -= t.share * dt;
        hbm_used += t.share * t.hbm_part;
    }
    // Time that loads leave to HBM writes what waits in L2.
    write_behind_ = std::max(0.0, write_behind_ - (1 - hbm_used) * dt * k_.per_cycle(k_.hbm_write_gbps));
    now_ = now;
}

// Water filling: equal shares, but none above its cap; what those leave goes to the others.
void MemorySystem::divide() {
    for (Transfer& t : transfers_) t.share = 0;
    double rest = 1;
    size_t open = transfers_.size();
    for (bool again = true; again && open;) {
        again = false;
        const double fair = rest / static_cast<double>(open);
        for (Transfer& t : transfers_) {
            if (t.share > 0) continue;
            const double cap = t.cap / port_users_[t.port_id];
            if (cap > fair) continue;
            t.share = cap;
            rest -= t.share;
            --open;
            again = true;
        }
    }
    const double fair = open ? std::max(rest, 1e-12) / static_cast<double>(open) : 0;
    next_end_ = kNever;
    for (Transfer& t : transfers_) {
        if (t.share == 0) t.share = fair;
        next_end_ = std::min(next_end_, now_ + std::max(0.0, t.left) / t.share);
    }
}

const std::vector<uint32_t>& MemorySystem::finish() {
    ended_.clear();
    advance(next_end_);
    for (size_t i = 0; i < transfers_.size();) {
        Transfer& t = transfers_[i];
        if (t.left > kDone * t.share) {
            ++i;
            continue;
        }
        ended_.push_back(t.owner);
        --port_users_[t.port_id];
        t = transfers_.back();
        transfers_.pop_back();
    }
    divide();
    return ended_;
}

}  // namespace asc_emu::timing
