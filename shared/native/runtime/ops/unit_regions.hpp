// Parts of L0C whose unit flags an instruction waits for and changes (ascend_c_cube.md section 9.5), and the
// parts of a Fixpipe copy with two destinations (section 9.4).
#pragma once

#include "asc_emu/insn/mmad.hpp"
#include "ops/fixpipe_layout.hpp"
#include "ops/unit_flags.hpp"

namespace asc_emu {

inline uint32_t padded_m(const Mmad& i) { return static_cast<uint32_t>(round_up(i.m, 16)); }
inline uint32_t padded_n(const Mmad& i) { return static_cast<uint32_t>(round_up(i.n, 16)); }
inline UnitRegion unit_region(const Mmad& i) { return {i.c, 1, 0, padded_m(i) * padded_n(i) * 4}; }

inline bool empty(const Fixpipe& i) {
    return i.m == 0 || i.n == 0 || ((i.nz2nd || i.nz2dn) && i.num == 0);
}
inline uint32_t matrices(const Fixpipe& i) { return i.nz2nd || i.nz2dn ? i.num : 1; }
inline UnitRegion unit_region(const Fixpipe& i, uint32_t matrix) {
    return {i.src + matrix * i.src_matrix_stride * kPieceBytes,
            static_cast<uint32_t>(ceil_div(i.n, kPieceColumns)), i.src_stride * kPieceBytes,
            i.m * kPieceBytes};
}

constexpr uint8_t kSplitM = 1, kSplitN = 2;
struct UbParts {
    FixpipePart part[2];
    uint32_t count;
};
inline UbParts ub_parts(const CopyL0cToUb& i) {
    const auto slot = i.sub_block == 0 ? CoreSlot::aiv0 : CoreSlot::aiv1;
    const uint32_t m = i.m, n = i.n;
    if (i.dual == kSplitM)
        return {{{i.src, m / 2, n, Space::ub, CoreSlot::aiv0},
                 {i.src + m / 2 * kPieceBytes, m / 2, n, Space::ub, CoreSlot::aiv1}}, 2};
    if (i.dual == kSplitN)
        return {{{i.src, m, n / 2, Space::ub, CoreSlot::aiv0},
                 {i.src + n / 2 / kPieceColumns * i.src_stride * kPieceBytes, m, n / 2, Space::ub,
                  CoreSlot::aiv1}}, 2};
    return {{{i.src, m, n, Space::ub, slot}, {}}, 1};
}

}  // namespace asc_emu
