// Cost formulas by class.
#include "timing/cost.hpp"

#include <algorithm>

namespace asc_emu::timing {
namespace {

Cost mmad_cost(const Record& r, const Constants& k) {
    const double macs = static_cast<double>(r.bytes);
    switch (static_cast<MmadRate>(r.variant)) {
        case MmadRate::b16: return {macs / k.mmad_rate_16, 0, k.mmad_base_16};
        case MmadRate::b8: return {macs / k.mmad_rate_8, 0, k.mmad_base_16};
        case MmadRate::mx8: return {macs / k.mmad_rate_8, 0, k.mmad_base_mx};
        case MmadRate::mx4: return {macs / k.mmad_rate_4, 0, k.mmad_base_mx};
        case MmadRate::hf32: return {macs / k.mmad_rate_hf32, 0, k.mmad_base_32};
        case MmadRate::f32: break;
    }
    return {macs / k.mmad_rate_32, 0, k.mmad_base_32};
}

// Results leave L0C at a number of elements a cycle that makes 128 bytes, half of it for 8-bit results.
Cost fix_cost(const Record& r, const Constants& k) {
    const double rate = r.variant == kFixDual ? k.fix_dual_rate
                        : r.variant == kFixNarrow ? k.fix_rate / 2 : k.fix_rate;
    const double busy = static_cast<double>(r.bytes) / rate;
    if (r.cost == CostClass::l0c_to_gm) return {busy, k.fix_interval, k.fix_gm_base, rate};
    // NOTE: FIX waits for the last byte: a tile of MQA logits takes 512 + 58 cycles when FIX is the limit.
    return {busy + (r.variant == kFixDual ? k.fix_dual_base : k.fix_ub_base), k.fix_interval, 0};
}

}  // namespace

Cost cost_of(const Record& r, const Constants& k) {
    const double bytes = static_cast<double>(r.bytes), requests = r.value;
    switch (r.cost) {
        case CostClass::gm_to_l1: return {0, k.gm_to_l1_interval, k.gm_to_l1_base, k.gm_to_l1_rate};
        case CostClass::gm_to_ub: return {0, k.gm_to_ub_interval, k.gm_to_ub_base, k.gm_to_ub_rate};
        case CostClass::ub_to_gm: return {0, k.ub_to_gm_interval, k.ub_to_gm_base, k.ub_to_gm_rate};
        case CostClass::fill_l1: return {bytes / k.fill_l1_rate, 0, 0};
        case CostClass::l1_to_l0: {
            const double rate = r.variant == kLoadTrans ? k.l1_to_l0_trans_rate : k.l1_to_l0_rate;
            return {bytes / rate, requests * k.l1_to_l0_interval, k.l1_to_l0_base};
        }
        case CostClass::l1_to_l0_mx:
            return {bytes / k.l1_to_l0_mx_rate, requests * k.l1_to_l0_mx_interval, k.l1_to_l0_mx_base};
        case CostClass::l1_to_bt: case CostClass::l1_to_fb: return {bytes / k.l1_to_bt_rate, 0, k.l1_to_l0_base};
        case CostClass::l1_to_ub: return {bytes / k.l1_to_ub_rate, 0, k.l1_to_l0_base};
        case CostClass::mmad: return mmad_cost(r, k);
        case CostClass::l0c_to_gm: case CostClass::l0c_to_ub: case CostClass::l0c_to_l1: return fix_cost(r, k);
        case CostClass::ub_to_l1: return {bytes / k.ub_to_l1_rate, 0, k.ub_to_l1_base};
        case CostClass::ub_to_ub: return {bytes / k.ub_to_ub_rate, 0, 0};
        case CostClass::vector:
            // In a cycle UB gives two vectors, or gives one and takes one.
            return {std::max(k.vf_fixed + std::max(r.vector.loads / 2.0, requests) * k.vf_vector, k.vf_ends + r.cycles), 0, 0};
        case CostClass::none: case CostClass::sync: break;
    }
    return {};
}

}  // namespace asc_emu::timing
