// Global memory as all cores share it (ascend950_model.md sections 3 and 6): one server whose time is divided
// between the transfers in flight. A byte that misses L2 costs 1 / HBM rate of it, one that hits 1 / L2 rate, and
// each transfer is also limited by the port of its core.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "timing/constants.hpp"
#include "timing/l2_cache.hpp"

namespace asc_emu::timing {

struct MemoryTotals {
    double hbm_read = 0, l2_read = 0, written = 0;   // bytes
    double hbm_time = 0, l2_time = 0;                // cycles of the server
};

class MemorySystem {
public:
    explicit MemorySystem(const Constants& constants);

    struct Transfer {
        uint32_t owner;      // of the caller
        uint32_t port_id;    // transfers of one port share its rate
        double left;         // server time
        double cap;          // largest share
        double share;
        double hbm_part;     // of `left` that is spent on HBM
    };
    // Starts a transfer at `now`. Times are core cycles and never go back.
    void start(double now, uint32_t owner, uint32_t port_id, const GmShape& shape, double port_rate);
    // When the next transfer ends; infinity without one.
    double next_end() const { return next_end_; }
    // Ends the transfers that are over at next_end(), and returns their owners.
    const std::vector<uint32_t>& finish();
    const MemoryTotals& totals() const { return totals_; }

private:
    void advance(double now);
    void divide();
    struct Demand {
        double hbm = 0, l2 = 0;   // server time
    };
    Demand demand(const GmShape& shape);

    const Constants& k_;
    std::unique_ptr<L2Cache> l2_;   // made by the first transfer
    double now_ = 0, next_end_;
    double write_behind_ = 0;    // bytes that L2 has taken and HBM has not
    std::vector<Transfer> transfers_;
    std::vector<uint32_t> port_users_;   // transfers in flight by port_id
    std::vector<uint32_t> ended_;
    MemoryTotals totals_;
};

// The same without state, for timing=fast: `num_streams` cores load at once, and everything hits L2 unless its
// hint bypasses it. Returns cycles.
double lone_transfer(const Constants& constants, const GmShape& shape, double port_rate, double num_streams);

}  // namespace asc_emu::timing
