// The single way to the matrix unit, and everything a tile kernel includes (deep_gemm.md section 5).
#ifndef MAD_MAD_HPP_
#define MAD_MAD_HPP_

#include "mad/copy.hpp"
#include "mad/sync.hpp"
#include "mad/tile_ptr.hpp"

namespace mad {

// What the accumulator holds before.
enum class Init : uint32_t { zero, accumulate };

// dst[m, n] (+)= a[m, k] * b[n, k]^T with fp32 accumulation. Elements of the operand tiles outside m, n, k do not
// matter. `dst.shape_m` must be `m` padded to 16. kUnitFlag: ENABLE_KEEP while more calls accumulate into the
// tile, ENABLE_UPDATE with the last one, DISABLE where flags order FIX behind M.
template <asc_unit_flag_mode kUnitFlag, class A, class B>
inline __aicore__ void mad(l0c_ptr<float> dst, l0a_ptr<A> a, l0b_ptr<B> b, uint32_t m, uint32_t n, uint32_t k,
                           Init init) {
    if constexpr (sizeof(A) == 1)
        // NOTE: 8-bit and 4-bit operands carry MX scales, loaded by copy_l1_to_l0*_mx; k is a multiple of 64.
        asc_mmad_mx(dst.get(), a.get(), b.get(), static_cast<uint16_t>(m), static_cast<uint16_t>(k),
                    static_cast<uint16_t>(n), kUnitFlag, true, false, init == Init::zero);
    else
        asc_mmad(dst.get(), a.get(), b.get(), static_cast<uint16_t>(m), static_cast<uint16_t>(k),
                 static_cast<uint16_t>(n), kUnitFlag, true, false, init == Init::zero);
}

}  // namespace mad

#endif  // MAD_MAD_HPP_
